/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/measure.h"
#include "cli/object_options.h"
#include "cli/options.h"
#include "export/matrix.h"

/* Prints the runs of the guests of kernels[n]. Returns the exit code, or -errno with a message. */
typedef int bb_vm_show(void *arg, const struct bb_matrix_kernel *kernels, size_t n,
		       struct bb_err *err);

/* What `--vm` measures: arguments of `bpfbench run` in the guests, and absolute paths of the files
 * that these arguments name. */
struct bb_vm_work {
	const char *name; /* name of the scenario, for the ids of the runs */
	struct bb_strings args, files;
	/* Pairs of programs to compare, or NULL to compare nothing. If it has no pair, no guest is
	 * started. */
	const struct bb_matrix_judge *judge;
	/* if NULL, bb_vm__measure() prints the table of programs by kernel, or the chosen format */
	bb_vm_show *show;
	void *arg;
	/* QEMU's plugin that traces marked runs, or NULL */
	const char *plugin;
};

extern const struct bb_option bb_vm_options[];

/* Runs `work` in a guest of each kernel, with at most one guest per CPU at once. Stores each
 * guest's run, and calls work->show(). The process must have given up root's rights. Returns -errno
 * with a message, or the exit code: BB_EXIT_REGRESSION if a program has failed by work->judge. */
int bb_vm__measure(const struct bb_measure_args *m, const struct bb_vm_work *work,
		   struct bb_err *err);

/* Boots and saves a guest of each kernel that has none. Returns 0 or -errno with a message. */
int bb_vm__build(const struct bb_strings *kernels, struct bb_err *err);

/* Opens a shell on this terminal in a guest of `kernel`, with bpfbench, busybox and copies of
 * `files`. If stdin is no terminal, the shell runs the commands in stdin. What the shell changes is
 * lost. Returns the exit code of the shell, BB_EXIT_FAILURE if it is unknown, -ENOTSUP if this
 * machine has no static busybox, or -errno with a message. */
int bb_vm__shell(const char *kernel, const struct bb_strings *files, struct bb_err *err);

/* Returns 0 if all kernels have been fetched, or -errno with a message. */
int bb_vm__check(const struct bb_measure_args *m, struct bb_err *err);

/* Gives up root's rights, and begins the command line for the guest: "bpfbench run", options for
 * its result, and the objects of `a` (may be NULL) with their inputs. Returns 0 or -errno with a
 * message. */
int bb_vm__begin_work(struct bb_vm_work *work, const struct bb_measure_args *m,
		      const struct bb_object_args *a, struct bb_err *err);

void bb_vm__append_file(struct bb_vm_work *work, const char *path);

/* Appends --NAME=VALUE to work->args. A NULL appends nothing, and a list appends the option once
 * for each of its values. */
void bb_vm__append_option(struct bb_vm_work *work, const char *name, const char *value);
void bb_vm__append_options(struct bb_vm_work *work, const char *name, const struct bb_strings *v);

/* Appends the drives, `loads` and `samples` to the guest's command line. 0 means the default
 * number. If `drives` is empty, the drives are step and exact, as far as the scenario `s` has them.
 * `s` NULL means objects, which have both drives. */
void bb_vm__name_drives(struct bb_vm_work *work, const struct bb_scenario *s,
			const struct bb_strings *drives, uint32_t loads, uint32_t samples);

/* Makes the guest measure the time of each line, in place of bb_vm__name_drives(). */
void bb_vm__name_lines(struct bb_vm_work *work, uint32_t loads, uint32_t samples);
