/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The kernels of guests. Debian's kernels are in the user's folder ~/.cache/bpfbench/vm (or
 * $XDG_CACHE_HOME/bpfbench/vm). Each kernel has a folder of its name there, with the image
 * `vmlinuz` and with modules in `lib`. A process of root must have called bb_caller__become()
 * before it calls these functions.
 */

/* The files that a guest boots from. */
struct bb_kernel {
	char *name;       /* name as the user gave it: "6.12", or a path */
	char *image;      /* path of the bzImage */
	char *modules;    /* folder with the modules of each release; NULL: there are no modules */
	const char *args; /* arguments of the kernel */
	char *saved;      /* path of the kernel's saved guest, which need not exist (vm/saved.h) */
};

void bb_kernel__done(struct bb_kernel *k);

/* Finds a kernel. `name` is the path (with '/') of a bzImage, or the name of a kernel that was
 * fetched. Returns 0, -ENOENT with a message that says how to fetch it, or -errno. */
int bb_kernel__find(const char *name, struct bb_kernel *ret_kernel, struct bb_err *err);

/* Returns the names of the kernels that were fetched; free with bb_names_free(). */
int bb_kernels__list(char ***ret_names, size_t *ret_n, struct bb_err *err);

/* Fetches Debian's newest kernel of this name. If `deb` is NULL, fetches it by apt, which checks
 * signatures; else takes it from the package `deb`. Replaces an older kernel. Returns 0 or -errno
 * with a message; -ENOTSUP if kernels cannot be fetched on this machine. */
int bb_kernel__fetch(const char *name, const char *deb, struct bb_err *err);

/* Removes a kernel that was fetched. If the kernel is the user's own, removes only its saved guest.
 * Returns 0 or -errno with a message. */
int bb_kernel__remove(const char *name, struct bb_err *err);
