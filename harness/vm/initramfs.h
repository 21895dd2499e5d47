/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The files of a guest, as cpio archives in memory. A guest boots from the first archive: this
 * program, its libraries and the kernel's modules. The second archive is a job: a command, and the
 * files that it needs, each under its path on the host. Child processes inherit the descriptors of
 * archives. */
struct bb_guest_job {
	const char *dir;     /* absolute path of the folder in which the guest runs the
			      * program */
	const char *program; /* absolute path in the guest; NULL means bpfbench */
	struct bb_strings args;
	struct bb_strings files;   /* absolute paths of files and folders to copy into the guest */
	struct bb_strings folders; /* absolute paths of folders that are empty in the guest */
};

/* Makes the first archive. `modules` is the folder of the kernel's modules, or NULL. */
int bb_initramfs__make(const char *modules, struct bb_err *err);

int bb_guest_job__make(const struct bb_guest_job *job, struct bb_err *err);

/* Returns the path of this program, on the host and in the guest, or "" without /proc. */
const char *bb_guest_program(void);

/* Calls do_file() for each file of the host that is in the first archive, except the modules. */
void bb_initramfs__each_file(void (*do_file)(void *arg, const char *path), void *arg);

/* Paths in the guest. */
#define BB_GUEST_DIR "/bpfbench-guest"
/* folder, path of the program and its command line, each text followed by NUL */
#define BB_GUEST_ARGS BB_GUEST_DIR "/args"
#define BB_GUEST_MODULES BB_GUEST_DIR "/modules"
