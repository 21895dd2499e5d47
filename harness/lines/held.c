/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which call gives back what which other call took: a forward dataflow analysis over the blocks
 * (Aho et al., Compilers, 9.2) of where each pointer that was taken is, in a register or spilled.
 */
#include "lines/held.h"

#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/insn.h"

#define N_REGS 10u
#define N_SPILLS 64u /* of 8 bytes: the whole stack */
#define N_PLACES (N_REGS + N_SPILLS)
#define FRAME 10u

/* What a place holds: nothing of interest, what v[k] took (TAKEN + k), or the address of a byte of
 * the stack (its distance from r10, which is negative). */
#define NOTHING 0
#define TAKEN 1
#define ZERO INT16_MAX /* NULL, where another path has what was taken */

struct kind {
	const char *take, *release; /* helpers without "bpf_", kfuncs with it */
	int32_t take_id, release_id;
	enum bb_held_by by;
	uint8_t arg;
	bool has_flags;
	int32_t flags;
};

/* Helpers: their numbers are the kernel's for good. */
static const struct kind helpers[] = {
	{"ringbuf_reserve", "ringbuf", BPF_FUNC_ringbuf_reserve, BPF_FUNC_ringbuf_discard,
	 BB_HELD_RESULT, 0, true, BPF_RB_NO_WAKEUP},
	{"ringbuf_reserve_dynptr", "ringbuf_dynptr", BPF_FUNC_ringbuf_reserve_dynptr,
	 BPF_FUNC_ringbuf_discard_dynptr, BB_HELD_ARGUMENT, 4, true, BPF_RB_NO_WAKEUP},
	{"sk_lookup_tcp", "sk", BPF_FUNC_sk_lookup_tcp, BPF_FUNC_sk_release, BB_HELD_RESULT, 0,
	 false, 0},
	{"sk_lookup_udp", "sk", BPF_FUNC_sk_lookup_udp, BPF_FUNC_sk_release, BB_HELD_RESULT, 0,
	 false, 0},
	{"skc_lookup_tcp", "sk", BPF_FUNC_skc_lookup_tcp, BPF_FUNC_sk_release, BB_HELD_RESULT, 0,
	 false, 0},
	{"spin_lock", "spin", BPF_FUNC_spin_lock, BPF_FUNC_spin_unlock, BB_HELD_ARGUMENT, 1, false,
	 0},
};

/* Helpers that end what one of the above began; they take it in r1. */
static const struct {
	int32_t id;
	const char *family;
} releases[] = {
	{BPF_FUNC_ringbuf_submit, "ringbuf"},
	{BPF_FUNC_ringbuf_discard, "ringbuf"},
	{BPF_FUNC_ringbuf_submit_dynptr, "ringbuf_dynptr"},
	{BPF_FUNC_ringbuf_discard_dynptr, "ringbuf_dynptr"},
	{BPF_FUNC_sk_release, "sk"},
	{BPF_FUNC_spin_unlock, "spin"},
};

/* Kfuncs, by name; iterators are found by theirs: bpf_iter_NAME_new and _destroy. */
static const struct kind kfuncs[] = {
	{"bpf_rcu_read_lock", "bpf_rcu_read_unlock", 0, 0, BB_HELD_SECTION, 0, false, 0},
	{"bpf_preempt_disable", "bpf_preempt_enable", 0, 0, BB_HELD_SECTION, 0, false, 0},
	{"bpf_local_irq_save", "bpf_local_irq_restore", 0, 0, BB_HELD_ARGUMENT, 1, false, 0},
	{"bpf_obj_new_impl", "bpf_obj_drop_impl", 0, 0, BB_HELD_RESULT, 0, true, 0},
	{"bpf_task_acquire", "bpf_task_release", 0, 0, BB_HELD_RESULT, 0, false, 0},
	{"bpf_task_from_pid", "bpf_task_release", 0, 0, BB_HELD_RESULT, 0, false, 0},
	{"bpf_task_from_vpid", "bpf_task_release", 0, 0, BB_HELD_RESULT, 0, false, 0},
	{"bpf_cgroup_acquire", "bpf_cgroup_release", 0, 0, BB_HELD_RESULT, 0, false, 0},
	{"bpf_cgroup_from_id", "bpf_cgroup_release", 0, 0, BB_HELD_RESULT, 0, false, 0},
	{"bpf_cgroup_ancestor", "bpf_cgroup_release", 0, 0, BB_HELD_RESULT, 0, false, 0},
	{"bpf_task_get_cgroup1", "bpf_cgroup_release", 0, 0, BB_HELD_RESULT, 0, false, 0},
	{"bpf_cpumask_create", "bpf_cpumask_release", 0, 0, BB_HELD_RESULT, 0, false, 0},
	{"bpf_cpumask_acquire", "bpf_cpumask_release", 0, 0, BB_HELD_RESULT, 0, false, 0},
	{"bpf_get_task_exe_file", "bpf_put_file", 0, 0, BB_HELD_RESULT, 0, false, 0},
};

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

