/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/clone.h"

#include "base/bpf_info.h"
#include "base/io.h"
#include "exact/registers.h"

/* slots to count a block: 2 to save registers, 2 for the counter's address, 2 to add, 2 to
 * restore */
#define COUNTER_SLOTS 8u
/* slots to count a failed call: 1 to skip the rest if it succeeded, 2 for the address, 2 to add */
#define VAIN_SLOTS 5u
/* slots to log a key: 1 to save its address, 1 to load that, 2 for the log's address, 2 for each
 * byte */
#define KEY_SLOTS(bytes) (4 + 2 * (bytes))

/* Position of a block's counter, and the two registers that it uses. Every position in the block
 * gives the same count, so we take the one at which the fewest registers must be saved. */
struct site {
	uint32_t at; /* the counter goes before this slot */
	uint8_t reg[2], save[2];
};

/* Each block gets an atomic counter, 8 bytes in the value of a map. Each watched call gets one,
 * too. */
struct maker {
	struct bb_clone c;
	struct bb_registers regs;
	struct site *sites;    /* by block: position of its counter */
	uint8_t *saves;        /* by function: number of stack slots for saved registers, 0..2 */
	uint32_t *stack_bytes; /* by function: bytes of stack that the program uses; we save below
				* them */
	struct bb_rewrite out;
};

/* Offset from r10 of the lower end of the function's stack. */
static int below_stack(const struct maker *m, uint32_t func)
{
	return -(int)((m->stack_bytes[func] + 7) & ~7U);
}

/* Decides which keys are logged. A stack slot keeps the key's address during the lookup. */
static void find_keys(struct maker *m)
{
	struct bb_clone *c = &m->c;

	for (uint32_t i = 0; i < c->n_vain; i++) {
		uint32_t at = c->vain[i], func = bb_cfg__func_at(&c->cfg, at);
		struct bb_origin map = bb_origin_of(c->code, &c->cfg, at, BPF_REG_1);
		struct bpf_map_info info = {0};

		if (c->code->insns[at].imm == BPF_FUNC_tail_call || map.kind != BB_ORIGIN_MAP ||
		    bb_info__read(map.value, &info) || !info.key_size ||
		    info.key_size > BB_KEY_BYTES)
			continue;
		c->key_bytes[i] = info.key_size;
		if (!m->saves[func])
			m->saves[func] = 1;
		c->n_saved++;
	}
}

static int find_sites(struct maker *m, struct bb_err *err)
{
	const struct bb_code *code = m->c.code;
	struct bb_cfg *g = &m->c.cfg;

	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at])) {
		int32_t id = bb_insn_is_helper_call(&code->insns[at]) ? code->insns[at].imm : 0;

		if (id == BPF_FUNC_map_lookup_elem || id == BPF_FUNC_map_lookup_percpu_elem ||
		    id == BPF_FUNC_tail_call)
			m->c.vain[m->c.n_vain++] = at;
	}
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		const struct bb_basic_block *block = &g->blocks[b];
		unsigned int least = BB_NO_TWO;

		for (uint32_t at = block->first; at <= block->last && least;
		     at += bb_insn_slots(&code->insns[at])) {
			struct site here = {.at = at};
			unsigned int saved = bb_registers__two(&m->regs, at, here.reg, here.save);

			if (saved < least) {
				least = saved;
				m->sites[b] = here;
			}
		}
		if (least == BB_NO_TWO)
			return bb_fail(err, -ENOTSUP,
				       "'%s' has no register to spare at instruction %u",
				       code->name, block->first);
		if (least > m->saves[block->func])
			m->saves[block->func] = (uint8_t)least;
		m->c.n_saved += least != 0;
	}
	return 0;
}

static void emit_count(struct maker *m, uint32_t nth, uint8_t address, uint8_t one)
{
	bb_emit_address(&m->out, address, m->c.counts.fd, nth * (uint32_t)sizeof(uint64_t));
	bb_emit(&m->out, BPF_ALU64 | BPF_MOV | BPF_K, one, 0, 0, 1);
	bb_emit(&m->out, BPF_STX | BPF_ATOMIC | BPF_DW, address, one, 0, BPF_ADD);
}

