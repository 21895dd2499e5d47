/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_KERNEL_FUNCTION_H
#define BB_FIRE_KERNEL_FUNCTION_H

#include <stddef.h>

#include "base/err.h"

/* Functions of the kernel, by a name or a pattern ("tcp_*"). */
struct bb_kernel_functions {
	char **names;
	size_t n;
};

/* A name is taken as it is, a pattern for the functions that ftrace can follow. -ENOTSUP with a
 * message: there are none, or they are too many. */
int bb_kernel_functions__find(const char *pattern, struct bb_kernel_functions *ret_functions,
			      struct bb_err *err);
void bb_kernel_functions__done(struct bb_kernel_functions *f);

/* "this kernel has no function 'vfs_raed' ...; did you mean 'vfs_read'?" -ENOTSUP. */
int bb_kernel_function__say_missing(const char *name, struct bb_err *err);

#endif
