/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side of `bpfbench profile`. It counts samples by process and stacks, so that user
 * space has nothing to do while samples are taken. Samples for which the maps have no room go to
 * user space one by one.
 */
#include "bb_bpf.h"
#include <bpf/bpf_core_read.h>
#include <linux/errno.h>
#include "profile.h"

#define STACKS 65536
#define COUNTS 65536
#define THREADS 65536
#define OVERFLOW_BYTES (4 << 20)

/* true: sample only processes in `targets` and their children; false: sample all. */
const volatile _Bool only_targets = 0;
const volatile _Bool want_kernel = 1;
const volatile _Bool want_user = 1;

__u64 samples; /* number of on-CPU samples of wanted processes */
/* number of samples without a stack, because the stack collided with another one in `stacks` */
__u64 lost_stacks;

/* The members that are read here; CO-RE finds their offsets in the running kernel. */
struct task_struct {
	int pid;
	int tgid;
	int exit_state;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, BB_PROFILE_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COUNTS);
	__type(key, struct bb_profile_key);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, OVERFLOW_BYTES);
} overflow SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS);
	__type(key, __u32); /* tid */
	__type(value, struct bb_profile_sleep);
} sleeping SEC(".maps");

static __always_inline _Bool is_wanted(__u32 pid)
{
	return pid && (!only_targets || bpf_map_lookup_elem(&targets, &pid));
}

static __always_inline void take_stacks(void *ctx, __u32 pid, __u32 is_off_cpu,
					struct bb_profile_key *ret_key)
{
	ret_key->pid = pid;
	ret_key->is_off_cpu = is_off_cpu;
	ret_key->kernel_id = want_kernel ? bpf_get_stackid(ctx, &stacks, 0) : -ENOENT;
	ret_key->user_id = want_user ? bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK) : -ENOENT;
	bpf_get_current_comm(ret_key->comm, sizeof(ret_key->comm));
}

/* Adds `weight` to the sum of the key in `counts`. Returns 0, or -errno if `counts` is full. */
static __always_inline long add(const struct bb_profile_key *key, __u64 weight)
{
	__u64 *sum = bpf_map_lookup_elem(&counts, key);

	if (!sum) {
		long rc = bpf_map_update_elem(&counts, key, &weight, BPF_NOEXIST);

		if (rc != -EEXIST)
			return rc;
		/* another CPU added the key meanwhile */
		sum = bpf_map_lookup_elem(&counts, key);
	}
	if (!sum)
		return -E2BIG;
	__sync_fetch_and_add(sum, weight);
	return 0;
}

static __always_inline long send_whole(void *ctx, const struct bb_profile_key *key, __u64 weight)
{
	struct bb_profile_sample *s = bpf_ringbuf_reserve(&overflow, sizeof(*s), 0);

	if (!s)
		return -ENOSPC;
	s->key = *key;
	s->weight = weight;
	s->kernel_bytes = want_kernel ? bpf_get_stack(ctx, s->kernel, sizeof(s->kernel), 0) : 0;
	s->user_bytes = want_user ? bpf_get_stack(ctx, s->user, sizeof(s->user), BPF_F_USER_STACK)
				  : 0;
	bpf_ringbuf_submit(s, 0);
	return 0;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct bb_profile_key key = {};
	_Bool collided;

	if (!is_wanted(pid))
		return 0;
	__sync_fetch_and_add(&samples, 1);
	take_stacks(ctx, pid, 0, &key);
	collided = key.kernel_id == -EEXIST || key.user_id == -EEXIST;
	if (collided && !send_whole(ctx, &key, 1))
		return 0;
	if (collided)
		__sync_fetch_and_add(&lost_stacks, 1);
	if (add(&key, 1) && send_whole(ctx, &key, 1))
		bb_count_drop();
	return 0;
}

/* Records that the current thread leaves its CPU, voluntarily or not. */
static __always_inline void leave(void *ctx, __u64 now_ns)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct bb_profile_sleep sleep = {.since_ns = now_ns};
	__u32 tid = (__u32)id;

	if (!is_wanted(id >> 32))
		return;
	take_stacks(ctx, id >> 32, 1, &sleep.key);
	if (sleep.key.kernel_id == -EEXIST || sleep.key.user_id == -EEXIST)
		__sync_fetch_and_add(&lost_stacks, 1);
	if (bpf_map_update_elem(&sleeping, &tid, &sleep, BPF_ANY))
		bb_count_drop();
}

static __always_inline void come_back(__u32 tid, __u64 now_ns)
{
	struct bb_profile_sleep *sleep = bpf_map_lookup_elem(&sleeping, &tid);

	if (!sleep)
		return;
	if (add(&sleep->key, now_ns - sleep->since_ns))
		bb_count_drop();
	bpf_map_delete_elem(&sleeping, &tid);
}

/* sched_switch(preempt, prev, next, ...): measures off-CPU time in ns, by the stack at which the
 * thread left the CPU. */
SEC("raw_tp/sched_switch")
int switched(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx->args[1],
			   *next = (struct task_struct *)ctx->args[2];
	__u64 now_ns = bpf_ktime_get_ns();

	if (!BPF_CORE_READ(prev, exit_state)) /* the thread will run again */
		leave(ctx, now_ns);
	come_back(BPF_CORE_READ(next, pid), now_ns);
	return 0;
}

/* sched_process_fork(parent, child): the children of targets become targets; a child of another
 * process is no target, even if it got the pid of a target that has ended. */
SEC("raw_tp/sched_process_fork")
int forked(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (struct task_struct *)ctx->args[1];
	__u32 pid = bpf_get_current_pid_tgid() >> 32, child_pid = BPF_CORE_READ(child, tgid);
	__u8 one = 1;

	if (child_pid == pid)
		return 0; /* a thread of the same process */
	if (!bpf_map_lookup_elem(&targets, &pid))
		bpf_map_delete_elem(&targets, &child_pid);
	else if (bpf_map_update_elem(&targets, &child_pid, &one, BPF_ANY))
		bb_count_drop();
	return 0;
}
