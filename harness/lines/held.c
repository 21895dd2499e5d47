/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the calls that acquire and release resources, by a forward dataflow analysis over the basic
 * blocks (Aho et al., Compilers, 9.2). It tracks which register or stack slot has which acquired
 * pointer. */
#include "lines/held.h"

#include <bpf/btf.h>

#define N_REGS 10u
#define N_SPILLS 64u /* the whole stack, in slots of 8 bytes */
#define N_LOCATIONS (N_REGS + N_SPILLS)
/* A state says what each register and each stack slot holds. It ends with the stack address of each
 * resource that is BB_HELD_ARGUMENT. */
#define N_STATE (N_LOCATIONS + BB_MAX_HELD)
#define FRAME 10u

/* Value of a state's entry: NOTHING, or TAKEN + k for the pointer that v[k] acquired, or the
 * negative offset of a stack address from r10. */
#define NOTHING 0
#define TAKEN 1
/* the constant 0, such as a NULL; meet() of ZERO and an acquired pointer is the pointer */
#define ZERO INT16_MAX

/* Helpers are found by id and kfuncs by name. is_iterator() finds iterators. */
static const struct kind {
	enum bb_held_by by;
	int32_t take_id, release_id;
	const char *take, *release;
	uint8_t arg;
	bool has_flags;
	int32_t flags;
} kinds[] = {
	{BB_HELD_RESULT, .take_id = BPF_FUNC_ringbuf_reserve,
	 .release_id = BPF_FUNC_ringbuf_discard, .has_flags = true, .flags = BPF_RB_NO_WAKEUP},
	{BB_HELD_ARGUMENT, .take_id = BPF_FUNC_ringbuf_reserve_dynptr,
	 .release_id = BPF_FUNC_ringbuf_discard_dynptr, .arg = 4, .has_flags = true,
	 .flags = BPF_RB_NO_WAKEUP},
	{BB_HELD_RESULT, .take_id = BPF_FUNC_sk_lookup_tcp, .release_id = BPF_FUNC_sk_release},
	{BB_HELD_RESULT, .take_id = BPF_FUNC_sk_lookup_udp, .release_id = BPF_FUNC_sk_release},
	{BB_HELD_RESULT, .take_id = BPF_FUNC_skc_lookup_tcp, .release_id = BPF_FUNC_sk_release},
	{BB_HELD_ARGUMENT, .take_id = BPF_FUNC_spin_lock, .release_id = BPF_FUNC_spin_unlock,
	 .arg = 1},
	{BB_HELD_SECTION, .take = "bpf_rcu_read_lock", .release = "bpf_rcu_read_unlock"},
	{BB_HELD_SECTION, .take = "bpf_preempt_disable", .release = "bpf_preempt_enable"},
	{BB_HELD_ARGUMENT, .take = "bpf_local_irq_save", .release = "bpf_local_irq_restore",
	 .arg = 1},
	{BB_HELD_RESULT, .take = "bpf_obj_new_impl", .release = "bpf_obj_drop_impl",
	 .has_flags = true},
	{BB_HELD_RESULT, .take = "bpf_task_acquire", .release = "bpf_task_release"},
	{BB_HELD_RESULT, .take = "bpf_task_from_pid", .release = "bpf_task_release"},
	{BB_HELD_RESULT, .take = "bpf_task_from_vpid", .release = "bpf_task_release"},
	{BB_HELD_RESULT, .take = "bpf_cgroup_acquire", .release = "bpf_cgroup_release"},
	{BB_HELD_RESULT, .take = "bpf_cgroup_from_id", .release = "bpf_cgroup_release"},
	{BB_HELD_RESULT, .take = "bpf_cgroup_ancestor", .release = "bpf_cgroup_release"},
	{BB_HELD_RESULT, .take = "bpf_task_get_cgroup1", .release = "bpf_cgroup_release"},
	{BB_HELD_RESULT, .take = "bpf_cpumask_create", .release = "bpf_cpumask_release"},
	{BB_HELD_RESULT, .take = "bpf_cpumask_acquire", .release = "bpf_cpumask_release"},
	{BB_HELD_RESULT, .take = "bpf_get_task_exe_file", .release = "bpf_put_file"},
};

