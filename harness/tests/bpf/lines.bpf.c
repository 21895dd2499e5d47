/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs for tests of the drive `lines`: lines whose cost is known by construction, things that
 * are held between calls, loops, functions. */
#include "bb_bpf.h"
#include "multiplications.h"

__u64 sink, turn;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} ring SEC(".maps");

struct locked {
	struct bpf_spin_lock lock;
	__u64 n;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct locked);
} array SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} table SEC(".maps");

/* Three lines of 64, 128 and 256 dependent multiplications, with a helper call between them. */
SEC("xdp")
int known(struct xdp_md *ctx)
{
	__u64 x = bpf_ktime_get_ns();

	BB_STEP64(x); /* 64 */
	bpf_get_smp_processor_id();
	BB_STEP64(x), BB_STEP64(x); /* 128 */
	bpf_get_smp_processor_id();
	BB_STEP64(x), BB_STEP64(x), BB_STEP64(x), BB_STEP64(x); /* 256 */
	sink = x;
	return XDP_PASS;
}

/* Like `known`, with 64 more multiplications in one line. */
SEC("xdp")
int slower(struct xdp_md *ctx)
{
	__u64 x = bpf_ktime_get_ns();

	BB_STEP64(x); /* 64 */
	bpf_get_smp_processor_id();
	BB_STEP64(x), BB_STEP64(x), BB_STEP64(x); /* 192 */
	bpf_get_smp_processor_id();
	BB_STEP64(x), BB_STEP64(x), BB_STEP64(x), BB_STEP64(x); /* 256 */
	sink = x;
	return XDP_PASS;
}

/* Like `known`, with one more helper call. */
SEC("xdp")
int one_more(struct xdp_md *ctx)
{
	__u64 x = bpf_ktime_get_ns();

	BB_STEP64(x); /* 64 */
	bpf_get_smp_processor_id();
	x += bpf_ktime_get_ns();
	BB_STEP64(x), BB_STEP64(x); /* 128 */
	bpf_get_smp_processor_id();
	BB_STEP64(x), BB_STEP64(x), BB_STEP64(x), BB_STEP64(x); /* 256 */
	sink = x;
	return XDP_PASS;
}

/* Holds two records, and gives back first the one that it took first; then holds a lock. */
SEC("xdp")
int holds(struct xdp_md *ctx)
{
	__u32 zero = 0;
	struct locked *l = bpf_map_lookup_elem(&array, &zero);
	__u64 *a, *b;

	if (!l)
		return XDP_DROP;
	a = bpf_ringbuf_reserve(&ring, sizeof(*a), 0);
	if (!a)
		return XDP_DROP;
	*a = bpf_ktime_get_ns();
	b = bpf_ringbuf_reserve(&ring, sizeof(*b), 0);
	if (!b) {
		bpf_ringbuf_discard(a, BPF_RB_NO_WAKEUP);
		return XDP_DROP;
	}
	*b = bpf_ktime_get_ns();
	bpf_ringbuf_submit(a, BPF_RB_NO_WAKEUP);
	*b += bpf_get_smp_processor_id();
	bpf_ringbuf_discard(b, BPF_RB_NO_WAKEUP);
	bpf_spin_lock(&l->lock);
	l->n++;
	bpf_spin_unlock(&l->lock);
	return XDP_PASS;
}

/* Ten rounds with a call in each. */
SEC("xdp")
int rounds(struct xdp_md *ctx)
{
	__u64 sum = 0;

	for (__u32 i = 0; i < 10; i++) {
		__u32 key = i;
		__u64 *v = bpf_map_lookup_elem(&table, &key);

		sum += v ? *v : i;
		asm volatile("" : "+r"(sum));
	}
	sink = sum;
	return XDP_PASS;
}

struct words {
	__u32 v[16384];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct words);
} words SEC(".maps");

/* One line that reads sixteen cache lines. Each read depends on the value of the one before. */
SEC("xdp")
int misses(struct xdp_md *ctx)
{
	__u32 zero = 0, at = bpf_get_smp_processor_id() & 1;
	struct words *w = bpf_map_lookup_elem(&words, &zero);

	if (!w)
		return XDP_DROP;
	for (__u32 i = 0; i < 16; i++)
		at = w->v[(at + 1040 * i) & 16383];
	sink = at;
	return XDP_PASS;
}

