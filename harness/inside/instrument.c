/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inside/instrument.h"

#include "exact/registers.h"

#define MOST_STRIPES 16u
#define MOST_BYTES (32u << 20)
#define MOST_CPUS 4096u
#define CHAINS_SLOTS 64u
#define PROBES 4u                  /* the most slots in which a run searches for its path */
#define HASH 0x9e3779b97f4a7c15ULL /* 2^64 divided by the golden ratio */
/* If a word x has 0 or 1 in each of its bytes 1 to 7, the seven highest bits of x * BYTES_TO_BITS
 * are these seven values. */
#define BYTES_TO_BITS 0x0102040810204080ULL
/* In 32 bits, the five highest bits of 2^i * POWER_TO_INDEX are different for each i below 32. */
#define POWER_TO_INDEX 0x077cb531U
#define MOST_ARGS 12u /* the kernel's limit of words in a raw tracepoint's context */
/* the table has room for this many different numbers of loop iterations of each path */
#define MOST_TURNS 16u
/* the most instruction slots (8 bytes each) of each piece of code that is added to a program */
#define ENTRY_SLOTS 160u
#define EXIT_SLOTS 1024u
#define CALL_SLOTS 80u
#define TURN_SLOTS 6u
#define MARK_SLOTS 5u

/* Offsets from r10 of a run's state on the stack. 0 if the clone does not have the member. */
struct frame {
	int16_t began, stripe, packet, chain, spent, turns, saved_reg, words, saved;
	/* Offset of a word with several values. Byte 1 is not 0 if the run is timed. emit_forget()
	 * uses bytes 2 and 3. Bytes 4 to 7 hold the index of the exit, plus 1. */
	int16_t scratch;
};

struct maker {
	struct bb_inside_clone c;
	const struct bb_inside_instruments *instruments;
	const struct bb_code *code;
	const struct bb_cfg *g;
	struct bb_registers regs;
	struct bb_rewrite out;
	struct frame frame;
	bool *is_header; /* true if a jump leads back to the basic block */
	/* to_exit[n_to_exit]: instructions that jump to the common exit */
	uint32_t *to_exit;
	uint32_t n_to_exit, n_tail_calls;
	bool too_far;
	/* bit w is set if the program, which is on a raw tracepoint, reads word w of its context */
	uint64_t context_words;
	/* true if a path's number is the index of its slot, so that no hash is needed */
	bool is_numbered;
};

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

/* Emits [base + off] += by, atomically. With BPF_FETCH, register `by` then has the old value. */
static void add_atomically(struct bb_rewrite *r, uint8_t base, uint32_t off, uint8_t by,
			   int32_t fetch)
{
	bb_emit(r, BPF_STX | BPF_ATOMIC | BPF_DW, base, by, (int16_t)off, BPF_ADD | fetch);
}

/* Emits code that reads or writes the upper half of a word on the stack, because the verifier
 * tracks no numbers there. */
static void emit_upper(struct bb_rewrite *r, uint8_t op, uint8_t reg, int word)
{
	bool reads = op == BPF_LDX;

	bb_emit(r, op | BPF_MEM | BPF_W, reads ? reg : BPF_REG_10, reads ? BPF_REG_10 : reg,
		(int16_t)(word + 4), 0);
}

/* Emits a forward jump and returns its index. land() sets its distance later. */
static uint32_t jump_if(struct bb_rewrite *r, uint8_t op, uint8_t reg, int32_t number)
{
	bb_emit(r, BPF_JMP | op | BPF_K, reg, 0, 0, number);
	return r->n - 1;
}

static uint32_t jump_if_by(struct bb_rewrite *r, uint8_t op, uint8_t reg, uint8_t by)
{
	bb_emit(r, BPF_JMP | op | BPF_X, reg, by, 0, 0);
	return r->n - 1;
}

static void land(struct bb_rewrite *r, uint32_t from)
{
	bb_rewrite__jump(r, from, r->n);
}

/* Emits a jump by 0, and lets the jump `from` land behind it. Because of the jump by 0, the
 * verifier compares the states of both ways to this point, and checks the following code only once.
 * The kernel later removes the jump by 0. */
static void land_both(struct bb_rewrite *r, uint32_t from)
{
	land(r, jump_if(r, BPF_JA, 0, 0));
	land(r, from);
}

/* Chooses the basic blocks that get a mark. A mark tells whether a run has executed the block. If a
 * conditional jump is the only way to one of its two targets, only that target gets a mark.
 * Otherwise both targets do. Also finds the blocks at which loops begin. */
static void find_marks(struct maker *m)
{
	const struct bb_cfg *g = m->g;
	uint32_t *n_before = bb_calloc(g->n_blocks, sizeof(*n_before));

	for (uint32_t b = 0; b < g->n_blocks && !g->blocks[b].func; b++) {
		const uint32_t *next = g->blocks[b].next;

		for (uint32_t i = 0; i < g->blocks[b].n_next; i++) {
			n_before[next[i]]++;
			if (next[i] <= b)
				m->is_header[next[i]] = m->c.has_turns = true;
		}
	}
	for (uint32_t b = 0; b < g->n_blocks && !g->blocks[b].func; b++) {
		const uint32_t *next = g->blocks[b].next;
		bool alone[2];

		if (g->blocks[b].n_next < 2 || next[0] == next[1])
			continue;
		for (int i = 0; i < 2; i++)
			alone[i] = n_before[next[i]] == 1 && next[i];
		for (int i = 0; i < 2; i++)
			if (next[i] && (i ? !alone[0] : alone[0] || !alone[1]) &&
			    !m->c.mark_of[next[i]])
				m->c.mark_of[next[i]] = ++m->c.n_marks;
	}
	free(n_before);
}

static void find_exits(struct maker *m)
{
	for (uint32_t at = 0; at < m->g->funcs[0].end; at += bb_insn_slots(&m->code->insns[at])) {
		const struct bpf_insn *i = &m->code->insns[at];

		if (bb_insn_is_exit(i) || bb_insn_is_tail_call(i))
			m->c.exits[m->c.n_exits++] = at;
		m->n_tail_calls += bb_insn_is_tail_call(i);
	}
	m->c.counts_entries = !m->c.with;
	for (uint32_t at = 0; at < m->code->n; at += bb_insn_slots(&m->code->insns[at]))
		m->c.counts_entries |= bb_insn_may_leave(&m->code->insns[at]) &&
				       !bb_insn_is_tail_call(&m->code->insns[at]);
}

/* Registers that are saved while the code of emit_record() runs before a tail call. r1 to r3 are
 * the arguments of the call. That code overwrites r6 and r8, and the program may need them if the
 * call fails. */
static const uint8_t saved_regs[] = {1, 2, 3, 6, 8};
#define SAVED ((uint32_t)sizeof(saved_regs))

static int16_t take_words(uint32_t *depth, bool is_needed, uint32_t n)
{
	if (!is_needed)
		return 0;
	*depth += 8 * n;
	return (int16_t) - (int)*depth;
}

static bool counts_at_entry(const struct maker *m)
{
	return m->c.with & BB_INSIDE_TIME || m->c.counts_entries;
}

/* Places the state of a run below the program's stack, with `a_byte` marks in a byte. Returns the
 * depth of the stack with this state. */
