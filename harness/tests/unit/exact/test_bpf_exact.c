/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instruction counts in the kernel, against counts made by hand (tests/bpf/exact_truth.bpf.c).
 *
 * no turn: it counts instructions and times nothing */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "base/io.h"
#include "base/parse.h"
#include "exact/clone.h"
#include "exact/cfg.h"
#include "exact/registers.h"
#include "base/insn.h"
#include "exact/rewrite.h"
#include "fun_xdp.h"
#include "plan/packet.h"
#include "unit/bpf_testing.h"

#define TRUTH "tests/bpf/exact_truth.bpf.o"

/* A program and its clone. */
struct counted {
	struct bb_target *target;
	struct bb_code code;
	struct bb_clone clone;
};

static struct counted count(const char *object, const char *program)
{
	struct counted c = {.target = open_target(object, program)};
	struct bb_err err = {0};

	load(c.target);
	if (bb_target__code(c.target, c.target->prog_fd, &c.code, &err) ||
	    bb_clone__load(&c.code, false, &c.clone, &err))
		fail_msg("%s: %s", program, err.msg);
	return c;
}

static void done(struct counted *c)
{
	bb_clone__done(&c->clone);
	bb_code__done(&c->code);
	bb_target__free(c->target);
}

static uint64_t instructions(const struct counted *c)
{
	uint64_t *counts = calloc(c->clone.cfg.n_blocks, sizeof(*counts)), n;

	assert_non_null(counts);
	bb_clone__read(&c->clone, counts);
	n = bb_counts__instructions(&c->clone.cfg, counts);
	free(counts);
	return n;
}

static uint32_t run_fd(int fd, struct bpf_test_run_opts *opts)
{
	int rc;

	do
		rc = bpf_prog_test_run_opts(fd, opts);
	while (rc == -EINTR);
	assert_int_equal(rc, 0);
	return opts->retval;
}

/* Returns the instructions of one run on a packet of `len` bytes whose first byte is `first`. Clone
 * and original must return the same. */
static uint64_t count_packet(struct counted *c, uint8_t first, size_t len)
{
	uint8_t data[1500] = {first};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = data, .data_size_in = (uint32_t)len,
		    .repeat = 1);
	uint32_t original = run_fd(c->target->prog_fd, &opts);

	bb_clone__reset(&c->clone);
	assert_int_equal(run_fd(c->clone.prog_fd, &opts), original);
	return instructions(c);
}

static void test_hand_counted(void **state)
{
	static const struct {
		const char *program;
		uint8_t first;
		size_t len;
		uint64_t instructions;
	} truths[] = {
		{"straight", 0, 64, 2},       {"loop100", 0, 64, 202},
		{"nested", 0, 64, 433},       {"packet", 0, 64, 9},
		{"packet", 1, 64, 12},        {"packet", 2, 64, 15},
		{"packet", 100, 64, 211},     {"packet", 255, 64, 521},
		{"static_calls", 0, 64, 60},  {"global_calls", 0, 64, 43},
		{"callback", 0, 64, 107},     {"callback_stops", 0, 64, 37},
		{"tail_call", 0, 64, 6}, /* the slot is empty */
		{"tail_miss", 0, 64, 6},      {"packet_load", 0, 64, 2},
		{"packet_load", 0, 1000, 4},  {"lock", 0, 64, 13 + 2 + 4},
		{"lock", 0, 150, 13 + 3 + 4}, {"all_registers", 0, 64, 26},
	};

	(void)state;
	need_root();
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		struct counted c = count(TRUTH, truths[i].program);
		uint64_t seen = count_packet(&c, truths[i].first, truths[i].len);

		if (seen != truths[i].instructions)
			fail_msg("%s on %zu bytes of %u: %llu instructions, %llu by hand",
				 truths[i].program, truths[i].len, truths[i].first,
				 (unsigned long long)seen,
				 (unsigned long long)truths[i].instructions);
		done(&c);
	}
}

