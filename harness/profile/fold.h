/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_FOLD_H
#define BB_PROFILE_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "profile/recording.h"
#include "profile/spaces.h"
#include "profile/stacks.h"
#include "profile/symbolize.h"
#include "profile/symtab.h"

struct bb_profile {
	struct bb_stacks stacks; /* sorted */
	struct bb_symbolize_result symbols;
	uint64_t unknown_kernel; /* kernel frames without a name */
};

struct bb_fold_opts {
	/* of one sample on a CPU: 1 to count, or the microseconds that it stands for */
	double on_cpu_weight;
	const struct bb_symtab *kernel; /* sorted */
	/* processes are told apart: the root of a stack is "comm (pid)", not "comm" */
	bool with_pid;
};

/* From addresses to names: the folded stacks of all samples. `spaces` have been replayed. */
int bb_fold(const struct bb_samples *samples, const struct bb_spaces *spaces,
	    const struct bb_fold_opts *opts, struct bb_profile *ret_profile, struct bb_err *err);

void bb_profile__done(struct bb_profile *p);

#endif
