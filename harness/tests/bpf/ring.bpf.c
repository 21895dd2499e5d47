/* SPDX-License-Identifier: GPL-2.0-only */
/* A program on a function. It writes a record, and the kernel wakes a reader that has caught up. */
#include "bb_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} events SEC(".maps");

SEC("uprobe/libc.so.6:malloc")
int on_malloc(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_ringbuf_output(&events, &now, sizeof(now), 0);
	return 0;
}