/* Returns the fd of the first map in the program's instructions. */
static int first_map(const struct bb_code *code)
{
	for (uint32_t i = 0; i < code->n; i++)
		if (bb_insn_is_wide(&code->insns[i]) && code->insns[i].src_reg == BPF_PSEUDO_MAP_FD)
			return code->insns[i].imm;
	fail_msg("%s uses no map", code->name);
	return -1;
}

/* A tail call into a clone is counted there. A tail call that succeeds does not return. */
static void test_tail_calls(void **state)
{
	static const struct {
		const char *program;
		uint64_t own;
	} calls[] = {{"tail_call", 4}, {"tail_miss", 6}, {"tail_sub", 3 + 3}};
	struct counted target;

	(void)state;
	need_root();
	target = count(TRUTH, "tail_target");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct counted c = count(TRUTH, calls[i].program);
		uint32_t slot = 1;
		uint64_t before;

		assert_int_equal(bpf_map_update_elem(first_map(&c.code), &slot,
						     &target.clone.prog_fd, 0),
				 0);
		bb_clone__reset(&target.clone);
		count_packet(&c, 0, 64); /* the original calls the clone, too */
		before = instructions(&target);
		assert_int_equal(count_packet(&c, 0, 64), calls[i].own);
		assert_int_equal(instructions(&target) - before, i == 1 ? 0 : 2 * 4);
		done(&c);
	}
	done(&target);
}

/* 910 records of 72 bytes fit into 64 KiB; the other 90 runs find the ring full. */
static void test_ring(void **state)
{
	uint8_t data[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = data, .data_size_in = sizeof(data),
		    .repeat = 1);
	struct counted c;

	(void)state;
	need_root();
	c = count(TRUTH, "ring_record");
	for (int i = 0; i < 1000; i++)
		run_fd(c.clone.prog_fd, &opts);
	assert_int_equal(instructions(&c), 910 * 11 + 90 * 7);
	done(&c);
}

static void test_context_of_a_syscall(void **state)
{
	uint32_t n = 10;
	LIBBPF_OPTS(bpf_test_run_opts, call, .ctx_in = &n, .ctx_size_in = sizeof(n));
	struct counted c;

	(void)state;
	need_prog_type(BPF_PROG_TYPE_SYSCALL);
	c = count(TRUTH, "syscall_loop");
	run_fd(c.clone.prog_fd, &call);
	assert_int_equal(instructions(&c), 2 + 2 * 10 + 1);
	done(&c);
}

static void test_context_of_a_tracepoint(void **state)
{
	uint64_t args[3] = {41};
	LIBBPF_OPTS(bpf_test_run_opts, tracepoint, .ctx_in = args, .ctx_size_in = sizeof(args));
	struct counted c;

	(void)state;
	need_root();
	c = count(TRUTH, "raw_args");
	assert_int_equal(run_fd(c.clone.prog_fd, &tracepoint), 42);
	assert_int_equal(instructions(&c), 3);
	done(&c);
}

/* A million runs in one call: nothing is lost or counted twice. */
static void test_many_runs(void **state)
{
	uint8_t data[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = data, .data_size_in = sizeof(data),
		    .repeat = 1000000);
	struct counted c;

	(void)state;
	need_root();
	c = count(TRUTH, "static_calls");
	run_fd(c.clone.prog_fd, &opts);
	assert_int_equal(instructions(&c), 60000000);
	done(&c);
}

/* A program that cannot be counted is refused with the reason. */
static void test_refusals(void **state)
{
	struct bb_target *t;
	struct bb_code code;
	struct bb_clone clone;
	struct bb_err err = {0};

	(void)state;
	need_root();
	t = open_target(TRUTH, "no_room");
	load(t);
	assert_int_equal(bb_target__code(t, t->prog_fd, &code, &err), 0);
	assert_int_equal(bb_clone__load(&code, false, &clone, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "uses 512 bytes of stack"));
	bb_code__done(&code);
	bb_target__free(t);
}

