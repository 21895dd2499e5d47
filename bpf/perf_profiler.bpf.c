/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side of a sampling profiler: at each perf event, it delivers a sample with the time,
 * the task and its user stack. The variants differ in how they deliver the sample to user space,
 * which is most of their cost. The comment of each variant says what it changes against `ringbuf`,
 * the profiler as published, and what that costs.
 */
#include "bb_bpf.h"
#include "perf_profiler.h"

#define RING_BYTES (16 << 20)
#define STACK_FRAMES 127 /* kernel.perf_event_max_stack */

/* For pid_filter: the process (tgid) to sample; 0 means every process. */
const volatile __u32 target_pid = 0;

/* For regressed: the number of multiply-adds in a chain, about 1 ns each. */
const volatile __u32 extra_rounds = 200;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bb_sample);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, STACK_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

struct stack_key {
	__u32 pid;
	__s32 stack_id;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct stack_key);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline void fill_header(struct bb_sample *s, __u64 stack_len)
{
	__u64 id = bpf_get_current_pid_tgid();

	s->header.ktime_ns = bpf_ktime_get_ns();
	s->header.pid = id >> 32;
	s->header.tid = (__u32)id;
	s->header.stack_len = stack_len;
}

/* Builds the sample directly in the ring buffer. */
static __always_inline int sample_to_ring(void *ctx, __u64 submit_flags)
{
	struct bb_sample *s = bpf_ringbuf_reserve(&samples, sizeof(*s), 0);
	long len;

	if (!s) {
		bb_count_drop();
		return 0;
	}
	len = bpf_get_stack(ctx, s->stack, sizeof(s->stack), BPF_F_USER_STACK);
	if (len < 0) {
		bpf_ringbuf_discard(s, BPF_RB_NO_WAKEUP);
		return 0;
	}
	fill_header(s, len);
	bpf_ringbuf_submit(s, submit_flags);
	return 0;
}

/* Builds the sample in this CPU's scratch buffer, for variants that deliver a copy of it. Returns
 * NULL on failure. */
static __always_inline struct bb_sample *sample_in_scratch(void *ctx)
{
	__u32 zero = 0;
	struct bb_sample *s = bpf_map_lookup_elem(&scratch, &zero);
	long len;

	if (!s)
		return NULL;
	len = bpf_get_stack(ctx, s->stack, sizeof(s->stack), BPF_F_USER_STACK);
	if (len < 0)
		return NULL;
	fill_header(s, len);
	return s;
}

/* Returns the number of bytes of the sample that are filled. The unused end of the stack need not
 * be copied. */
static __always_inline __u64 used_bytes(const struct bb_sample *s)
{
	__u64 len = s->header.stack_len;

	return sizeof(s->header) + (len < BB_STACK_BYTES ? len : BB_STACK_BYTES);
}

/* The floor: the kernel's cost of calling any program of this type. */
SEC("perf_event")
int empty(struct bpf_perf_event_data *ctx)
{
	return 0;
}

/* The profiler as published. Whenever the reader has caught up, submitting with flags 0 wakes it,
 * which costs an irq_work. */
SEC("perf_event")
int ringbuf(struct bpf_perf_event_data *ctx)
{
	return sample_to_ring(ctx, 0);
}

/* Never wakes the reader, which must poll. Saves the irq_work. */
SEC("perf_event")
int ringbuf_nowakeup(struct bpf_perf_event_data *ctx)
{
	return sample_to_ring(ctx, BPF_RB_NO_WAKEUP);
}

/* Costs one more copy, but only of filled frames, so the ring has room for more samples. */
SEC("perf_event")
int scratch_output(struct bpf_perf_event_data *ctx)
{
	struct bb_sample *s = sample_in_scratch(ctx);

	if (s && bpf_ringbuf_output(&samples, s, used_bytes(s), 0))
		bb_count_drop();
	return 0;
}

/* The older perf buffer, one for each CPU. Needs no lock that CPUs share, but writes perf's own
 * record header, too. */
SEC("perf_event")
int perfbuf(struct bpf_perf_event_data *ctx)
{
	struct bb_sample *s = sample_in_scratch(ctx);

	if (s && bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, s, used_bytes(s)))
		bb_count_drop();
	return 0;
}

/*
 * Delivers no samples: counts stacks in the kernel, for user space to read at the end. Costs a hash
 * of the stack. If two stacks fall into one bucket of the stack map, the second is counted without
 * its frames (a negative id), which is not a drop.
 */
SEC("perf_event")
int stackid(struct bpf_perf_event_data *ctx)
{
	struct stack_key key = {.pid = bpf_get_current_pid_tgid() >> 32};
	__u64 one = 1, *count;

	key.stack_id = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
	count = bpf_map_lookup_elem(&counts, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else if (bpf_map_update_elem(&counts, &key, &one, BPF_NOEXIST))
		bb_count_drop();
	return 0;
}

/* The same as ringbuf, with the kernel's frames before the user's. Costs two stack walks, each into
 * one half of the buffer. */
SEC("perf_event")
int kernel_user(struct bpf_perf_event_data *ctx)
{
	const __u32 half = BB_STACK_BYTES / 2;
	struct bb_sample *s = bpf_ringbuf_reserve(&samples, sizeof(*s), 0);
	long kernel_len, user_len;

	if (!s) {
		bb_count_drop();
		return 0;
	}
	kernel_len = bpf_get_stack(ctx, s->stack, half, 0);
	if (kernel_len < 0)
		kernel_len = 0; /* the event interrupted user mode, so there is no kernel stack */
	user_len = bpf_get_stack(ctx, (char *)s->stack + half, half, BPF_F_USER_STACK);
	if (user_len < 0) {
		bpf_ringbuf_discard(s, BPF_RB_NO_WAKEUP);
		return 0;
	}
	fill_header(s, kernel_len + user_len);
	bpf_ringbuf_submit(s, 0);
	return 0;
}

/* The same as ringbuf, but checks the process first. If target_pid is another process, it takes no
 * sample, and its cost is that of the early return. */
SEC("perf_event")
int pid_filter(struct bpf_perf_event_data *ctx)
{
	if (target_pid && bpf_get_current_pid_tgid() >> 32 != target_pid)
		return 0;
	return sample_to_ring(ctx, 0);
}

__u64 regressed_sink;

/* The same as ringbuf, but slower by a known amount, for tests of comparisons. It is not part of
 * the scenario. */
SEC("perf_event")
int regressed(struct bpf_perf_event_data *ctx)
{
	__u64 x = bpf_get_current_pid_tgid();

	for (__u32 i = 0; i < 100000; i++) {
		if (i >= extra_rounds)
			break;
		x = x * 2862933555777941757ULL + 3037000493ULL;
	}
	regressed_sink = x;
	return sample_to_ring(ctx, 0);
}
