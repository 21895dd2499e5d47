/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/task_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES (256u << 10)
#define RECORD_MAX_BYTES 65536u /* a record's size is 16 bits */

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_ring(int cpu, struct bb_task_ring *ret_ring)
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
	int rc;

	ret_ring->fd = (int)syscall(__NR_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ret_ring->fd < 0)
		return -errno;
	ret_ring->pages = mmap(NULL, page_bytes() + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			       ret_ring->fd, 0);
	if (ret_ring->pages != MAP_FAILED)
		return 0;
	rc = -errno;
	close(ret_ring->fd);
	return rc;
}

int bb_task_events__open(struct bb_task_events *ret_events, struct bb_err *err)
{
	struct bb_task_events e = {0};
	int n_cpus = libbpf_num_possible_cpus(), rc = n_cpus < 0 ? n_cpus : 0;

	e.rings = rc ? NULL : calloc((size_t)n_cpus, sizeof(*e.rings));
	if (!rc && !e.rings)
		return bb_fail_nomem(err);
	for (int cpu = 0; cpu < n_cpus && !rc; cpu++) {
		rc = open_ring(cpu, &e.rings[e.n]);
		if (!rc)
			e.n++;
		else if (rc == -ENODEV)
			rc = 0; /* the CPU is not online */
	}
	if (rc) {
		bb_task_events__close(&e);
		return bb_fail(err, rc,
			       "cannot follow the code mappings of processes (perf_event_open: "
			       "%s)%s",
			       strerror(-rc),
			       rc == -EACCES || rc == -EPERM ? "; CAP_PERFMON is missing: run as "
							       "root, with sudo"
							     : "");
	}
	*ret_events = e;
	return 0;
}

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

static int log_event(struct bb_spaces *spaces, const struct bb_task_event *event)
{
	int rc = bb_spaces__note_user(spaces, (pid_t)event->pid);

	return rc ? rc : bb_spaces__log(spaces, event);
}

static int log_mmap2(const struct mmap2_record *r, struct bb_spaces *spaces)
{
	struct bb_task_event event = {.kind = BB_TASK_MAP,
				      .time_ns = time_of(&r->header),
				      .pid = r->pid};
	struct bb_mapped_file file = {
		.start = r->address,
		.end = r->address + r->length,
		.major = r->major,
		.minor = r->minor,
		.inode = r->inode,
		.path = r->path,
	};
	int rc;

	file.path_len = strnlen(r->path, r->header.size - sizeof(*r) - sizeof(uint64_t));
	event.mapping = (struct bb_mapping){.start = file.start,
					    .end = file.end,
					    .file_offset = r->file_offset};
	rc = bb_dsos__add(&spaces->dsos, (pid_t)r->pid, &file, &event.mapping.dso);
	return rc ? rc : log_event(spaces, &event);
}

static int log_comm(const struct comm_record *r, struct bb_spaces *spaces)
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
	return log_event(spaces, &event);
}

static int log_fork(const struct task_record *r, struct bb_spaces *spaces)
{
	struct bb_task_event event = {
		.kind = BB_TASK_FORK,
		.time_ns = time_of(&r->header),
		.pid = r->pid,
		.parent = r->parent,
	};

	return r->pid == r->parent ? 0 : log_event(spaces, &event);
}

int bb_task_events__log(struct bb_task_events *e, const struct perf_event_header *h,
			struct bb_spaces *spaces)
{
	const void *r = h;
	size_t size = h->size - sizeof(uint64_t);

	if (h->type == PERF_RECORD_MMAP2 && size >= sizeof(struct mmap2_record))
		return log_mmap2(r, spaces);
	if (h->type == PERF_RECORD_COMM && size >= sizeof(struct comm_record))
		return log_comm(r, spaces);
	if (h->type == PERF_RECORD_FORK && size >= sizeof(struct task_record))
		return log_fork(r, spaces);
	if (h->type == PERF_RECORD_LOST && size >= sizeof(struct lost_record))
		e->lost += ((const struct lost_record *)r)->lost;
	return 0;
}

/* size bytes of the ring's data from `at` on, which may go round its end. */
static void copy_out(const char *data, uint64_t at, void *ret, size_t size)
{
	size_t offset = at % RING_BYTES,
	       first = RING_BYTES - offset < size ? RING_BYTES - offset : size;

	memcpy(ret, data + offset, first);
	memcpy((char *)ret + first, data, size - first);
}

static int drain_ring(struct bb_task_events *e, const struct bb_task_ring *ring,
		      struct bb_spaces *spaces, char *record)
{
	struct perf_event_mmap_page *page = ring->pages;
	const char *data = (const char *)ring->pages + page_bytes();
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
	int rc = 0;

	while (!rc && head - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		copy_out(data, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - at)
			break;
		copy_out(data, at, record, h.size);
		if (h.size >= sizeof(h) + sizeof(uint64_t))
			rc = bb_task_events__log(e,
						 (const struct perf_event_header *)(void *)record,
						 spaces);
		at += h.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return rc;
}

int bb_task_events__drain(struct bb_task_events *e, struct bb_spaces *spaces)
{
	char *record = aligned_alloc(sizeof(uint64_t), RECORD_MAX_BYTES);
	int rc = record ? 0 : -ENOMEM;

	for (size_t i = 0; i < e->n && !rc; i++)
		rc = drain_ring(e, &e->rings[i], spaces, record);
	free(record);
	return rc;
}

void bb_task_events__close(struct bb_task_events *e)
{
	for (size_t i = 0; i < e->n; i++) {
		munmap(e->rings[i].pages, page_bytes() + RING_BYTES);
		close(e->rings[i].fd);
	}
	free(e->rings);
	memset(e, 0, sizeof(*e));
}
