/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The kernels of guests. Those of Debian are in ~/.cache/bpfbench/vm (or
 * $XDG_CACHE_HOME/bpfbench/vm) of the user. Each has a folder KERNEL there, with `vmlinuz`, and
 * with modules in `lib`. The caller gives up root's rights first.
 */

/* What a guest boots from. */
struct bb_kernel {
	char *name;    /* as the user gave it: "6.12", or a path */
	char *image;   /* path of the bzImage */
	char *modules; /* folder with the modules of each release; NULL: none */
	char *saved;   /* path of its saved guest, which may not be there (vm/saved.h) */
};

void bb_kernel__done(struct bb_kernel *k);

/* Finds a kernel: `name` is a path (with '/') of a bzImage, or the name of a kernel that was
 * fetched. Returns 0, -ENOENT with a message that says how to fetch it, or -errno. */
int bb_kernel__find(const char *name, struct bb_kernel *ret_kernel, struct bb_err *err);

/* Returns the names of the kernels that were fetched; free with bb_names_free(). */
int bb_kernels__list(char ***ret_names, size_t *ret_n, struct bb_err *err);

/* Returns the folder where a kernel of that name is once it is fetched; free it. Returns NULL with
 * a message if the name is bad or there is no memory. */
char *bb_kernel__folder(const char *name, struct bb_err *err);

/* Fetches Debian's newest kernel of that name by apt, which checks signatures, or takes it from
 * the package `deb` (NULL: none). Replaces an older one. Returns 0 or -errno; -ENOTSUP: it cannot
 * be fetched here. */
int bb_kernel__fetch(const char *name, const char *deb, struct bb_err *err);

/* Removes a kernel that was fetched. Of a kernel of the user's own, removes only the saved guest.
 * Returns 0 or -errno with a message. */
int bb_kernel__remove(const char *name, struct bb_err *err);
