/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CLEAN_H
#define BB_BASE_CLEAN_H

#include "base/err.h"
#include "base/std.h"

/*
 * Streams that are safe to show on a terminal, although names, sources and messages come from
 * others: every control character but newline and tab, and every byte that is not UTF-8, becomes
 * '?' on its way out (bb_shown_len() of base/text.h).
 */

/* A stream that writes to `fd`, which is its own from then on; `buffering` is setvbuf(3)'s. NULL
 * when out of memory. */
FILE *bb_clean__open(int fd, int buffering);

/* stdout and stderr become such streams. 0 or -ENOMEM. */
int bb_clean__std(void);

/* From now on a reader of stdout who has gone ends this process by SIGPIPE, as it ends cat(1). */
void bb_clean__end_by_sigpipe(void);

/* Our own escape sequences for a terminal, written as they are. */
void bb_clean__put_raw(FILE *out, const char *text);

/* Could all of such a stream be written so far? Empties its buffer. 0 or -errno of the last write
 * that failed; the message begins with `name`. */
int bb_clean__check(FILE *out, const char *name, struct bb_err *err);

#endif
