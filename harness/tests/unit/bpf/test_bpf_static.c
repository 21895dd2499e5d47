/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of a program that need no run: reads them from the text of the verifier's statistics,
 * and checks those of real programs against bpftool and fdinfo.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bpf/prog_stats.h"
#include "unit/bpf_testing.h"

#define STACKS "tests/bpf/stacks.bpf.o"

/* --- the text --- */

static struct bb_prog_static parsed(const char *log)
{
	struct bb_prog_static m;

	bb_static_clear(&m);
	bb_prog_static_parse_log(log, &m);
	return m;
}

/* print_verification_stats() of kernel/bpf/verifier.c is the same in 5.10, 6.1 and 6.18. The lines
 * before it differ. */
static void test_log(void **state)
{
	static const char *const logs[] = {
		"verification time 187 usec\nstack depth 16+8+0\nprocessed 1234 insns (limit "
		"1000000) max_states_per_insn 4 "
		"total_states 17 peak_states 16 mark_read 3\n",
		"func#0 @0\nfunc#1 @9\nFunc#1 is safe for any args that match its "
		"prototype\nverification time 187 usec\n"
		"stack depth 16+8+0\nprocessed 1234 insns (limit 1000000) max_states_per_insn 4 "
		"total_states 17 "
		"peak_states 16 mark_read 3\n",
		"Func#1 ('stack depth 9') is safe for any args that match its "
		"prototype\nverification time 187 usec\n"
		"stack depth 16+8+0\nprocessed 1234 insns (limit 1000000) max_states_per_insn 4 "
		"total_states 17 "
		"peak_states 16 mark_read 0\n\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct bb_prog_static m = parsed(logs[i]);

		assert_true(m.stack_bytes >= 24 && m.stack_bytes <= 24);
		assert_true(m.verify_ns >= 187000 && m.verify_ns <= 187000);
		assert_true(m.verified_insns >= 1234 && m.verified_insns <= 1234);
		assert_true(m.total_states >= 17 && m.total_states <= 17);
		assert_true(isnan(m.xlated_bytes) && isnan(m.jited_bytes) && isnan(m.map_bytes));
	}
}

static void test_log_of_one_function(void **state)
{
	(void)state;
	assert_true(parsed("stack depth 0\n").stack_bytes <= 0);
	assert_true(parsed("stack depth 512").stack_bytes >= 512);
}

/* The log does not overwrite a figure that the kernel gave directly. */
static void test_log_fills_in_only(void **state)
{
	struct bb_prog_static m;

	(void)state;
	bb_static_clear(&m);
	m.verified_insns = 7;
	m.stack_bytes = 5;
	bb_prog_static_parse_log("processed 1234 insns (limit 1000000)\n", &m);
	assert_true(m.verified_insns >= 7 && m.verified_insns <= 7);
	assert_true(m.stack_bytes >= 5 && m.stack_bytes <= 5);
	assert_true(isnan(m.verify_ns));
}

static void test_log_malformed(void **state)
{
	static const char *const logs[] = {
		"",
		"\n",
		"stack depth \n",
		"stack depth",
		"stack depth 16+",
		"stack depth 16+\n",
		"stack depth +8\n",
		"stack depth 16+8 bytes\n",
		"stack depth -16\n",
		"stack depth 16++8\n",
		"a stack depth 16\n",
		"stack depth 99999999999999999999\n",
		"verification time usec\n",
		"verification time 12 msec\n",
		"verification time 12",
		"verification time -1 usec\n",
		"processed 12\n",
		"processed insns\n",
		"not processed 12 insns\n",
		"processed 12 instructions total_states\n",
		"processed 12 instructions total_states 17B\n",
		"processed 12 instructions\nx total_states 17\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct bb_prog_static m = parsed(logs[i]);

		for (size_t k = 0; k < bb_n_static_metrics; k++)
			if (!isnan(bb_static_of(&m, &bb_static_metrics[k])))
				fail_msg("%s from '%s'", bb_static_metrics[k].name, logs[i]);
	}
}

static void test_no_program(void **state)
{
	struct bb_prog_facts facts = {.type = "as it was"};
	struct bb_err err = {0};

	(void)state;
	assert_true(bb_prog_static__read(-1, &facts, &err) < 0);
	assert_non_null(strstr(err.msg, "cannot ask the kernel about a loaded program"));
	assert_string_equal(facts.type, "as it was");
}

/* --- real programs --- */

static struct bb_prog_facts described(struct bb_target *t)
{
	struct bb_prog_facts facts;
	struct bb_err err = {0};

	if (bb_target__describe(t, &facts, &err))
		fail_msg("%s", err.msg);
	return facts;
}

static void assert_count(const char *what, double got, json_int_t want)
{
	if (!(got >= (double)want && got <= (double)want))
		fail_msg("%s is %g, want %lld", what, got, (long long)want);
}

static json_int_t number(const json_t *said, const char *key)
{
	if (!json_is_integer(json_object_get(said, key)))
		fail_msg("bpftool does not say '%s'", key);
	return json_integer_value(json_object_get(said, key));
}

/* Returns "verified_insns:" of the program's fdinfo, or -1 on a kernel before 5.16. */
static json_int_t verified_by_fdinfo(int prog_fd)
{
	char path[64], line[256];
	long long value = -1;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", prog_fd);
	in = fopen(path, "re");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		if (!strncmp(line, "verified_insns:", 15))
			value = atoll(line + 15); /* NOLINT: a number of the kernel */
	fclose(in);
	return value;
}