static uint32_t place_state(struct maker *m, uint32_t stack_bytes, uint32_t a_byte)
{
	uint32_t depth = (stack_bytes + 7) & ~7U, a_word = a_byte * BB_INSIDE_MARK_BYTES;
	bool has_paths = m->c.with & BB_INSIDE_PATHS, has_chains = m->c.with & BB_INSIDE_CHAINS,
	     has_turns = has_paths && m->c.has_turns;

	m->c.marks_a_byte = a_byte;
	m->c.n_words = (m->c.n_marks + a_word - 1) / a_word;
	m->frame.began = take_words(&depth, m->c.with & BB_INSIDE_TIME, 1);
	m->frame.stripe = take_words(&depth, counts_at_entry(m), 1);
	m->frame.packet = take_words(&depth, m->c.with & BB_INSIDE_PACKETS, 1);
	m->frame.chain = take_words(&depth, has_chains, 1);
	m->frame.spent = take_words(&depth, has_chains, 1);
	m->frame.turns = take_words(&depth, has_turns, 1);
	m->frame.saved_reg = take_words(&depth, has_turns || (has_paths && a_byte > 1), 1);
	m->frame.words = take_words(&depth, has_paths && m->c.n_words, m->c.n_words);
	m->frame.saved = take_words(&depth, m->n_tail_calls, SAVED + 3);
	m->frame.scratch = take_words(&depth, true, 1);
	return depth;
}

static uint32_t power_of_two_from(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* Returns the number of paths (as in Ball and Larus 1996), at most `most`. Ignores jumps back to
 * the start of a loop. */
static uint32_t count_paths(const struct maker *m, uint32_t most)
{
	const struct bb_cfg *g = m->g;
	uint32_t *n_from = bb_calloc(g->n_blocks, sizeof(*n_from)), n;

	for (uint32_t b = g->n_blocks; b-- > 0;) {
		const struct bb_basic_block *of = &g->blocks[b];

		for (uint32_t i = 0; !of->func && i < of->n_next; i++)
			n_from[b] += of->next[i] > b ? n_from[of->next[i]] : 0;
		for (uint32_t at = of->first; at < of->end;
		     at += bb_insn_slots(&m->code->insns[at]))
			n_from[b] += bb_insn_is_tail_call(&m->code->insns[at]);
		n_from[b] = !n_from[b] ? 1 : n_from[b] > most ? most : n_from[b];
	}
	n = n_from[0];
	free(n_from);
	return n;
}

/* Chooses the number of slots in a stripe's table. Without loops and with few marks, the bits of a
 * path's number are the index of its exit, followed by one bit for each mark. Other paths are
 * hashed. Their table has at least twice as many slots as there are paths, up to
 * BB_INSIDE_MOST_PATHS. */
static void choose_slots(struct maker *m)
{
	struct bb_inside_clone *c = &m->c;
	uint32_t n = count_paths(m, BB_INSIDE_MOST_PATHS), numbers;

	if (!(c->with & BB_INSIDE_PATHS))
		return;
	n = power_of_two_from(n) * 2 * (c->has_turns ? MOST_TURNS : 1);
	n = n > BB_INSIDE_MOST_PATHS ? BB_INSIDE_MOST_PATHS : n;
	numbers = c->n_marks < 10 ? power_of_two_from(c->n_exits << c->n_marks) : UINT32_MAX;
	m->is_numbered = !c->has_turns && c->marks_a_byte == 1 && numbers <= BB_INSIDE_MOST_PATHS &&
			 numbers <= 4 * n;
	c->n_slots = m->is_numbered ? numbers : n;
}

static uint32_t packets_from(const struct bb_inside_clone *c)
{
	return BB_INSIDE_HEAD + (c->n_slots + 1) * c->slot_bytes;
}

static uint32_t n_cpus(uint32_t most)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t n = power_of_two_from(cpus > 0 ? (uint32_t)cpus : 1);

	return n > most ? most : n;
}

/* Makes the memory of `c`, with `more` bytes after its stripes. If `earlier` is not NULL, borrows
 * the memory of that clone instead. */
static int make_memory(struct bb_inside_clone *c, size_t more,
		       const struct bb_inside_clone *earlier, struct bb_err *err)
{
	c->n_stripes = n_cpus(MOST_STRIPES);
	c->slot_bytes = (BB_INSIDE_MARKS + 8 * (c->n_words + 1) + 63) / 64 * 64;
	if (c->with & BB_INSIDE_PACKETS)
		c->packet_bytes = (BB_INSIDE_BYTES + c->snap + 63) / 64 * 64;
	do
		c->stripe_bytes = packets_from(c) + BB_INSIDE_RING * c->packet_bytes;
	while (c->n_stripes * c->stripe_bytes > MOST_BYTES && (c->n_stripes /= 2));
	if (earlier) {
		c->memory = earlier->memory;
		return 0;
	}
	int rc = bb_shared_memory__open("bb_inside",
					BB_INSIDE_STRIPES + (size_t)c->n_stripes * c->stripe_bytes +
						more,
					&c->memory, err);
	for (uint8_t i = 0; !rc && i < 32; i++)
		((volatile uint8_t *)c->memory.v)[BB_INSIDE_LOG2 + (POWER_TO_INDEX << i >> 27)] = i;
	return rc;
}

/* The functions emit_NAME() add code to the clone. Their comments say what this code does. "r2 = x"
 * means that register r2 then holds x. For emit_stripe(): reg = the address of this CPU's stripe of
 * `c`. Overwrites r0 to r5. */
static void emit_stripe(struct maker *m, const struct bb_inside_clone *c, uint8_t reg)
{
	if (c->n_stripes > 1) {
		call_helper(&m->out, BPF_FUNC_get_smp_processor_id);
		compute(&m->out, BPF_AND, BPF_REG_0, (int32_t)c->n_stripes - 1);
		compute(&m->out, BPF_MUL, BPF_REG_0, (int32_t)c->stripe_bytes);
	}
	bb_emit_address(&m->out, reg, c->memory.fd, BB_INSIDE_STRIPES);
	if (c->n_stripes > 1)
		compute_by(&m->out, BPF_ADD, reg, BPF_REG_0);
}

/* reg = the offset in a stripe of packet number reg. */
static void emit_packet_offset(struct maker *m, uint8_t reg)
{
	compute(&m->out, BPF_AND, reg, BB_INSIDE_RING - 1);
	compute(&m->out, BPF_MUL, reg, (int32_t)m->c.packet_bytes);
	compute(&m->out, BPF_ADD, reg, (int32_t)packets_from(&m->c));
}

static bool is_tracer(const struct maker *m)
{
	return m->code->type == BPF_PROG_TYPE_RAW_TRACEPOINT;
}

/* Copies those words of the context at r6 that the program reads to the copy at r8. Overwrites
 * r0. */
static void emit_copy_words(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	for (int32_t w = 0; w < (int32_t)m->c.snap / 8; w++) {
		if (m->context_words >> w & 1)
			read_word(r, BPF_REG_0, BPF_REG_6, 8 * w);
		else
			compute(r, BPF_MOV, BPF_REG_0, 0);
		write_word(r, BPF_REG_8, (int32_t)BB_INSIDE_BYTES + 8 * w, BPF_REG_0);
	}
}

