/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The oracle of the instruction counts. It executes a program's final instructions one by one in
 * user space (RFC 9669) and counts each; it knows no blocks. It has its own models of maps, which
 * begin empty. Only arrays, so the program's globals, begin with their contents. It models the
 * helpers whose effect on the control flow is known. Memory is real memory, because programs have
 * been verified. If a program was not, the test's process ends.
 */
#include <bpf/bpf.h>
#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INTERP_MAPS 16
#define INTERP_DEPTH 8
#define INTERP_STACK 512
#define INTERP_STEPS 50000000u
#define INTERP_STACK_ID                                                                            \
	7 /* the result of bpf_get_stackid: all events of a test have the same stack */

struct interp_map {
	int fd;
	struct bpf_map_info info;
	char *entries; /* n entries: key, then value; arrays have all entries */
	uint32_t n;
};

struct interp {
	const struct bpf_insn *insns;
	uint32_t n;
	const uint8_t *packet; /* as instructions for packet loads see it */
	size_t packet_len;
	uint64_t *hits; /* executions of each slot */
	uint64_t steps;
	bool left; /* true if a packet load or ends_at() ended the run */
	/* If set: called before each instruction and after each call. Returns true to end the
	 * run. */
	bool (*ends_at)(void *user, uint32_t slot, bool after);
	void *user;
	char why[80]; /* what the interpreter cannot execute; empty if nothing so far */
	struct interp_map maps[INTERP_MAPS];
	uint32_t n_maps;
	char scratch[8192]; /* the memory of ring buffer reservations */
};

static inline void interp_cannot(struct interp *I, const char *what, int number)
{
	if (!I->why[0])
		snprintf(I->why, sizeof(I->why), "%s %d", what, number);
}

/* --- maps --- */