static json_int_t map_bytes_by_bpftool(const char *bpftool, const json_t *said)
{
	const json_t *ids = json_object_get(said, "map_ids");
	json_int_t sum = 0;

	for (size_t i = 0; i < json_array_size(ids); i++) {
		json_t *map = ask_bpftool(bpftool, "map",
					  (__u32)json_integer_value(json_array_get(ids, i)));

		sum += number(map, "bytes_memlock");
		json_decref(map);
	}
	return sum;
}

static void test_same_as_bpftool(void **state)
{
	static const struct {
		const char *object, *program;
		size_t n_maps; /* at least this many */
	} cases[] = {
		{PERF_PROFILER, "empty", 0},
		{PERF_PROFILER, "ringbuf", 2},
		{PERF_PROFILER, "stackid", 3},
		{STACKS, "stacks", 0},
	};
	char path[4096];
	const char *bpftool;

	(void)state;
	need_root();
	bpftool = find_bpftool(path, sizeof(path));
	if (!bpftool) {
		print_message("# skip: no bpftool that works here\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bb_target *t = open_target(cases[i].object, cases[i].program);
		struct bb_prog_facts facts;
		json_int_t verified;
		json_t *said;

		load(t);
		facts = described(t);
		said = ask_bpftool(bpftool, "prog", prog_id(t));
		assert_string_equal(facts.type, json_string_value(json_object_get(said, "type")));
		assert_string_equal(facts.tag, json_string_value(json_object_get(said, "tag")));
		assert_count("xlated_bytes", facts.metrics.xlated_bytes,
			     number(said, "bytes_xlated"));
		if (json_is_true(json_object_get(said, "jited")))
			assert_count("jited_bytes", facts.metrics.jited_bytes,
				     number(said, "bytes_jited"));
		else
			assert_true(isnan(facts.metrics.jited_bytes));
		assert_true(json_array_size(json_object_get(said, "map_ids")) >= cases[i].n_maps);
		assert_count("map_bytes", facts.metrics.map_bytes,
			     map_bytes_by_bpftool(bpftool, said));
		verified = verified_by_fdinfo(t->prog_fd);
		if (verified >= 0)
			assert_count("verified_insns", facts.metrics.verified_insns, verified);
		assert_true(facts.metrics.verify_ns >= 0);
		json_decref(said);
		bb_target__free(t);
	}
}

/* These figures are known from the source, tests/bpf/stacks.bpf.c. */
static void test_known_program(void **state)
{
	struct bb_prog_facts facts;
	struct bb_target *t;

	(void)state;
	need_root();
	t = open_target(STACKS, "stacks");
	load(t);
	facts = described(t);
	assert_string_equal(facts.type, "socket_filter");
	assert_count("stack_bytes", facts.metrics.stack_bytes, 16 + 40);
	assert_count("verified_insns", facts.metrics.verified_insns,
		     (json_int_t)facts.metrics.xlated_bytes / 8);
	bb_target__free(t);
}

/* On kernels before 5.16, verified_insns is "processed N insns" of the log. Newer kernels report
 * the same number themselves. */
static void test_log_and_info_agree(void **state)
{
	static char log[65536];
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	struct bpf_program *p;
	struct bpf_object *obj;
	char path[4096];

	(void)state;
	need_root();
	obj = bpf_object__open_file(built(PERF_PROFILER, path, sizeof(path)), NULL);
	assert_non_null(obj);
	bpf_object__for_each_program(p, obj)
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), "stackid"));
	p = bpf_object__find_program_by_name(obj, "stackid");
	assert_int_equal(bpf_program__set_log_buf(p, log, sizeof(log)), 0);
	assert_int_equal(bpf_program__set_log_level(p, BB_LOG_STATS), 0);
	assert_int_equal(bpf_object__load(obj), 0);
	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len), 0);
	if (info.verified_insns)
		assert_count("processed insns", parsed(log).verified_insns, info.verified_insns);
	bpf_object__close(obj);
}

/* The extra load for the statistics does not touch the current load, its maps or the descriptors. A
 * second description differs in the time only. */
static void test_leaves_the_load_alone(void **state)
{
	struct bb_prog_facts first, again;
	struct bb_target *t;
	__u32 id, ring;
	int fds_before, fds_after;

	(void)state;
	need_root();
	t = open_target(PERF_PROFILER, "ringbuf");
	load(t);
	id = prog_id(t);
	ring = map_id(t, "samples");
	fds_before = dup(0);
	close(fds_before);
	first = described(t);
	fds_after = dup(0);
	close(fds_after);
	assert_int_equal(fds_after, fds_before);
	assert_int_equal(prog_id(t), id);
	assert_int_equal(map_id(t, "samples"), ring);
	load(t);
	again = described(t);
	assert_string_equal(first.tag, again.tag);
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		if (bb_static_metrics[i].kind == BB_METRIC_EXACT)
			assert_count(bb_static_metrics[i].name,
				     bb_static_of(&again.metrics, &bb_static_metrics[i]),
				     (json_int_t)bb_static_of(&first.metrics,
							      &bb_static_metrics[i]));
	bb_target__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_log_of_one_function),
		cmocka_unit_test(test_log_fills_in_only),
		cmocka_unit_test(test_log_malformed),
		cmocka_unit_test(test_no_program),
		cmocka_unit_test(test_same_as_bpftool),
		cmocka_unit_test(test_known_program),
		cmocka_unit_test(test_log_and_info_agree),
		cmocka_unit_test(test_leaves_the_load_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