struct pass {
	const struct bb_code *code;
	const struct bb_cfg *g;
	struct btf *kernel; /* NULL: no kfunc is called, or the kernel has no BTF */
	struct bb_helds *out;
	int16_t *at_begin; /* by block and place */
	bool *seen;        /* by block: a path leads to it */
	/* by function: 1 + which of `returned` it returns; 0: none */
	uint8_t *returns;
	struct bb_held returned[BB_MAX_HELD];
	uint32_t n_returned;
};

static int32_t kfunc_id(const struct pass *p, const char *name)
{
	return p->kernel ? btf__find_by_name_kind(p->kernel, name, BTF_KIND_FUNC) : -1;
}

/* "bpf_iter_num_new" is given back by "bpf_iter_num_destroy". */
static bool is_iterator(const struct pass *p, const char *name, struct bb_held *held)
{
	static const char begin[] = "bpf_iter_", end[] = "_new";
	size_t len = strlen(name);
	char destroy[160];
	int32_t id;

	if (strncmp(name, begin, strlen(begin)) || len > 128 || len <= strlen(end) ||
	    strcmp(name + len - strlen(end), end))
		return false;
	snprintf(destroy, sizeof(destroy), "%.*s_destroy", (int)(len - strlen(end)), name);
	id = kfunc_id(p, destroy);
	*held = (struct bb_held){.by = BB_HELD_ARGUMENT, .arg = 1, .release = id, .is_kfunc = true};
	return id > 0;
}

static bool kfunc_takes(const struct pass *p, int32_t id, struct bb_held *held)
{
	const struct btf_type *t = p->kernel ? btf__type_by_id(p->kernel, (__u32)id) : NULL;
	const char *name = t ? btf__name_by_offset(p->kernel, t->name_off) : NULL;

	if (!name)
		return false;
	if (is_iterator(p, name, held))
		return true;
	for (size_t i = 0; i < N_OF(kfuncs); i++) {
		if (strcmp(name, kfuncs[i].take))
			continue;
		*held = (struct bb_held){.by = kfuncs[i].by,
					 .arg = kfuncs[i].arg,
					 .release = kfunc_id(p, kfuncs[i].release),
					 .is_kfunc = true,
					 .has_flags = kfuncs[i].has_flags};
		return held->release > 0;
	}
	return false;
}

static bool takes(const struct pass *p, const struct bpf_insn *i, struct bb_held *held)
{
	if (bb_insn_is_kfunc_call(i))
		return kfunc_takes(p, i->imm, held);
	if (!bb_insn_is_helper_call(i))
		return false;
	for (size_t k = 0; k < N_OF(helpers); k++) {
		if (helpers[k].take_id != i->imm)
			continue;
		*held = (struct bb_held){.by = helpers[k].by,
					 .arg = helpers[k].arg,
					 .release = helpers[k].release_id,
					 .has_flags = helpers[k].has_flags,
					 .flags = helpers[k].flags,
					 .family = helpers[k].release};
		return true;
	}
	return false;
}

