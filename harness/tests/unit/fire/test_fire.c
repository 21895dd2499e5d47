/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of triggers, the hooks that they are for, and the attach points of sections. */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "bpf/attach.h"
#include "bpf/prog_type.h"
#include "drivers/companions.h"
#include "fire/attach_point.h"
#include "fire/discover.h"
#include "fire/live_objects.h"
#include "fire/trigger.h"
#include "fire/user_function.h"

static struct bb_attach_point at(const char *section, uint32_t type, uint32_t attach_type)
{
	struct bb_attach_point p;

	bb_attach_point__from_section(section, type, attach_type, &p);
	return p;
}

static const struct bb_trigger *named(const char *name)
{
	const struct bb_trigger *t;

	for (size_t i = 0; (t = bb_trigger_at(i)); i++)
		if (!strcmp(t->name, name))
			return t;
	fail_msg("no trigger '%s'", name);
	return NULL;
}

/* --- the catalogue --- */

static void test_every_trigger_has_a_name_of_its_own(void **state)
{
	const struct bb_trigger *a, *b;

	(void)state;
	for (size_t i = 0; (a = bb_trigger_at(i)); i++) {
		assert_true(a->name[0] && a->doc[0] && a->words);
		for (size_t k = 0; k < i; k++) {
			b = bb_trigger_at(k);
			if (!strcmp(a->name, b->name))
				fail_msg("two triggers '%s'", a->name);
		}
	}
}

static void test_words_are_words(void **state)
{
	const struct bb_trigger *t;

	(void)state;
	for (size_t i = 0; (t = bb_trigger_at(i)); i++) {
		if (strstr(t->words, "  ") || t->words[0] == ' ' ||
		    (t->words[0] && t->words[strlen(t->words) - 1] == ' '))
			fail_msg("'%s': '%s'", t->name, t->words);
	}
}

/* Every trigger but `counters`, which only reads the counters, has a function that fires. */
static void test_one_trigger_does_nothing(void **state)
{
	const struct bb_trigger *t;

	(void)state;
	for (size_t i = 0; (t = bb_trigger_at(i)); i++)
		if (!t->fire && strcmp(t->name, "counters"))
			fail_msg("'%s' does nothing", t->name);
}

/* --- the hook of a trigger --- */

static void test_nearness(void **state)
{
	struct bb_attach_point p = at("tp/syscalls/sys_enter_openat", BPF_PROG_TYPE_TRACEPOINT, 0);

	(void)state;
	assert_int_equal(bb_trigger__distance(named("open"), &p), 0);
	assert_int_equal(bb_trigger__distance(named("nanosleep"), &p), 2);
	p = at("kprobe/do_filp_open_flags", BPF_PROG_TYPE_KPROBE, 0);
	assert_int_equal(bb_trigger__distance(named("open"), &p), 1);
	p = at("uprobe//lib/libc.so.6:malloc", BPF_PROG_TYPE_KPROBE, 0);
	assert_int_equal(bb_trigger__distance(named("malloc"), &p), 0);
}

static void test_hooks_that_one_trigger_attaches(void **state)
{
	static const struct {
		const char *section, *trigger;
		uint32_t type, attach_type;
	} only[] = {
		{"iter/task", "iterator", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER},
		{"sk_msg", "sockmap-send", BPF_PROG_TYPE_SK_MSG, BPF_SK_MSG_VERDICT},
		{"sk_reuseport", "reuseport", BPF_PROG_TYPE_SK_REUSEPORT, BPF_SK_REUSEPORT_SELECT},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(only) / sizeof(only[0]); k++) {
		struct bb_attach_point p = at(only[k].section, only[k].type, only[k].attach_type);
		const struct bb_trigger *t;
		size_t n = 0;

		for (size_t i = 0; (t = bb_trigger_at(i)); i++)
			n += bb_trigger__is_for(t, &p);
		assert_int_equal(n, 1);
		assert_true(bb_trigger__is_for(named(only[k].trigger), &p));
	}
}

