/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/task_events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/libbpf_log.h"

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

/* With sample_id_all and PERF_SAMPLE_TIME every record ends with its time. */
static uint64_t time_of(const struct perf_event_header *h)
{
	uint64_t time_ns;

	memcpy(&time_ns, (const char *)h + h->size - sizeof(time_ns), sizeof(time_ns));
	return time_ns;
}

static int log_event(struct bb_task_events *e, const struct bb_task_event *event)
{
	int rc = bb_spaces__note_user(e->spaces, (pid_t)event->pid);

	return rc ? rc : bb_spaces__log(e->spaces, event);
}

static int log_mmap2(struct bb_task_events *e, const struct mmap2_record *r)
{
	struct bb_task_event event = {
		.kind = BB_TASK_MAP,
		.time_ns = time_of(&r->header),
		.pid = r->pid,
		.mapping = {.start = r->address,
			    .end = r->address + r->length,
			    .file_offset = r->file_offset},
	};
	const struct bb_mapped_file file = {
		.start = r->address,
		.end = r->address + r->length,
		.major = r->major,
		.minor = r->minor,
		.inode = r->inode,
		.path = r->path,
		.path_len = strnlen(r->path, r->header.size - sizeof(*r) - sizeof(uint64_t)),
	};
	int rc = bb_dsos__add(&e->spaces->dsos, (pid_t)r->pid, &file, &event.mapping.dso);

	return rc ? rc : log_event(e, &event);
}

static int log_comm(struct bb_task_events *e, const struct comm_record *r)
{
	struct bb_task_event event = {
		.kind = r->header.misc & PERF_RECORD_MISC_COMM_EXEC ? BB_TASK_EXEC : BB_TASK_COMM,
		.time_ns = time_of(&r->header),
		.pid = r->pid,
	};
	size_t room = r->header.size - sizeof(*r) - sizeof(uint64_t);

	if (r->pid != r->tid)
		return 0; /* a thread's own name */
	memcpy(event.comm, r->comm,
	       strnlen(r->comm, room < sizeof(event.comm) ? room : sizeof(event.comm) - 1));
	return log_event(e, &event);
}

static int log_fork(struct bb_task_events *e, const struct task_record *r)
{
	const struct bb_task_event event = {
		.kind = BB_TASK_FORK,
		.time_ns = time_of(&r->header),
		.pid = r->pid,
		.parent = r->parent,
	};

	return r->pid == r->parent ? 0 : log_event(e, &event);
}

int bb_task_events__log(struct bb_task_events *e, const struct perf_event_header *h)
{
	const void *r = h;
	size_t size = h->size - sizeof(uint64_t);

	if (h->size < sizeof(*h) + sizeof(uint64_t))
		return 0;
	if (h->type == PERF_RECORD_MMAP2 && size >= sizeof(struct mmap2_record))
		return log_mmap2(e, r);
	if (h->type == PERF_RECORD_COMM && size >= sizeof(struct comm_record))
		return log_comm(e, r);
	if (h->type == PERF_RECORD_FORK && size >= sizeof(struct task_record))
		return log_fork(e, r);
	if (h->type == PERF_RECORD_LOST && size >= sizeof(struct lost_record))
		e->lost += ((const struct lost_record *)r)->lost;
	return 0;
}

static enum bpf_perf_event_ret on_record(void *arg, int cpu, struct perf_event_header *h)
{
	struct bb_task_events *e = arg;

	(void)cpu;
	if (!e->rc)
		e->rc = bb_task_events__log(e, h);
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
	int rc;

	*ret_events = (struct bb_task_events){.spaces = spaces};
	bb_libbpf_log__begin();
	ret_events->map_fd = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "bb_task_events",
					    sizeof(int), sizeof(int),
					    (__u32)libbpf_num_possible_cpus(), NULL);
	if (ret_events->map_fd >= 0)
		ret_events->rings = perf_buffer__new_raw(ret_events->map_fd, pages, &attr,
							 on_record, ret_events, NULL);
	rc = ret_events->rings ? 0 : -errno;
	if (!rc)
		return 0;
	bb_task_events__close(ret_events);
	return bb_fail(err, rc, "cannot follow the code mappings of processes: %s%s", strerror(-rc),
		       rc == -EACCES || rc == -EPERM ? "; CAP_PERFMON is missing: run as root, "
						       "with sudo"
						     : "");
}

int bb_task_events__drain(struct bb_task_events *e)
{
	int rc = perf_buffer__consume(e->rings);

	return e->rc ? e->rc : rc;
}

void bb_task_events__close(struct bb_task_events *e)
{
	perf_buffer__free(e->rings);
	if (e->map_fd > 0)
		close(e->map_fd);
	memset(e, 0, sizeof(*e));
}