/* May the call give back what `held` stands for? */
static bool may_release(const struct bb_held *held, const struct bpf_insn *i)
{
	if (bb_insn_is_kfunc_call(i))
		return held->is_kfunc && held->release == i->imm;
	if (!bb_insn_is_helper_call(i) || held->is_kfunc)
		return false;
	for (size_t k = 0; k < N_OF(releases); k++)
		if (releases[k].id == i->imm)
			return !strcmp(releases[k].family, held->family);
	return false;
}

/* Is there a call in the function, or in one that it calls, that may give it back? */
static bool function_releases(const struct pass *p, uint32_t func, const struct bb_held *held,
			      unsigned int deep)
{
	const struct bb_func *f = &p->g->funcs[func];

	for (uint32_t at = f->first; deep && at < f->end; at++) {
		const struct bpf_insn *i = &p->code->insns[at];
		int64_t to;

		if (bb_insn_is_second_half(p->code->insns, at))
			continue;
		if (may_release(held, i))
			return true;
		to = bb_insn_is_function_call(i) ? bb_insn_function_target(i, at) : -1;
		if (to >= 0 &&
		    function_releases(p, bb_cfg__func_at(p->g, (uint32_t)to), held, deep - 1))
			return true;
	}
	return false;
}

static void find_takers(struct pass *p)
{
	struct bb_helds *h = p->out;

	h->n = 0;
	for (uint32_t at = 0; at < p->code->n && h->n < BB_MAX_HELD; at++) {
		const struct bpf_insn *i = &p->code->insns[at];
		struct bb_held held;
		uint8_t of;

		if (bb_insn_is_second_half(p->code->insns, at) || !bb_insn_is_call(i))
			continue;
		of = bb_insn_is_function_call(i)
			     ? p->returns[bb_cfg__func_at(p->g,
							  (uint32_t)bb_insn_function_target(i, at))]
			     : 0;
		if (of)
			held = p->returned[of - 1];
		else if (!takes(p, i, &held))
			continue;
		held.at = at;
		held.func = bb_cfg__func_at(p->g, at);
		h->v[h->n++] = held;
	}
}

/* The place of 8 bytes of the stack at r10 + off; N_PLACES: none. */
static uint32_t spill_at(int off)
{
	return off < 0 && off >= -512 && off % 8 == 0 ? N_REGS + (uint32_t)(-off / 8 - 1)
						      : N_PLACES;
}

/* Does the function take nothing else that is given back so? Then it is known, even where the
 * pointer is not, as on another path it points to something else. */
static bool is_only_one(const struct pass *p, const struct bb_held *held)
{
	const struct bb_helds *h = p->out;

	for (uint32_t k = 0; k < h->n; k++)
		if (&h->v[k] != held && h->v[k].func == held->func &&
		    h->v[k].release == held->release)
			return false;
	return true;
}

/* What of `held` the call gives back, whose r1 holds `first`. */
static bool gives_back(const struct pass *p, const struct bb_held *held, uint32_t k,
		       const struct bpf_insn *i, uint32_t at, const int16_t *place,
		       const int16_t *taken_of)
{
	int64_t to;

	if (bb_insn_is_function_call(i)) {
		to = bb_insn_function_target(i, at);
		for (uint32_t r = 1; r <= 5; r++)
			if (place[r] == (int16_t)(TAKEN + k))
				return function_releases(p, bb_cfg__func_at(p->g, (uint32_t)to),
							 held, 8);
		return held->by == BB_HELD_SECTION &&
		       function_releases(p, bb_cfg__func_at(p->g, (uint32_t)to), held, 8);
	}
	if (bb_insn_is_helper_call(i) && i->imm == BPF_FUNC_kptr_xchg)
		return place[2] == (int16_t)(TAKEN + k);
	if (!may_release(held, i))
		return false;
	if (held->by == BB_HELD_RESULT)
		return place[1] == (int16_t)(TAKEN + k) ||
		       (place[1] == NOTHING && is_only_one(p, held));
	/* what lies on the stack is known by where; one lock is held at a time */
	return taken_of[k] >= NOTHING || place[1] == taken_of[k];
}

