/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The copy of a load that a command is making: here the test makes the call itself, and the kernel
 * does not see it.
 *
 * no turn: it loads types and a program, and times nothing */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <seccomp.h>

#include "base/bpf_info.h"
#include "base/io.h"
#include "capture/replay.h"
#include "capture/take.h"
#include "unit/bpf_testing.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define CLOSED 12345 /* no descriptor of this process */
#define KNOWN (offsetof(union bpf_attr, core_relo_rec_size) + sizeof(uint32_t))

static struct bpf_insn returns_0[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
				      {.code = BPF_JMP | BPF_EXIT}};

/* Copies a load whose arguments are `attr` and zeros, size bytes in all. If `set_at` is not 0, the
 * byte at this offset is 1. */
static const struct bb_captured_prog *take(struct bb_take *t, const union bpf_attr *attr,
					   size_t size, size_t set_at)
{
	static char bytes[1024];
	const struct seccomp_notif call = {
		.pid = (uint32_t)syscall(SYS_gettid),
		.data = {.nr = SYS_bpf,
			 .arch = seccomp_arch_native(),
			 .args = {BPF_PROG_LOAD, (uintptr_t)bytes, size}},
	};
	struct bb_take_mark mark;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, attr, sizeof(*attr));
	if (set_at)
		bytes[set_at] = 1;
	*t = (struct bb_take){.capture = bb_calloc(1, sizeof(*t->capture))};
	bb_take__call(t, &call, &mark);
	if (t->unreadable) {
		print_message("# skip: descriptors or memory cannot be copied here\n");
		bb_take__free(t);
		skip();
	}
	assert_int_equal(t->loading, 0);
	return &t->capture->progs[t->loading];
}

static union bpf_attr load_of(struct bpf_insn *insns, uint32_t n)
{
	return (union bpf_attr){.prog_type = BPF_PROG_TYPE_XDP,
				.insns = (uintptr_t)insns,
				.insn_cnt = n,
				.license = (uintptr_t) "GPL"};
}

static void test_lacks_references(void **)
{
	static const struct {
		uint8_t src_reg : 4;
		int32_t first, second;
		const char *missing;
	} cases[] = {
		{BPF_PSEUDO_BTF_ID, 1, CLOSED, "a module's types"},
		{BPF_PSEUDO_MAP_FD, CLOSED, 0, "a map that its instructions name"},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct bpf_insn insns[] = {{.code = BPF_LD | BPF_IMM | BPF_DW,
					    .dst_reg = 1,
					    .src_reg = cases[i].src_reg,
					    .imm = cases[i].first},
					   {.imm = cases[i].second},
					   returns_0[0],
					   returns_0[1]};
		union bpf_attr attr = load_of(insns, N(insns));
		struct bb_take t;
		const struct bb_captured_prog *p = take(&t, &attr, sizeof(attr), 0);

		assert_non_null(p->missing);
		assert_string_equal(p->missing, cases[i].missing);
		bb_take__free(&t);
	}
}

static void test_lacks_licence(void **)
{
	union bpf_attr attr = load_of(returns_0, N(returns_0));
	const struct bb_captured_prog *p;
	struct bb_take t;

	attr.license = 1;
	p = take(&t, &attr, sizeof(attr), 0);
	assert_non_null(p->missing);
	assert_string_equal(p->missing, "its licence");
	bb_take__free(&t);
}

static void test_attributes(void **)
{
	static const struct {
		size_t size, set_at;
		bool has_unknown, asks_for_log;
	} cases[] = {
		{KNOWN, 0, false, false},
		{512, 0, false, false},
		{513, 0, true, false}, /* more than bpfbench reads */
		{512, offsetof(union bpf_attr, log_level), false, true},
		{512, offsetof(union bpf_attr, log_buf), false, true},
		{KNOWN, offsetof(union bpf_attr, core_relo_rec_size), false, false},
		{512, KNOWN, true, false},
		{KNOWN, KNOWN, false, false}, /* the kernel does not read this byte */
	};

	for (size_t i = 0; i < N(cases); i++) {
		union bpf_attr attr = load_of(returns_0, N(returns_0));
		struct bb_take t;
		const struct bb_captured_prog *p;

		p = take(&t, &attr, cases[i].size, cases[i].set_at);
		if (p->taken.has_unknown != cases[i].has_unknown ||
		    p->taken.asks_for_log != cases[i].asks_for_log)
			fail_msg("case %zu: unknown %d, log %d", i, p->taken.has_unknown,
				 p->taken.asks_for_log);
		assert_null(p->missing);
		bb_take__free(&t);
	}
}