/* Copies the packet (context in r6, length in r4) to the copy at r8. r0 to r5 are overwritten. */
static void emit_load_packet(struct maker *m)
{
	struct bb_rewrite *r = &m->out;
	uint32_t fits = jump_if(r, BPF_JLE, BPF_REG_4, (int32_t)m->c.snap);

	compute(r, BPF_MOV, BPF_REG_4, (int32_t)m->c.snap);
	land(r, fits);
	move(r, BPF_REG_1, BPF_REG_6);
	compute(r, BPF_MOV, BPF_REG_2, 0);
	move(r, BPF_REG_3, BPF_REG_8);
	compute(r, BPF_ADD, BPF_REG_3, BB_INSIDE_BYTES);
	call_helper(r, m->code->type == BPF_PROG_TYPE_XDP ? BPF_FUNC_xdp_load_bytes
							  : BPF_FUNC_skb_load_bytes);
}

/* r4 = the length of the packet or of the copied words. r6 is the context. r3 is overwritten. */
static void emit_packet_length(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	if (is_tracer(m)) {
		compute(r, BPF_MOV, BPF_REG_4, (int32_t)m->c.snap);
		return;
	}
	if (m->code->type != BPF_PROG_TYPE_XDP) {
		bb_emit(r, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_4, BPF_REG_6,
			offsetof(struct __sk_buff, len), 0);
		return;
	}
	bb_emit(r, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_3, BPF_REG_6, offsetof(struct xdp_md, data),
		0);
	bb_emit(r, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_4, BPF_REG_6,
		offsetof(struct xdp_md, data_end), 0);
	compute_by(r, BPF_SUB, BPF_REG_4, BPF_REG_3);
}

/* If (r2 & the mask at BB_INSIDE_PACKET_MASK) is 0, copies the packet or the context's words. r2 is
 * the number of the run, r6 the context. The word m->frame.packet then holds the number of the
 * copy, plus 1. Overwrites r0 to r5, r7 and r8. */
static void emit_copy_packet(struct maker *m)
{
	struct bb_rewrite *r = &m->out;
	uint32_t others, empty;

	bb_emit_address(r, BPF_REG_1, m->c.memory.fd, 0);
	read_word(r, BPF_REG_1, BPF_REG_1, BB_INSIDE_PACKET_MASK);
	compute_by(r, BPF_AND, BPF_REG_1, BPF_REG_2);
	others = jump_if(r, BPF_JNE, BPF_REG_1, 0);
	emit_packet_length(m);
	empty = jump_if(r, BPF_JEQ, BPF_REG_4, 0);
	read_word(r, BPF_REG_8, BPF_REG_10, m->frame.stripe);
	compute(r, BPF_MOV, BPF_REG_7, 1);
	add_atomically(r, BPF_REG_8, BB_INSIDE_TAKEN, BPF_REG_7, BPF_FETCH);
	move(r, BPF_REG_1, BPF_REG_7);
	emit_packet_offset(m, BPF_REG_1);
	compute_by(r, BPF_ADD, BPF_REG_8, BPF_REG_1);
	compute(r, BPF_MOV, BPF_REG_1, 0);
	write_word(r, BPF_REG_8, BB_INSIDE_KEY, BPF_REG_1);
	write_word(r, BPF_REG_8, BB_INSIDE_LEN, BPF_REG_4);
	if (is_tracer(m))
		emit_copy_words(m);
	else
		emit_load_packet(m);
	compute(r, BPF_ADD, BPF_REG_7, 1);
	emit_upper(r, BPF_STX, BPF_REG_7, m->frame.packet);
	land(r, empty);
	land_both(r, others);
}

/* If the packet of this run was copied, writes the key of the slot at r4 to the copy. This key
 * names the run's path. r0 to r2 are overwritten. */
static void emit_packet_took(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	emit_upper(r, BPF_LDX, BPF_REG_2, m->frame.packet);
	uint32_t none = jump_if(r, BPF_JEQ, BPF_REG_2, 0);
	compute(r, BPF_SUB, BPF_REG_2, 1);
	emit_packet_offset(m, BPF_REG_2);
	read_word(r, BPF_REG_1, BPF_REG_10, m->frame.stripe);
	compute_by(r, BPF_ADD, BPF_REG_1, BPF_REG_2);
	read_word(r, BPF_REG_0, BPF_REG_4, BB_INSIDE_KEY);
	write_word(r, BPF_REG_1, BB_INSIDE_KEY, BPF_REG_0);
	land_both(r, none);
}

/* reg = the address of this CPU's hand-over. r0 to r5 are overwritten. */
static void emit_hand_over(struct maker *m, uint8_t reg)
{
	const struct bb_inside_clone *c = m->instruments->chains;

	call_helper(&m->out, BPF_FUNC_get_smp_processor_id);
	compute(&m->out, BPF_AND, BPF_REG_0, (int32_t)n_cpus(MOST_CPUS) - 1);
	compute(&m->out, BPF_MUL, BPF_REG_0, BB_INSIDE_HAND_OVER);
	bb_emit_address(&m->out, reg, c->memory.fd,
			BB_INSIDE_STRIPES + c->n_stripes * c->stripe_bytes);
	compute_by(&m->out, BPF_ADD, reg, BPF_REG_0);
}

/* Reads the chain of tail calls from this CPU's hand-over, where the calling program left it, and
 * adds this program to the chain. If no program called this one, a chain begins. r2 is the number
 * of the run, r6 the context. r7 is then 0 if the run is timed: a chain is timed as a whole or not
 * at all. Overwrites r0, r1, r3 to r5 and r8. A program that interrupts this one may overwrite the
 * hand-over. But it does not take over the chain, because its context has another address. */
static void emit_take_over(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	move(r, BPF_REG_8, BPF_REG_2);
	emit_hand_over(m, BPF_REG_3);
	bb_emit_address(r, BPF_REG_7, m->c.memory.fd, 0);
	read_word(r, BPF_REG_1, BPF_REG_7, BB_INSIDE_ZERO);
	read_word(r, BPF_REG_4, BPF_REG_7, BB_INSIDE_ZERO);
	read_word(r, BPF_REG_7, BPF_REG_7, BB_INSIDE_MASK);
	compute_by(r, BPF_AND, BPF_REG_7, BPF_REG_8);
	read_word(r, BPF_REG_0, BPF_REG_3, BB_INSIDE_CALLER);
	uint32_t is_first = jump_if_by(r, BPF_JNE, BPF_REG_0, BPF_REG_6);
	compute(r, BPF_MOV, BPF_REG_0, 0);
	write_word(r, BPF_REG_3, BB_INSIDE_CALLER, BPF_REG_0);
	read_word(r, BPF_REG_1, BPF_REG_3, BB_INSIDE_CHAIN);
	read_word(r, BPF_REG_4, BPF_REG_3, BB_INSIDE_SPENT);
	move(r, BPF_REG_7, BPF_REG_4);
	compute(r, BPF_ARSH, BPF_REG_7, 63);
	land_both(r, is_first);
	compute(r, BPF_LSH, BPF_REG_1, 8);
	compute(r, BPF_OR, BPF_REG_1, (int32_t)m->instruments->number);
	write_word(r, BPF_REG_10, m->frame.chain, BPF_REG_1);
	write_word(r, BPF_REG_10, m->frame.spent, BPF_REG_4);
	move(r, BPF_REG_2, BPF_REG_8);
}

/* r2 = the time of the chain up to the end of this run, which takes r8 ns; -1 if not timed. r3 is
 * overwritten. */