static void after_call(struct pass *p, uint32_t at, int16_t *place)
{
	const struct bpf_insn *i = &p->code->insns[at];
	struct bb_helds *h = p->out;
	int16_t addresses[BB_MAX_HELD] = {0};
	uint32_t k = 0; /* which of them the call takes */

	while (k < h->n && h->v[k].at != at)
		k++;
	for (uint32_t j = 0; j < h->n; j++)
		addresses[j] = place[N_PLACES + j];
	h->released[at] = 0;
	for (uint32_t j = 0; j < h->n; j++)
		if (j != k && h->v[j].func == bb_cfg__func_at(p->g, at) &&
		    gives_back(p, &h->v[j], j, i, at, place, addresses))
			h->released[at] |= 1U << j;
	if (k < h->n && h->v[k].by == BB_HELD_ARGUMENT)
		place[N_PLACES + k] = place[h->v[k].arg];
	for (uint32_t r = 0; r <= 5; r++)
		place[r] = NOTHING;
	if (k < h->n && h->v[k].by == BB_HELD_RESULT)
		place[0] = (int16_t)(TAKEN + k);
}

/* Copies, spills, fills and addresses of the stack; all else leaves nothing of interest. */
static void after_other(const struct bpf_insn *i, int16_t *place)
{
	uint8_t class = BPF_CLASS(i->code);
	uint32_t spill;

	if (i->code == (BPF_ALU64 | BPF_MOV | BPF_X) && !i->off) {
		place[i->dst_reg] = i->src_reg < N_REGS ? place[i->src_reg] : NOTHING;
	} else if (BPF_OP(i->code) == BPF_MOV && (class == BPF_ALU || class == BPF_ALU64) &&
		   BPF_SRC(i->code) == BPF_K && !i->imm && i->dst_reg < N_REGS) {
		place[i->dst_reg] = ZERO;
	} else if (i->code == (BPF_ALU64 | BPF_ADD | BPF_K) && place[i->dst_reg] < NOTHING) {
		place[i->dst_reg] = (int16_t)(place[i->dst_reg] + i->imm);
	} else if (class == BPF_STX && i->dst_reg == FRAME) {
		spill = spill_at(i->off);
		if (spill < N_PLACES)
			place[spill] = i->code == (BPF_STX | BPF_MEM | BPF_DW) &&
						       i->src_reg < N_REGS
					       ? place[i->src_reg]
					       : NOTHING;
	} else if (class == BPF_LDX) {
		spill = i->src_reg == FRAME ? spill_at(i->off) : N_PLACES;
		place[i->dst_reg] = spill < N_PLACES ? place[spill] : NOTHING;
	} else if ((class == BPF_ALU || class == BPF_ALU64 || class == BPF_LD) &&
		   i->dst_reg < N_REGS) {
		place[i->dst_reg] = NOTHING;
	}
}

#define N_STATE (N_PLACES + BB_MAX_HELD)

static void after(struct pass *p, uint32_t at, int16_t *place)
{
	const struct bpf_insn *i = &p->code->insns[at];

	if (bb_insn_is_call(i)) {
		after_call(p, at, place);
	} else if (i->code == (BPF_ALU64 | BPF_MOV | BPF_X) && i->src_reg == FRAME &&
		   at + 1 < p->code->n && i[1].code == (BPF_ALU64 | BPF_ADD | BPF_K) &&
		   i[1].dst_reg == i->dst_reg && i[1].imm < 0 && i[1].imm >= -512) {
		/* the addition comes next, and is done here: see below */
		place[i->dst_reg] = (int16_t)i[1].imm;
	} else if (i->code == (BPF_ALU64 | BPF_ADD | BPF_K) && at &&
		   i[-1].code == (BPF_ALU64 | BPF_MOV | BPF_X) && i[-1].src_reg == FRAME &&
		   i[-1].dst_reg == i->dst_reg) {
		return;
	} else {
		after_other(i, place);
	}
}

