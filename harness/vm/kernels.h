/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The kernels of guests. Each of Debian's kernels has a folder of its name in ~/.cache/bpfbench/vm
 * (or $XDG_CACHE_HOME/bpfbench/vm), with the image `vmlinuz` and with modules in `lib`. A process
 * of root must call bb_caller__become() first. */

struct bb_kernel {
	char *name; /* "6.12", or a path */
	char *image;
	char *modules; /* folder with the modules of each release; NULL if there are none */
	const char *args;
	char *saved; /* path of the kernel's saved guest, which need not exist (vm/saved.h) */
};

void bb_kernel__done(struct bb_kernel *k);

/* Finds a kernel by the path (with '/') of a bzImage, or by the name of one that was fetched. Fails
 * with -ENOENT if it must be fetched first. */
int bb_kernel__find(const char *name, struct bb_kernel *ret_kernel, struct bb_err *err);

/* Returns the names of the kernels that were fetched. Free them by bb_names_free(). */
int bb_kernels__list(char ***ret_names, size_t *ret_n, struct bb_err *err);

/* Fetches Debian's newest kernel of this name by apt, which checks signatures, or from the package
 * `deb` if that is not NULL. Replaces an older one. Fails with -ENOTSUP if this machine cannot
 * fetch kernels. */
int bb_kernel__fetch(const char *name, const char *deb, struct bb_err *err);

/* Removes a kernel that was fetched. Of the user's own kernel, removes only the saved guest. */
int bb_kernel__remove(const char *name, struct bb_err *err);
