/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/registers.h"

#include <bpf/btf.h>
#include <linux/bpf.h>

/* Two dataflow analyses over the basic blocks (Aho et al., Compilers, 9.2), backward for `live` and
 * forward for `known`. Each visits the blocks again until nothing changes. A call of a function
 * reads the registers that are live at the start of that function. */

#define N_REGS 10       /* without r10, the frame pointer */
#define ALL 0x3ffu      /* r0..r9 */
#define ARGS 0x3eu      /* r1..r5 */
#define CLOBBERED 0x3fu /* r0..r5, which any call overwrites */

struct analysis {
	const struct bb_code *code;
	const struct bb_cfg *g;
	uint16_t *at_begin; /* by block: set of the live or the known registers at its start */
	/* by function: argument registers of a global function, from its BTF */
	uint16_t *declared;
	struct bb_registers out;
};

static uint16_t first_args(unsigned int n)
{
	return (uint16_t)(((2U << n) - 1) & ARGS);
}

/* The verifier checks a call of a global function against its declaration, so unused arguments
 * count, too. BTF keeps a function's linkage in `vlen`. */
static uint16_t declared_args(const struct bb_code *code, uint32_t type_id)
{
	const struct btf_type *func = code->btf && type_id ? btf__type_by_id(code->btf, type_id)
							   : NULL,
			      *proto;

	if (!func || !btf_is_func(func) || btf_vlen(func) == BTF_FUNC_STATIC)
		return 0;
	proto = btf__type_by_id(code->btf, func->type);
	return proto && btf_vlen(proto) <= 5 ? first_args(btf_vlen(proto)) : ARGS;
}

static uint16_t call_reads(const struct analysis *a, uint32_t at)
{
	const struct bpf_insn *i = &a->code->insns[at];

	if (bb_insn_is_helper_call(i))
		return i->imm >= BB_CORE_POISON ? 0 : first_args(bb_helper__args(i->imm));
	if (!bb_insn_is_function_call(i))
		return ARGS;
	uint32_t func = bb_cfg__callee(a->g, a->code, at);
	return (a->at_begin[a->g->block_of[a->g->funcs[func].first]] | a->declared[func]) & ARGS;
}

/* The registers that an instruction writes or destroys. */
static uint16_t writes(const struct bpf_insn *i)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
	case BPF_LDX: return BB_REG(i->dst_reg);
	case BPF_LD: return bb_insn_is_wide(i) ? BB_REG(i->dst_reg) : CLOBBERED;
	case BPF_ST: return 0;
	case BPF_STX:
		if (BPF_MODE(i->code) != BPF_ATOMIC || i->imm == BB_STORE_RELEASE)
			return 0;
		if (i->imm == BB_LOAD_ACQUIRE)
			return BB_REG(i->dst_reg);
		return i->imm == BPF_CMPXCHG ? BB_REG(0)
		       : i->imm & BPF_FETCH  ? BB_REG(i->src_reg)
					     : 0;
	default: return bb_insn_is_call(i) ? CLOBBERED : 0;
	}
}

static uint16_t reads(const struct analysis *a, uint32_t at)
{
	const struct bpf_insn *i = &a->code->insns[at];
	uint16_t both = BB_REG(i->dst_reg) | BB_REG(i->src_reg);
	uint16_t source = BPF_SRC(i->code) == BPF_X ? BB_REG(i->src_reg) : 0;
	uint8_t op = BPF_OP(i->code);

	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		/* NEG and END have no source register, although the source bit may be set */
		if (op == BPF_NEG || op == BPF_END)
			source = 0;
		return op == BPF_MOV ? source : source | BB_REG(i->dst_reg);
	case BPF_LD:
		if (bb_insn_is_wide(i))
			return 0;
		return BB_REG(6) | (BPF_MODE(i->code) == BPF_IND ? BB_REG(i->src_reg) : 0);
	case BPF_LDX: return BB_REG(i->src_reg);
	case BPF_ST: return BB_REG(i->dst_reg);
	case BPF_STX:
		if (BPF_MODE(i->code) == BPF_ATOMIC && i->imm == BB_LOAD_ACQUIRE)
			return BB_REG(i->src_reg);
		return BPF_MODE(i->code) == BPF_ATOMIC && i->imm == BPF_CMPXCHG ? both | BB_REG(0)
										: both;
	default:
		if (bb_insn_is_exit(i))
			return BB_REG(0);
		if (bb_insn_is_call(i))
			return call_reads(a, at);
		return op == BPF_JA || op == BB_JCOND ? 0 : BB_REG(i->dst_reg) | source;
	}
}

