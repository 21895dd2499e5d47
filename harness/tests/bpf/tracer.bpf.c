/* SPDX-License-Identifier: GPL-2.0-only */
/* A tracer of openat() as many are written, for comparisons line by line. tracer_more.bpf.c is the
 * same program with one more call, in the line that says so. */
#include "bb_bpf.h"

struct event {
	__u64 at_ns, cgroup;
	__u32 pid, uid;
	char comm[16], path[64];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} last_seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct enter {
	__u64 common;
	long nr;
	unsigned long args[6];
};

static __always_inline void count(__u32 which)
{
	__u64 *n = bpf_map_lookup_elem(&counts, &which);

	if (n)
		*n += 1;
}

SEC("tp/syscalls/sys_enter_openat")
int tracer(struct enter *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u64 now = bpf_ktime_get_ns(), *before;
	struct event *e;

	count(0);
	before = bpf_map_lookup_elem(&last_seen, &pid);
	if (before && now - *before > 1000000000)
		count(1);
	bpf_map_update_elem(&last_seen, &pid, &now, BPF_ANY);
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		count(2);
		return 0;
	}
	e->at_ns = now;
	e->pid = pid;
	e->uid = bpf_get_current_uid_gid();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
#ifdef ONE_MORE
	now += bpf_ktime_get_ns(); /* one more */
#endif
	e->cgroup = bpf_get_current_cgroup_id() + now;
	if (bpf_probe_read_user_str(e->path, sizeof(e->path), (void *)ctx->args[1]) < 0)
		count(3);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}