/* --- fun_xdp --- */

/* Returns the block that a jump leads back to; v3 has one loop. */
static uint32_t loop_head(const struct counted *c)
{
	uint32_t head = UINT32_MAX;

	for (uint32_t b = 0; b < c->clone.cfg.n_blocks; b++) {
		const struct bb_basic_block *of = &c->clone.cfg.blocks[b];

		for (uint32_t k = 0; k < of->n_next; k++) {
			if (of->next[k] > b)
				continue;
			assert_true(head == UINT32_MAX || head == of->next[k]);
			head = of->next[k];
		}
	}
	assert_int_not_equal(head, UINT32_MAX);
	return head;
}

/* Counts a run on the 64 bytes that scenarios/fun_xdp.yml sweeps, and empties the queue. */
static void count_address(struct counted *c, uint8_t low, uint64_t *ret_counts)
{
	uint8_t frame[64];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = 1);
	struct bb_packet packet;

	bb_packet__init(&packet);
	packet.ip = BB_PACKET_IPV4;
	packet.l4 = BB_PACKET_TCP;
	memcpy(packet.ip_src, (uint8_t[]){low, 10, 2, 3}, 4);
	bb_packet__write(&packet, frame, sizeof(frame));
	bb_clone__reset(&c->clone);
	run_fd(c->clone.prog_fd, &opts);
	bb_clone__read(&c->clone, ret_counts);
	bb_target__drain(c->target, false);
}

/*
 * Rounds of v3's loop for all 256 addresses, against the same function in user space and the
 * published numbers. A compiler may test before the first round or after every one. So the loop's
 * head is executed once a round, or once more, but the same for all addresses. v4 executes no block
 * twice.
 */
static void test_fibonacci_rounds(void **state)
{
	static const struct {
		uint8_t first, last;
		uint32_t rounds;
	} published[] = {{233, 233, 12},  {234, 241, 22},  {242, 245, 55},
			 {246, 247, 105}, {248, 253, 112}, {254, 255, 381}};
	uint64_t v3_counts[256], v4_counts[256], more = 0;
	struct counted v3, v4;
	uint32_t head;

	(void)state;
	need_root();
	v3 = count("bpf/fun_xdp.bpf.o", "v3");
	v4 = count("bpf/fun_xdp.bpf.o", "v4");
	assert_true(v3.clone.cfg.n_blocks <= 256 && v4.clone.cfg.n_blocks <= 256);
	head = loop_head(&v3);
	for (uint32_t low = 0; low < 256; low++) {
		uint32_t rounds = 0;

		bb_is_fibonacci_by_loop((uint8_t)low, &rounds);
		count_address(&v3, (uint8_t)low, v3_counts);
		count_address(&v4, (uint8_t)low, v4_counts);
		if (low == 0)
			more = v3_counts[head]; /* no round for 0: b = 1 is enough */
		assert_true(more <= 1);
		assert_int_equal(v3_counts[head], rounds + more);
		for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
			if (low >= published[i].first && low <= published[i].last)
				assert_int_equal(rounds, published[i].rounds);
		for (uint32_t b = 0; b < v4.clone.cfg.n_blocks; b++)
			assert_true(v4_counts[b] <= 1);
	}
	done(&v4);
	done(&v3);
}

/* --- code that the test makes --- */

static const struct bpf_insn returns[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 2},
	{.code = BPF_JMP | BPF_EXIT},
};

static struct bb_code code_of(struct bpf_insn *insns, uint32_t n)
{
	return (struct bb_code){.name = "made",
				.license = "GPL",
				.type = BPF_PROG_TYPE_XDP,
				.insns = insns,
				.n = n,
				.btf_fd = -1};
}

/*
 * A jump over 8000 blocks of one instruction each. With their counters, they are too far for a jump
 * of 16 bits. A second jump leads back from the far end.
 */