static void emit_spent(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	read_word(r, BPF_REG_2, BPF_REG_10, m->frame.spent);
	compute_by(r, BPF_ADD, BPF_REG_2, BPF_REG_8);
	move(r, BPF_REG_3, BPF_REG_8);
	compute(r, BPF_ARSH, BPF_REG_3, 63);
	compute_by(r, BPF_OR, BPF_REG_2, BPF_REG_3);
}

/* Returns the stack offset of the byte that is not 0 if the run is timed. It is not the lowest byte
 * of its word, because there the verifier would track the number. It would then tell timed runs
 * from untimed ones, and check twice the code that both execute. */
static int16_t timed_at(const struct maker *m)
{
	return (int16_t)(m->frame.scratch + 1);
}

/* Emits a jump that only untimed runs take. Returns the index of the jump. `reg` is overwritten. */
static uint32_t jump_if_untimed(struct maker *m, uint8_t reg)
{
	bb_emit(&m->out, BPF_LDX | BPF_MEM | BPF_B, reg, BPF_REG_10, timed_at(m), 0);
	return jump_if(&m->out, BPF_JEQ, reg, 0);
}

/* Emits the start of the clone, which sets the state of a run to zeros. The zeros are read from
 * memory, so that the verifier does not know their value. Otherwise it would check every path
 * separately. */
static void emit_entry(struct maker *m)
{
	bool is_timed = m->c.with & BB_INSIDE_TIME;
	struct bb_rewrite *r = &m->out;
	uint32_t untimed;

	if (counts_at_entry(m)) {
		move(r, BPF_REG_6, BPF_REG_1);
		/* r2 = the number of the run, which is unique only if c.counts_entries */
		emit_stripe(m, &m->c, BPF_REG_1);
		if (m->frame.stripe)
			write_word(r, BPF_REG_10, m->frame.stripe, BPF_REG_1);
		compute(r, BPF_MOV, BPF_REG_2, 1);
		if (m->c.counts_entries) {
			add_atomically(r, BPF_REG_1, BB_INSIDE_RUNS, BPF_REG_2, BPF_FETCH);
		} else {
			read_word(r, BPF_REG_0, BPF_REG_1, BB_INSIDE_RUNS);
			compute_by(r, BPF_ADD, BPF_REG_2, BPF_REG_0);
			write_word(r, BPF_REG_1, BB_INSIDE_RUNS, BPF_REG_2);
		}
	}
	if (m->frame.chain)
		emit_take_over(m);
	bb_emit_address(r, BPF_REG_3, m->c.memory.fd, 0);
	for (uint32_t w = 0; m->frame.words && w < m->c.n_words; w++) {
		read_word(r, BPF_REG_0, BPF_REG_3, BB_INSIDE_ZERO);
		write_word(r, BPF_REG_10, m->frame.words + 8 * (int)w, BPF_REG_0);
	}
	read_word(r, BPF_REG_0, BPF_REG_3, BB_INSIDE_ZERO);
	if (m->frame.turns)
		emit_upper(r, BPF_STX, BPF_REG_0, m->frame.turns);
	if (m->frame.packet)
		emit_upper(r, BPF_STX, BPF_REG_0, m->frame.packet);
	if (is_timed) {
		bb_emit(r, BPF_STX | BPF_MEM | BPF_B, BPF_REG_10, BPF_REG_0, timed_at(m), 0);
		read_word(r, BPF_REG_3, BPF_REG_3, BB_INSIDE_MASK);
		compute_by(r, BPF_AND, BPF_REG_3, BPF_REG_2);
		untimed = jump_if(r, BPF_JNE, m->frame.chain ? BPF_REG_7 : BPF_REG_3, 0);
		bb_emit(r, BPF_ST | BPF_MEM | BPF_B, BPF_REG_10, 0, timed_at(m), 1);
		if (m->frame.packet)
			emit_copy_packet(m);
		call_helper(r, BPF_FUNC_ktime_get_ns);
		land_both(r, untimed);
		write_word(r, BPF_REG_10, m->frame.began, BPF_REG_0);
	}
	if (counts_at_entry(m))
		move(r, BPF_REG_1, BPF_REG_6);
}

static void emit_number64(struct bb_rewrite *r, uint8_t reg, uint64_t number)
{
	bb_emit(r, BB_LD_IMM64, reg, 0, 0, (int32_t)number);
	bb_emit(r, 0, 0, 0, 0, (int32_t)(number >> 32));
}

/* The upper half of the word holds the index, because the verifier does not track numbers there. */
static void emit_exit_is(struct maker *m, uint32_t nth)
{
	bb_emit(&m->out, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, (int16_t)(m->frame.scratch + 4),
		(int32_t)nth + 1);
}

static void emit_read_exit(struct maker *m, uint8_t reg)
{
	emit_upper(&m->out, BPF_LDX, reg, m->frame.scratch);
	compute(&m->out, BPF_SUB, reg, 1);
}

/* Passes 16 bits of a register through the stack, so that the verifier forgets their value. */
static void emit_forget(struct maker *m, uint8_t reg)
{
	int16_t off = (int16_t)(m->frame.scratch + 2);

	bb_emit(&m->out, BPF_STX | BPF_MEM | BPF_H, BPF_REG_10, reg, off, 0);
	bb_emit(&m->out, BPF_LDX | BPF_MEM | BPF_H, reg, BPF_REG_10, off, 0);
}

/* Halves reg until it is below 2^(least_bits + 1). shift = the number of halvings. reg must be
 * below 2^32 at first. r0 is overwritten. There are no branches, because the verifier would follow
 * each of them. The code sets all bits below the highest set bit, adds 1, and looks up the
 * logarithm of that power of two (Leiserson, Prokop and Randall 1998). */
static void emit_halve(struct maker *m, uint8_t reg, uint8_t shift, int least_bits)
{
	struct bb_rewrite *r = &m->out;

	move(r, shift, reg);
	compute(r, BPF_RSH, shift, least_bits + 1);
	for (int bits = 1; bits <= 16; bits *= 2) {
		move(r, BPF_REG_0, shift);
		compute(r, BPF_RSH, BPF_REG_0, bits);
		compute_by(r, BPF_OR, shift, BPF_REG_0);
	}
	compute(r, BPF_ADD, shift, 1);
	bb_emit(r, BPF_ALU | BPF_MUL | BPF_K, shift, 0, 0, POWER_TO_INDEX);
	bb_emit(r, BPF_ALU | BPF_RSH | BPF_K, shift, 0, 0, 27);
	bb_emit_address(r, BPF_REG_0, m->c.memory.fd, BB_INSIDE_LOG2);
	compute_by(r, BPF_ADD, BPF_REG_0, shift);
	bb_emit(r, BPF_LDX | BPF_MEM | BPF_B, shift, BPF_REG_0, 0, 0);
	compute_by(r, BPF_RSH, reg, shift);
}

/* r1 = the key of the run's path, r2 = the number of its slot. */
static void emit_number_of_path(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	emit_read_exit(m, BPF_REG_1);
	for (uint32_t w = 0; m->frame.words && w < m->c.n_words; w++) {
		uint32_t bits = m->c.n_marks - w * BB_INSIDE_MARK_BYTES;

		bits = bits < BB_INSIDE_MARK_BYTES ? bits : BB_INSIDE_MARK_BYTES;
		read_word(r, BPF_REG_2, BPF_REG_10, m->frame.words + 8 * (int)w);
		emit_number64(r, BPF_REG_3, BYTES_TO_BITS);
		compute_by(r, BPF_MUL, BPF_REG_2, BPF_REG_3);
		compute(r, BPF_RSH, BPF_REG_2, 57);
		compute(r, BPF_LSH, BPF_REG_1, (int32_t)bits);
		compute_by(r, BPF_OR, BPF_REG_1, BPF_REG_2);
	}
	move(r, BPF_REG_2, BPF_REG_1);
	compute(r, BPF_ADD, BPF_REG_1, 1);
}

