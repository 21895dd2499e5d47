/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/vm_run.h"

struct bb_traced_opts {
	const char *variant; /* only this one; NULL: all */
	bool hottest, all;
	/* prints what differs between the programs of two objects, by their paths, in each kernel
	 * (NULL: nothing), or between a program in the first kernel and in each other one */
	const char *base, *head;
	bool between_kernels;
	bool is_markdown;
	const char *flame; /* file for a flame graph or, if it ends in .folded, folded stacks */
};

/* Runs each program of the objects in guests whose instructions a plugin of QEMU traces, and prints
 * one run of each: by line, and by function of the kernel. Call it once. Where it cannot be done,
 * says why. Returns 0 or -errno with a message. */
int bb_traced_run(const struct bb_vm_args *vm, const struct bb_measure_args *m,
		  const struct bb_object_args *objects, const struct bb_traced_opts *opts,
		  struct bb_err *err);
