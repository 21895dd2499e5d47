/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/vm_run.h"

struct bb_traced_opts {
	const char *variant; /* only this variant; NULL means all */
	bool hottest, all;
	/* Paths of two objects. If they are set, only the differences between their programs in
	 * each kernel are printed. */
	const char *base, *head;
	/* prints only the differences of a program between the first kernel and each other one */
	bool between_kernels;
	bool is_markdown;
	const char *flame; /* file for a flame graph, or for folded stacks if it ends in .folded */
};

/* Runs each program of the objects in guests, in which a plugin of QEMU traces the instructions.
 * Prints one run of each program by line and by kernel function, or why there is none. Call it
 * once. Returns 0 or -errno with a message. */
int bb_traced_run(const struct bb_measure_args *m, const struct bb_object_args *objects,
		  const struct bb_traced_opts *opts, struct bb_err *err);
