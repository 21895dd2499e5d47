/* SPDX-License-Identifier: GPL-2.0-only */
/* A function's program that writes a record, whose reader the kernel wakes if it has caught up. */
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