static void test_of_the_whole_machine_only_by_name(void **state)
{
	struct bb_attach_point p = at("tp/syscalls/sys_enter_sync", BPF_PROG_TYPE_TRACEPOINT, 0);

	(void)state;
	assert_true(bb_trigger__is_for(named("sync"), &p));
	p = at("tp/syscalls/sys_enter_syncfs", BPF_PROG_TYPE_TRACEPOINT, 0);
	assert_false(bb_trigger__is_for(named("sync"), &p));
	p.by = &(struct bb_fired_by){.trigger = "sync"};
	assert_true(bb_trigger__is_for(named("sync"), &p));
}

static void test_others_take_none_of_these(void **state)
{
	struct bb_attach_point p = at("raw_tp/sched_switch", BPF_PROG_TYPE_RAW_TRACEPOINT, 0);

	(void)state;
	assert_true(bb_trigger__is_for(named("nanosleep"), &p));
	assert_false(bb_trigger__is_for(named("iterator"), &p));
	assert_false(bb_trigger__is_for(named("own-call"), &p));
	assert_false(bb_trigger__is_for(named("own-run"), &p));
}

/* --- attach points --- */

static void test_sections(void **state)
{
	struct bb_attach_point p, own;

	(void)state;
	p = at("?tracepoint/sched/sched_switch", BPF_PROG_TYPE_TRACEPOINT, 0);
	assert_int_equal(p.kind, BB_AT_TRACEPOINT);
	assert_string_equal(p.target, "sched/sched_switch");
	p = at("uretprobe.s/libc.so.6:malloc", BPF_PROG_TYPE_KPROBE, 0);
	assert_int_equal(p.kind, BB_AT_UPROBE);
	assert_true(p.is_return);
	p = at("kprobe", BPF_PROG_TYPE_KPROBE, 0);
	assert_int_equal(p.kind, BB_AT_NOWHERE);
	assert_true(bb_attach_point__on_own_function(&p, &own));
	assert_int_equal(own.kind, BB_AT_OWN_FUNCTION);
	p = at("sockops/read", BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS);
	assert_int_equal(p.kind, BB_AT_CGROUP);
	p = at("tp_btf/sched_switch", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP);
	assert_false(bb_attach_point__by_own_run(&p, &own)); /* the kernel has no such test run */
	p = at("raw_tp/sched_switch", BPF_PROG_TYPE_RAW_TRACEPOINT, 0);
	assert_true(bb_attach_point__by_own_run(&p, &own));
	assert_int_equal(own.kind, BB_AT_OWN_RUN);
	assert_string_equal(own.target, "sched_switch");
}