/* Offset from r10 of the stack slot for the address of the key of watched call `nth`. */
static int16_t key_slot(const struct maker *m, uint32_t nth)
{
	return (int16_t)(below_stack(m, bb_cfg__func_at(&m->c.cfg, m->c.vain[nth])) - 8);
}

/* Copies the key byte by byte to the log, because the verifier refuses a misaligned load from the
 * stack. */
static void emit_key_log(struct maker *m, uint32_t nth)
{
	size_t at = (m->c.cfg.n_blocks + m->c.n_vain) * sizeof(uint64_t) +
		    (size_t)nth * BB_KEY_BYTES;

	bb_emit(&m->out, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, key_slot(m, nth), 0);
	bb_emit_address(&m->out, BPF_REG_2, m->c.counts.fd, (uint32_t)at);
	for (uint32_t i = 0; i < m->c.key_bytes[nth]; i++) {
		bb_emit(&m->out, BPF_LDX | BPF_MEM | BPF_B, BPF_REG_3, BPF_REG_1, (int16_t)i, 0);
		bb_emit(&m->out, BPF_STX | BPF_MEM | BPF_B, BPF_REG_2, BPF_REG_3, (int16_t)i, 0);
	}
}

static void lay_out(struct maker *m)
{
	const struct bb_code *code = m->c.code;
	struct bb_rewrite *out = &m->out;
	uint32_t vain = 0, n_key;
	bool is_watched;

	out->n = 0;
	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at])) {
		uint32_t block = m->c.cfg.block_of[at];
		const struct site *s = &m->sites[block];

		out->moved[at] = out->landing[at] = out->n;
		if (s->at == at) {
			int off = below_stack(m, m->c.cfg.blocks[block].func);

			bb_emit_saves(out, s->reg, s->save, off, false);
			emit_count(m, block, s->reg[0], s->reg[1]);
			bb_emit_saves(out, s->reg, s->save, off, true);
		}
		is_watched = vain < m->c.n_vain && m->c.vain[vain] == at;
		n_key = is_watched && m->c.key_bytes ? m->c.key_bytes[vain] : 0;
		if (n_key)
			bb_emit(out, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_2,
				key_slot(m, vain), 0);
		bb_emit_old(out, at);
		if (!is_watched)
			continue;
		/* A lookup failed if it returned NULL. A tail call failed if it returned at all. */
		if (code->insns[at].imm != BPF_FUNC_tail_call)
			bb_emit(out, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0,
				(int16_t)(VAIN_SLOTS - 1 + (n_key ? KEY_SLOTS(n_key) - 1 : 0)), 0);
		if (n_key)
			emit_key_log(m, vain);
		emit_count(m, m->c.cfg.n_blocks + vain++, BPF_REG_1, BPF_REG_2);
	}
	out->moved[code->n] = out->n;
}

static int instrument_and_load(struct maker *m, struct bb_err *err)
{
	const struct bb_code *code = m->c.code;
	size_t most = (size_t)code->n * BB_LONG_SLOTS + (size_t)m->c.cfg.n_blocks * COUNTER_SLOTS +
		      (size_t)m->c.n_vain * VAIN_SLOTS;
	int rc;

	for (uint32_t i = 0; m->c.key_bytes && i < m->c.n_vain; i++)
		most += m->c.key_bytes[i] ? KEY_SLOTS(m->c.key_bytes[i]) : 0;

	m->out = (struct bb_rewrite){.code = code, .with = "counters"};
	bb_rewrite__open(&m->out, most);
	/* A jump that becomes long may push the targets of others out of reach. No jump becomes
	 * short again, so the loop ends. */
	do
		lay_out(m);
	while (!bb_rewrite__mend(&m->out));
	m->c.n_insns = m->out.n;
	m->c.n_long = m->out.n_long;
	if (m->out.n > BB_MOST_INSNS)
		rc = bb_fail(err, -ENOTSUP,
			     "'%s' has %u instructions with counters instead of %u; a clone of "
			     "more than %u is not tried, as the kernel may take minutes to load "
			     "them",
			     code->name, m->out.n, code->n, BB_MOST_INSNS);
	else
		rc = bb_load__program(code, &m->out, &m->c.prog_fd, err);
	bb_rewrite__done(&m->out);
	return rc;
}

