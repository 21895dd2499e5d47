/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_LOAD_H
#define BB_EXACT_LOAD_H

#include <stdint.h>

#include "base/err.h"
#include "exact/cfg.h"
#include "bpf/code.h"
#include "exact/instrument.h"

/*
 * Load the instrumented form of `code` (NULL: the original). -ENOTSUP with the verifier's words
 * when it is refused; -EPERM, -ENOMEM and -EINTR as they are.
 */
int bb_load__program(const struct bb_code *code, const struct bb_instrumented *now, int *ret_fd,
		     struct bb_err *err);

/*
 * How deep each function's stack is, in bytes, into ret_bytes[g->n_funcs]: the deeper of two
 * figures, the verifier's, when it loads the original once more, and that of the instructions. (The
 * verifier does not count code that it removes as useless, and the instructions do not show how far
 * a helper writes.)
 */
int bb_load__stack_bytes(const struct bb_code *code, const struct bb_cfg *g, uint32_t *ret_bytes,
			 struct bb_err *err);

#endif