/* If a section names no place, a program is for the function that it is named after. */
static void test_function_by_name(void **state)
{
	static const char *const functions[] = {"vfs_unlink", "security_inode_create",
						"security_inode_link", "blk_account_io_start"};
	static const struct {
		const char *program, *function;
	} cases[] = {
		{"vfs_unlink", "vfs_unlink"},
		{"vfs_unlink.2", "vfs_unlink"},
		{"kprobe__vfs_unlink", "vfs_unlink"},
		{"vfs_unlink_exit.2", "vfs_unlink"},
		{"kretprobe__vfs_unlink_ret", "vfs_unlink"},
		{"vfs_unlinks", ""},
		{"on_unlink", ""},
		{"blk_account_io_", "blk_account_io_start"}, /* as the kernel cuts names */
		{"blk_account_io", ""},                      /* not as the kernel cuts it */
		{"security_inode_", ""},                     /* two functions match */
	};
	struct bb_live_objects o = {.btf = btf__new_empty()};
	struct bb_attach_point p = at("kprobe", BPF_PROG_TYPE_KPROBE, 0);
	int proto = btf__add_func_proto(o.btf, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_true(btf__add_func(o.btf, functions[i], BTF_FUNC_STATIC, proto) > 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p.target[0] = '\0';
		bb_live_objects__stand_in(&o, cases[i].program, &p);
		assert_string_equal(p.target, cases[i].function);
	}
	btf__free(o.btf);
}

/* Programs for many functions. If the kernel has no link for many functions, the program is loaded
 * for one function and attached there. */
static void test_sections_of_many_functions(void **state)
{
	struct bb_attach_point p, own;

	(void)state;
	p = at("kprobe.multi/tcp_*", BPF_PROG_TYPE_KPROBE, BB_TRACE_KPROBE_MULTI);
	assert_int_equal(p.kind, BB_AT_KPROBE_MULTI);
	/* Its helpers would look for a link of many functions. */
	assert_false(bb_attach_point__on_own_function(&p, &own));
	p = at("kprobe.multi/tcp_close", BPF_PROG_TYPE_KPROBE, 0);
	assert_int_equal(p.kind, BB_AT_KPROBE);
	assert_true(bb_attach_point__on_own_function(&p, &own));
	p = at("kprobe.session/tcp_close", BPF_PROG_TYPE_KPROBE, BB_TRACE_KPROBE_SESSION);
	assert_int_equal(p.kind, BB_AT_KPROBE_MULTI);
	p = at("uretprobe.multi.s/libc.so.6:m*", BPF_PROG_TYPE_KPROBE, BB_TRACE_UPROBE_MULTI);
	assert_int_equal(p.kind, BB_AT_UPROBE_MULTI);
	assert_true(p.is_return);
	assert_string_equal(p.target, "libc.so.6:m*");
	p = at("uprobe.session/libc.so.6:malloc", BPF_PROG_TYPE_KPROBE, BB_TRACE_UPROBE_SESSION);
	assert_int_equal(p.kind, BB_AT_UPROBE_MULTI);
	p = at("lsm_cgroup/inode_mkdir", BPF_PROG_TYPE_LSM, 43);
	assert_int_equal(p.kind, BB_AT_CGROUP);
}

static void test_types_that_libbpf_may_not_know(void **state)
{
	uint32_t type, attach_type;

	(void)state;
	assert_int_equal(bb_section_type__find("uprobe.multi.s/a:b", &type, &attach_type, NULL), 0);
	assert_int_equal(type, BPF_PROG_TYPE_KPROBE);
	assert_int_equal(attach_type, BB_TRACE_UPROBE_MULTI);
	assert_true(bb_section_type__is_sleepable("uprobe.multi.s/a:b"));
	assert_false(bb_section_type__is_sleepable("uprobe.multi/a.s:b"));
	assert_int_equal(bb_section_type__find("?kprobe.session/x", &type, &attach_type, NULL), 0);
	assert_int_equal(attach_type, BB_TRACE_KPROBE_SESSION);
	assert_true(bb_section_type__find("kprobe.sessions/x", &type, &attach_type, NULL) < 0);
}

/* --- functions by patterns --- */

static void test_functions_of_a_file(void **state)
{
	struct bb_user_addresses *addresses = NULL;
	struct bb_user_target one, many;
	uint64_t offset;

	(void)state;
	assert_int_equal(bb_user_target__find("libc.so.6:calloc", false, &one, &addresses, NULL),
			 0);
	assert_int_equal(addresses->n, 1);
	offset = addresses->offsets[0];
	free(addresses);
	assert_int_equal(bb_user_target__find("libc.so.6:calloc+0x10", false, &one, &addresses,
					      NULL),
			 0);
	assert_int_equal(addresses->offsets[0], offset + 0x10);
	free(addresses);
	assert_int_equal(bb_user_target__find("libc.so.6:[cm]alloc", false, &many, &addresses,
					      NULL),
			 0);
	assert_true(addresses->n >= 2); /* each address once, however many names it has */
	for (uint32_t i = 1; i < addresses->n; i++)
		assert_true(addresses->offsets[i - 1] < addresses->offsets[i]);
	assert_string_equal(many.path, one.path);
	free(addresses);
	assert_int_equal(bb_user_target__find("libc.so.6:no_such_*", false, &many, &addresses,
					      NULL),
			 -ENOENT);
	assert_int_equal(bb_user_target__find("libc.so.6:maloc", false, &one, &addresses, NULL),
			 -ENOENT);
	assert_int_equal(bb_user_target__find("/nonexistent:f", false, &one, &addresses, NULL),
			 -ENOENT);
	assert_int_equal(bb_user_target__find("readline", false, &one, &addresses, NULL), -ENOTSUP);
}

/* If a user's file is damaged, no other file may stand in for it. The message names the file. */
static void test_a_damaged_file(void **state)
{
	char path[] = "/tmp/bb-damaged-XXXXXX", text[64];
	struct bb_user_addresses *addresses = NULL;
	struct bb_user_target target;
	struct bb_err err = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "\177ELF of nobody", 14), 14);
	close(fd);
	snprintf(text, sizeof(text), "%s:work", path);
	assert_int_equal(bb_user_target__find(text, false, &target, &addresses, &err), -ENOENT);
	assert_non_null(strstr(err.msg, path));
	unlink(path);
}

