/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Streams that are safe for a terminal, even with untrusted names, sources and messages. Every
 * control character except newline and tab, and every byte that is not UTF-8, is written as '?'
 * (bb_shown_len() in base/text.h).
 */

/* Opens a stream that writes to `fd` and owns it; `buffering` is as in setvbuf(3). */
FILE *bb_clean__open(int fd, int buffering);

/* Replaces stdout and stderr by streams that are safe for a terminal. */
void bb_clean__std(void);

/* From now on SIGPIPE ends this process when the reader of stdout has gone, as with cat(1). */
void bb_clean__end_by_sigpipe(void);

/* Writes `text` unchanged. It must be our own, such as an escape sequence. */
void bb_clean__put_raw(FILE *out, const char *text);

/* Flushes a stream of this header and checks that all was written. Returns 0, or -errno of the
 * last failed write, with a message that begins with `name`. */
int bb_clean__check(FILE *out, const char *name, struct bb_err *err);
