/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/spaces.h"

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
#include "base/parse.h"

#define VDSO "[vdso]"
#define VDSO_MAX_BYTES 65536u
#define DELETED " (deleted)"
#define MAPS_MAX_BYTES (64u << 20)

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
	struct bb_dso *dso;

	if (id != BB_NO_ID || (!is_vdso && !has_file(f))) {
		*ret_id = id;
		return 0;
	}
	if (len > strlen(DELETED) &&
	    !memcmp(f->path + len - strlen(DELETED), DELETED, strlen(DELETED)))
		len -= strlen(DELETED);
	id = (uint32_t)dsos->n;
	dso = bb_append(&dsos->v, &dsos->n, sizeof(*dso));
	if (!dso)
		return -ENOMEM;
	dso->fd = -1;
	dso->path = strndup(f->path, len);
	if (!dso->path || bb_idmap__put(&dsos->by_file, device, f->inode, id))
		return -ENOMEM;
	dso->fd = is_vdso ? copy_vdso() : open_mapped(pid, f, dso->path);
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

int bb_spaces__log(struct bb_spaces *s, const struct bb_task_event *event)
{
	struct bb_task_event *copy = bb_append(&s->log, &s->n_log, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	*copy = *event;
	copy->nth = s->n_log - 1;
	return 0;
}

int bb_spaces__note_user(struct bb_spaces *s, pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) ? 0 : bb_idmap__put(&s->users, (uint64_t)pid, 0, st.st_uid);
}

uint32_t bb_spaces__user(const struct bb_spaces *s, uint32_t pid)
{
	return bb_idmap__get(&s->users, pid, 0);
}

/* The number at *c in hexadecimal, and the character after it. */
static bool number_then(const char **c, char then, uint64_t *ret_value)
{
	return !bb_parse_hex_digits(c, ret_value) && *(*c)++ == then;
}

/* "start-end perms offset major:minor inode   path": true if it is one of code. */
static bool parse_maps_line(const char *line, const char *end, struct bb_mapping *ret_mapping,
			    struct bb_mapped_file *ret_file)
{
	uint64_t major, minor;
	const char *c = line;

	if (!number_then(&c, '-', &ret_mapping->start) ||
	    !number_then(&c, ' ', &ret_mapping->end) || end - c < 5 || c[2] != 'x')
		return false;
	c += 5;
	if (!number_then(&c, ' ', &ret_mapping->file_offset) || !number_then(&c, ':', &major) ||
	    !number_then(&c, ' ', &minor) || bb_parse_digits(&c, &ret_file->inode))
		return false;
	while (c < end && *c == ' ')
		c++;
	ret_file->start = ret_mapping->start;
	ret_file->end = ret_mapping->end;
	ret_file->major = (uint32_t)major;
	ret_file->minor = (uint32_t)minor;
	ret_file->path = c;
	ret_file->path_len = (size_t)(end - c);
	return true;
}

int bb_spaces__log_maps(struct bb_spaces *s, pid_t pid, uint64_t time_ns, const char *maps)
{
	struct bb_task_event event = {.kind = BB_TASK_MAP,
				      .pid = (uint32_t)pid,
				      .time_ns = time_ns};
	int rc = 0;

	for (const char *line = maps, *end; *line && !rc; line = *end ? end + 1 : end) {
		struct bb_mapped_file file;

		end = strchrnul(line, '\n');
		if (!parse_maps_line(line, end, &event.mapping, &file))
			continue;
		rc = bb_dsos__add(&s->dsos, pid, &file, &event.mapping.dso);
		if (!rc)
			rc = bb_spaces__log(s, &event);
	}
	return rc;
}

