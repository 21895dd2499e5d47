/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"
#include "cli/measure.h"
#include "cli/object_options.h"
#include "cli/options.h"
#include "export/matrix.h"

/* Prints the runs of kernels[n]. Returns the exit code, or -errno with a message. */
typedef int bb_vm_show(void *arg, const struct bb_matrix_kernel *kernels, size_t n,
		       struct bb_err *err);

/* What `--vm` measures: the arguments of `bpfbench run` in the guests, and the files that they
 * name, as absolute paths. */
struct bb_vm_work {
	const char *name; /* of the scenario; for the id of the runs */
	struct bb_strings args, files;
	/* which programs to compare, as base and head, and by which limits; NULL: every program
	 * has its own rows. If there is no pair to compare, no guest is started */
	const struct bb_matrix_judge *judge;
	bb_vm_show *show; /* NULL: the matrix, or the chosen format, is printed */
	void *arg;        /* of show() */
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
 * up root's rights. Returns the exit code, which is BB_EXIT_REGRESSION if work->judge fails a
 * program, or -errno with a message.
 */
int bb_vm__measure(const struct bb_vm_args *vm, const struct bb_measure_args *m,
		   const struct bb_vm_work *work, struct bb_err *err);

/* Finds out whether the kernels are here. Returns 0, or -errno with a message. */
int bb_vm__check(const struct bb_vm_args *vm, struct bb_err *err);

/* Returns the beginning of a command line for the guest: "bpfbench", and the options by which `run`
 * hands its result over. */
void bb_vm__begin_args(struct bb_strings *args, const struct bb_measure_args *m);

/* Appends a file's absolute path. */
void bb_vm__append_file(struct bb_strings *files, const char *path);

/* Appends the option with each of its values. */
void bb_vm__append_options(struct bb_strings *args, const char *name, const struct bb_strings *v);

/* Adds the objects with their inputs to the command line and to the files. */
void bb_vm__name_objects(struct bb_vm_work *work, const struct bb_object_args *a);

/* Adds the drives that the guest runs. If `drives` is empty, these are step and exact, as far as
 * the scenario has them; `s` NULL means objects, which have both. If `loads` or `samples` is 0, it
 * has its default. */
void bb_vm__name_drives(struct bb_vm_work *work, const struct bb_scenario *s,
			const struct bb_strings *drives, uint32_t loads, uint32_t samples);

/* Lets the guest measure by line instead. */
void bb_vm__name_lines(struct bb_vm_work *work, uint32_t loads, uint32_t samples);
