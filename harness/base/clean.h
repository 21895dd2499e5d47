/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Streams that make untrusted text safe to show on a terminal. They write '?' for a control
 * character except newline and tab, for a character that changes the direction of text, and for a
 * byte that is not UTF-8 (bb_shown_len() in base/text.h). */

/* Opens a stream that writes clean text to `fd`. fclose() closes `fd`. `buffering` is as in
 * setvbuf(3). */
FILE *bb_clean__open(int fd, int buffering);

/* Replaces stdout and stderr by streams of bb_clean__open(). */
void bb_clean__std(void);

/* From now on the process ends by SIGPIPE when it writes to a stdout that nobody reads any more. */
void bb_clean__end_by_sigpipe(void);

/* Writes escape sequences unchanged. Never use this for untrusted text. */
void bb_clean__put_raw(FILE *out, const char *text);

/* Flushes a stream of bb_clean__open() or bb_clean__std(), and checks that all text was written.
 * `name` is for the message. Returns 0, or the -errno of the last failed write. */
int bb_clean__check(FILE *out, const char *name, struct bb_err *err);