static void emit_hash_of_path(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	emit_read_exit(m, BPF_REG_1);
	emit_number64(r, BPF_REG_3, HASH);
	for (uint32_t w = 0; m->frame.words && w < m->c.n_words; w++) {
		read_word(r, BPF_REG_2, BPF_REG_10, m->frame.words + 8 * (int)w);
		compute_by(r, BPF_XOR, BPF_REG_1, BPF_REG_2);
		compute_by(r, BPF_MUL, BPF_REG_1, BPF_REG_3);
	}
	if (m->frame.turns) { /* hash only how many bits the number of loop iterations has */
		emit_upper(r, BPF_LDX, BPF_REG_2, m->frame.turns);
		emit_halve(m, BPF_REG_2, BPF_REG_4, 0);
		compute_by(r, BPF_ADD, BPF_REG_2, BPF_REG_4);
		emit_forget(m, BPF_REG_2);
		compute_by(r, BPF_XOR, BPF_REG_1, BPF_REG_2);
		compute_by(r, BPF_MUL, BPF_REG_1, BPF_REG_3);
	}
	move(r, BPF_REG_2, BPF_REG_1);
	compute(r, BPF_RSH, BPF_REG_2, 48);
	compute(r, BPF_OR, BPF_REG_1, 1); /* a key is never 0 */
}

/* Writes the run's path and its return value (r6) to the new slot at r4. */
static void emit_new_path(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	for (uint32_t w = 0; m->frame.words && w < m->c.n_words; w++) {
		read_word(r, BPF_REG_0, BPF_REG_10, m->frame.words + 8 * (int)w);
		write_word(r, BPF_REG_4, (int)(BB_INSIDE_MARKS + 8 * w), BPF_REG_0);
	}
	if (m->frame.turns) {
		emit_upper(r, BPF_LDX, BPF_REG_0, m->frame.turns);
		write_word(r, BPF_REG_4, (int)(BB_INSIDE_MARKS + 8 * m->c.n_words), BPF_REG_0);
	}
	emit_read_exit(m, BPF_REG_0);
	write_word(r, BPF_REG_4, BB_INSIDE_EXIT, BPF_REG_0);
	write_word(r, BPF_REG_4, BB_INSIDE_RETVAL, BPF_REG_6);
}

/* r4 = the address of slot r2 (modulo n_slots) in the stripe of `c` at r5. */
static void emit_slot_address(struct maker *m, const struct bb_inside_clone *c)
{
	struct bb_rewrite *r = &m->out;

	move(r, BPF_REG_4, BPF_REG_5);
	if (c->n_slots > 1) {
		compute(r, BPF_AND, BPF_REG_2, (int32_t)c->n_slots - 1);
		move(r, BPF_REG_3, BPF_REG_2);
		compute(r, BPF_MUL, BPF_REG_3, (int32_t)c->slot_bytes);
		compute_by(r, BPF_ADD, BPF_REG_4, BPF_REG_3);
	}
	compute(r, BPF_ADD, BPF_REG_4, BB_INSIDE_HEAD);
}

/* r4 = the address of the slot of the run's path, in the stripe at r5. r6 is the return value. */
static void emit_numbered_slot(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	if (m->c.n_slots > 1)
		emit_number_of_path(m);
	else
		compute(r, BPF_MOV, BPF_REG_1, 1);
	emit_slot_address(m, &m->c);
	read_word(r, BPF_REG_0, BPF_REG_4, BB_INSIDE_KEY);
	uint32_t is_known = jump_if(r, BPF_JNE, BPF_REG_0, 0);
	write_word(r, BPF_REG_4, BB_INSIDE_KEY, BPF_REG_1);
	emit_new_path(m);
	land_both(r, is_known);
}

/* r4 = the address of the slot with key r1 in the stripe at r5, or of the last slot if there is no
 * room. The search begins at slot r2. */
static void emit_hashed_slot(struct maker *m, const struct bb_inside_clone *c)
{
	struct bb_rewrite *r = &m->out;
	uint32_t found[2 * PROBES], is_new[PROBES], n = 0, done;

	for (uint32_t p = 0; p < PROBES; p++) {
		emit_slot_address(m, c);
		read_word(r, BPF_REG_0, BPF_REG_4, BB_INSIDE_KEY);
		found[n++] = jump_if_by(r, BPF_JEQ, BPF_REG_0, BPF_REG_1);
		uint32_t other = jump_if(r, BPF_JNE, BPF_REG_0, 0);
		compute(r, BPF_MOV, BPF_REG_0, 0);
		bb_emit(r, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_4, BPF_REG_1, BB_INSIDE_KEY,
			BPF_CMPXCHG);
		is_new[p] = jump_if(r, BPF_JEQ, BPF_REG_0, 0);
		found[n++] = jump_if_by(r, BPF_JEQ, BPF_REG_0, BPF_REG_1);
		land(r, other);
		compute(r, BPF_ADD, BPF_REG_2, 1);
	}
	move(r, BPF_REG_4, BPF_REG_5);
	compute(r, BPF_ADD, BPF_REG_4, (int32_t)(BB_INSIDE_HEAD + c->n_slots * c->slot_bytes));
	done = jump_if(r, BPF_JA, 0, 0);
	for (uint32_t p = 0; p < PROBES; p++)
		land(r, is_new[p]);
	if (c == &m->c)
		emit_new_path(m);
	land_both(r, done);
	for (uint32_t i = 0; i < n; i++)
		land(r, found[i]);
}

/* r4 += the offset of the bucket for r8 ns. Each power of two has 16 buckets. */
static void emit_bucket(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	move(r, BPF_REG_1, BPF_REG_8);
	/* r1 = r8, or 2^32 - 1 if r8 is larger */
	compute(r, BPF_RSH, BPF_REG_1, 32);
	bb_emit(r, BPF_ALU64 | BPF_NEG, BPF_REG_1, 0, 0, 0);
	compute(r, BPF_ARSH, BPF_REG_1, 63);
	compute_by(r, BPF_OR, BPF_REG_1, BPF_REG_8);
	bb_emit(r, BPF_ALU | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_1, 0, 0);
	emit_halve(m, BPF_REG_1, BPF_REG_2, 4);
	compute(r, BPF_LSH, BPF_REG_2, 4);
	compute_by(r, BPF_ADD, BPF_REG_1, BPF_REG_2);
	emit_forget(m, BPF_REG_1);
	compute(r, BPF_AND, BPF_REG_1, BB_INSIDE_BUCKETS - 1);
	compute(r, BPF_LSH, BPF_REG_1, 3);
	compute_by(r, BPF_ADD, BPF_REG_4, BPF_REG_1);
}

/* r8 = the time of the run, ns; -1 if not timed. It may be negative, because the clock may step
 * back. The verifier knows nothing of r8, so it checks the following code only once. */
