/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that, like tracers, return early in all processes but one. Told which one, they execute
 * all of their instructions. */
#include "bb_bpf.h"

const volatile __u32 target_pid;
const volatile __u64 target_cgroup;
const volatile char target_comm[16];

__u64 runs;

#define REST()                                                                                     \
	do {                                                                                       \
		__sync_fetch_and_add(&runs, bpf_ktime_get_ns() & 1);                               \
		__sync_fetch_and_add(&runs, bpf_get_smp_processor_id());                           \
	} while (0)

SEC("tp/syscalls/sys_enter_umask")
int by_pid(void *ctx)
{
	if (bpf_get_current_pid_tgid() >> 32 != target_pid)
		return 0;
	REST();
	return 0;
}

SEC("tp/syscalls/sys_enter_umask")
int by_comm(void *ctx)
{
	char comm[16];

	bpf_get_current_comm(comm, sizeof(comm));
	if (*(__u64 *)comm != *(const volatile __u64 *)target_comm)
		return 0;
	REST();
	return 0;
}

SEC("tp/syscalls/sys_enter_umask")
int by_cgroup(void *ctx)
{
	if (bpf_get_current_cgroup_id() != target_cgroup)
		return 0;
	REST();
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} pids SEC(".maps");

SEC("tp/syscalls/sys_enter_umask")
int by_map(void *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	if (!bpf_map_lookup_elem(&pids, &pid))
		return 0;
	REST();
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4);
} cgroups SEC(".maps");

SEC("tp/syscalls/sys_enter_umask")
int by_cgroup_array(void *ctx)
{
	if (bpf_current_task_under_cgroup(&cgroups, 0) != 1)
		return 0;
	REST();
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, char[16]);
	__type(value, __u32);
} comms SEC(".maps");

SEC("tp/syscalls/sys_enter_umask")
int by_comm_map(void *ctx)
{
	char comm[16];

	bpf_get_current_comm(comm, sizeof(comm));
	if (!bpf_map_lookup_elem(&comms, comm))
		return 0;
	REST();
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u64);
	__type(value, __u32);
} cgroup_ids SEC(".maps");

SEC("tp/syscalls/sys_enter_umask")
int by_cgroup_map(void *ctx)
{
	__u64 id = bpf_get_current_cgroup_id();

	if (!bpf_map_lookup_elem(&cgroup_ids, &id))
		return 0;
	REST();
	return 0;
}

SEC("uprobe")
int on_call(void *ctx)
{
	if (bpf_get_current_pid_tgid() >> 32 != target_pid)
		return 0;
	REST();
	return 0;
}