struct pass {
	const struct bb_code *code;
	const struct bb_cfg *g;
	struct btf *kernel; /* NULL if no kfunc is called or the kernel has no BTF */
	struct bb_helds *out;
	int16_t *at_begin; /* by basic block: N_STATE entries, the state at its start */
	bool *seen;        /* by basic block: true if a path leads to it */
	/* by function: 1 + index in `returned` of the resource that it returns; 0 if none */
	uint8_t *returns;
	struct bb_held returned[BB_MAX_HELD];
	uint32_t n_returned;
};

static int32_t kfunc_id(const struct pass *p, const char *name)
{
	return p->kernel ? btf__find_by_name_kind(p->kernel, name, BTF_KIND_FUNC) : -1;
}

/* "bpf_iter_NAME_destroy" releases the iterator that "bpf_iter_NAME_new" makes. */
static bool is_iterator(const struct pass *p, const char *name, struct bb_held *held)
{
	static const char begin[] = "bpf_iter_", end[] = "_new";
	size_t len = strlen(name);
	char destroy[160];

	if (strncmp(name, begin, strlen(begin)) || len > 128 || len <= strlen(end) ||
	    strcmp(name + len - strlen(end), end))
		return false;
	snprintf(destroy, sizeof(destroy), "%.*s_destroy", (int)(len - strlen(end)), name);
	int32_t id = kfunc_id(p, destroy);
	*held = (struct bb_held){.by = BB_HELD_ARGUMENT, .arg = 1, .release = id, .is_kfunc = true};
	return id > 0;
}

/* If the call acquires a resource, describes it in *held and returns true. */
static bool takes(const struct pass *p, const struct bpf_insn *i, struct bb_held *held)
{
	bool is_kfunc = bb_insn_is_kfunc_call(i);
	const char *name = is_kfunc ? bb_btf_name(p->kernel, (uint32_t)i->imm) : NULL;

	if (is_kfunc ? !name : !bb_insn_is_helper_call(i))
		return false;
	if (is_kfunc && is_iterator(p, name, held))
		return true;
	for (const struct kind *k = kinds; k < kinds + BB_LEN(kinds); k++) {
		if (is_kfunc ? !k->take || strcmp(name, k->take) : k->take_id != i->imm)
			continue;
		*held = (struct bb_held){.by = k->by,
					 .arg = k->arg,
					 .release = is_kfunc ? kfunc_id(p, k->release)
							     : k->release_id,
					 .is_kfunc = is_kfunc,
					 .has_flags = k->has_flags,
					 .flags = k->flags};
		return held->release > 0;
	}
	return false;
}

/* Submitting a ring buffer record releases it, too. */
static bool may_release(const struct bb_held *held, const struct bpf_insn *i)
{
	int32_t id = i->imm;

	if (bb_insn_is_kfunc_call(i))
		return held->is_kfunc && held->release == id;
	if (id == BPF_FUNC_ringbuf_submit)
		id = BPF_FUNC_ringbuf_discard;
	if (id == BPF_FUNC_ringbuf_submit_dynptr)
		id = BPF_FUNC_ringbuf_discard_dynptr;
	return bb_insn_is_helper_call(i) && !held->is_kfunc && held->release == id;
}

/* True if the function may release a resource like `held`, or calls one that may, `deep` levels at
 * most. */
static bool function_releases(const struct pass *p, uint32_t func, const struct bb_held *held,
			      unsigned int deep)
{
	const struct bb_func *f = &p->g->funcs[func];

	for (uint32_t at = f->first; deep && at < f->end;
	     at += bb_insn_slots(&p->code->insns[at])) {
		const struct bpf_insn *i = &p->code->insns[at];

		if (may_release(held, i) ||
		    (bb_insn_is_function_call(i) &&
		     function_releases(p, bb_cfg__callee(p->g, p->code, at), held, deep - 1)))
			return true;
	}
	return false;
}