static void test_long_jumps(void **state)
{
	enum { BLOCKS = 8000, N = BLOCKS + 6 };
	struct bpf_insn *insns = calloc(N, sizeof(*insns));
	struct bb_code code = code_of(insns, N);
	struct counted c = {0};
	struct bb_err err = {0};
	uint8_t data[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = data, .data_size_in = sizeof(data),
		    .repeat = 1);
	uint32_t n = 0;

	(void)state;
	need_root();
	assert_non_null(insns);
	insns[n++] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 0};
	/* Instruction 1, where the jump back leads. */
	insns[n++] = (struct bpf_insn){.code = BPF_JMP | BPF_JSET | BPF_K,
				       .dst_reg = 3,
				       .off = BLOCKS,
				       .imm = 1};
	/* No `ja +0`, because the kernel would remove each of them singly. */
	for (int i = 0; i < BLOCKS; i++)
		insns[n++] = (struct bpf_insn){.code = BPF_JMP | BPF_JEQ | BPF_K,
					       .dst_reg = 3,
					       .imm = 9};
	insns[n++] = (struct bpf_insn){.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 3, .imm = 1};
	insns[n++] = (struct bpf_insn){.code = BPF_JMP | BPF_JLT | BPF_K,
				       .dst_reg = 3,
				       .off = -(BLOCKS + 3),
				       .imm = 3};
	memcpy(&insns[n], returns, sizeof(returns));
	if (bb_clone__load(&code, false, &c.clone, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(c.clone.n_long, 2);
	assert_int_equal(run_fd(c.clone.prog_fd, &opts), 2);
	/* Three rounds; the second takes the jump. */
	assert_int_equal(instructions(&c), 1 + 3 * (1 + 2) + 2 * BLOCKS + 2);
	bb_clone__done(&c.clone);
	free(insns);
}

/* So many blocks that no clone is tried. Each block is live code, because the kernel removes dead
 * code piece by piece. */
static void test_too_many(void **state)
{
	enum { BLOCKS = 13200, N = BLOCKS + 3 };
	struct bpf_insn *insns = calloc(N, sizeof(*insns));
	struct bb_code code = code_of(insns, N);
	struct bb_clone clone;
	struct bb_err err = {0};
	int fd;

	(void)state;
	need_root();
	assert_non_null(insns);
	insns[0] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 0};
	for (uint32_t i = 1; i <= BLOCKS; i++)
		insns[i] = (struct bpf_insn){.code = BPF_JMP | BPF_JEQ | BPF_K,
					     .dst_reg = 3,
					     .imm = 1};
	memcpy(&insns[N - 2], returns, sizeof(returns));
	if (bb_load__program(&code, NULL, &fd, &err))
		fail_msg("%s", err.msg);
	close(fd);
	assert_int_equal(bb_clone__load(&code, false, &clone, &err), -ENOTSUP);
	if (!strstr(err.msg, " instructions with counters instead of 13203; "))
		fail_msg("%s", err.msg);
	free(insns);
}

/* A loop just short enough for the verifier. With a counter in it, the verifier would exceed its
 * million instructions. */
static void test_too_long(void **state)
{
	struct bpf_insn turns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 0, .imm = 1},
		{.code = BPF_JMP | BPF_JLT | BPF_K, .dst_reg = 0, .off = -2, .imm = 200000},
		returns[0],
		returns[1],
	};
	struct bb_code code = code_of(turns, sizeof(turns) / sizeof(turns[0]));
	struct bb_clone clone;
	struct bb_err err = {0};
	int fd;

	(void)state;
	need_root();
	if (bb_load__program(&code, NULL, &fd, &err))
		fail_msg("%s", err.msg);
	close(fd);
	assert_int_equal(bb_clone__load(&code, false, &clone, &err), -ENOTSUP);
	if (!strstr(err.msg, "refuses 'made' with counters (17 instead of 5 instructions): BPF "
			     "program is too large"))
		fail_msg("%s", err.msg);
}

