/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/measure.h"
#include "cli/object_options.h"
#include "cli/options.h"
#include "export/matrix.h"

/* Prints the stored runs of the guests kernels[n]. Returns the exit code, or -errno with a message.
 */
typedef int bb_vm_show(void *arg, const struct bb_matrix_kernel *kernels, size_t n,
		       struct bb_err *err);

/* What `--vm` measures: the arguments of `bpfbench run` in the guests, and the files that they
 * name, as absolute paths. */
struct bb_vm_work {
	const char *name; /* name of the scenario, for the ids of the runs */
	struct bb_strings args, files;
	/* pairs of programs to compare, and their limits; without a pair, no guest is started.
	 * NULL: nothing is compared, and every program has its own rows */
	const struct bb_matrix_judge *judge;
	bb_vm_show *show; /* NULL: bb_vm__measure() prints the matrix or the chosen format */
	void *arg;        /* argument of show() */
	/* path of QEMU's plugin that traces marked runs; NULL: nothing is traced */
	const char *plugin;
};

/* The options of `--vm`; they set members of a struct bb_measure_args. */
extern const struct bb_option bb_vm_options[];

/*
 * Runs bpfbench with `work` in a guest of each kernel, as many guests at once as there are CPUs.
 * Stores each guest's run, and calls work->show(). The process must have given up root's rights.
 * Returns -errno with a message, or the exit code: BB_EXIT_REGRESSION if a program has failed by
 * work->judge.
 */
int bb_vm__measure(const struct bb_measure_args *m, const struct bb_vm_work *work,
		   struct bb_err *err);

/* Boots a guest of each kernel that has no saved guest, and saves it. Returns 0 or -errno with a
 * message. */
int bb_vm__build(const struct bb_strings *kernels, struct bb_err *err);

/*
 * Opens a shell on this terminal in a guest of `kernel`. If stdin is no terminal, the shell runs
 * the commands that stdin has. The guest has bpfbench, the commands of busybox, and copies of
 * `files` under their paths. What the shell changes is lost. Returns the exit code of the shell,
 * BB_EXIT_FAILURE if it is unknown, or -errno with a message; -ENOTSUP: this machine has no static
 * busybox.
 */
int bb_vm__shell(const char *kernel, const struct bb_strings *files, struct bb_err *err);

/* Finds out whether all kernels have been fetched. Returns 0, or -errno with a message. */
int bb_vm__check(const struct bb_measure_args *m, struct bb_err *err);

/* Gives up root's rights, and begins the command line for the guest: "bpfbench run", the options
 * that make it hand over its result, and the objects of `a` with their inputs (`a` may be NULL:
 * there are no objects). Returns 0 or -errno with a message. */
int bb_vm__begin_work(struct bb_vm_work *work, const struct bb_measure_args *m,
		      const struct bb_object_args *a, struct bb_err *err);

/* Appends the absolute path of a file to work->files. */
void bb_vm__append_file(struct bb_vm_work *work, const char *path);

/* Appends the option --name with a value to work->args (NULL: appends nothing), or once for each
 * value in `v`. */
void bb_vm__append_option(struct bb_vm_work *work, const char *name, const char *value);
void bb_vm__append_options(struct bb_vm_work *work, const char *name, const struct bb_strings *v);

/* Appends to the guest's command line the drives to run, `loads` and `samples`. 0 loads or 0
 * samples mean the default number. If `drives` is empty, the drives are step and exact, if the
 * scenario `s` has them. If `s` is NULL, the guest measures objects, which have both drives. */
void bb_vm__name_drives(struct bb_vm_work *work, const struct bb_scenario *s,
			const struct bb_strings *drives, uint32_t loads, uint32_t samples);

/* Makes the guest measure the time of each line. Call it in place of bb_vm__name_drives(). */
void bb_vm__name_lines(struct bb_vm_work *work, uint32_t loads, uint32_t samples);
