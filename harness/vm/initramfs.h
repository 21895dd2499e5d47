/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Makes the files of a guest as a cpio archive in memory, from which Linux boots: this program, its
 * libraries, and the files in `files`, each under its path on the host; and a folder for vm/guest.c
 * with what the guest executes. No file is made on the host.
 */
struct bb_initramfs {
	const char *dir;         /* current folder of the command in the guest; an absolute path */
	struct bb_strings args;  /* command line of bpfbench in the guest; empty: a shell */
	struct bb_strings files; /* absolute paths of files and folders that the guest has, too */
	struct bb_strings folders; /* absolute paths of further folders, empty in the guest */
	const char *modules;       /* folder with the kernel's modules; NULL: there is none */
};

/* Returns a descriptor of the archive that child processes inherit, or -errno with a message. */
int bb_initramfs__make(const struct bb_initramfs *what, struct bb_err *err);

/* Paths in the guest. */
#define BB_GUEST_DIR "/bpfbench-guest"
#define BB_GUEST_ARGS                                                                              \
	BB_GUEST_DIR "/args" /* folder, program, and command line; each text ends in NUL */
#define BB_GUEST_MODULES BB_GUEST_DIR "/modules"
