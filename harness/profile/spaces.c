/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/spaces.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/auxv.h>

#include "base/caller.h"
#include "base/io.h"
#include "base/parse.h"
#include "bpf/libbpf_log.h"

#define VDSO "[vdso]"
#define VDSO_MAX_BYTES 65536u
#define DELETED " (deleted)"
#define MAPS_MAX_BYTES (64u << 20)

/* A code mapping before its file is opened. */
struct mapped_file {
	struct bb_mapping at; /* `dso` is not set yet */
	uint32_t major, minor;
	uint64_t inode;
	const char *path;
	size_t path_len;
};

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

/* Copies our vDSO, which is the same in every process, into a file in memory. Returns it, or -1. */
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
	bb_close(&memory);
	return fd;
}

/* Opens the mapped file through /proc or, if the process has ended, the file at `path` if it has
 * the mapping's inode. Returns a descriptor, or -errno. */
static int open_mapped(pid_t pid, const struct mapped_file *f, const char *path)
{
	char proc[PATH_MAX];
	struct stat st;

	snprintf(proc, sizeof(proc), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 f->at.start, f->at.end);
	int fd = bb_open_regular(proc, 0, &st);
	if (fd < 0 &&
	    snprintf(proc, sizeof(proc), "/proc/%d/root%s", (int)pid, path) < (int)sizeof(proc))
		fd = open_if_same(proc, f->inode);
	return fd < 0 ? open_if_same(path, f->inode) : fd;
}

/* Returns the index of a mapping's file, or BB_NO_ID for memory without a file. Opens a new
 * file. */
static uint32_t add_dso(struct bb_dsos *dsos, pid_t pid, const struct mapped_file *f)
{
	bool is_vdso = f->path_len == strlen(VDSO) && !memcmp(f->path, VDSO, strlen(VDSO));
	uint64_t device = is_vdso ? UINT64_MAX : (uint64_t)f->major << 32 | f->minor;
	uint32_t id = bb_idmap__get(&dsos->by_file, device, f->inode);
	size_t len = f->path_len;
	bool has_file = f->inode && f->path_len && f->path[0] == '/' &&
			strncmp(f->path, "/memfd:", 7) && strncmp(f->path, "//", 2) &&
			strncmp(f->path, "/SYSV", 5) && strncmp(f->path, "/dev/zero", 9);

	if (id != BB_NO_ID || (!is_vdso && !has_file))
		return id;
	if (len > strlen(DELETED) &&
	    !memcmp(f->path + len - strlen(DELETED), DELETED, strlen(DELETED)))
		len -= strlen(DELETED);
	id = (uint32_t)dsos->n;
	struct bb_dso *dso = bb_append(&dsos->v, &dsos->n, sizeof(*dso));
	dso->path = bb_asprintf("%.*s", (int)len, f->path);
	bb_idmap__put(&dsos->by_file, device, f->inode, id);
	dso->fd = is_vdso ? copy_vdso() : open_mapped(pid, f, dso->path);
	return id;
}

const char *bb_dso__short_name(const struct bb_dso *dso)
{
	const char *slash = strrchr(dso->path, '/');

	return slash && slash[1] ? slash + 1 : dso->path;
}

void bb_spaces__log(struct bb_spaces *s, const struct bb_task_event *event)
{
	struct bb_task_event *copy = bb_append(&s->log, &s->n_log, sizeof(*copy));

	*copy = *event;
	copy->nth = s->n_log - 1;
}

static void note_user(struct bb_spaces *s, pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (!stat(path, &st))
		bb_idmap__put(&s->users, (uint64_t)pid, 0, st.st_uid);
}

/* Parses a hexadecimal number and the character `then` after it. */
static bool number_then(const char **c, char then, uint64_t *ret_value)
{
	return !bb_parse_hex_digits(c, ret_value) && *(*c)++ == then;
}

/* Parses a line "start-end perms offset major:minor inode path" of /proc/PID/maps. Returns false if
 * the mapping is not executable. */
static bool parse_maps_line(const char *line, const char *end, struct mapped_file *ret_file)
{
	struct bb_mapping *at = &ret_file->at;
	uint64_t major, minor;
	const char *c = line;

	if (!number_then(&c, '-', &at->start) || !number_then(&c, ' ', &at->end) || end - c < 5 ||
	    c[2] != 'x')
		return false;
	c += 5;
	if (!number_then(&c, ' ', &at->file_offset) || !number_then(&c, ':', &major) ||
	    !number_then(&c, ' ', &minor) || bb_parse_digits(&c, &ret_file->inode))
		return false;
	while (c < end && *c == ' ')
		c++;
	ret_file->major = (uint32_t)major;
	ret_file->minor = (uint32_t)minor;
	ret_file->path = c;
	ret_file->path_len = (size_t)(end - c);
	return true;
}

