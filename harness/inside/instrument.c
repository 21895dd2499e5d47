/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inside/instrument.h"

#include "bpf/insn.h"
#include "exact/registers.h"

#define MOST_STRIPES 16u
#define MOST_BYTES (16u << 20)
#define PROBES 4u /* slots of the table that are looked at */
#define HASH_STEP 0x2f0b4c47
#define HASH_END 0x6c8e9cf5
/* Slots of 8 bytes that the parts take at most. */
#define ENTRY_SLOTS 128u
#define EXIT_SLOTS 1024u
#define CALL_SLOTS 48u
#define TURN_SLOTS 6u

/* Offsets from r10 of the run's state; 0: there is none. */
struct frame {
	int16_t began, turns, saved_turn, words, saved;
};

struct maker {
	struct bb_inside_clone c;
	const struct bb_code *code;
	const struct bb_cfg *g;
	struct bb_registers regs;
	struct bb_rewrite out;
	struct frame frame;
	bool *is_header;   /* by block: a jump leads back to it */
	uint32_t *to_exit; /* new slots of the jumps to the common exit */
	uint32_t n_to_exit, n_tail_calls;
	bool too_far;
};

static bool is_tail_call(const struct bpf_insn *i)
{
	return bb_insn_is_helper_call(i) && i->imm == BPF_FUNC_tail_call;
}

/* --- short names for what is emitted --- */

