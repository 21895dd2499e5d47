/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/vm_run.h"

struct bb_traced_opts {
	bool hottest, all;
	/* paths of two objects: prints what differs between their programs instead; NULL: none */
	const char *base, *head;
	const char *flame; /* file for a flame graph or, if it ends in .folded, folded stacks */
};

/* Runs each program of the objects of `work` in guests whose instructions a plugin of QEMU traces,
 * and prints one run of each: by line, and by function of the kernel. `work` has the command line
 * up to the objects. Where it cannot be done, says why. Returns 0 or -errno with a message. */
int bb_traced_run(const struct bb_vm_args *vm, const struct bb_measure_args *m,
		  struct bb_vm_work *work, const struct bb_traced_opts *opts, struct bb_err *err);