static void find_live(struct analysis *a)
{
	bool changed = true;

	memset(a->at_begin, 0, a->g->n_blocks * sizeof(*a->at_begin));
	while (changed) {
		changed = false;
		for (uint32_t b = a->g->n_blocks; b-- > 0;) {
			const struct bb_basic_block *block = &a->g->blocks[b];
			uint16_t live = 0;

			for (uint32_t k = 0; k < block->n_next; k++)
				live |= a->at_begin[block->next[k]];
			for (uint32_t at = block->last + 1; at-- > block->first;) {
				if (bb_insn_is_second_half(a->code->insns, at))
					continue;
				live &= (uint16_t)~writes(&a->code->insns[at]);
				live = (live | reads(a, at)) & ALL;
				a->out.live[at] = live;
			}
			changed |= live != a->at_begin[b];
			a->at_begin[b] = live;
		}
	}
}

/* A register is known at the start of a block only if it has a value on all paths that lead there.
 * Returns true if the set of a successor changed. */
static bool known_through(struct analysis *a, uint32_t block)
{
	const struct bb_basic_block *b = &a->g->blocks[block];
	uint16_t known = a->at_begin[block];
	bool changed = false;

	for (uint32_t at = b->first; at <= b->last; at += bb_insn_slots(&a->code->insns[at])) {
		const struct bpf_insn *i = &a->code->insns[at];

		a->out.known[at] = known;
		/* after a call, r0 has a value and r1 to r5 have none */
		if (bb_insn_is_call(i) || bb_insn_is_packet_load(i))
			known = (uint16_t)((known & ~CLOBBERED) | BB_REG(0));
		else
			known |= writes(i);
	}
	for (uint32_t k = 0; k < b->n_next; k++) {
		uint16_t *next = &a->at_begin[b->next[k]], both = *next & known;

		changed |= both != *next;
		*next = both;
	}
	return changed;
}

/* A function's arguments are known at its start. The program's only argument is r1, the context. */
static void find_known(struct analysis *a)
{
	bool changed = true;

	memset(a->at_begin, 0xff, a->g->n_blocks * sizeof(*a->at_begin));
	for (uint32_t f = 0; f < a->g->n_funcs; f++) {
		uint32_t first = a->g->funcs[f].first;

		a->at_begin[a->g->block_of[first]] = f ? a->out.live[first] & ARGS : BB_REG(1);
	}
	while (changed) {
		changed = false;
		for (uint32_t b = 0; b < a->g->n_blocks; b++)
			changed |= known_through(a, b);
	}
}

void bb_registers__find(const struct bb_code *code, const struct bb_cfg *g,
			struct bb_registers *ret_regs)
{
	struct analysis a = {.code = code, .g = g};

	a.at_begin = bb_calloc(g->n_blocks, sizeof(*a.at_begin));
	a.declared = bb_calloc(g->n_funcs, sizeof(*a.declared));
	a.out.live = bb_calloc(code->n, sizeof(*a.out.live));
	a.out.known = bb_calloc(code->n, sizeof(*a.out.known));
	for (uint32_t f = 0; f < g->n_funcs; f++)
		a.declared[f] = declared_args(code, g->funcs[f].type_id);
	find_live(&a);
	find_known(&a);
	*ret_regs = a.out;
	free(a.at_begin);
	free(a.declared);
}

void bb_registers__done(struct bb_registers *r)
{
	free(r->live);
	free(r->known);
	*r = (struct bb_registers){0};
}

/* Takes the lowest free registers, because the JIT adds a push and a pop for each of r6 to r9 that
 * a function uses. Of the registers that must be saved, takes the highest. */
