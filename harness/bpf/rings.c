/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#define PERF_PAGES 64 /* pages of a perf buffer on each CPU; a power of two */
/* how often bb_ring__bytes_held() reads again while the reader moves */
#define MOST_TRIES 100

/* Touches the mapped pages, because their page faults must not come while we measure. */
static void prefault(struct bb_ring *ring)
{
	(void)*ring->producer;
	*ring->consumer = *ring->consumer;
}

/* Page 0 has the reader's position, page 1 the writer's (kernel/bpf/ringbuf.c). */
static int open_ringbuf(struct bb_rings *r, int map_fd, size_t size_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct bb_ring *ring = bb_append(&r->rings, &r->n, sizeof(*ring));

	ring->map_fd = -1;
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	ring->consumer = p;
	ring->map_fd = map_fd;
	p = mmap(NULL, page, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (p == MAP_FAILED)
		return -errno;
	ring->producer = p;
	ring->size_bytes = size_bytes;
	prefault(ring);
	return 0;
}

unsigned long bb_ring__bytes_held(const volatile unsigned long *reader,
				  const volatile unsigned long *writer)
{
	unsigned long tail, head, later = __atomic_load_n(reader, __ATOMIC_ACQUIRE);
	int tries = MOST_TRIES;

	do {
		tail = later;
		head = __atomic_load_n(writer, __ATOMIC_ACQUIRE);
		later = __atomic_load_n(reader, __ATOMIC_ACQUIRE);
	} while (tail != later && --tries);
	return head > later ? head - later : 0;
}

static void on_sample(void *, int, void *, __u32)
{
}

static int open_perf_buffer(struct bb_rings *r, int map_fd)
{
	struct perf_buffer *pb = perf_buffer__new(map_fd, PERF_PAGES, on_sample, NULL, NULL, NULL);

	if (!pb)
		return -errno;
	BB_PUSH(r->perf_buffers, r->n_perf_buffers, pb);
	for (size_t i = 0; i < perf_buffer__buffer_cnt(pb); i++) {
		struct bb_ring *ring = bb_append(&r->rings, &r->n, sizeof(*ring));
		size_t size;
		void *buf;
		int rc = perf_buffer__buffer(pb, (int)i, &buf, &size);

		ring->map_fd = -1;
		if (rc)
			return rc;
		struct perf_event_mmap_page *page = buf;
		/* these are __u64 in the ABI; unsigned long has the same size on 64-bit machines */
		ring->consumer = (volatile unsigned long *)&page->data_tail;
		ring->producer = (volatile unsigned long *)&page->data_head;
		ring->size_bytes = size;
		prefault(ring);
	}
	return 0;
}

void bb_rings__drain(struct bb_rings *r, bool only_when_half_full)
{
	for (size_t i = 0; i < r->n; i++) {
		struct bb_ring *ring = &r->rings[i];
		unsigned long head = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);

		if (only_when_half_full && head - *ring->consumer < ring->size_bytes / 2)
			continue;
		if (*ring->consumer != head)
			__atomic_store_n(ring->consumer, head, __ATOMIC_RELEASE);
	}
	for (size_t i = 0; i < r->n_queues; i++) {
		struct bb_queue *q = &r->queues[i];

		if (++q->since < q->max_entries / 2 && only_when_half_full)
			continue;
		/* pop no more values than the map can hold, because programs may push some now */
		for (unsigned int k = 0; k < q->max_entries; k++)
			if (bpf_map_lookup_and_delete_elem(q->map_fd, NULL, q->value))
				break;
		q->since = 0;
	}
}

int bb_rings__add(struct bb_rings *r, const char *name, const struct bpf_map_info *info, int map_fd,
		  struct bb_err *err)
{
	int rc = 0;

	if (info->type == BPF_MAP_TYPE_RINGBUF)
		rc = open_ringbuf(r, map_fd, info->max_entries);
	else if (info->type == BPF_MAP_TYPE_PERF_EVENT_ARRAY)
		rc = open_perf_buffer(r, map_fd);
	else if (info->type == BPF_MAP_TYPE_QUEUE || info->type == BPF_MAP_TYPE_STACK)
		BB_PUSH(r->queues, r->n_queues,
			(struct bb_queue){
				.map_fd = map_fd,
				.value = bb_calloc(1, info->value_size),
				.max_entries = info->max_entries,
			});
	return rc ? bb_fail(err, rc, "cannot read map '%s': %m", name) : 0;
}

int bb_rings__after_fork(const struct bb_rings *r)
{
	/* a mapping has one page more than the `size` bytes of its buffer */
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size;

	for (size_t i = 0; i < r->n_perf_buffers; i++)
		for (size_t k = 0; k < perf_buffer__buffer_cnt(r->perf_buffers[i]); k++) {
			struct perf_buffer *pb = r->perf_buffers[i];
			void *buf;
			int rc = perf_buffer__buffer(pb, (int)k, &buf, &size);

			if (rc)
				return rc;
			if (mmap(buf, size + page, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED_NOREPLACE, perf_buffer__buffer_fd(pb, k),
				 0) == MAP_FAILED)
				return -errno;
		}
	return 0;
}

void bb_rings__close(struct bb_rings *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < r->n; i++) {
		if (r->rings[i].map_fd < 0)
			continue;
		munmap((void *)(uintptr_t)r->rings[i].consumer, page);
		if (r->rings[i].producer)
			munmap((void *)(uintptr_t)r->rings[i].producer, page);
	}
	for (size_t i = 0; i < r->n_perf_buffers; i++)
		perf_buffer__free(r->perf_buffers[i]);
	for (size_t i = 0; i < r->n_queues; i++)
		free(r->queues[i].value);
	free(r->queues);
	free(r->rings);
	free(r->perf_buffers);
	memset(r, 0, sizeof(*r));
}