/* The first half adds an entry to the map, the second removes it. A run that is cut between them
 * must not leave it there. */
SEC("xdp")
int removes(struct xdp_md *ctx)
{
	__u32 key = 1;
	__u64 one = 1;

	if (bpf_map_update_elem(&table, &key, &one, BPF_ANY))
		return XDP_ABORTED;
	sink = bpf_ktime_get_ns();
	bpf_map_delete_elem(&table, &key);
	return XDP_PASS;
}

static __noinline __u64 part(__u64 x)
{
	BB_STEP64(x);
	return x;
}

/* Calls the function part() on two lines. */
SEC("xdp")
int calls(struct xdp_md *ctx)
{
	__u64 x = part(bpf_ktime_get_ns());

	sink = part(x ^ 1);
	return XDP_PASS;
}

/* Fired where it is attached. */
SEC("tp/syscalls/sys_enter_openat")
int traced(void *ctx)
{
	__u32 key = bpf_get_current_pid_tgid();
	__u64 now = bpf_ktime_get_ns();

	bpf_map_update_elem(&table, &key, &now, BPF_ANY);
	return 0;
}

static __noinline __u64 inner(__u64 x)
{
	BB_STEP64(x); /* inner */
	return x ^ bpf_get_smp_processor_id();
}

static __noinline __u64 outer(__u64 x)
{
	x += inner(x);
	BB_STEP16(x);
	return x;
}

/* Takes a record, which the caller gives back. */
static __noinline __u64 *take(__u32 size)
{
	__u64 *a = bpf_ringbuf_reserve(&ring, 16, 0);

	if (a)
		*a = size;
	return a;
}

/* Calls functions that call functions or take a record, also while it holds one. */
SEC("xdp")
int nested(struct xdp_md *ctx)
{
	__u64 x = bpf_ktime_get_ns(), *a = take(ctx->data_end - ctx->data);

	if (!a)
		return XDP_DROP;
	*a += outer(x);
	bpf_ringbuf_discard(a, BPF_RB_NO_WAKEUP);
	return XDP_PASS;
}

static __noinline long on_turn(__u32 i, void *arg)
{
	__u32 key = i;

	if (bpf_map_lookup_elem(&table, &key))
		*(__u64 *)arg += i;
	return 0;
}

static long on_element(void *map, __u32 *key, __u64 *value, void *arg)
{
	*(__u64 *)arg += *value + bpf_ktime_get_ns();
	return 0;
}

/* Helpers call functions of this program. */
SEC("xdp")
int called_back(struct xdp_md *ctx)
{
	__u32 key = 7;
	__u64 sum = 0;

	bpf_map_update_elem(&table, &key, &sum, BPF_ANY);
	bpf_loop(8, on_turn, &sum, 0);
	bpf_for_each_map_elem(&table, on_element, &sum, 0);
	sink = sum;
	return XDP_PASS;
}

/* Both a helper and the program itself call on_turn(). */
SEC("xdp")
int both(struct xdp_md *ctx)
{
	__u64 sum = bpf_ktime_get_ns();

	on_turn(3, &sum);
	bpf_loop(4, on_turn, &sum, 0);
	sink = sum;
	return XDP_PASS;
}

/* Every fourth run takes another path. */
SEC("xdp")
int by_turns(struct xdp_md *ctx)
{
	__u64 x = bpf_ktime_get_ns();

	if (++turn % 4 == 0)
		x += bpf_ktime_get_ns();
	BB_STEP64(x);
	sink = x;
	return XDP_PASS;
}

/* A loop of so many turns that only some of its cuts can be measured. */
SEC("xdp")
int many_turns(struct xdp_md *ctx)
{
	__u64 sum = 0;

	for (__u32 i = 0; i < 3000; i++) {
		__u32 key = i;
		__u64 *v = bpf_map_lookup_elem(&table, &key);

		sum += v ? *v : i;
	}
	sink = sum;
	return XDP_PASS;
}
