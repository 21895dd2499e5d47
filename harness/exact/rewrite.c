/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/rewrite.h"

#include <bpf/bpf.h>

#include "base/io.h"
#include "bpf/libbpf_log.h"
#include "bpf/prog_stats.h"

/* room for a whole verifier log, because older kernels drop the end of a longer one, with the
 * reason */
#define LOG_BYTES (1U << 20)

void bb_rewrite__open(struct bb_rewrite *r, size_t most)
{
	size_t n = r->code->n;

	r->insns = bb_calloc(most, sizeof(*r->insns));
	r->moved = bb_calloc(3 * n + 1, sizeof(*r->moved));
	r->is_long = bb_calloc(n, sizeof(*r->is_long));
	r->landing = r->moved + n + 1;
	r->at = r->landing + n;
}

void bb_rewrite__done(struct bb_rewrite *r)
{
	free(r->insns);
	free(r->moved);
	free(r->is_long);
	*r = (struct bb_rewrite){0};
}

void bb_emit(struct bb_rewrite *r, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	r->insns[r->n++] = (struct bpf_insn){.code = code,
					     .dst_reg = dst & 0xfU,
					     .src_reg = src & 0xfU,
					     .off = off,
					     .imm = imm};
}

void bb_emit_address(struct bb_rewrite *r, uint8_t reg, int map_fd, uint32_t offset)
{
	bb_emit(r, BB_LD_IMM64, reg, BPF_PSEUDO_MAP_VALUE, 0, map_fd);
	bb_emit(r, 0, 0, 0, 0, (int32_t)offset);
}

void bb_emit_saves(struct bb_rewrite *r, const uint8_t reg[2], const uint8_t save[2], int off,
		   bool is_back)
{
	for (int k = 0; k < 2; k++) {
		int16_t slot_off = (int16_t)(off - 8 * save[k]);

		if (save[k] && is_back)
			bb_emit(r, BPF_LDX | BPF_MEM | BPF_DW, reg[k], BPF_REG_10, slot_off, 0);
		else if (save[k])
			bb_emit(r, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, reg[k], slot_off, 0);
	}
}

void bb_emit_old(struct bb_rewrite *r, uint32_t at)
{
	struct bpf_insn i = r->code->insns[at];

	r->at[at] = r->n;
	if (r->is_long[at]) {
		/* becomes: if (...) goto 1f; goto 2f; 1: long goto; 2: */
		if (!bb_insn_is_goto(&i)) {
			i.off = 1;
			r->insns[r->n++] = i;
			bb_emit(r, BPF_JMP | BPF_JA, 0, 0, 1, 0);
		}
		bb_emit(r, BPF_JMP32 | BPF_JA, 0, 0, 0, 0);
		return;
	}
	r->insns[r->n++] = i;
	if (bb_insn_is_wide(&i))
		r->insns[r->n++] = r->code->insns[at + 1];
}

bool bb_rewrite__jump(struct bb_rewrite *r, uint32_t from, uint32_t to)
{
	int64_t distance = (int64_t)to - from - 1;

	if (bb_insn_is_long_goto(&r->insns[from])) {
		r->insns[from].imm = (int32_t)distance;
		return true;
	}
	r->insns[from].off = (int16_t)distance;
	return distance >= INT16_MIN && distance <= INT16_MAX;
}

bool bb_rewrite__mend(struct bb_rewrite *r)
{
	const struct bb_code *code = r->code;
	uint32_t n_long = r->n_long;

	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at])) {
		const struct bpf_insn *old = &code->insns[at];
		uint32_t here = r->at[at];

		if (bb_insn_is_function_call(old) || bb_insn_is_function_address(old))
			r->insns[here].imm =
				(int32_t)(r->moved[bb_insn_function_target(old, at)] - here - 1);
		if (!bb_insn_is_jump(old))
			continue;
		if (r->is_long[at] && !bb_insn_is_goto(old))
			here += BB_LONG_SLOTS - 1;
		if (!bb_rewrite__jump(r, here, r->landing[bb_insn_jump_target(old, at)])) {
			r->is_long[at] = true;
			r->n_long++;
		}
	}
	return r->n_long == n_long;
}

_Static_assert(!offsetof(struct bpf_func_info, insn_off) &&
		       !offsetof(struct bpf_line_info, insn_off),
	       "bb_rewrite__records() relies on it");

void *bb_rewrite__records(const struct bb_rewrite *r, const void *records, uint32_t n, size_t size)
{
	char *copy = bb_calloc(n, size);

	if (n)
		memcpy(copy, records, n * size);
	for (uint32_t i = 0; r && i < n; i++) {
		uint32_t *insn_off = (uint32_t *)(void *)(copy + i * size);

		*insn_off = *insn_off < r->code->n ? r->moved[*insn_off] : r->n;
	}
	return copy;
}

/* Asks for a short log, which has the reason of a refusal and the statistics. Without a log, libbpf
 * would load a refused program once more with the whole log, which takes ten times as long. */
