/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs on hooks of many kinds, most of which a trigger of the catalogue fires. */
#include "counts_runs.h"

PROGRAM(on_openat, "tp/syscalls/sys_enter_openat", 0)
PROGRAM(on_exit_read, "tp/syscalls/sys_exit_pread64", 0)
PROGRAM(on_exec, "tp/sched/sched_process_exec", 0)
PROGRAM(on_wakeup, "raw_tp/sched_wakeup", 0)
PROGRAM(on_any_call, "raw_tp/sys_enter", 0)
PROGRAM(on_switch, "tp_btf/sched_switch", 0)
PROGRAM(on_malloc, "uprobe/libc.so.6:malloc", 0)
PROGRAM(on_malloc_return, "uretprobe/libc.so.6:malloc", 0)
PROGRAM(on_connect, "cgroup/connect4", 1)
PROGRAM(on_socket, "cgroup/sock_create", 1)
PROGRAM(on_sysctl, "cgroup/sysctl", 1)
PROGRAM(on_kernel_function, "kprobe/tcp_v4_connect", 0)
PROGRAM(on_kernel_return, "kretprobe/tcp_v4_connect", 0)

PROGRAM(on_tasks, "iter/task", 0)
PROGRAM(on_message, "sk_msg", 1)
PROGRAM(on_port, "sk_reuseport", 1)
PROGRAM(on_cgroup, "raw_tp/cgroup_mkdir", 0)
PROGRAM(on_lost_datagram, "raw_tp/udp_fail_queue_rcv_skb", 0)
/* bpfbench does not make the kernel run out of memory: it gives the program a test run */
PROGRAM(on_reclaim, "raw_tp/mm_vmscan_direct_reclaim_begin", 0)

/* It makes the kernel refuse the connection, which is no failure of the measurement. */
PROGRAM(denies, "cgroup/connect6", 0)

/* A pair: the second finds nothing to do unless the first is attached beside it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, __u64);
} entered SEC(".maps");

SEC("tp/syscalls/sys_enter_umask")
int on_entry(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();

	bpf_map_update_elem(&entered, &id, &now, BPF_ANY);
	return 0;
}

SEC("tp/syscalls/sys_exit_umask")
int on_exit(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();

	if (!bpf_map_lookup_elem(&entered, &id))
		return 0;
	bpf_map_delete_elem(&entered, &id);
	__sync_fetch_and_add(&runs, 1);
	return 0;
}

/* The process that fires reads what this program writes: it maps the perf buffer once more. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} output SEC(".maps");

SEC("tp/syscalls/sys_enter_openat")
int writes(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, &now, sizeof(now));
	return 0;
}

/* Hooks that do not exist. */
PROGRAM(no_tracepoint, "tp/syscalls/sys_enter_opnat", 0)
PROGRAM(no_function, "uprobe/libc.so.6:malloq", 0)

/* By its code it could kill the process that makes the call, but the condition never holds. */
SEC("tp/syscalls/sys_enter_openat")
int could_kill(void *ctx)
{
	if (!bpf_get_current_pid_tgid())
		bpf_send_signal(9);
	return 0;
}

/* It kills the process that fires it, and no other. */
SEC("cgroup/setsockopt")
int kills(void *ctx)
{
	bpf_send_signal(9);
	return 1;
}