/* Stops watching all lookups or, if there are none, all tail calls. Each watched lookup is a
 * branch, and with fewer branches the verifier has fewer paths to check. */
static void watch_less(struct bb_clone *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_vain; i++)
		if (c->code->insns[c->vain[i]].imm == BPF_FUNC_tail_call)
			c->vain[n++] = c->vain[i];
	n = n < c->n_vain ? n : 0;
	c->n_unwatched += c->n_vain - n;
	c->n_vain = n;
}

static int load(const struct bb_code *code, bool with_keys, struct bb_clone *ret_clone,
		struct bb_err *err)
{
	struct maker m = {.c = {.code = code, .prog_fd = -1}};
	struct bb_cfg *g = &m.c.cfg;
	int rc = bb_cfg__make(code, g, err);

	if (!rc) {
		bb_registers__find(code, g, &m.regs);
		m.sites = bb_calloc(g->n_blocks, sizeof(*m.sites));
		m.saves = bb_calloc(g->n_funcs, sizeof(*m.saves));
		m.stack_bytes = bb_calloc(g->n_funcs, sizeof(*m.stack_bytes));
		m.c.vain = bb_calloc(code->n, sizeof(*m.c.vain));
		m.c.key_bytes = with_keys ? bb_calloc(code->n, sizeof(*m.c.key_bytes)) : NULL;
		rc = find_sites(&m, err);
	}
	size_t n_counters = g->n_blocks + m.c.n_vain;
	if (!rc)
		rc = bb_shared_memory__open("bb_counts",
					    n_counters * sizeof(uint64_t) +
						    (with_keys ? m.c.n_vain * BB_KEY_BYTES : 0),
					    &m.c.counts, err);
	if (!rc && with_keys) {
		find_keys(&m);
		m.c.keys = (const volatile uint8_t *)&m.c.counts.v[n_counters];
	}
	/* finding the sizes of the stacks takes one more load, so do it only if needed */
	if (!rc && m.c.n_saved)
		rc = bb_load__stack_bytes(code, g, m.stack_bytes, err);
	for (uint32_t f = 0; !rc && f < g->n_funcs; f++)
		if (m.saves[f] && 8 * m.saves[f] - below_stack(&m, f) > (int)BB_STACK_BYTES)
			rc = bb_fail(err, -ENOTSUP,
				     "'%s' leaves no room to save a register: the function at "
				     "instruction %u uses %u bytes of stack",
				     code->name, g->funcs[f].first, m.stack_bytes[f]);
	if (!rc)
		rc = instrument_and_load(&m, err);
	while (rc == -ENOTSUP && m.c.n_insns && m.c.n_vain && !with_keys) {
		watch_less(&m.c);
		rc = instrument_and_load(&m, err);
	}
	bb_registers__done(&m.regs);
	free(m.sites);
	free(m.saves);
	free(m.stack_bytes);
	if (rc)
		bb_clone__done(&m.c);
	else
		*ret_clone = m.c;
	return rc;
}

int bb_clone__load(const struct bb_code *code, bool logs_keys, struct bb_clone *ret_clone,
		   struct bb_err *err)
{
	int rc = load(code, logs_keys, ret_clone, err);

	/* logging the keys may need too much stack or too much work of the verifier */
	return logs_keys && rc == -ENOTSUP ? load(code, false, ret_clone, err) : rc;
}

void bb_clone__done(struct bb_clone *c)
{
	bb_shared_memory__close(&c->counts);
	bb_close(&c->prog_fd);
	free(c->vain);
	free(c->key_bytes);
	bb_cfg__done(&c->cfg);
	*c = (struct bb_clone){.prog_fd = -1};
}

void bb_clone__reset(const struct bb_clone *c)
{
	for (uint32_t i = 0; i < c->cfg.n_blocks + c->n_vain; i++)
		c->counts.v[i] = 0;
}

void bb_clone__read(const struct bb_clone *c, uint64_t *ret_counts)
{
	for (uint32_t b = 0; b < c->cfg.n_blocks; b++)
		ret_counts[b] = __atomic_load_n(&c->counts.v[b], __ATOMIC_RELAXED);
}