static int load_types(const char *name)
{
	struct btf *btf = btf__new_empty();
	const void *raw;
	uint32_t size;
	int fd;

	assert_true(btf__add_int(btf, name, 4, 0) > 0);
	raw = btf__raw_data(btf, &size);
	fd = bpf_btf_load(raw, size, NULL);
	btf__free(btf);
	assert_true(fd > 0);
	return fd;
}

/* A call of a module's function has the index of the module's types in fd_array. */
static void test_types_in_fd_array(void **)
{
	struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .off = 1, .imm = 1},
		{.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .off = 2, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = load_of(insns, N(insns));
	int32_t fds[3] = {0};
	const struct bb_captured_prog *p;
	struct bb_replay_load load;
	struct bb_replay r;
	struct bb_take t;

	need_root();
	fds[1] = load_types("one");
	fds[2] = load_types("two");
	attr.fd_array = (uintptr_t)fds;
	p = take(&t, &attr, sizeof(attr), 0);
	assert_null(p->missing);
	assert_int_equal(t.capture->n_maps, 0);
	assert_int_equal(t.capture->n_btfs, 2);
	assert_int_equal(p->n_fds, 3);
	r = bb_replay__open_taken(t.capture);
	assert_int_equal(bb_replay__begin_load(&r, 0, &load), 0);
	assert_int_equal(load.attr.fd_array, (uintptr_t)load.fd_array);
	assert_int_equal(load.fd_array[0], 0);
	for (int i = 1; i < 3; i++) {
		struct bpf_btf_info theirs, ours;
		char name[64];

		assert_int_equal(bb_btf_info(fds[i], &theirs, name, sizeof(name)), 0);
		assert_int_equal(bb_btf_info(load.fd_array[i], &ours, name, sizeof(name)), 0);
		assert_int_equal(theirs.id, ours.id);
		close(fds[i]);
	}
	bb_replay_load__done(&load);
	bb_replay__done(&r);
	/* the replay only borrowed the descriptors */
	assert_true(fcntl(t.capture->btfs[0].held.fd, F_GETFD) >= 0);
	bb_take__free(&t);
}

static uint32_t id_of(int prog_fd)
{
	struct bpf_prog_info info = {0};

	assert_int_equal(bb_info__read(prog_fd, &info), 0);
	return info.id;
}

/* A program that is attached to another one: the copy has a descriptor of that one. */
static void test_target(void **)
{
	union bpf_attr attr = load_of(returns_0, N(returns_0));
	const struct bb_captured_prog *p;
	struct bb_replay_load load;
	struct bb_replay r;
	struct bb_take t;
	int target;

	need_prog_type(BPF_PROG_TYPE_XDP);
	target = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	assert_true(target > 0);
	attr.attach_prog_fd = (uint32_t)target;
	p = take(&t, &attr, sizeof(attr), 0);
	assert_null(p->missing);
	r = bb_replay__open_taken(t.capture);
	assert_int_equal(bb_replay__begin_load(&r, 0, &load), 0);
	assert_int_not_equal(load.attr.attach_prog_fd, target);
	assert_int_equal(id_of((int)load.attr.attach_prog_fd), id_of(target));
	bb_replay_load__done(&load);
	bb_replay__done(&r);
	/* the target stays open until the capture ends */
	assert_int_equal(id_of(p->taken.target_fd), id_of(target));
	bb_take__free(&t);
	close(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lacks_references), cmocka_unit_test(test_lacks_licence),
		cmocka_unit_test(test_attributes),       cmocka_unit_test(test_types_in_fd_array),
		cmocka_unit_test(test_target),
	};

	return cmocka_run_group_tests_name("take", tests, NULL, NULL);
}