int bb_spaces__log_proc(struct bb_spaces *s, pid_t pid, uint64_t time_ns)
{
	struct bb_task_event event = {.kind = BB_TASK_EXEC,
				      .pid = (uint32_t)pid,
				      .time_ns = time_ns};
	char path[64], *text;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (bb_read_proc(path, sizeof(path), &text, &len, NULL))
		return 0;
	snprintf(event.comm, sizeof(event.comm), "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	rc = bb_read_proc(path, MAPS_MAX_BYTES, &text, &len, NULL);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	rc = bb_spaces__note_user(s, pid);
	if (!rc)
		rc = bb_spaces__log(s, &event);
	if (!rc)
		rc = bb_spaces__log_maps(s, pid, time_ns, text);
	free(text);
	return rc;
}

static int add_mapping(struct bb_space *space, const struct bb_mapping *m)
{
	struct bb_mapping *copy = bb_append(&space->mappings, &space->n, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	*copy = *m;
	return 0;
}

/* A new, empty space of the process; *ret is valid until the next. */
static int begin_space(struct bb_spaces *s, uint32_t pid, const char *comm, struct bb_space **ret)
{
	uint32_t older = bb_idmap__get(&s->newest, pid, 0);
	struct bb_space *space = bb_append(&s->v, &s->n, sizeof(*space));

	if (!space || bb_idmap__put(&s->newest, pid, 0, (uint32_t)s->n - 1))
		return -ENOMEM;
	space->older = older;
	memcpy(space->comm, comm, sizeof(space->comm));
	*ret = space;
	return 0;
}

static bool takes_the_place_of_another(const struct bb_space *space, const struct bb_mapping *m)
{
	for (size_t i = 0; i < space->n; i++) {
		const struct bb_mapping *other = &space->mappings[i];

		if (other->dso != m->dso && other->dso != BB_NO_ID && other->start < m->end &&
		    m->start < other->end)
			return true;
	}
	return false;
}

static int replay_one(struct bb_spaces *s, const struct bb_task_event *e)
{
	uint32_t id = bb_idmap__get(&s->newest, e->pid, 0);
	uint32_t parent = bb_idmap__get(&s->newest, e->parent, 0);
	struct bb_space *space = id == BB_NO_ID ? NULL : &s->v[id];
	char comm[BB_PROFILE_COMM];
	int rc = 0;

	switch (e->kind) {
	case BB_TASK_EXEC: return begin_space(s, e->pid, e->comm, &space);
	case BB_TASK_COMM:
		if (space)
			memcpy(space->comm, e->comm, sizeof(e->comm));
		return 0;
	case BB_TASK_FORK:
		if (parent == BB_NO_ID)
			return 0;
		memcpy(comm, s->v[parent].comm, sizeof(comm));
		rc = begin_space(s, e->pid, comm, &space);
		for (size_t i = 0; !rc && i < s->v[parent].n; i++)
			rc = add_mapping(space, &s->v[parent].mappings[i]);
		return rc;
	case BB_TASK_MAP:
		if (!space && begin_space(s, e->pid, e->comm, &space))
			return -ENOMEM;
		/* Samples know no time: those of a file that was there before are taken for this
		 * one's. */
		s->n_replaced += takes_the_place_of_another(space, &e->mapping);
		return add_mapping(space, &e->mapping);
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct bb_task_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

int bb_spaces__replay(struct bb_spaces *s)
{
	int rc = 0;

	if (s->n_log)
		qsort(s->log, s->n_log, sizeof(*s->log), by_time);
	for (size_t i = 0; i < s->n_log && !rc; i++)
		rc = replay_one(s, &s->log[i]);
	return rc;
}

uint32_t bb_spaces__of(const struct bb_spaces *s, uint32_t pid, const char *comm)
{
	uint32_t newest = bb_idmap__get(&s->newest, pid, 0);

	for (uint32_t id = newest; id != BB_NO_ID; id = s->v[id].older)
		if (!strncmp(s->v[id].comm, comm, BB_PROFILE_COMM))
			return id;
	return newest;
}

const struct bb_mapping *bb_spaces__find(const struct bb_spaces *s, uint32_t space,
					 uint64_t address)
{
	for (; space != BB_NO_ID; space = s->v[space].older) {
		const struct bb_space *in = &s->v[space];

		for (size_t i = in->n; i-- > 0;)
			if (address >= in->mappings[i].start && address < in->mappings[i].end)
				return &in->mappings[i];
	}
	return NULL;
}

void bb_spaces__done(struct bb_spaces *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].mappings);
	free(s->v);
	free(s->log);
	bb_idmap__done(&s->newest);
	bb_idmap__done(&s->users);
	bb_dsos__done(&s->dsos);
	memset(s, 0, sizeof(*s));
}
