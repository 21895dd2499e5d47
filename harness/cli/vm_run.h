/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"
#include "cli/measure.h"
#include "cli/options.h"

/* What `--vm` measures: the arguments of `bpfbench run` in the guests, and the files that they
 * name, as absolute paths. */
struct bb_vm_work {
	const char *name; /* of the scenario; for the id of the runs */
	struct bb_strings args, files;
};

/* The options of `--vm`. */
struct bb_vm_args {
	const char *kernels; /* names, separated by commas; NULL: no guests */
	double limit_s;
};

#define BB_VM_LIMIT_S 300.0

extern const struct bb_option bb_vm_options[]; /* they set members of a struct bb_vm_args */

/*
 * Runs bpfbench with `work` in a guest of each kernel, several at once if there are CPUs for it.
 * Stores each guest's run, and writes the matrix or the chosen format. The process must have given
 * up root's rights. Returns the exit code, or -errno with a message.
 */
int bb_vm__measure(const struct bb_vm_args *vm, const struct bb_measure_args *m,
		   const struct bb_vm_work *work, struct bb_err *err);

/* Returns a command line for the guest: "bpfbench" and what `run` needs to hand its result over. */
void bb_vm__begin_args(struct bb_strings *args, const struct bb_measure_args *m);