static void emit_time(struct maker *m)
{
	struct bb_rewrite *r = &m->out;
	uint32_t untimed, done;

	read_word(r, BPF_REG_8, BPF_REG_10, m->frame.began);
	untimed = jump_if_untimed(m, BPF_REG_0);
	call_helper(r, BPF_FUNC_ktime_get_ns);
	compute_by(r, BPF_SUB, BPF_REG_0, BPF_REG_8);
	move(r, BPF_REG_8, BPF_REG_0);
	done = jump_if(r, BPF_JA, 0, 0);
	land(r, untimed);
	compute(r, BPF_XOR, BPF_REG_8, -1); /* r8 was 0, and is now -1 */
	land_both(r, done);
}

static void emit_not_negative(struct bb_rewrite *r, uint8_t reg, uint8_t by)
{
	move(r, by, reg);
	compute(r, BPF_ARSH, by, 63);
	compute(r, BPF_XOR, by, -1);
	compute_by(r, BPF_AND, reg, by);
}

/* Counts a run of r8 ns in the slot at r4. A negative r8 counts as 0. r4 + BB_INSIDE_HIST is then
 * the address of the bucket. r1 is overwritten. */
static void emit_add_time(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	emit_not_negative(r, BPF_REG_8, BPF_REG_0);
	add_atomically(r, BPF_REG_4, BB_INSIDE_SUM, BPF_REG_8, 0);
	read_word(r, BPF_REG_0, BPF_REG_4, BB_INSIDE_WORST);
	/* r2 = by how much r8 exceeds the longest time so far, or 0 */
	move(r, BPF_REG_2, BPF_REG_8);
	compute_by(r, BPF_SUB, BPF_REG_2, BPF_REG_0);
	emit_not_negative(r, BPF_REG_2, BPF_REG_3);
	compute_by(r, BPF_ADD, BPF_REG_0, BPF_REG_2);
	write_word(r, BPF_REG_4, BB_INSIDE_WORST, BPF_REG_0);
	emit_bucket(m);
	compute(r, BPF_MOV, BPF_REG_1, 1);
	add_atomically(r, BPF_REG_4, BB_INSIDE_HIST, BPF_REG_1, 0);
}

/* Counts a run in the slot at r4. r8 is its time, if it is timed. */
static void emit_count(struct maker *m)
{
	struct bb_rewrite *r = &m->out;
	uint32_t untimed = 0, done = 0;
	bool is_timed = m->c.with & BB_INSIDE_TIME;

	if (is_timed) {
		untimed = jump_if_untimed(m, BPF_REG_0);
		emit_add_time(m);
		done = jump_if(r, BPF_JA, 0, 0);
		land(r, untimed);
	}
	compute(r, BPF_MOV, BPF_REG_1, 1);
	add_atomically(r, BPF_REG_4, BB_INSIDE_UNTIMED, BPF_REG_1, 0);
	if (is_timed)
		land(r, done);
}

/* Counts the chain of tail calls that ends with this run of r8 ns. A single program is no chain. */
static void emit_end_chain(struct maker *m)
{
	const struct bb_inside_clone *c = m->instruments->chains;
	struct bb_rewrite *r = &m->out;

	read_word(r, BPF_REG_1, BPF_REG_10, m->frame.chain);
	uint32_t alone = jump_if(r, BPF_JLE, BPF_REG_1, BB_INSIDE_CHAINED);
	emit_stripe(m, c, BPF_REG_5);
	emit_spent(m);
	move(r, BPF_REG_8, BPF_REG_2);
	read_word(r, BPF_REG_1, BPF_REG_10, m->frame.chain);
	move(r, BPF_REG_2, BPF_REG_1);
	emit_number64(r, BPF_REG_3, HASH);
	compute_by(r, BPF_MUL, BPF_REG_2, BPF_REG_3);
	compute(r, BPF_RSH, BPF_REG_2, 48);
	emit_hashed_slot(m, c);
	emit_count(m);
	land_both(r, alone);
}

/* Counts the run that ends here. r6 is its return value. r5 = the address of the slot. With the
 * clock, r8 = the time of the run, ns, and r4 + BB_INSIDE_HIST is the address of the bucket. */
static void emit_record(struct maker *m)
{
	struct bb_rewrite *r = &m->out;

	if (m->c.with & BB_INSIDE_TIME)
		emit_time(m);
	if (m->frame.stripe)
		read_word(r, BPF_REG_5, BPF_REG_10, m->frame.stripe);
	else
		emit_stripe(m, &m->c, BPF_REG_5);
	if (m->is_numbered) {
		emit_numbered_slot(m);
	} else if (m->c.n_slots) {
		emit_hash_of_path(m);
		emit_hashed_slot(m, &m->c);
	} else {
		move(r, BPF_REG_4, BPF_REG_5);
		compute(r, BPF_ADD, BPF_REG_4, BB_INSIDE_HEAD);
	}
	move(r, BPF_REG_5, BPF_REG_4);
	if (m->frame.packet)
		emit_packet_took(m);
	read_word(r, BPF_REG_0, BPF_REG_4, BB_INSIDE_RETVAL);
	compute_by(r, BPF_XOR, BPF_REG_0, BPF_REG_6);
	read_word(r, BPF_REG_2, BPF_REG_4, BB_INSIDE_VARIES);
	compute_by(r, BPF_OR, BPF_REG_0, BPF_REG_2);
	write_word(r, BPF_REG_4, BB_INSIDE_VARIES, BPF_REG_0);
	emit_count(m);
}

static void emit_call_saves(struct maker *m, uint32_t at, bool is_back)
{
	for (uint32_t i = 0; i < SAVED; i++) {
		uint8_t reg = saved_regs[i];
		int off = m->frame.saved + 8 * (int)i;
		bool is_used = reg <= BPF_REG_3 ||
			       m->regs.live[at] & m->regs.known[at] & BB_REG(reg);

		if (is_used && is_back)
			read_word(&m->out, reg, BPF_REG_10, off);
		else if (is_used)
			write_word(&m->out, BPF_REG_10, off, reg);
	}
}

/* A tail call that succeeds ends the run, so the run is counted before the call. If the call fails,
 * the run goes on. Code after the call then takes the run out of the counts again. */
