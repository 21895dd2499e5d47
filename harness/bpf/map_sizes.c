/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/map_sizes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"

#define UNSIZED_ENTRIES 10240
#define UNSIZED_RING_BYTES (256 << 10)
#define STACK_FRAMES 127
#define MAP_TYPE_CGRP_STORAGE 32 /* 6.2 */

struct sizes {
	uint32_t key_bytes, value_bytes, entries;
};

static struct sizes sizes_of(const struct bpf_map *map)
{
	return (struct sizes){bpf_map__key_size(map), bpf_map__value_size(map),
			      bpf_map__max_entries(map)};
}

/*
 * The sizes with which the kernel takes the map. Of perf event arrays and ring buffers it takes one
 * size of keys and values alone: where an author gave that of the records, cilium/ebpf mends it.
 */
static struct sizes mended(const struct bpf_map *map)
{
	enum bpf_map_type type = bpf_map__type(map);
	struct sizes s = sizes_of(map);

	if (type == BPF_MAP_TYPE_STACK_TRACE && !s.value_bytes)
		s.value_bytes = STACK_FRAMES * sizeof(__u64);
	if (type == BPF_MAP_TYPE_PERF_EVENT_ARRAY)
		s.key_bytes = s.value_bytes = sizeof(__u32);
	if (type == BPF_MAP_TYPE_RINGBUF)
		s.key_bytes = s.value_bytes = 0;
	if (s.entries)
		return s;
	/* a table of its usual size does for a measurement */
	switch ((int)type) {
	case BPF_MAP_TYPE_CPUMAP: s.entries = (uint32_t)libbpf_num_possible_cpus(); break;
	case BPF_MAP_TYPE_RINGBUF: s.entries = UNSIZED_RING_BYTES; break;
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY: break; /* libbpf gives it one for each CPU */
	case BPF_MAP_TYPE_SK_STORAGE:              /* the kernel wants none */
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
	case BPF_MAP_TYPE_STRUCT_OPS:
	case BPF_MAP_TYPE_CGROUP_STORAGE:
	case BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE: break;
	default: s.entries = type >= MAP_TYPE_CGRP_STORAGE ? 0 : UNSIZED_ENTRIES;
	}
	return s;
}

static bool are_same(struct sizes a, struct sizes b)
{
	return a.key_bytes == b.key_bytes && a.value_bytes == b.value_bytes &&
	       a.entries == b.entries;
}

/*
 * libbpf can change no pattern (its setters look for the object of a map, and a pattern has none),
 * so one of ours takes its place. Where the kernel refuses ours, libbpf says so of its own.
 */
static int mend_pattern(struct bpf_map *outer, struct bb_map_patterns *patterns, size_t i)
{
	const struct bpf_map *inner = bpf_map__inner_map(outer);
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = bpf_map__map_flags(inner),
		    .map_extra = bpf_map__map_extra(inner));
	struct sizes s = mended(inner);

	if (i == patterns->n) {
		int *fd = bb_append(&patterns->fds, &patterns->n, sizeof(*fd));

		if (!fd)
			return -ENOMEM;
		*fd = bpf_map_create(bpf_map__type(inner), NULL, s.key_bytes, s.value_bytes,
				     s.entries, &opts);
	}
	if (patterns->fds[i] >= 0)
		bpf_map__set_inner_map_fd(outer, patterns->fds[i]);
	return 0;
}

int bb_map_sizes__mend(struct bpf_object *obj, struct bb_map_patterns *patterns, struct bb_err *err)
{
	struct bpf_map *map;
	size_t i = 0;

	bpf_object__for_each_map(map, obj)
	{
		const struct bpf_map *inner = bpf_map__inner_map(map);
		struct sizes s = mended(map);

		if (!are_same(s, sizes_of(map))) {
			bpf_map__set_key_size(map, s.key_bytes);
			bpf_map__set_value_size(map, s.value_bytes);
			bpf_map__set_max_entries(map, s.entries);
		}
		if (inner && !are_same(mended(inner), sizes_of(inner)) &&
		    mend_pattern(map, patterns, i++))
			return bb_fail_nomem(err);
	}
	return 0;
}

void bb_map_patterns__done(struct bb_map_patterns *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (patterns->fds[i] >= 0)
			close(patterns->fds[i]);
	free(patterns->fds);
	*patterns = (struct bb_map_patterns){0};
}