static void find_takers(struct pass *p)
{
	struct bb_helds *h = p->out;

	h->n = 0;
	for (uint32_t at = 0; at < p->code->n && h->n < BB_MAX_HELD;
	     at += bb_insn_slots(&p->code->insns[at])) {
		const struct bpf_insn *i = &p->code->insns[at];
		struct bb_held held;
		uint8_t of = bb_insn_is_function_call(i)
				     ? p->returns[bb_cfg__callee(p->g, p->code, at)]
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

/* Returns the index in a state of the stack slot at r10 + off, or N_LOCATIONS if there is none. */
static uint32_t spill_at(int off)
{
	return off < 0 && off >= -512 && off % 8 == 0 ? N_REGS + (uint32_t)(-off / 8 - 1)
						      : N_LOCATIONS;
}

/* True if the function acquires no other resource with the same release. So we know what a call
 * releases, even if its argument is not tracked. */
static bool is_only_one(const struct pass *p, const struct bb_held *held)
{
	const struct bb_helds *h = p->out;

	return !BB_ANY(h->v, h->n,
		       it != held && it->func == held->func && it->release == held->release);
}

static bool gives_back(const struct pass *p, uint32_t k, uint32_t at, const int16_t *state)
{
	const struct bb_held *held = &p->out->v[k];
	const struct bpf_insn *i = &p->code->insns[at];

	if (bb_insn_is_function_call(i)) {
		bool passes = held->by == BB_HELD_SECTION ||
			      BB_ANY(&state[1], 5, *it == (int16_t)(TAKEN + k));

		return passes && function_releases(p, bb_cfg__callee(p->g, p->code, at), held, 8);
	}
	if (bb_insn_is_helper_call(i) && i->imm == BPF_FUNC_kptr_xchg)
		return state[2] == (int16_t)(TAKEN + k);
	if (!may_release(held, i))
		return false;
	if (held->by == BB_HELD_RESULT)
		return state[1] == (int16_t)(TAKEN + k) ||
		       (state[1] == NOTHING && is_only_one(p, held));
	/* Dynptrs, iterators and saved interrupt flags are known by their stack address. A lock is
	 * not on the stack, but a program holds only one at a time. */
	return state[N_LOCATIONS + k] >= NOTHING || state[1] == state[N_LOCATIONS + k];
}

static void after_call(struct pass *p, uint32_t at, int16_t *state)
{
	struct bb_helds *h = p->out;
	uint32_t k = 0; /* resource that the call acquires; h->n if none */

	while (k < h->n && h->v[k].at != at)
		k++;
	h->released[at] = 0;
	for (uint32_t j = 0; j < h->n; j++)
		if (j != k && h->v[j].func == bb_cfg__func_at(p->g, at) &&
		    gives_back(p, j, at, state))
			h->released[at] |= 1U << j;
	if (k < h->n && h->v[k].by == BB_HELD_ARGUMENT)
		state[N_LOCATIONS + k] = state[h->v[k].arg];
	for (uint32_t r = 0; r <= 5; r++)
		state[r] = NOTHING;
	if (k < h->n && h->v[k].by == BB_HELD_RESULT)
		state[0] = (int16_t)(TAKEN + k);
}

/* Changes the state as the instruction at `at` does. Follows calls, copies, stack addresses, spills
 * to the stack, and loads from the stack. */
static void after(struct pass *p, uint32_t at, int16_t *state)
{
	const struct bpf_insn *i = &p->code->insns[at];
	uint8_t class = BPF_CLASS(i->code);
	uint32_t spill;

	if (bb_insn_is_call(i)) {
		after_call(p, at, state);
	} else if (i->code == (BPF_ALU64 | BPF_MOV | BPF_X) && i->src_reg == FRAME &&
		   at + 1 < p->code->n && i[1].code == (BPF_ALU64 | BPF_ADD | BPF_K) &&
		   i[1].dst_reg == i->dst_reg && i[1].imm < 0 && i[1].imm >= -512) {
		/* This copy of r10 and the next instruction make a stack address. The state gets
		 * the sum now, and the branch below skips the next instruction. */
		state[i->dst_reg] = (int16_t)i[1].imm;
	} else if (i->code == (BPF_ALU64 | BPF_ADD | BPF_K) && at &&
		   i[-1].code == (BPF_ALU64 | BPF_MOV | BPF_X) && i[-1].src_reg == FRAME &&
		   i[-1].dst_reg == i->dst_reg) {
		return;
	} else if (i->code == (BPF_ALU64 | BPF_MOV | BPF_X) && !i->off) {
		state[i->dst_reg] = i->src_reg < N_REGS ? state[i->src_reg] : NOTHING;
	} else if (BPF_OP(i->code) == BPF_MOV && (class == BPF_ALU || class == BPF_ALU64) &&
		   BPF_SRC(i->code) == BPF_K && !i->imm && i->dst_reg < N_REGS) {
		state[i->dst_reg] = ZERO;
	} else if (i->code == (BPF_ALU64 | BPF_ADD | BPF_K) && state[i->dst_reg] < NOTHING) {
		state[i->dst_reg] = (int16_t)(state[i->dst_reg] + i->imm);
	} else if (class == BPF_STX && i->dst_reg == FRAME) {
		spill = spill_at(i->off);
		if (spill < N_LOCATIONS)
			state[spill] = i->code == (BPF_STX | BPF_MEM | BPF_DW) &&
						       i->src_reg < N_REGS
					       ? state[i->src_reg]
					       : NOTHING;
	} else if (class == BPF_LDX) {
		spill = i->src_reg == FRAME ? spill_at(i->off) : N_LOCATIONS;
		state[i->dst_reg] = spill < N_LOCATIONS ? state[spill] : NOTHING;
	} else if ((class == BPF_ALU || class == BPF_ALU64 || class == BPF_LD) &&
		   i->dst_reg < N_REGS) {
		state[i->dst_reg] = NOTHING;
	}
}

/* Merges `state` into the state at the start of `block`. Entries that differ become NOTHING, but an
 * acquired pointer wins over ZERO. Returns true if the state changed. */
static bool meet(struct pass *p, uint32_t block, const int16_t *state)
{
	int16_t *at = &p->at_begin[(size_t)block * N_STATE];
	bool changed = !p->seen[block];

	for (uint32_t k = 0; k < N_STATE; k++) {
		int16_t both = NOTHING;

		if (!p->seen[block] || at[k] == state[k] || (at[k] == ZERO && state[k] >= TAKEN))
			both = state[k];
		else if (state[k] == ZERO && at[k] >= TAKEN)
			both = at[k];

		changed |= both != at[k];
		at[k] = both;
	}
	p->seen[block] = true;
	return changed;
}

/* Returns true if the state at the start of a successor changed. */
static bool pass_block(struct pass *p, uint32_t block)
{
	const struct bb_basic_block *b = &p->g->blocks[block];
	int16_t state[N_STATE];
	bool changed = false;

	memcpy(state, &p->at_begin[(size_t)block * N_STATE], sizeof(state));
	for (uint32_t at = b->first; at <= b->last; at += bb_insn_slots(&p->code->insns[at]))
		after(p, at, state);
	for (uint32_t k = 0; k < b->n_next; k++)
		changed |= meet(p, b->next[k], state);
	if (b->n_next || state[0] < TAKEN || state[0] == ZERO)
		return changed;
	/* a call of this function acquires the resource for the caller */
	const struct bb_held *held = &p->out->v[state[0] - TAKEN];
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

void bb_helds__find(const struct bb_code *code, const struct bb_cfg *g, struct bb_helds *ret_helds)
{
	struct bb_helds h = {.released = bb_calloc(code->n, sizeof(*h.released))};
	struct pass p = {.code = code,
			 .g = g,
			 .out = &h,
			 .at_begin = bb_calloc((size_t)g->n_blocks * N_STATE, sizeof(*p.at_begin)),
			 .seen = bb_calloc(g->n_blocks, sizeof(*p.seen)),
			 .returns = bb_calloc(g->n_funcs, sizeof(*p.returns))};
	uint32_t before;

	if (bb_code__calls_kfuncs(code))
		p.kernel = btf__load_vmlinux_btf();
	do { /* repeat while more functions turn out to return a resource */
		before = p.n_returned;
		find_takers(&p);
		if (h.n)
			find_releases(&p);
	} while (p.n_returned != before);
	btf__free(p.kernel);
	free(p.at_begin);
	free(p.seen);
	free(p.returns);
	*ret_helds = h;
}

void bb_helds__done(struct bb_helds *h)
{
	free(h->released);
	*h = (struct bb_helds){0};
}