/* Code that no verifier would accept is refused before the kernel is asked. */
static void test_broken_code(void **state)
{
	static const struct {
		const char *says;
		uint32_t n;
		struct bpf_insn insns[3];
	} broken[] = {
		{"has no instructions", 0, {{0}}},
		{"does not end", 1, {{.code = BPF_ALU64 | BPF_MOV | BPF_K}}},
		{"slot -3",
		 2,
		 {{.code = BPF_JMP | BPF_JA, .off = -4}, {.code = BPF_JMP | BPF_EXIT}}},
		{"slot 9",
		 2,
		 {{.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 8},
		  {.code = BPF_JMP | BPF_EXIT}}},
		{"slot 1",
		 3,
		 {{.code = BB_LD_IMM64}, {.code = 0}, {.code = BPF_JMP | BPF_JA, .off = -2}}},
		{"the middle of an instruction", 1, {{.code = BB_LD_IMM64}}},
		{"is an indirect jump",
		 2,
		 {{.code = BPF_JMP | BPF_JA | BPF_X}, {.code = BPF_JMP | BPF_EXIT}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct bpf_insn insns[3];
		struct bb_code code = code_of(insns, broken[i].n);
		struct bb_err err = {0};
		struct bb_cfg g;

		memcpy(insns, broken[i].insns, sizeof(insns));
		assert_int_equal(bb_cfg__make(&code, &g, &err), i == 6 ? -ENOTSUP : -EINVAL);
		if (!strstr(err.msg, broken[i].says))
			fail_msg("'%s' does not say '%s'", err.msg, broken[i].says);
	}
}

/* --- helpers --- */

/* Returns the number of arguments in a declaration "static RETURN (*bpf_NAME)(ARGS) = (void *) N;"
 * of libbpf's header, or -1 if the line is not one. */
static int declared_args(const char *line, unsigned int *ret_id)
{
	const char *name = strstr(line, "bpf_"), *args, *end, *number;
	uint64_t id;
	int n = 1;

	if (strncmp(line, "static ", strlen("static ")) || !name || !(args = strstr(name, ")(")) ||
	    !(number = strstr(args, ") = (void *) ")))
		return -1;
	args += 2;
	end = number;
	number += strlen(") = (void *) ");
	assert_int_equal(bb_parse_digits(&number, &id), 0);
	*ret_id = (unsigned int)id;
	if (!strncmp(args, "void)", strlen("void)")))
		return 0;
	for (const char *p = args; p < end; p++) {
		n += *p == ',';
		if (!strncmp(p, "...", 3))
			return 5;
	}
	return n;
}

static void test_helper_args(void **state)
{
	char *text, *line, *rest;
	unsigned int checked = 0, id = 0;
	struct bb_err err = {0};
	size_t len;

	(void)state;
	if (bb_read_file("/usr/include/bpf/bpf_helper_defs.h", 1U << 20, &text, &len, &err))
		fail_msg("%s", err.msg);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		int n = declared_args(line, &id);

		if (n < 0)
			continue;
		if ((unsigned int)n != bb_helper__args((int32_t)id))
			fail_msg("helper %u has %d arguments, not %u", id, n,
				 bb_helper__args((int32_t)id));
		checked++;
	}
	assert_true(checked > 180);
	assert_int_equal(bb_helper__args(100000), 5);
	assert_int_equal(bb_helper__args(-1), 5);
	assert_string_equal(bb_helper__name(BPF_FUNC_map_lookup_elem), "map_lookup_elem");
	assert_null(bb_helper__name(0));
	assert_null(bb_helper__name(100000));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hand_counted),
		cmocka_unit_test(test_tail_calls),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_context_of_a_syscall),
		cmocka_unit_test(test_context_of_a_tracepoint),
		cmocka_unit_test(test_many_runs),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_fibonacci_rounds),
		cmocka_unit_test(test_long_jumps),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_broken_code),
		cmocka_unit_test(test_helper_args),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