/* Where two paths meet, a place on which they differ is unknown. */
static bool meet(struct pass *p, uint32_t block, const int16_t *place)
{
	int16_t *at = &p->at_begin[(size_t)block * N_STATE];
	bool changed = !p->seen[block];

	for (uint32_t k = 0; k < N_STATE; k++) {
		int16_t both = NOTHING;

		if (!p->seen[block] || at[k] == place[k] || (at[k] == ZERO && place[k] >= TAKEN))
			both = place[k];
		else if (place[k] == ZERO && at[k] >= TAKEN)
			both = at[k];

		changed |= both != at[k];
		at[k] = both;
	}
	p->seen[block] = true;
	return changed;
}

/* What a block leaves in each place goes to the blocks behind it. True: that is new. */
static bool pass_block(struct pass *p, uint32_t block)
{
	const struct bb_basic_block *b = &p->g->blocks[block];
	const struct bb_held *held;
	int16_t place[N_STATE];
	uint32_t next[2];
	unsigned int n = bb_cfg__next(p->g, p->code, block, next);
	bool changed = false;

	memcpy(place, &p->at_begin[(size_t)block * N_STATE], sizeof(place));
	for (uint32_t at = b->first; at <= b->last; at++)
		if (!bb_insn_is_second_half(p->code->insns, at))
			after(p, at, place);
	for (unsigned int k = 0; k < n; k++)
		changed |= meet(p, next[k], place);
	if (n || place[0] < TAKEN || place[0] == ZERO)
		return changed;
	/* A function that takes a resource and returns it leaves it to its caller, which gives it
	 * back as it would one that it took itself. */
	held = &p->out->v[place[0] - TAKEN];
	if (!p->returns[b->func] && p->n_returned < BB_MAX_HELD && held->by == BB_HELD_RESULT) {
		p->returned[p->n_returned++] = *held;
		p->returns[b->func] = (uint8_t)p->n_returned;
	}
	return changed;
}

static void find_releases(struct pass *p)
{
	const int16_t nothing[N_STATE] = {0};
	bool changed = true;

	memset(p->seen, 0, p->g->n_blocks * sizeof(*p->seen));
	memset(p->out->released, 0, p->code->n * sizeof(*p->out->released));
	for (uint32_t f = 0; f < p->g->n_funcs; f++)
		meet(p, p->g->block_of[p->g->funcs[f].first], nothing);
	while (changed) {
		changed = false;
		for (uint32_t b = 0; b < p->g->n_blocks; b++)
			if (p->seen[b])
				changed |= pass_block(p, b);
	}
}

int bb_helds__find(const struct bb_code *code, const struct bb_cfg *g, struct bb_helds *ret_helds,
		   struct bb_err *err)
{
	struct bb_helds h = {.released = calloc(code->n, sizeof(*h.released))};
	struct pass p = {.code = code,
			 .g = g,
			 .out = &h,
			 .at_begin = calloc((size_t)g->n_blocks * N_STATE, sizeof(*p.at_begin)),
			 .seen = calloc(g->n_blocks, sizeof(*p.seen)),
			 .returns = calloc(g->n_funcs, sizeof(*p.returns))};
	int rc = h.released && p.at_begin && p.seen && p.returns ? 0 : bb_fail_nomem(err);
	uint32_t before;

	if (!rc && bb_code__calls_kfuncs(code))
		p.kernel = btf__load_vmlinux_btf();
	do { /* until no other function is found that returns what it took */
		before = p.n_returned;
		if (!rc)
			find_takers(&p);
		if (h.n)
			find_releases(&p);
	} while (p.n_returned != before);
	btf__free(p.kernel);
	free(p.at_begin);
	free(p.seen);
	free(p.returns);
	if (rc)
		bb_helds__done(&h);
	else
		*ret_helds = h;
	return rc;
}

void bb_helds__done(struct bb_helds *h)
{
	if (!h)
		return;
	free(h->released);
	*h = (struct bb_helds){0};
}
