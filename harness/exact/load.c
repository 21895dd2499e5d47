/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/load.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/prog_static.h"
#include "bpf/libbpf_log.h"
#include "bpf/insn.h"

#define LOG_BYTES                                                                                  \
	(1U << 20) /* older kernels keep the beginning of a log, and its end has the reason */
#define MAX_STACK 512

/* func_info or line_info records (each begins with its insn_off) at their new places; NULL with n
 * == 0. */
static void *move_records(const void *records, uint32_t n, size_t size, const uint32_t *moved)
{
	char *copy = n ? malloc(n * size) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, records, n * size);
	for (uint32_t i = 0; moved && i < n; i++) {
		uint32_t *insn_off = (uint32_t *)(void *)(copy + i * size);

		*insn_off = moved[*insn_off];
	}
	return copy;
}

_Static_assert(!offsetof(struct bpf_func_info, insn_off) &&
		       !offsetof(struct bpf_line_info, insn_off),
	       "move_records relies on it");

/* The verifier's reason comes with its statistics. Asked for no log, libbpf would get that of a
 * refused program whole by another load, which takes ten times as long. */
static int try_load(const struct bb_code *code, const struct bb_instrumented *now, char *log)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = code->expected_attach_type,
		    .prog_flags = code->flags, .kern_version = code->kern_version,
		    .attach_btf_id = code->attach_btf_id, .log_level = BB_LOG_STATS, .log_buf = log,
		    .log_size = LOG_BYTES);
	const uint32_t *moved = now ? now->moved : NULL;
	void *funcs = move_records(code->funcs, code->n_funcs, sizeof(*code->funcs), moved);
	void *lines = move_records(code->lines, code->n_lines, sizeof(*code->lines), moved);
	int rc = (code->n_funcs && !funcs) || (code->n_lines && !lines) ? -ENOMEM : 0, btf_fd = -1;

	if (!rc && code->attach_btf_obj_id) {
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
		rc = bpf_prog_load(code->type, code->name, code->license,
				   now ? now->insns : code->insns, now ? now->n : code->n, &opts);
		rc = rc < 0 ? -errno : rc;
	}
	if (btf_fd >= 0)
		close(btf_fd);
	free(lines);
	free(funcs);
	return rc;
}

static int say_refused(const struct bb_code *code, const struct bb_instrumented *now, int rc,
		       const char *log, struct bb_err *err)
{
	char numbers[64], words[300];

	if (rc == -EPERM || rc == -ENOMEM || rc == -EINTR || rc == -EAGAIN)
		return bb_fail(err, rc, "loading '%s' once more: %s", code->name, strerror(-rc));
	bb_refusal_of_verifier(log, words, sizeof(words));
	snprintf(numbers, sizeof(numbers), " (%u instead of %u instructions)", now ? now->n : 0,
		 code->n);
	return bb_fail(err, -ENOTSUP, "the verifier refuses '%s'%s%s%s: %s", code->name,
		       now ? " with " : " once more", now ? now->with : "", now ? numbers : "",
		       words[0] ? words : strerror(-rc));
}

int bb_load__program(const struct bb_code *code, const struct bb_instrumented *now, int *ret_fd,
		     struct bb_err *err)
{
	char *log = malloc(LOG_BYTES);
	int rc;

	if (!log)
		return bb_fail_nomem(err);
	rc = try_load(code, now, log);
	if (rc < 0)
		rc = say_refused(code, now, rc, log, err);
	else
		*ret_fd = rc;
	free(log);
	return rc < 0 ? rc : 0;
}

/* What one instruction shows of its function's stack, bytes below r10: an access, or an address
 * that is made. */
static int depth_shown(const struct bb_code *code, uint32_t at)
{
	const struct bpf_insn *i = &code->insns[at];
	uint8_t class = BPF_CLASS(i->code);

	if ((class == BPF_LDX && i->src_reg == BPF_REG_10) ||
	    ((class == BPF_ST || class == BPF_STX) && i->dst_reg == BPF_REG_10))
		return -i->off;
	if (i->code == (BPF_ALU64 | BPF_MOV | BPF_X) && i->src_reg == BPF_REG_10 &&
	    at + 1 < code->n && i[1].code == (BPF_ALU64 | BPF_ADD | BPF_K) &&
	    i[1].dst_reg == i->dst_reg && i[1].imm > -MAX_STACK - 1)
		return -i[1].imm;
	return 0;
}

int bb_load__stack_bytes(const struct bb_code *code, const struct bb_cfg *g, uint32_t *ret_bytes,
			 struct bb_err *err)
{
	uint32_t said[BB_MAX_FUNCTIONS], most = 0;
	char *log = malloc(LOG_BYTES);
	size_t n;
	int rc;

	if (!log)
		return bb_fail_nomem(err);
	memset(ret_bytes, 0, g->n_funcs * sizeof(*ret_bytes));
	rc = try_load(code, NULL, log);
	if (rc < 0) {
		rc = say_refused(code, NULL, rc, log, err);
	} else {
		close(rc);
		rc = 0;
		/* The verifier says it by function. Those that turned out to be dead are missing,
		 * and then it is not known which number is whose: each gets the largest. */
		n = bb_prog_static_stacks(log, said);
		for (size_t i = 0; i < n; i++)
			most = said[i] > most ? said[i] : most;
		for (uint32_t f = 0; n && f < g->n_funcs; f++)
			ret_bytes[f] = n == g->n_funcs ? said[f] : most;
		for (uint32_t at = 0; at < code->n; at++) {
			uint32_t *bytes = &ret_bytes[g->blocks[g->block_of[at]].func];
			int depth = bb_insn_is_second_half(code->insns, at) ? 0
									    : depth_shown(code, at);

			if (depth > 0 && (uint32_t)depth > *bytes)
				*bytes = (uint32_t)depth;
		}
	}
	free(log);
	return rc;
}
