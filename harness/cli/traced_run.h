/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/vm_run.h"

struct bb_traced_opts {
	const char *variant; /* only this variant; NULL: all */
	bool hottest, all;
	/* base, head: paths of two objects. If they are set, only what differs between their
	 * programs in each kernel is printed. between_kernels: true: only what differs between a
	 * program in the first kernel and in each other one is printed. */
	const char *base, *head;
	bool between_kernels;
	bool is_markdown;
	const char *flame; /* file for a flame graph or, if named *.folded, for folded stacks */
};

/* Runs each program of the objects in guests, in which a plugin of QEMU traces the instructions.
 * Prints one run of each program: by line, and by function of the kernel. Says why if a program
 * cannot be traced. Call it once. Returns 0 or -errno with a message. */
int bb_traced_run(const struct bb_measure_args *m, const struct bb_object_args *objects,
		  const struct bb_traced_opts *opts, struct bb_err *err);