static void test_same_event(void **state)
{
	struct bb_attach_point tp = at("tp/sched/sched_switch", BPF_PROG_TYPE_TRACEPOINT, 0),
			       raw = at("raw_tp/sched_switch", BPF_PROG_TYPE_RAW_TRACEPOINT, 0),
			       entry = at("kprobe/vfs_read", BPF_PROG_TYPE_KPROBE, 0),
			       exit = at("kretprobe/vfs_read", BPF_PROG_TYPE_KPROBE, 0);

	(void)state;
	assert_true(bb_attach_point__same_event(&tp, &raw));
	assert_false(bb_attach_point__same_event(&entry, &exit));
	assert_false(bb_attach_point__same_event(&tp, &entry));
}

/* --- how many runs a firing causes --- */

static void test_fewest_runs(void **state)
{
	static const struct {
		uint64_t runs[12];
		size_t n;
		uint64_t want;
	} cases[] = {
		{{1, 1, 1, 1}, 4, 1},
		{{0}, 0, 0},
		{{0, 0, 0}, 3, 0},
		/* Other processes add runs, sometimes or most of the time. */
		{{1, 2, 1, 7, 1, 1}, 6, 1},
		{{9, 8, 2, 11, 2, 7, 2, 12}, 8, 2},
		/* The fewest runs came in less than a quarter of the windows: chance. */
		{{9, 8, 2, 11, 10, 7, 13, 12}, 8, 0},
		/* It does not always run. */
		{{0, 1, 1, 1}, 4, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(bb_fewest_runs(cases[i].runs, cases[i].n), cases[i].want);
}

static void test_choice(void **state)
{
	struct bb_attach_point p = at("tp/syscalls/sys_enter_openat", BPF_PROG_TYPE_TRACEPOINT, 0);
	struct bb_tried tried[] = {
		{.trigger = named("vfork"), .runs = 4, .ns = 10},
		{.trigger = named("exec"), .runs = 2, .ns = 900},
		{.trigger = named("create"), .runs = 2, .ns = 50},
		{.trigger = named("mkdir"), .runs = 0, .ns = 1},
		{.trigger = named("open"), .runs = 1, .ns = 700},
		{.trigger = named("call-openat"), .runs = 1, .ns = 600},
	};

	(void)state;
	assert_null(bb_choose(&p, tried, 0));
	assert_null(bb_choose(&p, tried + 3, 1));
	/* Of triggers with equally few runs, the cheaper one. */
	assert_ptr_equal(bb_choose(&p, tried, 4), &tried[2]);
	/* Of triggers with one run, the first: the order in which they are tried is the order of
	 * preference. */
	assert_ptr_equal(bb_choose(&p, tried, 6), &tried[4]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_trigger_has_a_name_of_its_own),
		cmocka_unit_test(test_words_are_words),
		cmocka_unit_test(test_one_trigger_does_nothing),
		cmocka_unit_test(test_nearness),
		cmocka_unit_test(test_hooks_that_one_trigger_attaches),
		cmocka_unit_test(test_of_the_whole_machine_only_by_name),
		cmocka_unit_test(test_others_take_none_of_these),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_function_by_name),
		cmocka_unit_test(test_sections_of_many_functions),
		cmocka_unit_test(test_types_that_libbpf_may_not_know),
		cmocka_unit_test(test_functions_of_a_file),
		cmocka_unit_test(test_a_damaged_file),
		cmocka_unit_test(test_same_event),
		cmocka_unit_test(test_fewest_runs),
		cmocka_unit_test(test_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