static void emit_tail_call(struct maker *m, uint32_t at, uint32_t nth)
{
	struct bb_rewrite *r = &m->out;
	int slot = m->frame.saved + 8 * (int)SAVED, bucket = slot + 8, ns = slot + 16;
	uint32_t untimed, done;

	emit_call_saves(m, at, false);
	compute(r, BPF_MOV, BPF_REG_6, 0);
	emit_exit_is(m, nth);
	emit_record(m);
	write_word(r, BPF_REG_10, slot, BPF_REG_5);
	if (m->c.with & BB_INSIDE_TIME) {
		write_word(r, BPF_REG_10, bucket, BPF_REG_4);
		write_word(r, BPF_REG_10, ns, BPF_REG_8);
	}
	if (m->frame.chain) {
		/* write this CPU's hand-over for the program that is called */
		emit_hand_over(m, BPF_REG_6);
		emit_spent(m);
		write_word(r, BPF_REG_6, BB_INSIDE_SPENT, BPF_REG_2);
		read_word(r, BPF_REG_1, BPF_REG_10, m->frame.chain);
		write_word(r, BPF_REG_6, BB_INSIDE_CHAIN, BPF_REG_1);
		read_word(r, BPF_REG_1, BPF_REG_10, m->frame.saved);
		write_word(r, BPF_REG_6, BB_INSIDE_CALLER, BPF_REG_1);
	}
	emit_call_saves(m, at, true);
	bb_emit_old(r, at);
	if (m->frame.chain) {
		emit_hand_over(m, BPF_REG_1);
		compute(r, BPF_MOV, BPF_REG_2, 0);
		write_word(r, BPF_REG_1, BB_INSIDE_CALLER, BPF_REG_2);
	}
	read_word(r, BPF_REG_1, BPF_REG_10, slot);
	compute(r, BPF_MOV, BPF_REG_2, -1);
	if (!(m->c.with & BB_INSIDE_TIME)) {
		add_atomically(r, BPF_REG_1, BB_INSIDE_UNTIMED, BPF_REG_2, 0);
		return;
	}
	untimed = jump_if_untimed(m, BPF_REG_3);
	read_word(r, BPF_REG_3, BPF_REG_10, ns);
	bb_emit(r, BPF_ALU64 | BPF_NEG, BPF_REG_3, 0, 0, 0);
	add_atomically(r, BPF_REG_1, BB_INSIDE_SUM, BPF_REG_3, 0);
	read_word(r, BPF_REG_4, BPF_REG_10, bucket);
	add_atomically(r, BPF_REG_4, BB_INSIDE_HIST, BPF_REG_2, 0);
	done = jump_if(r, BPF_JA, 0, 0);
	land(r, untimed);
	add_atomically(r, BPF_REG_1, BB_INSIDE_UNTIMED, BPF_REG_2, 0);
	land_both(r, done);
}

/* Finds a register, reg[0], that added code can use before slot `at`. Saves its value if the
 * program needs it. Returns false if there is no such register. */
static bool emit_borrow(struct maker *m, uint32_t at, uint8_t reg[2], uint8_t save[2])
{
	if (bb_registers__two(&m->regs, at, reg, save) == BB_NO_TWO)
		return false;
	save[1] = 0;
	bb_emit_saves(&m->out, reg, save, m->frame.saved_reg + 8, false);
	return true;
}

static void emit_give_back(struct maker *m, const uint8_t reg[2], const uint8_t save[2])
{
	bb_emit_saves(&m->out, reg, save, m->frame.saved_reg + 8, true);
}

static void emit_turn(struct maker *m, uint32_t at)
{
	struct bb_rewrite *r = &m->out;
	uint8_t reg[2], save[2];

	if (!emit_borrow(m, at, reg, save))
		return;
	emit_upper(r, BPF_LDX, reg[0], m->frame.turns);
	compute(r, BPF_ADD, reg[0], 1);
	emit_upper(r, BPF_STX, reg[0], m->frame.turns);
	emit_give_back(m, reg, save);
}

static void emit_mark(struct maker *m, uint32_t at, uint32_t mark)
{
	uint32_t bit = bb_inside_clone__bit_of(&m->c, mark);
	int16_t off = (int16_t)(m->frame.words + (int)(bit / 8));
	uint8_t reg[2], save[2];

	if (m->c.marks_a_byte == 1) {
		bb_emit(&m->out, BPF_ST | BPF_MEM | BPF_B, BPF_REG_10, 0, off, 1);
		return;
	}
	if (!emit_borrow(m, at, reg, save))
		return;
	bb_emit(&m->out, BPF_LDX | BPF_MEM | BPF_B, reg[0], BPF_REG_10, off, 0);
	compute(&m->out, BPF_OR, reg[0], 1 << bit % 8);
	bb_emit(&m->out, BPF_STX | BPF_MEM | BPF_B, BPF_REG_10, reg[0], off, 0);
	emit_give_back(m, reg, save);
}

static void emit_common_exit(struct maker *m)
{
	for (uint32_t i = 0; i < m->n_to_exit; i++)
		m->too_far |= !bb_rewrite__jump(&m->out, m->to_exit[i], m->out.n);
	move(&m->out, BPF_REG_6, BPF_REG_0);
	emit_record(m);
	if (m->frame.chain)
		emit_end_chain(m);
	move(&m->out, BPF_REG_0, BPF_REG_6);
	bb_emit(&m->out, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void lay_out(struct maker *m)
{
	const struct bb_code *code = m->code;
	struct bb_rewrite *r = &m->out;
	uint32_t nth = 0, end = m->g->funcs[0].end;
	bool records = m->c.with;

	r->n = m->n_to_exit = 0;
	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at])) {
		uint32_t b = m->g->block_of[at];
		bool begins = at < end && m->g->blocks[b].first == at;

		if (at == end && records)
			emit_common_exit(m);
		r->moved[at] = r->n;
		if (!at)
			emit_entry(m);
		r->landing[at] = r->n;
		if (begins && m->frame.turns && m->is_header[b])
			emit_turn(m, at);
		if (begins && m->frame.words && m->c.mark_of[b])
			emit_mark(m, at, m->c.mark_of[b] - 1);
		if (records && at < end && bb_insn_is_exit(&code->insns[at])) {
			emit_exit_is(m, nth++);
			m->to_exit[m->n_to_exit++] = jump_if(r, BPF_JA, 0, 0);
		} else if (records && at < end && bb_insn_is_tail_call(&code->insns[at])) {
			emit_tail_call(m, at, nth++);
		} else {
			bb_emit_old(r, at);
		}
	}
	if (end == code->n && records)
		emit_common_exit(m);
	r->moved[code->n] = r->n;
}

static int write_clone(struct maker *m, struct bb_err *err)
{
	/* each tail call has its own copy of the code of emit_record() */
	size_t most = (size_t)m->code->n * BB_LONG_SLOTS + ENTRY_SLOTS +
		      (size_t)m->g->n_blocks * (TURN_SLOTS + MARK_SLOTS) +
		      (size_t)(m->n_tail_calls + 1) * (EXIT_SLOTS + CALL_SLOTS);

	bb_rewrite__open(&m->out, most);
	do
		lay_out(m);
	while (!bb_rewrite__mend(&m->out));
	m->c.n_insns = m->out.n;
	if (m->too_far || m->out.n > BB_MOST_INSNS)
		return bb_fail(err, -ENOTSUP, "the clone is too long (%u instructions)", m->out.n);
	return 0;
}

/* Returns the offset below r10 that the instruction contains, bytes; 0 if it contains none. */
static uint32_t depth_named(const struct bpf_insn *i)
{
	uint8_t class = BPF_CLASS(i->code);

	if ((class == BPF_LDX && i->src_reg == BPF_REG_10) ||
	    ((class == BPF_ST || class == BPF_STX) && i->dst_reg == BPF_REG_10))
		return i->off < 0 ? (uint32_t)-i->off : 0;
	if (i->code == (BPF_ALU64 | BPF_ADD | BPF_K) && i->imm < 0 &&
	    i->imm >= -(int)BB_STACK_BYTES)
		return (uint32_t)-i->imm;
	return 0;
}

/* Returns the registers that may hold a stack address after the instruction, if those in `before`
 * may hold one before it. Assumes that no stack address is in memory. */
static uint16_t stack_addresses(const struct bpf_insn *i, uint16_t before)
{
	bool copies = BPF_SRC(i->code) == BPF_X && before & BB_REG(i->src_reg);
	uint16_t dst = BB_REG(i->dst_reg);

	if (bb_insn_is_call(i))
		return before & (uint16_t)~0x3f;
	if (BPF_CLASS(i->code) == BPF_ALU64 && (copies || BPF_OP(i->code) != BPF_MOV))
		return copies ? before | dst : before;
	if (BPF_CLASS(i->code) == BPF_ALU64 || BPF_CLASS(i->code) == BPF_ALU ||
	    BPF_CLASS(i->code) == BPF_LDX || bb_insn_is_wide(i))
		return before & (uint16_t)~dst;
	return before;
}

