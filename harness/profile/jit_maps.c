/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/jit_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/io.h"

#define MAX_BYTES (256u << 20)

static int read_file_of(const char *path, uint32_t uid, char **ret_text)
{
	char opened[64];
	struct stat st;
	size_t len;
	int fd = bb_open_regular(path, O_NOFOLLOW, &st), rc = fd < 0 ? fd : 0;

	if (!rc && st.st_uid && st.st_uid != uid)
		rc = -EPERM;
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	if (!rc)
		rc = bb_read_file(opened, MAX_BYTES, ret_text, &len, NULL);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* The process's own /tmp, as long as there is one; ours otherwise. */
static int read_text(uint32_t pid, uint32_t uid, char **ret_text)
{
	char path[96];
	int rc;

	snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid, pid);
	rc = read_file_of(path, uid, ret_text);
	if (!rc || rc == -ENOMEM)
		return rc;
	return read_file_of(strstr(path, "/tmp/"), uid, ret_text);
}

static int read_map(uint32_t pid, uint32_t uid, struct bb_symtab **ret_symtab)
{
	struct bb_symtab *t;
	char *text;
	int rc = read_text(pid, uid, &text);

	*ret_symtab = NULL;
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	t = calloc(1, sizeof(*t));
	rc = t ? bb_symtab__add_perf_map(t, text) : -ENOMEM;
	free(text);
	if (rc) {
		if (t)
			bb_symtab__done(t);
		free(t);
		return rc;
	}
	bb_symtab__sort(t);
	*ret_symtab = t;
	return 0;
}

int bb_jit_maps__get(struct bb_jit_maps *maps, uint32_t pid, uint32_t uid,
		     const struct bb_symtab **ret_symtab)
{
	uint32_t id = bb_idmap__get(&maps->by_pid, pid, 0);
	int rc;

	if (id == BB_NO_ID) {
		id = (uint32_t)maps->n;
		if (bb_reserve(&maps->v, maps->n + 1, &maps->size, sizeof(*maps->v)))
			return -ENOMEM;
		rc = read_map(pid, uid, &maps->v[id]);
		if (rc)
			return rc;
		maps->n++;
		if (bb_idmap__put(&maps->by_pid, pid, 0, id))
			return -ENOMEM;
	}
	*ret_symtab = maps->v[id];
	return 0;
}

void bb_jit_maps__done(struct bb_jit_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++) {
		if (maps->v[i])
			bb_symtab__done(maps->v[i]);
		free(maps->v[i]);
	}
	free(maps->v);
	bb_idmap__done(&maps->by_pid);
	memset(maps, 0, sizeof(*maps));
}