static void log_mapping(struct bb_spaces *s, pid_t pid, uint64_t time_ns,
			const struct mapped_file *file)
{
	struct bb_task_event event = {.kind = BB_TASK_MAP,
				      .pid = (uint32_t)pid,
				      .time_ns = time_ns,
				      .mapping = file->at};

	event.mapping.dso = add_dso(&s->dsos, pid, file);
	bb_spaces__log(s, &event);
}

void bb_spaces__log_maps(struct bb_spaces *s, pid_t pid, uint64_t time_ns, const char *maps)
{
	for (const char *line = maps, *end; *line; line = *end ? end + 1 : end) {
		struct mapped_file file;

		end = strchrnul(line, '\n');
		if (parse_maps_line(line, end, &file))
			log_mapping(s, pid, time_ns, &file);
	}
}

void bb_spaces__log_proc(struct bb_spaces *s, pid_t pid, uint64_t time_ns)
{
	struct bb_task_event event = {.kind = BB_TASK_EXEC,
				      .pid = (uint32_t)pid,
				      .time_ns = time_ns};
	char path[64], *text;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (bb_read_proc(path, sizeof(path), &text, &len))
		return;
	snprintf(event.comm, sizeof(event.comm), "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (bb_read_proc(path, MAPS_MAX_BYTES, &text, &len))
		return;
	note_user(s, pid);
	bb_spaces__log(s, &event);
	bb_spaces__log_maps(s, pid, time_ns, text);
	free(text);
}

/* The result is valid until the next call. */
static struct bb_space *begin_space(struct bb_spaces *s, uint32_t pid, const char *comm)
{
	uint32_t older = bb_idmap__get(&s->newest, pid, 0);
	struct bb_space *space = bb_append(&s->v, &s->n, sizeof(*space));

	bb_idmap__put(&s->newest, pid, 0, (uint32_t)s->n - 1);
	space->older = older;
	memcpy(space->comm, comm, sizeof(space->comm));
	return space;
}

static void replay_one(struct bb_spaces *s, const struct bb_task_event *e)
{
	uint32_t id = bb_idmap__get(&s->newest, e->pid, 0);
	uint32_t parent = bb_idmap__get(&s->newest, e->parent, 0);
	struct bb_space *space = id == BB_NO_ID ? NULL : &s->v[id];
	const struct bb_mapping *m = &e->mapping;
	char comm[BB_PROFILE_COMM];

	switch (e->kind) {
	case BB_TASK_EXEC: begin_space(s, e->pid, e->comm); break;
	case BB_TASK_COMM:
		if (space)
			memcpy(space->comm, e->comm, sizeof(e->comm));
		break;
	case BB_TASK_FORK:
		if (parent == BB_NO_ID)
			break;
		memcpy(comm, s->v[parent].comm, sizeof(comm));
		space = begin_space(s, e->pid, comm);
		for (size_t i = 0; i < s->v[parent].n; i++)
			BB_PUSH(space->mappings, space->n, s->v[parent].mappings[i]);
		break;
	case BB_TASK_MAP:
		if (!space)
			space = begin_space(s, e->pid, e->comm);
		/* Samples carry no time. If a mapping hides another file's, samples of the hidden
		 * file at these addresses are counted for the new file. */
		s->n_replaced += BB_ANY(space->mappings, space->n,
					it->dso != m->dso && it->dso != BB_NO_ID &&
						it->start < m->end && m->start < it->end);
		BB_PUSH(space->mappings, space->n, *m);
		break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct bb_task_event *x = a, *y = b;

	return BB_ORDER(x->time_ns, y->time_ns) ?: BB_ORDER(x->nth, y->nth);
}

void bb_spaces__replay(struct bb_spaces *s)
{
	if (s->n_log)
		qsort(s->log, s->n_log, sizeof(*s->log), by_time);
	for (size_t i = 0; i < s->n_log; i++)
		replay_one(s, &s->log[i]);
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
	for (size_t i = 0; i < s->dsos.n; i++) {
		free(s->dsos.v[i].path);
		bb_close(&s->dsos.v[i].fd);
	}
	free(s->dsos.v);
	bb_idmap__done(&s->dsos.by_file);
	memset(s, 0, sizeof(*s));
}

#define RING_BYTES (256u << 10)

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, file_offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char path[];
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static void log_change(struct bb_spaces *s, uint32_t pid, struct bb_task_event *event)
{
	event->pid = pid;
	note_user(s, (pid_t)pid);
	bb_spaces__log(s, event);
}

void bb_task_events__log(struct bb_task_events *e, const struct perf_event_header *h)
{
	const union {
		struct task_record task;
		struct mmap2_record mmap2;
		struct comm_record comm;
		struct lost_record lost;
	} *r = (const void *)h;
	size_t size = h->size - sizeof(uint64_t), room;
	struct mapped_file file;
	struct bb_task_event event = {0};

	if (h->size < sizeof(*h) + sizeof(uint64_t))
		return;
	/* the time ends each record, because the event has sample_id_all and PERF_SAMPLE_TIME */
	memcpy(&event.time_ns, (const char *)h + size, sizeof(event.time_ns));
	if (h->type == PERF_RECORD_LOST && size >= sizeof(r->lost)) {
		e->lost += r->lost.lost;
	} else if (h->type == PERF_RECORD_MMAP2 && size >= sizeof(r->mmap2)) {
		file = (struct mapped_file){
			.at = {.start = r->mmap2.address,
			       .end = r->mmap2.address + r->mmap2.length,
			       .file_offset = r->mmap2.file_offset},
			.major = r->mmap2.major,
			.minor = r->mmap2.minor,
			.inode = r->mmap2.inode,
			.path = r->mmap2.path,
			.path_len = strnlen(r->mmap2.path, size - sizeof(r->mmap2)),
		};
		note_user(e->spaces, (pid_t)r->mmap2.pid);
		log_mapping(e->spaces, (pid_t)r->mmap2.pid, event.time_ns, &file);
	} else if (h->type == PERF_RECORD_COMM && size >= sizeof(r->comm)) {
		if (r->comm.pid != r->comm.tid)
			return; /* a thread changed its own name, not the name of the process */
		event.kind = h->misc & PERF_RECORD_MISC_COMM_EXEC ? BB_TASK_EXEC : BB_TASK_COMM;
		room = size - sizeof(r->comm);
		if (room >= sizeof(event.comm))
			room = sizeof(event.comm) - 1;
		memcpy(event.comm, r->comm.comm, strnlen(r->comm.comm, room));
		log_change(e->spaces, r->comm.pid, &event);
	} else if (h->type == PERF_RECORD_FORK && size >= sizeof(r->task)) {
		if (r->task.pid == r->task.parent)
			return; /* a new thread, not a new process */
		event.kind = BB_TASK_FORK;
		event.parent = r->task.parent;
		log_change(e->spaces, r->task.pid, &event);
	}
}

static enum bpf_perf_event_ret on_record(void *arg, int, struct perf_event_header *h)
{
	bb_task_events__log(arg, h);
	return LIBBPF_PERF_EVENT_CONT;
}

int bb_task_events__open(struct bb_spaces *spaces, struct bb_task_events *ret_events,
			 struct bb_err *err)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	size_t pages = RING_BYTES / (size_t)sysconf(_SC_PAGESIZE);

	*ret_events = (struct bb_task_events){.spaces = spaces};
	bb_libbpf_log__begin();
	ret_events->map_fd = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "bb_task_events",
					    sizeof(int), sizeof(int),
					    (__u32)libbpf_num_possible_cpus(), NULL);
	if (ret_events->map_fd >= 0)
		ret_events->rings = perf_buffer__new_raw(ret_events->map_fd, pages, &attr,
							 on_record, ret_events, NULL);
	int rc = ret_events->rings ? 0 : -errno;
	if (!rc)
		return 0;
	bb_task_events__close(ret_events);
	return bb_fail(err, rc, "cannot follow the code mappings of processes: %m%s",
		       rc == -EACCES || rc == -EPERM ? "; CAP_PERFMON is missing: run as root, "
						       "with sudo"
						     : "");
}

void bb_task_events__close(struct bb_task_events *e)
{
	perf_buffer__free(e->rings);
	if (e->map_fd > 0)
		close(e->map_fd);
	memset(e, 0, sizeof(*e));
}