/* True if the instruction may lower a stack address, store one, or access memory below a stack
 * address that is in a register other than r10. `addresses` are the registers that may hold stack
 * addresses. `is_named` is true if the instruction before this one copied r10 to the destination
 * register of this one. */
static bool goes_deeper(const struct bpf_insn *i, uint16_t addresses, bool is_named)
{
	bool of_dst = addresses & BB_REG(i->dst_reg), of_src = addresses & BB_REG(i->src_reg);

	switch (BPF_CLASS(i->code)) {
	case BPF_ALU64:
		if (BPF_OP(i->code) == BPF_MOV)
			return false;
		if (BPF_SRC(i->code) == BPF_X)
			return of_dst || of_src;
		return of_dst && (BPF_OP(i->code) != BPF_ADD ||
				  !(i->imm >= 0 || (is_named && depth_named(i))));
	case BPF_LDX: return of_src && i->src_reg != BPF_REG_10 && i->off < 0;
	case BPF_STX:
		if (of_src)
			return true;
		/* fallthrough */
	case BPF_ST: return of_dst && i->dst_reg != BPF_REG_10 && i->off < 0;
	default: return false;
	}
}

static bool block_goes_deeper(const struct bb_code *code, const struct bb_basic_block *b,
			      uint16_t *addresses)
{
	const struct bpf_insn *before = NULL;
	bool deeper = false;

	for (uint32_t at = b->first; at < b->end; at += bb_insn_slots(&code->insns[at])) {
		const struct bpf_insn *i = &code->insns[at];
		bool is_named = before && before->code == (BPF_ALU64 | BPF_MOV | BPF_X) &&
				before->src_reg == BPF_REG_10 && before->dst_reg == i->dst_reg;

		deeper |= goes_deeper(i, *addresses, is_named);
		*addresses = stack_addresses(i, *addresses);
		before = i;
	}
	return deeper;
}

/* True if goes_deeper() is true for any instruction. Follows stack addresses through all blocks,
 * until no block has one more register that may hold such an address. */
static bool goes_deeper_than_named(const struct bb_code *code, const struct bb_cfg *g)
{
	uint16_t *before = bb_calloc(g->n_blocks, sizeof(*before));
	bool deeper = false, more = true;

	while (!deeper && more) {
		more = false;
		for (uint32_t b = 0; b < g->n_blocks; b++) {
			uint16_t addresses = before[b] | BB_REG(BPF_REG_10);

			deeper |= block_goes_deeper(code, &g->blocks[b], &addresses);
			for (uint32_t i = 0; i < g->blocks[b].n_next; i++) {
				uint16_t *next = &before[g->blocks[b].next[i]];

				more |= (addresses & ~*next) != 0;
				*next |= addresses;
			}
		}
	}
	free(before);
	return deeper;
}

bool bb_inside__depth(const struct bb_code *code, const struct bb_cfg *g, uint32_t *ret_bytes)
{
	uint32_t bytes = 0;

	for (uint32_t at = 0; at < g->funcs[0].end; at += bb_insn_slots(&code->insns[at])) {
		uint32_t named = depth_named(&code->insns[at]);

		bytes = named > bytes ? named : bytes;
	}
	*ret_bytes = bytes;
	return g->n_funcs == 1 && !goes_deeper_than_named(code, g);
}

int bb_inside_clone__make(const struct bb_code *code, const struct bb_cfg *g, uint32_t stack_bytes,
			  const struct bb_inside_instruments *instruments,
			  struct bb_inside_clone *ret_clone, struct bb_rewrite *ret_out,
			  struct bb_err *err)
{
	struct maker m = {.c = {.with = instruments->with,
				.snap = instruments->snap,
				.memory = {.fd = -1}},
			  .instruments = instruments,
			  .code = code,
			  .g = g};
	uint32_t depth;
	int rc = 0;

	m.out = (struct bb_rewrite){.code = code,
				    .with = instruments->with & BB_INSIDE_TIME ? "clocks"
									       : "counters"};
	if (is_tracer(&m) && m.c.with & BB_INSIDE_PACKETS) {
		m.context_words = bb_context_words(code, g) & ((1U << MOST_ARGS) - 1);
		/* the size of the context up to the last word that the program reads */
		for (m.c.snap = 0; m.context_words >> m.c.snap / 8; m.c.snap += 8)
			;
	}
	if (!m.c.snap)
		m.c.with &= ~(unsigned int)BB_INSIDE_PACKETS;
	m.c.mark_of = bb_calloc(g->n_blocks, sizeof(*m.c.mark_of));
	m.c.exits = bb_calloc(code->n, sizeof(*m.c.exits));
	m.is_header = bb_calloc(g->n_blocks, sizeof(*m.is_header));
	m.to_exit = bb_calloc(code->n, sizeof(*m.to_exit));
	bb_registers__find(code, g, &m.regs);
	find_marks(&m);
	find_exits(&m);
	if (m.c.with) {
		depth = place_state(&m, stack_bytes, 1);
		if (depth > BB_STACK_BYTES)
			depth = place_state(&m, stack_bytes, 8);
		if (depth > BB_STACK_BYTES)
			rc = bb_fail(err, -ENOTSUP, "its stack has no room: %u bytes instead of %u",
				     depth, stack_bytes);
	}
	choose_slots(&m);
	if (!rc)
		rc = make_memory(&m.c, 0, instruments->earlier, err);
	if (!rc)
		rc = write_clone(&m, err);
	bb_registers__done(&m.regs);
	free(m.is_header);
	free(m.to_exit);
	if (rc) {
		bb_rewrite__done(&m.out);
		if (instruments->earlier)
			m.c.memory = (struct bb_shared_memory){.fd = -1};
		bb_inside_clone__done(&m.c);
		return rc;
	}
	*ret_out = m.out;
	*ret_clone = m.c;
	return 0;
}

int bb_inside_chains__open(struct bb_inside_clone *ret_chains)
{
	*ret_chains = (struct bb_inside_clone){.n_slots = CHAINS_SLOTS, .memory = {.fd = -1}};
	return make_memory(ret_chains, (size_t)n_cpus(MOST_CPUS) * BB_INSIDE_HAND_OVER, NULL, NULL);
}

void bb_inside_clone__done(struct bb_inside_clone *c)
{
	bb_shared_memory__close(&c->memory);
	free(c->mark_of);
	free(c->exits);
	*c = (struct bb_inside_clone){.memory = {.fd = -1}};
}

void bb_inside_clone__time_each(const struct bb_inside_clone *c, uint64_t mask,
				uint64_t packet_mask)
{
	c->memory.v[BB_INSIDE_MASK / 8] = mask;
	c->memory.v[BB_INSIDE_PACKET_MASK / 8] = packet_mask;
}

uint64_t bb_inside_clone__begun(const struct bb_inside_clone *c)
{
	uint64_t runs = 0;

	for (uint32_t s = 0; s < c->n_stripes; s++)
		runs += c->memory.v[(BB_INSIDE_STRIPES + (size_t)s * c->stripe_bytes +
				     BB_INSIDE_RUNS) /
				    8];
	return runs;
}
