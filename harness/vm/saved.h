/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/io.h"
#include "vm/kernels.h"

/* A saved guest has booted and waits for a job. It is a file in the user's cache (kernel->saved),
 * or only in memory if the cache cannot be written. Its first BB_SAVED_KEY_BYTES name the files of
 * the kernel, QEMU and bpfbench that it was made with. QEMU writes the rest. */
#define BB_SAVED_KEY_BYTES 4096u

/* Opens the saved guest of a kernel, for child processes, too. Returns -ENOENT if there is none, or
 * if it was made with another kernel, QEMU or bpfbench. */
int bb_saved_guest__open(const struct bb_kernel *k);

/* The file of a guest that is about to be saved. */
struct bb_new_guest {
	struct bb_new_file file;
	int fd;       /* QEMU appends the guest here; child processes inherit it */
	bool is_kept; /* true if the file is in the cache, false if it is in memory */
	char *name;
};

int bb_new_guest__begin(const struct bb_kernel *k, struct bb_new_guest *ret_guest,
			struct bb_err *err);

/* Finishes the file. `rc` is the result of saving the guest. Returns a descriptor for reading it,
 * which child processes inherit. After an error, returns -errno and leaves no file. */
int bb_new_guest__finish(struct bb_new_guest *g, int rc, struct bb_err *err);