unsigned int bb_registers__two(const struct bb_registers *r, uint32_t at, uint8_t ret_reg[2],
			       uint8_t ret_save[2])
{
	unsigned int n = 0;
	uint8_t saved = 0;

	for (uint8_t reg = 0; reg < N_REGS && n < 2; reg++)
		if (!(r->live[at] & BB_REG(reg))) {
			ret_reg[n] = reg;
			ret_save[n++] = 0;
		}
	for (uint8_t reg = N_REGS; reg-- > 0 && n < 2;)
		if (r->live[at] & r->known[at] & BB_REG(reg)) {
			ret_reg[n] = reg;
			ret_save[n++] = ++saved;
		}
	return n < 2 ? BB_NO_TWO : saved;
}

/* most blocks that are searched for one value; compilers load a map's address near its use or
 * before a loop */
#define MOST_STEPS 64u

/* A step of the search for a value: look for the value of register `reg` at the end of `block`. */
struct step {
	uint32_t block;
	uint8_t reg;
	/* true after a lookup in a map of maps; the register then holds the outer map */
	bool is_inner;
	bool is_altered; /* true if the value is computed from the register and constants */
	/* true if the value is in memory, at the address in the register + `offset` */
	bool is_address;
	int32_t offset;
};

struct walk {
	const struct bb_code *code;
	const struct bb_cfg *g;
	/* no step is there twice */
	struct step steps[MOST_STEPS];
	uint32_t n_steps;
	bool is_lost; /* true if the value is not found on one path, or differs between two paths */
	struct bb_origin found;
};

static void note_origin(struct walk *w, struct bb_origin o)
{
	if (o.kind == BB_ORIGIN_UNKNOWN ||
	    (w->found.kind != BB_ORIGIN_UNKNOWN &&
	     (w->found.kind != o.kind || w->found.value != o.value || w->found.offset != o.offset)))
		w->is_lost = true;
	w->found = o;
}

/* Goes back over the instruction `i`, which writes the register of `s`. Changes `s` to where `i`
 * takes the value from. Returns false if the search ends here. */
static bool step_over(const struct bpf_insn *i, struct step *s)
{
	unsigned int op = i->code & ~(unsigned int)BPF_X, class = BPF_CLASS(i->code);
	bool is_move = op == (BPF_ALU64 | BPF_MOV) && !i->off, has_register = i->code & BPF_X,
	     is_alu = class == BPF_ALU || class == BPF_ALU64;

	if (is_move && has_register) {
		s->reg = i->src_reg;
	} else if (!s->reg && bb_insn_is_helper_call(i) && i->imm == BPF_FUNC_map_lookup_elem &&
		   !s->is_inner && !s->is_altered && !s->is_address) {
		s->reg = BPF_REG_1;
		s->is_inner = true;
	} else if (op == (BPF_ALU | BPF_MOV) && has_register && !s->is_inner && !s->is_address) {
		s->reg = i->src_reg;
		s->is_altered = true;
	} else if (is_alu && !has_register && BPF_OP(i->code) != BPF_MOV && !s->is_inner &&
		   !s->is_address) {
		s->is_altered = true;
	} else if (class == BPF_LDX && !s->is_inner && !s->is_address) {
		s->reg = i->src_reg;
		s->offset = i->off;
		s->is_address = true;
	} else {
		return false;
	}
	return true;
}

static struct bb_origin origin_at(const struct bpf_insn *i, const struct step *s)
{
	unsigned int op = i->code & ~(unsigned int)BPF_X;

	if (s->is_address && bb_insn_is_wide(i) && i->src_reg == BPF_PSEUDO_MAP_VALUE)
		return (struct bb_origin){BB_ORIGIN_GLOBAL, i->imm, i[1].imm + s->offset};
	if (s->is_address || s->is_altered)
		return (struct bb_origin){0};
	if (bb_insn_is_wide(i) && i->src_reg == BPF_PSEUDO_MAP_VALUE && !s->is_inner)
		return (struct bb_origin){BB_ORIGIN_GLOBAL_AT, i->imm, i[1].imm};
	if (bb_insn_is_wide(i) && i->src_reg == BPF_PSEUDO_MAP_FD)
		return (struct bb_origin){s->is_inner ? BB_ORIGIN_INNER_MAP : BB_ORIGIN_MAP, i->imm,
					  0};
	if ((op == (BPF_ALU64 | BPF_MOV) || op == (BPF_ALU | BPF_MOV)) && !(i->code & BPF_X) &&
	    !s->is_inner)
		return (struct bb_origin){BB_ORIGIN_NUMBER, i->imm, 0};
	return (struct bb_origin){0};
}