static void move(struct bb_rewrite *r, uint8_t to, uint8_t from)
{
	bb_emit(r, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void compute(struct bb_rewrite *r, uint8_t op, uint8_t reg, int32_t number)
{
	bb_emit(r, BPF_ALU64 | op | BPF_K, reg, 0, 0, number);
}

static void compute_by(struct bb_rewrite *r, uint8_t op, uint8_t reg, uint8_t by)
{
	bb_emit(r, BPF_ALU64 | op | BPF_X, reg, by, 0, 0);
}

static void read_word(struct bb_rewrite *r, uint8_t to, uint8_t base, int32_t off)
{
	bb_emit(r, BPF_LDX | BPF_MEM | BPF_DW, to, base, (int16_t)off, 0);
}

static void write_word(struct bb_rewrite *r, uint8_t base, int32_t off, uint8_t from)
{
	bb_emit(r, BPF_STX | BPF_MEM | BPF_DW, base, from, (int16_t)off, 0);
}

static void call_helper(struct bb_rewrite *r, int32_t id)
{
	bb_emit(r, BPF_JMP | BPF_CALL, 0, 0, 0, id);
}

/* [base + off] += by, atomically; BPF_FETCH: by becomes the old value. */
static void add_atomically(struct bb_rewrite *r, uint8_t base, uint32_t off, uint8_t by,
			   int32_t fetch)
{
	bb_emit(r, BPF_STX | BPF_ATOMIC | BPF_DW, base, by, (int16_t)off, BPF_ADD | fetch);
}

/* A jump ahead, whose distance land() writes when its target is emitted. */
static uint32_t jump(struct bb_rewrite *r, uint8_t op, uint8_t reg, uint8_t by, int32_t number,
		     bool is_register)
{
	bb_emit(r, (uint8_t)(BPF_JMP | op | (is_register ? BPF_X : BPF_K)), reg,
		is_register ? by : 0, 0, number);
	return r->n - 1;
}

static uint32_t jump_if(struct bb_rewrite *r, uint8_t op, uint8_t reg, int32_t number)
{
	return jump(r, op, reg, 0, number, false);
}

static uint32_t jump_if_by(struct bb_rewrite *r, uint8_t op, uint8_t reg, uint8_t by)
{
	return jump(r, op, reg, by, 0, true);
}

static void land(struct bb_rewrite *r, uint32_t from)
{
	bb_rewrite__jump(r, from, r->n);
}

/* --- what a clone consists of --- */

/*
 * Which blocks need a mark: a jump with two targets is told by one of them that nothing else leads
 * to, or else by both. Loops begin at blocks that a jump leads back to.
 */
static void find_marks(struct maker *m)
{
	const struct bb_cfg *g = m->g;
	uint32_t *n_before = calloc(g->n_blocks + 1, sizeof(*n_before)), next[2];

	for (uint32_t b = 0; n_before && b < g->n_blocks && !g->blocks[b].func; b++) {
		unsigned int n = bb_cfg__next(g, m->code, b, next);

		for (unsigned int i = 0; i < n; i++) {
			n_before[next[i]]++;
			if (next[i] <= b)
				m->is_header[next[i]] = m->c.has_turns = true;
		}
	}
	for (uint32_t b = 0; n_before && b < g->n_blocks && !g->blocks[b].func; b++) {
		bool alone[2];

		if (bb_cfg__next(g, m->code, b, next) < 2 || next[0] == next[1])
			continue;
		for (int i = 0; i < 2; i++)
			alone[i] = n_before[next[i]] == 1 && next[i];
		for (int i = 0; i < 2; i++)
			if (next[i] && (i ? !alone[0] : alone[0] || !alone[1]) &&
			    !m->c.mark_of[next[i]])
				m->c.mark_of[next[i]] = ++m->c.n_marks;
	}
	m->c.n_words = (m->c.n_marks + BB_INSIDE_MARKS_A_WORD - 1) / BB_INSIDE_MARKS_A_WORD;
	free(n_before);
}

static void find_exits(struct maker *m)
{
	for (uint32_t at = 0; at < m->g->funcs[0].end; at += bb_insn_slots(&m->code->insns[at])) {
		const struct bpf_insn *i = &m->code->insns[at];

		if (bb_insn_is_exit(i) || is_tail_call(i))
			m->c.exits[m->c.n_exits++] = at;
		m->n_tail_calls += is_tail_call(i);
	}
}

static int16_t take_words(uint32_t *depth, uint32_t n)
{
	*depth += 8 * n;
	return (int16_t) - (int)*depth;
}

static int lay_out_frame(struct maker *m, uint32_t stack_bytes, struct bb_err *err)
{
	uint32_t depth = (stack_bytes + 7) & ~7U;

	if (m->c.with & BB_INSIDE_TIME)
		m->frame.began = take_words(&depth, 1);
	if (m->c.with & BB_INSIDE_PATHS && m->c.has_turns) {
		m->frame.turns = take_words(&depth, 1);
		m->frame.saved_turn = take_words(&depth, 1);
	}
	if (m->c.with & BB_INSIDE_PATHS && m->c.n_words)
		m->frame.words = take_words(&depth, m->c.n_words);
	if (m->n_tail_calls)
		m->frame.saved = take_words(&depth, 10);
	if (depth > BB_STACK_BYTES)
		return bb_fail(err, -ENOTSUP, "its stack has no room: %u bytes instead of %u",
			       depth, stack_bytes);
	return 0;
}

static uint32_t power_of_two_from(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static int make_memory(struct maker *m, struct bb_err *err)
{
	struct bb_inside_clone *c = &m->c;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t most = 2 * c->n_exits + 2;

	c->n_stripes = power_of_two_from(cpus > 0 ? (uint32_t)cpus : 1);
	c->n_stripes = c->n_stripes > MOST_STRIPES ? MOST_STRIPES : c->n_stripes;
	if (c->n_marks > 8 || c->has_turns)
		most = BB_INSIDE_MOST_PATHS;
	else
		most <<= c->n_marks;
	most = most > BB_INSIDE_MOST_PATHS ? BB_INSIDE_MOST_PATHS : most;
	c->n_slots = c->with & BB_INSIDE_PATHS ? power_of_two_from(most) : 0;
	c->slot_bytes = BB_INSIDE_MARKS + 8 * (c->n_words + 1);
	do
		c->stripe_bytes = BB_INSIDE_HEAD + (c->n_slots + 1) * c->slot_bytes;
	while (c->n_stripes * c->stripe_bytes > MOST_BYTES && (c->n_stripes /= 2));
	return bb_shared_memory__open("bb_inside", (size_t)c->n_stripes * c->stripe_bytes,
				      &c->memory, err);
}

/* r0 to r5 are overwritten; reg gets the address of this CPU's stripe. */
static void emit_stripe(struct maker *m, uint8_t reg)
{
	if (m->c.n_stripes > 1) {
		call_helper(&m->out, BPF_FUNC_get_smp_processor_id);
		compute(&m->out, BPF_AND, BPF_REG_0, (int32_t)m->c.n_stripes - 1);
		compute(&m->out, BPF_MUL, BPF_REG_0, (int32_t)m->c.stripe_bytes);
	}
	bb_emit_address(&m->out, reg, m->c.memory.fd, 0);
	if (m->c.n_stripes > 1)
		compute_by(&m->out, BPF_ADD, reg, BPF_REG_0);
}

/*
 * The run is counted; its state begins with zeros that the verifier does not know as such, or it
 * would look at every path apart.
 */
static void emit_entry(struct maker *m)
{
	struct bb_rewrite *r = &m->out;
	uint32_t untimed;

	move(r, BPF_REG_6, BPF_REG_1);
	emit_stripe(m, BPF_REG_1);
	compute(r, BPF_MOV, BPF_REG_2, 1);
	add_atomically(r, BPF_REG_1, BB_INSIDE_RUNS, BPF_REG_2, BPF_FETCH);
	read_word(r, BPF_REG_0, BPF_REG_1, BB_INSIDE_ZERO);
	if (m->frame.turns)
		write_word(r, BPF_REG_10, m->frame.turns, BPF_REG_0);
	for (uint32_t w = 0; m->frame.words && w < m->c.n_words; w++)
		write_word(r, BPF_REG_10, m->frame.words + 8 * (int)w, BPF_REG_0);
	if (m->c.with & BB_INSIDE_TIME) {
		read_word(r, BPF_REG_3, BPF_REG_1, BB_INSIDE_MASK);
		compute_by(r, BPF_AND, BPF_REG_2, BPF_REG_3);
		untimed = jump_if(r, BPF_JNE, BPF_REG_2, 0);
		call_helper(r, BPF_FUNC_ktime_get_ns);
		land(r, untimed);
		write_word(r, BPF_REG_10, m->frame.began, BPF_REG_0);
	}
	move(r, BPF_REG_1, BPF_REG_6);
}

/* The key of the run's path goes into r1; r7 is the index of its exit. */
static void emit_key(struct maker *m)
{
	struct bb_rewrite *r = &m->out;
	uint32_t not_zero;

	read_word(r, BPF_REG_1, BPF_REG_9, BB_INSIDE_ZERO);
	compute_by(r, BPF_ADD, BPF_REG_1, BPF_REG_7);
	for (uint32_t w = 0; m->frame.words && w < m->c.n_words; w++) {
		read_word(r, BPF_REG_2, BPF_REG_10, m->frame.words + 8 * (int)w);
		compute(r, BPF_MUL, BPF_REG_1, HASH_STEP);
		compute_by(r, BPF_ADD, BPF_REG_1, BPF_REG_2);
		move(r, BPF_REG_3, BPF_REG_1);
		compute(r, BPF_RSH, BPF_REG_3, 29);
		compute_by(r, BPF_XOR, BPF_REG_1, BPF_REG_3);
	}
	if (m->frame.turns) { /* r3 = how many bits the turns have */
		read_word(r, BPF_REG_2, BPF_REG_10, m->frame.turns);
		read_word(r, BPF_REG_3, BPF_REG_9, BB_INSIDE_ZERO);
		for (int bits = 16; bits; bits /= 2) {
			uint32_t fewer = jump_if(r, BPF_JLT, BPF_REG_2, 1 << bits);

			compute(r, BPF_ADD, BPF_REG_3, bits);
			compute(r, BPF_RSH, BPF_REG_2, bits);
			land(r, fewer);
		}
		compute_by(r, BPF_ADD, BPF_REG_3, BPF_REG_2);
		compute(r, BPF_MUL, BPF_REG_1, HASH_STEP);
		compute_by(r, BPF_ADD, BPF_REG_1, BPF_REG_3);
	}
	compute(r, BPF_MUL, BPF_REG_1, HASH_STEP);
	not_zero = jump_if(r, BPF_JNE, BPF_REG_1, 0);
	compute(r, BPF_MOV, BPF_REG_1, 1);
	land(r, not_zero);
}

/* What a new slot tells of its path. */
static void emit_new_path(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	for (uint32_t w = 0; m->frame.words && w < m->c.n_words; w++) {
		read_word(r, BPF_REG_0, BPF_REG_10, m->frame.words + 8 * (int)w);
		write_word(r, BPF_REG_4, (int)(BB_INSIDE_MARKS + 8 * w), BPF_REG_0);
	}
	if (m->frame.turns) {
		read_word(r, BPF_REG_0, BPF_REG_10, m->frame.turns);
		write_word(r, BPF_REG_4, (int)(BB_INSIDE_MARKS + 8 * m->c.n_words), BPF_REG_0);
	}
	write_word(r, BPF_REG_4, BB_INSIDE_EXIT, BPF_REG_7);
	write_word(r, BPF_REG_4, BB_INSIDE_RETVAL, BPF_REG_6);
}

/* r4 = the slot of the run's path, or the last slot, where the table has no room for it. */
static void emit_find_slot(struct maker *m)
{
	struct bb_rewrite *r = &m->out;
	uint32_t found[2 * PROBES], is_new[PROBES], n = 0, done;

	emit_key(m);
	move(r, BPF_REG_2, BPF_REG_1);
	compute(r, BPF_RSH, BPF_REG_2, 32);
	compute_by(r, BPF_XOR, BPF_REG_2, BPF_REG_1);
	compute(r, BPF_MUL, BPF_REG_2, HASH_END);
	compute(r, BPF_RSH, BPF_REG_2, 20);
	for (uint32_t p = 0; p < PROBES; p++) {
		uint32_t other;

		compute(r, BPF_AND, BPF_REG_2, (int32_t)m->c.n_slots - 1);
		move(r, BPF_REG_3, BPF_REG_2);
		compute(r, BPF_MUL, BPF_REG_3, (int32_t)m->c.slot_bytes);
		move(r, BPF_REG_4, BPF_REG_9);
		compute_by(r, BPF_ADD, BPF_REG_4, BPF_REG_3);
		compute(r, BPF_ADD, BPF_REG_4, BB_INSIDE_HEAD);
		read_word(r, BPF_REG_0, BPF_REG_4, BB_INSIDE_KEY);
		found[n++] = jump_if_by(r, BPF_JEQ, BPF_REG_0, BPF_REG_1);
		other = jump_if(r, BPF_JNE, BPF_REG_0, 0);
		compute(r, BPF_MOV, BPF_REG_0, 0);
		bb_emit(r, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_4, BPF_REG_1, BB_INSIDE_KEY,
			BPF_CMPXCHG);
		is_new[p] = jump_if(r, BPF_JEQ, BPF_REG_0, 0);
		found[n++] = jump_if_by(r, BPF_JEQ, BPF_REG_0, BPF_REG_1);
		land(r, other);
		compute(r, BPF_ADD, BPF_REG_2, 1);
	}
	move(r, BPF_REG_4, BPF_REG_9);
	compute(r, BPF_ADD, BPF_REG_4, (int32_t)(BB_INSIDE_HEAD + m->c.n_slots * m->c.slot_bytes));
	done = jump_if(r, BPF_JA, 0, 0);
	for (uint32_t p = 0; p < PROBES; p++)
		land(r, is_new[p]);
	emit_new_path(m);
	for (uint32_t i = 0; i < n; i++)
		land(r, found[i]);
	land(r, done);
}

/* r4 += the address of the bucket for r8 ns: 16 buckets an octave. */
static void emit_bucket(struct maker *m)
{
	struct bb_rewrite *r = &m->out;
	uint32_t fits;

	move(r, BPF_REG_1, BPF_REG_8);
	move(r, BPF_REG_2, BPF_REG_8);
	compute(r, BPF_RSH, BPF_REG_2, 32);
	fits = jump_if(r, BPF_JEQ, BPF_REG_2, 0);
	bb_emit(r, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, -1);
	land(r, fits);
	compute(r, BPF_MOV, BPF_REG_2, 0);
	for (int bits = 16; bits; bits /= 2) {
		uint32_t less = jump_if(r, BPF_JLT, BPF_REG_1, 16 << bits);

		compute(r, BPF_RSH, BPF_REG_1, bits);
		compute(r, BPF_ADD, BPF_REG_2, bits);
		land(r, less);
	}
	compute(r, BPF_LSH, BPF_REG_2, 4);
	compute_by(r, BPF_ADD, BPF_REG_1, BPF_REG_2);
	compute(r, BPF_AND, BPF_REG_1, BB_INSIDE_BUCKETS - 1);
	compute(r, BPF_LSH, BPF_REG_1, 2);
	compute_by(r, BPF_ADD, BPF_REG_4, BPF_REG_1);
}

/*
 * Count the run that ends here: r6 is what it returns, r7 the index of its exit. Then r4 is the
 * bucket, r5 the slot, r8 the time in ns, or -1: it was not timed.
 */
static void emit_record(struct maker *m)
{
	struct bb_rewrite *r = &m->out;
	uint32_t skip, same;

	compute(r, BPF_MOV, BPF_REG_8, -1);
	if (m->c.with & BB_INSIDE_TIME) {
		read_word(r, BPF_REG_8, BPF_REG_10, m->frame.began);
		skip = jump_if(r, BPF_JEQ, BPF_REG_8, 0);
		call_helper(r, BPF_FUNC_ktime_get_ns);
		compute_by(r, BPF_SUB, BPF_REG_0, BPF_REG_8);
		move(r, BPF_REG_8, BPF_REG_0);
		compute(r, BPF_ADD, BPF_REG_8, 1);
		land(r, skip);
		compute(r, BPF_SUB, BPF_REG_8, 1);
	}
	emit_stripe(m, BPF_REG_9);
	if (m->c.n_slots) {
		emit_find_slot(m);
	} else {
		move(r, BPF_REG_4, BPF_REG_9);
		compute(r, BPF_ADD, BPF_REG_4, BB_INSIDE_HEAD);
	}
	move(r, BPF_REG_5, BPF_REG_4);
	compute(r, BPF_MOV, BPF_REG_1, 1);
	add_atomically(r, BPF_REG_4, BB_INSIDE_COUNT, BPF_REG_1, 0);
	read_word(r, BPF_REG_0, BPF_REG_4, BB_INSIDE_RETVAL);
	same = jump_if_by(r, BPF_JEQ, BPF_REG_0, BPF_REG_6);
	write_word(r, BPF_REG_4, BB_INSIDE_VARIES, BPF_REG_1);
	land(r, same);
	if (!(m->c.with & BB_INSIDE_TIME))
		return;
	skip = jump_if(r, BPF_JEQ, BPF_REG_8, -1);
	add_atomically(r, BPF_REG_4, BB_INSIDE_TIMED, BPF_REG_1, 0);
	add_atomically(r, BPF_REG_4, BB_INSIDE_SUM, BPF_REG_8, 0);
	read_word(r, BPF_REG_0, BPF_REG_4, BB_INSIDE_WORST);
	same = jump_if_by(r, BPF_JGE, BPF_REG_0, BPF_REG_8);
	write_word(r, BPF_REG_4, BB_INSIDE_WORST, BPF_REG_8);
	land(r, same);
	emit_bucket(m);
	compute(r, BPF_MOV, BPF_REG_1, 1);
	bb_emit(r, BPF_STX | BPF_ATOMIC | BPF_W, BPF_REG_4, BPF_REG_1, BB_INSIDE_HIST, BPF_ADD);
	land(r, skip);
}

/* Save the registers that a tail call needs, or the code after one that fails. */
static void emit_call_saves(struct maker *m, uint32_t at, bool is_back)
{
	static const uint8_t saved[] = {1, 2, 3, 6, 7, 8, 9};

	for (size_t i = 0; i < sizeof(saved); i++) {
		int off = m->frame.saved + 8 * (int)i;
		bool is_used = saved[i] <= BPF_REG_3 ||
			       m->regs.live[at] & m->regs.known[at] & BB_REG(saved[i]);

		if (is_used && is_back)
			read_word(&m->out, saved[i], BPF_REG_10, off);
		else if (is_used)
			write_word(&m->out, BPF_REG_10, off, saved[i]);
	}
}

/* A run ends in a tail call. It is counted before; if the call fails, the run goes on and is taken
 * back. */
static void emit_tail_call(struct maker *m, uint32_t at, uint32_t nth)
{
	struct bb_rewrite *r = &m->out;
	int slot = m->frame.saved + 8 * 7, bucket = slot + 8, ns = slot + 16;
	uint32_t skip;

	emit_call_saves(m, at, false);
	compute(r, BPF_MOV, BPF_REG_6, 0);
	compute(r, BPF_MOV, BPF_REG_7, (int32_t)nth);
	emit_record(m);
	write_word(r, BPF_REG_10, slot, BPF_REG_5);
	write_word(r, BPF_REG_10, bucket, BPF_REG_4);
	write_word(r, BPF_REG_10, ns, BPF_REG_8);
	emit_call_saves(m, at, true);
	bb_emit_old(r, at);
	read_word(r, BPF_REG_1, BPF_REG_10, slot);
	compute(r, BPF_MOV, BPF_REG_2, -1);
	add_atomically(r, BPF_REG_1, BB_INSIDE_COUNT, BPF_REG_2, 0);
	if (!(m->c.with & BB_INSIDE_TIME))
		return;
	read_word(r, BPF_REG_3, BPF_REG_10, ns);
	skip = jump_if(r, BPF_JEQ, BPF_REG_3, -1);
	add_atomically(r, BPF_REG_1, BB_INSIDE_TIMED, BPF_REG_2, 0);
	bb_emit(r, BPF_ALU64 | BPF_NEG, BPF_REG_3, 0, 0, 0);
	add_atomically(r, BPF_REG_1, BB_INSIDE_SUM, BPF_REG_3, 0);
	read_word(r, BPF_REG_4, BPF_REG_10, bucket);
	bb_emit(r, BPF_STX | BPF_ATOMIC | BPF_W, BPF_REG_4, BPF_REG_2, BB_INSIDE_HIST, BPF_ADD);
	land(r, skip);
}

static void emit_turn(struct maker *m, uint32_t at)
{
	uint8_t reg[2], save[2];

	if (bb_registers__two(&m->regs, at, reg, save) == BB_NO_TWO)
		return;
	save[1] = 0;
	bb_emit_saves(&m->out, reg, save, m->frame.saved_turn + 8, false);
	read_word(&m->out, reg[0], BPF_REG_10, m->frame.turns);
	compute(&m->out, BPF_ADD, reg[0], 1);
	write_word(&m->out, BPF_REG_10, m->frame.turns, reg[0]);
	bb_emit_saves(&m->out, reg, save, m->frame.saved_turn + 8, true);
}

static void emit_mark(struct maker *m, uint32_t mark)
{
	uint32_t word = mark / BB_INSIDE_MARKS_A_WORD, byte = mark % BB_INSIDE_MARKS_A_WORD;

	bb_emit(&m->out, BPF_ST | BPF_MEM | BPF_B, BPF_REG_10, 0,
		(int16_t)(m->frame.words + 8 * (int)word + 1 + (int)byte), 1);
}

/* All exits of the main function lead here. */
static void emit_common_exit(struct maker *m)
{
	for (uint32_t i = 0; i < m->n_to_exit; i++)
		m->too_far |= !bb_rewrite__jump(&m->out, m->to_exit[i], m->out.n);
	emit_record(m);
	move(&m->out, BPF_REG_0, BPF_REG_6);
	bb_emit(&m->out, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void lay_out(struct maker *m)
{
	const struct bb_code *code = m->code;
	struct bb_rewrite *r = &m->out;
	uint32_t nth = 0, end = m->g->funcs[0].end;

	r->n = m->n_to_exit = 0;
	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at])) {
		uint32_t b = m->g->block_of[at];
		bool begins = at < end && m->g->blocks[b].first == at;

		if (at == end)
			emit_common_exit(m);
		r->moved[at] = r->n;
		if (!at)
			emit_entry(m);
		r->landing[at] = r->n;
		if (begins && m->frame.turns && m->is_header[b])
			emit_turn(m, at);
		if (begins && m->frame.words && m->c.mark_of[b])
			emit_mark(m, m->c.mark_of[b] - 1);
		if (at < end && bb_insn_is_exit(&code->insns[at])) {
			move(r, BPF_REG_6, BPF_REG_0);
			compute(r, BPF_MOV, BPF_REG_7, (int32_t)nth++);
			m->to_exit[m->n_to_exit++] = jump_if(r, BPF_JA, 0, 0);
		} else if (at < end && is_tail_call(&code->insns[at])) {
			emit_tail_call(m, at, nth++);
		} else {
			bb_emit_old(r, at);
		}
	}
	if (end == code->n)
		emit_common_exit(m);
	r->moved[code->n] = r->n;
}

static int open_maker(struct maker *m, struct bb_err *err)
{
	uint32_t blocks = m->g->n_blocks, n = m->code->n;

	m->c.mark_of = calloc(blocks + 1, sizeof(*m->c.mark_of));
	m->c.exits = calloc(n + 1, sizeof(*m->c.exits));
	m->is_header = calloc(blocks + 1, sizeof(*m->is_header));
	m->to_exit = calloc(n + 1, sizeof(*m->to_exit));
	if (!m->c.mark_of || !m->c.exits || !m->is_header || !m->to_exit)
		return bb_fail_nomem(err);
	return bb_registers__find(m->code, m->g, &m->regs, err);
}

static int write_clone(struct maker *m, struct bb_err *err)
{
	/* every tail call records the run in line */
	size_t most = (size_t)m->code->n * BB_LONG_SLOTS + ENTRY_SLOTS +
		      (size_t)m->g->n_blocks * TURN_SLOTS + m->g->n_blocks +
		      (size_t)(m->n_tail_calls + 1) * (EXIT_SLOTS + CALL_SLOTS);
	int rc = bb_rewrite__open(&m->out, most, err);

	if (rc)
		return rc;
	do
		lay_out(m);
	while (!bb_rewrite__mend(&m->out));
	m->c.n_insns = m->out.n;
	if (m->too_far || m->out.n > BB_MOST_INSNS)
		return bb_fail(err, -ENOTSUP, "the clone is too long (%u instructions)", m->out.n);
	return 0;
}

int bb_inside_clone__make(const struct bb_code *code, const struct bb_cfg *g, uint32_t stack_bytes,
			  unsigned int with, struct bb_inside_clone *ret_clone,
			  struct bb_rewrite *ret_out, struct bb_err *err)
{
	struct maker m = {.c = {.with = with, .memory = {.fd = -1}}, .code = code, .g = g};
	int rc;

	m.out = (struct bb_rewrite){.code = code, .g = g, .with = "clocks"};
	rc = open_maker(&m, err);
	if (!rc) {
		find_marks(&m);
		find_exits(&m);
		rc = lay_out_frame(&m, stack_bytes, err);
	}
	if (!rc)
		rc = make_memory(&m, err);
	if (!rc)
		rc = write_clone(&m, err);
	bb_registers__done(&m.regs);
	free(m.is_header);
	free(m.to_exit);
	if (rc) {
		bb_rewrite__done(&m.out);
		bb_inside_clone__done(&m.c);
		return rc;
	}
	*ret_out = m.out;
	*ret_clone = m.c;
	return 0;
}

void bb_inside_clone__done(struct bb_inside_clone *c)
{
	bb_shared_memory__close(&c->memory);
	free(c->mark_of);
	free(c->exits);
	*c = (struct bb_inside_clone){.memory = {.fd = -1}};
}

void bb_inside_clone__time_each(const struct bb_inside_clone *c, uint64_t mask)
{
	for (uint32_t s = 0; s < c->n_stripes; s++)
		c->memory.v[((size_t)s * c->stripe_bytes + BB_INSIDE_MASK) / 8] = mask;
}

uint64_t bb_inside_clone__runs(const struct bb_inside_clone *c)
{
	uint64_t runs = 0;

	for (uint32_t s = 0; s < c->n_stripes; s++)
		runs += c->memory.v[((size_t)s * c->stripe_bytes + BB_INSIDE_RUNS) / 8];
	return runs;
}
