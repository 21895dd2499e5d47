/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The streams of this header make untrusted text safe to show on a terminal. They write '?' for a
 * control character other than newline and tab, for a character that changes the direction of text,
 * and for a byte that is not UTF-8 (bb_shown_len() in base/text.h).
 */

/* Opens a stream that writes to `fd`, which fclose() closes. `buffering` is as in setvbuf(3). */
FILE *bb_clean__open(int fd, int buffering);

/* Replaces stdout and stderr by streams as bb_clean__open() opens them. */
void bb_clean__std(void);

/* After this call, a write to a stdout that nobody reads any more ends the process by SIGPIPE, as
 * it does in cat(1). */
void bb_clean__end_by_sigpipe(void);

/* Writes `text` without replacing characters, for escape sequences. Never for untrusted text. */
void bb_clean__put_raw(FILE *out, const char *text);

/* Flushes a stream of bb_clean__open() or bb_clean__std(), and checks that all text was written.
 * `name` is the name of the stream for the message. Returns 0, or the -errno of the last failed
 * write. */
int bb_clean__check(FILE *out, const char *name, struct bb_err *err);
