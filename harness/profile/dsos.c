/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/dsos.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/grow.h"
#include "base/io.h"

#define VDSO "[vdso]"
#define VDSO_MAX_BYTES 65536u
#define DELETED " (deleted)"

static int open_if_same(const char *path, uint64_t inode)
{
	struct stat st;
	int fd = bb_open_regular(path, 0, &st);

	if (fd >= 0 && st.st_ino != inode) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* Every process has the same; ours is copied, up to where it ends. */
static int copy_vdso(void)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	int memory = address ? bb_root__open("/proc/self/mem", O_RDONLY) : -1;
	int fd = memory < 0 ? -1 : memfd_create("vdso", MFD_CLOEXEC);
	char bytes[VDSO_MAX_BYTES];
	ssize_t n = fd < 0 ? 0 : pread(memory, bytes, sizeof(bytes), (off_t)address);

	if (fd >= 0 && (n <= 0 || write(fd, bytes, (size_t)n) != n)) {
		close(fd);
		fd = -1;
	}
	if (memory >= 0)
		close(memory);
	return fd;
}

/* The very file that is mapped; else, should its process be gone, the one of that name if it is
 * still the same one. */
static int open_mapped(pid_t pid, const struct bb_mapped_file *f, const char *path)
{
	char proc[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(proc, sizeof(proc), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, f->start,
		 f->end);
	fd = bb_open_regular(proc, 0, &st);
	if (fd < 0 &&
	    snprintf(proc, sizeof(proc), "/proc/%d/root%s", (int)pid, path) < (int)sizeof(proc))
		fd = open_if_same(proc, f->inode);
	return fd < 0 ? open_if_same(path, f->inode) : fd;
}

static bool has_file(const struct bb_mapped_file *f)
{
	return f->inode && f->path_len && f->path[0] == '/' && strncmp(f->path, "/memfd:", 7) &&
	       strncmp(f->path, "//", 2) && strncmp(f->path, "/SYSV", 5) &&
	       strncmp(f->path, "/dev/zero", 9);
}

int bb_dsos__add(struct bb_dsos *dsos, pid_t pid, const struct bb_mapped_file *f, uint32_t *ret_id)
{
	bool is_vdso = f->path_len == strlen(VDSO) && !memcmp(f->path, VDSO, strlen(VDSO));
	uint64_t device = is_vdso ? UINT64_MAX : (uint64_t)f->major << 32 | f->minor;
	uint32_t id = bb_idmap__get(&dsos->by_file, device, f->inode);
	size_t len = f->path_len;
	char *path;

	if (id != BB_NO_ID || (!is_vdso && !has_file(f))) {
		*ret_id = id;
		return 0;
	}
	if (len > strlen(DELETED) &&
	    !memcmp(f->path + len - strlen(DELETED), DELETED, strlen(DELETED)))
		len -= strlen(DELETED);
	path = strndup(f->path, len);
	id = (uint32_t)dsos->n;
	if (!path || bb_reserve(&dsos->v, dsos->n + 1, &dsos->size, sizeof(*dsos->v)) ||
	    bb_idmap__put(&dsos->by_file, device, f->inode, id)) {
		free(path);
		return -ENOMEM;
	}
	dsos->v[dsos->n++] = (struct bb_dso){
		.path = path,
		.fd = is_vdso ? copy_vdso() : open_mapped(pid, f, path),
	};
	*ret_id = id;
	return 0;
}

const char *bb_dso__short_name(const struct bb_dso *dso)
{
	const char *slash = strrchr(dso->path, '/');

	return slash && slash[1] ? slash + 1 : dso->path;
}

void bb_dsos__done(struct bb_dsos *dsos)
{
	for (size_t i = 0; i < dsos->n; i++) {
		free(dsos->v[i].path);
		if (dsos->v[i].fd >= 0)
			close(dsos->v[i].fd);
	}
	free(dsos->v);
	bb_idmap__done(&dsos->by_file);
	memset(dsos, 0, sizeof(*dsos));
}