static int load_with_log(const struct bb_code *code, const struct bb_rewrite *now, char *log,
			 int *ret_fd, struct bb_err *err)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = code->expected_attach_type,
		    .prog_flags = code->flags, .kern_version = code->kern_version,
		    .attach_btf_id = code->attach_btf_id, .attach_prog_fd = code->attach_prog_fd,
		    .fd_array = code->fd_array, .log_level = BB_LOG_STATS, .log_buf = log,
		    .log_size = LOG_BYTES);
	void *funcs = bb_rewrite__records(now, code->funcs, code->n_funcs, sizeof(*code->funcs));
	void *lines = bb_rewrite__records(now, code->lines, code->n_lines, sizeof(*code->lines));
	char numbers[64], words[300];
	int rc = 0, btf_fd = -1;

	if (code->attach_btf_obj_id) {
		btf_fd = bpf_btf_get_fd_by_id(code->attach_btf_obj_id);
		rc = btf_fd < 0 ? -errno : 0;
		opts.attach_btf_obj_fd = (uint32_t)btf_fd;
	}
	if (code->btf_fd >= 0) {
		opts.prog_btf_fd = (uint32_t)code->btf_fd;
		opts.func_info = funcs;
		opts.func_info_cnt = code->n_funcs;
		opts.func_info_rec_size = sizeof(*code->funcs);
		opts.line_info = lines;
		opts.line_info_cnt = code->n_lines;
		opts.line_info_rec_size = sizeof(*code->lines);
	}
	log[0] = '\0';
	if (!rc) {
		*ret_fd = bpf_prog_load(code->type, code->name, code->license,
					now ? now->insns : code->insns, now ? now->n : code->n,
					&opts);
		rc = *ret_fd < 0 ? -errno : 0;
	}
	bb_close(&btf_fd);
	free(lines);
	free(funcs);
	if (!rc)
		return 0;
	/* ENOMEM may also mean that a jump became too far when the kernel replaced calls of helpers
	 * by their code (kernel/bpf/core.c, bpf_patch_insn_single). The log then says so. */
	if (rc == -EPERM || (bb_is_shortage(rc) && !strstr(log, "cannot be patched")) ||
	    rc == -EINTR || rc == -EAGAIN)
		return bb_fail(err, rc, "loading '%s': %m", code->name);
	bb_refusal_of_verifier(log, words, sizeof(words));
	snprintf(numbers, sizeof(numbers), " (%u instead of %u instructions)", now ? now->n : 0,
		 code->n);
	return bb_fail(err, -ENOTSUP, "the verifier refuses '%s'%s%s%s: %s", code->name,
		       now ? " with " : "", now ? now->with : "", now ? numbers : "",
		       words[0] ? words : strerror(-rc));
}

int bb_load__program(const struct bb_code *code, const struct bb_rewrite *now, int *ret_fd,
		     struct bb_err *err)
{
	char *log = bb_calloc(1, LOG_BYTES);
	int fd = -1, rc = load_with_log(code, now, log, &fd, err);

	if (!rc)
		*ret_fd = fd;
	free(log);
	return rc;
}

int bb_load__empty(const struct bb_code *code, int32_t retval, int *ret_fd, struct bb_err *err)
{
	struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = retval},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct bb_code empty = *code;

	empty.insns = insns;
	empty.n = 2;
	empty.n_lines = empty.n_funcs = 0;
	empty.btf_fd = -1;
	return bb_load__program(&empty, NULL, ret_fd, err);
}

int bb_load__stack_bytes(const struct bb_code *code, const struct bb_cfg *g, uint32_t *ret_bytes,
			 struct bb_err *err)
{
	uint32_t said[BB_MAX_FUNCTIONS], most = 0;
	char *log = bb_calloc(1, LOG_BYTES);
	int fd = -1, rc = load_with_log(code, NULL, log, &fd, err);
	size_t n = rc ? 0 : bb_prog_static_stacks(log, said);

	free(log);
	if (rc)
		return rc;
	close(fd);
	/* The verifier lists no stack size for dead functions. The main function's size is always
	 * the first. If sizes are missing, we do not know which, and give each other function the
	 * largest one. */
	for (size_t i = 0; i < n; i++)
		most = said[i] > most ? said[i] : most;
	for (uint32_t f = 0; f < g->n_funcs; f++)
		ret_bytes[f] = n == g->n_funcs || (n && !f) ? said[f] : most;
	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at])) {
		uint32_t *bytes = &ret_bytes[bb_cfg__func_at(g, at)];
		const struct bpf_insn *i = &code->insns[at];
		uint8_t class = BPF_CLASS(i->code);
		/* how far below r10 the instruction accesses the stack or takes an address on it */
		int depth = 0;

		if ((class == BPF_LDX && i->src_reg == BPF_REG_10) ||
		    ((class == BPF_ST || class == BPF_STX) && i->dst_reg == BPF_REG_10))
			depth = -i->off;
		else if (i->code == (BPF_ALU64 | BPF_MOV | BPF_X) && i->src_reg == BPF_REG_10 &&
			 at + 1 < code->n && i[1].code == (BPF_ALU64 | BPF_ADD | BPF_K) &&
			 i[1].dst_reg == i->dst_reg && i[1].imm >= -(int)BB_STACK_BYTES)
			depth = -i[1].imm;
		if (depth > 0 && (uint32_t)depth > *bytes)
			*bytes = (uint32_t)depth;
	}
	return 0;
}

int bb_shared_memory__open(const char *name, size_t bytes, struct bb_shared_memory *ret_memory,
			   struct bb_err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct bb_shared_memory m = {.bytes = (bytes + page - 1) / page * page};
	int rc;

	m.fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), (uint32_t)bytes, 1,
			      &opts);
	if (m.fd < 0) {
		rc = -errno;
		return bb_fail(err, rc == -EINVAL ? -ENOTSUP : rc,
			       "cannot make a map of %zu bytes in mapped memory (Linux 5.5): %s",
			       bytes, strerror(-rc));
	}
	void *shared = mmap(NULL, m.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
	if (shared == MAP_FAILED) {
		rc = -errno;
		close(m.fd);
		return bb_fail(err, rc, "mapping a map of %zu bytes into memory: %m", bytes);
	}
	m.v = shared;
	*ret_memory = m;
	return 0;
}

void bb_shared_memory__close(struct bb_shared_memory *m)
{
	if (!m->v)
		return;
	munmap((void *)(uintptr_t)m->v, m->bytes);
	close(m->fd);
	*m = (struct bb_shared_memory){.fd = -1};
}