static inline bool interp_is_array(const struct interp_map *m)
{
	return m->info.type == BPF_MAP_TYPE_ARRAY || m->info.type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static inline size_t interp_value_at(const struct interp_map *m)
{
	return (m->info.key_size + 7) & ~7U;
}

static inline char *interp_entry(const struct interp_map *m, uint32_t i)
{
	return m->entries + i * (interp_value_at(m) + ((m->info.value_size + 7) & ~7U));
}

static inline struct interp_map *interp_map(struct interp *I, int fd)
{
	struct interp_map *m = &I->maps[I->n_maps];
	__u32 len = sizeof(m->info);

	for (uint32_t i = 0; i < I->n_maps; i++)
		if (I->maps[i].fd == fd)
			return &I->maps[i];
	memset(m, 0, sizeof(*m));
	m->fd = fd;
	if (I->n_maps == INTERP_MAPS || bpf_obj_get_info_by_fd(fd, &m->info, &len)) {
		interp_cannot(I, "map", fd);
		return NULL;
	}
	if (m->info.type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
	    m->info.type == BPF_MAP_TYPE_HASH_OF_MAPS) {
		interp_cannot(I, "helper on a map of maps", fd);
		return NULL;
	}
	I->n_maps++;
	if (m->info.type == BPF_MAP_TYPE_RINGBUF || m->info.max_entries > 1U << 20)
		return m;
	m->entries = calloc(m->info.max_entries + 1,
			    interp_value_at(m) + ((m->info.value_size + 7) & ~7U));
	if (!m->entries)
		interp_cannot(I, "memory for map", fd);
	for (uint32_t i = 0; m->entries && interp_is_array(m) && i < m->info.max_entries;
	     i++, m->n++)
		memcpy(interp_entry(m, i), &i, sizeof(i));
	for (uint32_t i = 0; m->entries && m->info.type == BPF_MAP_TYPE_ARRAY && i < m->n; i++)
		bpf_map_lookup_elem(fd, &i, interp_entry(m, i) + interp_value_at(m));
	return m;
}

static inline void *interp_lookup(const struct interp_map *m, const void *key)
{
	for (uint32_t i = 0; m->entries && i < m->n; i++)
		if (!memcmp(interp_entry(m, i), key, m->info.key_size))
			return interp_entry(m, i) + interp_value_at(m);
	return NULL;
}

static inline int interp_update(struct interp_map *m, const void *key, const void *value)
{
	char *at = interp_lookup(m, key);

	if (!at) {
		if (m->n == m->info.max_entries)
			return -E2BIG;
		at = interp_entry(m, m->n++);
		memcpy(at, key, m->info.key_size);
		at += interp_value_at(m);
	}
	memcpy(at, value, m->info.value_size);
	return 0;
}

/* --- helpers --- */

static inline uint64_t interp_run(struct interp *I, uint32_t pc, const uint64_t *args,
				  unsigned int depth);

/* bpf_loop(n, callback, context, 0). */
static inline uint64_t interp_loop(struct interp *I, const uint64_t *r, unsigned int depth)
{
	uint64_t i = 0;

	while (i < r[1] && !I->why[0] && !I->left) {
		uint64_t args[5] = {i++, r[3]};

		if (interp_run(I, (uint32_t)r[2], args, depth + 1))
			break;
	}
	return i;
}

static inline uint64_t interp_map_helper(struct interp *I, int id, const uint64_t *r)
{
	struct interp_map *m = interp_map(I, (int)r[1]);

	if (!m)
		return 0;
	switch (id) {
	case BPF_FUNC_map_lookup_elem:
		return (uint64_t)(uintptr_t)interp_lookup(m, (const void *)(uintptr_t)r[2]);
	case BPF_FUNC_map_update_elem:
		return (uint64_t)interp_update(m, (const void *)(uintptr_t)r[2],
					       (const void *)(uintptr_t)r[3]);
	default: /* a push: only the number of entries matters */
		if (m->n == m->info.max_entries)
			return (uint64_t)-E2BIG;
		m->n++;
		return 0;
	}
}

static inline uint64_t interp_helper(struct interp *I, int id, const uint64_t *r,
				     unsigned int depth)
{
	switch (id) {
	case BPF_FUNC_map_lookup_elem:
	case BPF_FUNC_map_update_elem:
	case BPF_FUNC_map_push_elem: return interp_map_helper(I, id, r);
	case BPF_FUNC_ktime_get_ns: return 123456789;
	case BPF_FUNC_get_smp_processor_id: return (uint64_t)sched_getcpu();
	case BPF_FUNC_get_current_pid_tgid:
		return (uint64_t)getpid() << 32 | (uint64_t)syscall(SYS_gettid);
	case BPF_FUNC_get_stack: /* an event in user mode has no kernel stack */
		return r[4] & BPF_F_USER_STACK ? 64 : (uint64_t)-EFAULT;
	case BPF_FUNC_get_stackid: return INTERP_STACK_ID;
	case BPF_FUNC_ringbuf_reserve:
		if (r[2] > sizeof(I->scratch))
			interp_cannot(I, "record of size", (int)r[2]);
		return (uint64_t)(uintptr_t)I->scratch;
	case BPF_FUNC_ringbuf_submit:
	case BPF_FUNC_ringbuf_discard:
	case BPF_FUNC_ringbuf_output:
	case BPF_FUNC_perf_event_output:
	case BPF_FUNC_spin_lock:
	case BPF_FUNC_spin_unlock: return 0;
	case BPF_FUNC_tail_call: /* the tests' arrays are empty, so the call fails */
		return (uint64_t)-ENOENT;
	case BPF_FUNC_loop: return interp_loop(I, r, depth);
	default: interp_cannot(I, "helper", id); return 0;
	}
}

/* --- instructions --- */

static inline uint64_t interp_load(int size, uint64_t at)
{
	const void *p = (const void *)(uintptr_t)at;
	uint64_t v = 0;

	memcpy(&v, p, size == BPF_B ? 1 : size == BPF_H ? 2 : size == BPF_W ? 4 : 8);
	return v; /* little-endian, which bpf/target.c asserts */
}

static inline void interp_store(int size, uint64_t at, uint64_t v)
{
	memcpy((void *)(uintptr_t)at, &v,
	       size == BPF_B   ? 1
	       : size == BPF_H ? 2
	       : size == BPF_W ? 4
			       : 8);
}

static inline uint64_t interp_swap(const struct bpf_insn *i, uint64_t v)
{
	bool swap = BPF_CLASS(i->code) == BPF_ALU64 || BPF_SRC(i->code) == BPF_TO_BE;

	switch (i->imm) {
	case 16: return swap ? __builtin_bswap16((uint16_t)v) : (uint16_t)v;
	case 32: return swap ? __builtin_bswap32((uint32_t)v) : (uint32_t)v;
	default: return swap ? __builtin_bswap64(v) : v;
	}
}

static inline uint64_t interp_alu(struct interp *I, const struct bpf_insn *i, uint64_t d,
				  uint64_t s)
{
	bool is_64 = BPF_CLASS(i->code) == BPF_ALU64;
	unsigned int shift = (unsigned int)(s & (is_64 ? 63 : 31));

	if (BPF_OP(i->code) == BPF_END)
		return interp_swap(i, d);
	if (!is_64) {
		d = (uint32_t)d;
		s = (uint32_t)s;
	}
	if (i->off)
		interp_cannot(I, "signed operation", i->code);
	switch (BPF_OP(i->code)) {
	case BPF_ADD: d += s; break;
	case BPF_SUB: d -= s; break;
	case BPF_MUL: d *= s; break;
	case BPF_DIV: d = s ? d / s : 0; break;
	case BPF_MOD: d = s ? d % s : d; break;
	case BPF_OR: d |= s; break;
	case BPF_AND: d &= s; break;
	case BPF_XOR: d ^= s; break;
	case BPF_LSH: d <<= shift; break;
	case BPF_RSH: d >>= shift; break;
	case BPF_ARSH:
		d = is_64 ? (uint64_t)((int64_t)d >> shift) : (uint64_t)((int32_t)d >> shift);
		break;
	case BPF_NEG: d = -d; break;
	case BPF_MOV: d = s; break;
	default: interp_cannot(I, "operation", i->code);
	}
	return is_64 ? d : (uint32_t)d;
}

static inline bool interp_jumps(struct interp *I, const struct bpf_insn *i, uint64_t d, uint64_t s)
{
	int64_t sd = (int64_t)d, ss = (int64_t)s;

	if (BPF_CLASS(i->code) == BPF_JMP32) {
		d = (uint32_t)d;
		s = (uint32_t)s;
		sd = (int32_t)d;
		ss = (int32_t)s;
	}
	switch (BPF_OP(i->code)) {
	case BPF_JEQ: return d == s;
	case BPF_JNE: return d != s;
	case BPF_JGT: return d > s;
	case BPF_JGE: return d >= s;
	case BPF_JLT: return d < s;
	case BPF_JLE: return d <= s;
	case BPF_JSET: return d & s;
	case BPF_JSGT: return sd > ss;
	case BPF_JSGE: return sd >= ss;
	case BPF_JSLT: return sd < ss;
	case BPF_JSLE: return sd <= ss;
	default: interp_cannot(I, "jump", i->code);
	}
	return false;
}

static inline void interp_atomic(struct interp *I, const struct bpf_insn *i, uint64_t *r)
{
	uint64_t at = r[i->dst_reg] + (uint64_t)i->off, old = interp_load(BPF_SIZE(i->code), at),
		 s = r[i->src_reg];

	if (BPF_SIZE(i->code) == BPF_W)
		s = (uint32_t)s;
	if (i->imm == BPF_CMPXCHG) {
		uint64_t want = BPF_SIZE(i->code) == BPF_W ? (uint32_t)r[0] : r[0];

		if (old == want)
			interp_store(BPF_SIZE(i->code), at, s);
		r[0] = old;
		return;
	}
	switch (i->imm & ~BPF_FETCH) {
	case BPF_ADD: interp_store(BPF_SIZE(i->code), at, old + s); break;
	case BPF_OR: interp_store(BPF_SIZE(i->code), at, old | s); break;
	case BPF_AND: interp_store(BPF_SIZE(i->code), at, old & s); break;
	case BPF_XOR: interp_store(BPF_SIZE(i->code), at, old ^ s); break;
	case BPF_XCHG & ~BPF_FETCH: interp_store(BPF_SIZE(i->code), at, s); break;
	default: interp_cannot(I, "atomic", i->imm);
	}
	if (i->imm & BPF_FETCH)
		r[i->src_reg] = old;
}

/* Executes a 64-bit constant, a reference to a map or function, or a packet load. Returns the
 * number of slots. */
static inline uint32_t interp_ld(struct interp *I, uint32_t pc, uint64_t *r)
{
	const struct bpf_insn *i = &I->insns[pc];
	struct interp_map *m;
	uint32_t at;

	if (i->code != (BPF_LD | BPF_IMM | BPF_DW)) {
		at = (uint32_t)i->imm +
		     (BPF_MODE(i->code) == BPF_IND ? (uint32_t)r[i->src_reg] : 0);
		I->left = at >= I->packet_len || BPF_SIZE(i->code) != BPF_B;
		if (BPF_SIZE(i->code) != BPF_B)
			interp_cannot(I, "packet load", i->code);
		r[0] = I->left ? 0 : I->packet[at];
		return 1;
	}
	switch (i->src_reg) {
	case 0: r[i->dst_reg] = (uint32_t)i->imm | (uint64_t)(uint32_t)i[1].imm << 32; break;
	case BPF_PSEUDO_MAP_FD: r[i->dst_reg] = (uint64_t)i->imm; break;
	case BPF_PSEUDO_MAP_VALUE:
		m = interp_map(I, i->imm);
		r[i->dst_reg] = m && m->entries
					? (uint64_t)(uintptr_t)(interp_entry(m, 0) +
								interp_value_at(m) + i[1].imm)
					: 0;
		break;
	case BPF_PSEUDO_FUNC: r[i->dst_reg] = (uint64_t)((int64_t)pc + 1 + i->imm); break;
	default: interp_cannot(I, "constant of kind", i->src_reg);
	}
	return 2;
}

static inline bool interp_ends_at(struct interp *I, uint32_t pc, bool after)
{
	I->left = I->left || (I->ends_at && I->ends_at(I->user, pc, after));
	return I->left;
}

/* Executes a jump or call, but not exit. Returns the next slot. */
static inline uint32_t interp_jmp(struct interp *I, uint32_t pc, uint64_t *r, uint64_t s,
				  unsigned int depth)
{
	const struct bpf_insn *i = &I->insns[pc];

	if (i->code == (BPF_JMP | BPF_CALL)) {
		if (i->src_reg == BPF_PSEUDO_CALL)
			r[0] = interp_run(I, (uint32_t)((int64_t)pc + 1 + i->imm), &r[1],
					  depth + 1);
		else if (i->src_reg == 0)
			r[0] = interp_helper(I, i->imm, r, depth);
		else
			interp_cannot(I, "kfunc", i->imm);
		interp_ends_at(I, pc, true);
		return pc + 1;
	}
	if (BPF_OP(i->code) == BPF_JA)
		return (uint32_t)((int64_t)pc + 1 +
				  (BPF_CLASS(i->code) == BPF_JMP32 ? i->imm : i->off));
	return interp_jumps(I, i, r[i->dst_reg], s) ? (uint32_t)((int64_t)pc + 1 + i->off) : pc + 1;
}

/* Runs the function at `pc` with args[5] until its exit. Returns r0. */
static inline uint64_t interp_run(struct interp *I, uint32_t pc, const uint64_t *args,
				  unsigned int depth)
{
	_Alignas(16) char stack[INTERP_STACK];
	uint64_t r[11] = {0};

	memcpy(&r[1], args, 5 * sizeof(*args));
	r[10] = (uint64_t)(uintptr_t)(stack + sizeof(stack));
	if (depth >= INTERP_DEPTH)
		interp_cannot(I, "depth", (int)depth);
	while (!I->why[0] && !I->left) {
		const struct bpf_insn *i = &I->insns[pc];
		uint64_t s = BPF_SRC(i->code) == BPF_X ? r[i->src_reg] : (uint64_t)(int64_t)i->imm;

		if (pc >= I->n || ++I->steps > INTERP_STEPS) {
			interp_cannot(I, "slot", (int)pc);
			break;
		}
		if (interp_ends_at(I, pc, false))
			break;
		if (I->hits)
			I->hits[pc]++;
		if (i->code == (BPF_JMP | BPF_EXIT))
			return r[0];
		switch (BPF_CLASS(i->code)) {
		case BPF_ALU:
		case BPF_ALU64:
			r[i->dst_reg] = interp_alu(I, i, r[i->dst_reg], s);
			pc++;
			break;
		case BPF_LD: pc += interp_ld(I, pc, r); break;
		case BPF_LDX:
			if (BPF_MODE(i->code) != BPF_MEM)
				interp_cannot(I, "load", i->code);
			else
				r[i->dst_reg] = interp_load(BPF_SIZE(i->code),
							    r[i->src_reg] + (uint64_t)i->off);
			pc++;
			break;
		case BPF_ST:
			interp_store(BPF_SIZE(i->code), r[i->dst_reg] + (uint64_t)i->off,
				     (uint64_t)(int64_t)i->imm);
			pc++;
			break;
		case BPF_STX:
			if (BPF_MODE(i->code) == BPF_ATOMIC)
				interp_atomic(I, i, r);
			else
				interp_store(BPF_SIZE(i->code), r[i->dst_reg] + (uint64_t)i->off,
					     r[i->src_reg]);
			pc++;
			break;
		default: pc = interp_jmp(I, pc, r, s, depth);
		}
	}
	return 0;
}

static inline void interp_done(struct interp *I)
{
	for (uint32_t i = 0; i < I->n_maps; i++)
		free(I->maps[i].entries);
	I->n_maps = 0;
}