/* Searches from slot `at` back to the start of the block for the writer of the register of `s`. If
 * there is none, adds a step for each block that leads to this one. */
static void go_back(struct walk *w, uint32_t at, struct step s)
{
	const uint32_t block = s.block;
	bool any = false;

	while (at-- > w->g->blocks[block].first) {
		const struct bpf_insn *i = &w->code->insns[at];

		if (bb_insn_is_second_half(w->code->insns, at) || !(writes(i) & BB_REG(s.reg)) ||
		    step_over(i, &s))
			continue;
		note_origin(w, origin_at(i, &s));
		return;
	}
	for (s.block = 0; s.block < w->g->n_blocks; s.block++) {
		if (!bb_cfg__leads_to(w->g, s.block, block))
			continue;
		any = true;
		if (BB_ANY(w->steps, w->n_steps,
			   it->block == s.block && it->reg == s.reg && it->is_inner == s.is_inner &&
				   it->is_altered == s.is_altered &&
				   it->is_address == s.is_address && it->offset == s.offset))
			continue;
		if (w->n_steps == MOST_STEPS)
			w->is_lost = true;
		else
			w->steps[w->n_steps++] = s;
	}
	if (any && w->g->blocks[block].first != w->g->funcs[w->g->blocks[block].func].first)
		return;
	/* a function begins here, so the value is its argument; or no block leads here */
	if (block || s.reg != BPF_REG_1 || s.is_inner || s.is_altered || s.is_address)
		w->is_lost = true;
	else
		note_origin(w, (struct bb_origin){.kind = BB_ORIGIN_CONTEXT_AT});
}

struct bb_origin bb_origin_of(const struct bb_code *code, const struct bb_cfg *g, uint32_t at,
			      uint8_t reg)
{
	struct walk w = {.code = code, .g = g};

	go_back(&w, at, (struct step){.block = g->block_of[at], .reg = reg});
	for (uint32_t i = 0; i < w.n_steps && !w.is_lost; i++)
		go_back(&w, g->blocks[w.steps[i].block].end, w.steps[i]);
	return w.is_lost ? (struct bb_origin){0} : w.found;
}

uint64_t bb_context_words(const struct bb_code *code, const struct bb_cfg *g)
{
	uint64_t words = 0;

	for (uint32_t at = 0; at < g->funcs[0].end; at += bb_insn_slots(&code->insns[at])) {
		const struct bpf_insn *i = &code->insns[at];
		bool is_store = BPF_CLASS(i->code) == BPF_STX,
		     is_call = bb_insn_is_function_call(i);
		uint8_t first = is_store ? i->src_reg : BPF_REG_1,
			last = is_store ? i->src_reg : BPF_REG_5;

		/* the context's address may be stored, or be an argument */
		for (uint8_t reg = first; (is_store || is_call) && reg <= last; reg++)
			if (bb_origin_of(code, g, at, reg).kind == BB_ORIGIN_CONTEXT_AT)
				return 0;
		if (BPF_CLASS(i->code) == BPF_LDX && i->off >= 0 &&
		    bb_origin_of(code, g, at, i->src_reg).kind == BB_ORIGIN_CONTEXT_AT)
			words |= 1ULL << (i->off < 63 * 8 ? i->off / 8 : 63);
	}
	return words;
}

/* Number of arguments of helper 0, 1, 2, ... as declared in bpf_helper_defs.h, and 5 for variadic
 * helpers and number 0, which is no helper. A test compares this with the installed header. */
static const char args[] = "52423050055533002131442215435333231032322103231125434424352242243254544"
			   "44443414102425513224431111115543334442155333321044511305312432222111114"
			   "4434233541421242020315453413231111341454332101144533231442255333220442";

#define NAME(name) #name
static const char *const names[] = {__BPF_FUNC_MAPPER(NAME)};

unsigned int bb_helper__args(int32_t id)
{
	return id >= 0 && (size_t)id < sizeof(args) - 1 ? (unsigned int)(args[id] - '0') : 5;
}

const char *bb_helper__name(int32_t id)
{
	return id > 0 && (size_t)id < BB_LEN(names) ? names[id] : NULL;
}
