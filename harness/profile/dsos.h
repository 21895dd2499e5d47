/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_DSOS_H
#define BB_PROFILE_DSOS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/idmap.h"

/*
 * The files that code is mapped from. Each is opened when it is first seen, while a process still
 * has it: later it may have been deleted or replaced, and the process be gone.
 */
struct bb_dso {
	char *path; /* as the process saw it; "[vdso]" is the kernel's page of code */
	int fd;     /* < 0: could not be opened, nor found by its path later */
};

struct bb_dsos {
	struct bb_dso *v;
	size_t n, size;
	struct bb_idmap by_file; /* (device, inode) */
};

/* One mapping of code, as /proc/PID/maps or a perf event tells of it. */
struct bb_mapped_file {
	uint64_t start, end;
	uint32_t major, minor;
	uint64_t inode;
	const char *path;
	size_t path_len;
};

/* BB_NO_ID for memory that no file is behind. 0 or -ENOMEM. */
int bb_dsos__add(struct bb_dsos *dsos, pid_t pid, const struct bb_mapped_file *file,
		 uint32_t *ret_id);

/* The last part of the path. */
const char *bb_dso__short_name(const struct bb_dso *dso);

void bb_dsos__done(struct bb_dsos *dsos);

#endif
