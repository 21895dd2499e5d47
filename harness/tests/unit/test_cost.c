/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From counts and times of one run to `annotate --cost`: blocks into groups, groups stored and
 * read, costs printed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "exact/groups.h"
#include "export/cost_print.h"
#include "store/run_json.h"
#include "unit/report_testing.h"

#define CASES 64u

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

/* --- groups --- */

/* Six blocks of one to six instructions: the 1st and 5th always together, the 4th twice as often as
 * the 2nd. */
static void test_groups(void **state)
{
	enum { BLOCKS = 6, N = 21 };
	static const uint64_t counts[3][BLOCKS] = {{10, 30, 0, 60, 10, 0},
						   {10, 0, 10, 0, 10, 0},
						   {10, 90, 0, 180, 10, 0}};
	struct bpf_insn insns[N] = {{0}};
	struct bb_code code = {.name = "made", .insns = insns, .n = N, .btf_fd = -1};
	struct bb_basic_block blocks[BLOCKS];
	uint32_t block_of[N], at = 0;
	struct bb_cfg g = {.blocks = blocks, .n_blocks = BLOCKS, .block_of = block_of};
	struct bb_group *groups;
	struct bb_err err;
	size_t n;

	(void)state;
	for (uint32_t b = 0; b < BLOCKS; b++) {
		blocks[b] = (struct bb_basic_block){.first = at,
						    .end = at + b + 1,
						    .last = at + b,
						    .n_insns = b + 1};
		for (; at < blocks[b].end; at++)
			block_of[at] = b;
	}
	assert_int_equal(bb_groups__make(&code, &g, &counts[0][0], 3, &groups, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(groups[0].n_blocks, 2);
	assert_int_equal(groups[0].n_insns, 1 + 5);
	assert_string_equal(groups[0].where, "insns 0,10-14");
	assert_int_equal(groups[1].n_blocks, 2);
	assert_int_equal(groups[1].n_insns, 2 + 2 * 4);
	assert_int_equal(groups[1].counts[2], 90);
	assert_int_equal(groups[2].counts[1], 10);
	assert_string_equal(groups[2].where, "insns 3-5");
	bb_groups__free(groups, n);
}

/* --- costs --- */

static void add_group(struct bb_counted *c, const char *where, uint32_t n_insns,
		      const uint64_t *counts, size_t n)
{
	struct bb_counted_group *g = bb_counted__add_group(c);
	char text[CASES * 8] = "", *at = text;

	assert_non_null(g);
	for (size_t i = 0; i < n; i++)
		at += sprintf(at, "%s%llu", i ? " " : "", (unsigned long long)counts[i]);
	set_text(&g->where, where);
	set_text(&g->counts, text);
	g->n_blocks = 1;
	g->n_insns = n_insns;
}

/* 100 ns a run, 3 ns a round, and 40 ns for every second input, and make_loads() on top; ten runs
 * of each were counted. */
static struct bb_report *make_run(bool timed)
{
	struct bb_report *r = make_report("20261121T131700Z-cost-1a2b3c4d");
	struct bb_counted *c = bb_report__add_counted(r);
	uint64_t always[CASES], rounds[CASES], second[CASES];

	assert_non_null(c);
	set_text(&c->name, "perf_profiler/loop/exact");
	set_text(&c->scenario, "perf_profiler");
	set_text(&c->variant, "loop");
	for (uint32_t i = 0; i < CASES; i++) {
		struct bb_counted_case *k = bb_counted__add_case(c);
		size_t step;

		assert_non_null(k);
		set_text(&k->name, "perf_profiler/loop/exact/input");
		set_text(&k->param, "input");
		k->param_value = i;
		k->runs = 10;
		always[i] = 10;
		rounds[i] = 10 * (i * 7 % 30);
		second[i] = i % 2 ? 10 : 0;
		k->least = k->most = 20 + 2 * (i * 7 % 30) + 5 * (i % 2);
		k->instructions = 10 * k->least;
		if (!timed)
			continue;
		step = make_case(r, "loop", "step", "input", i);
		make_loads(r, step, 2, 100, (100 + 3 * (i * 7 % 30) + 40 * (i % 2)));
	}
	add_group(c, "a.c:1-3", 20, always, CASES);
	add_group(c, "a.c:4", 2, rounds, CASES);
	add_group(c, "a.c:6", 5, second, CASES);
	assert_int_equal(bb_report__summarise(r), 0);
	return r;
}

/* free() it. */
static char *costs_of(const struct bb_report *r, int expected, struct bb_err *err)
{
	char *text = NULL;
	size_t len;
	FILE *mem = open_memstream(&text, &len);
	struct bb_cost cost;

	assert_non_null(mem);
	assert_int_equal(bb_cost__make(r, &r->counted[0], &cost, err), expected);
	if (!expected) {
		assert_int_equal(bb_cost__print(&cost, mem), 0);
		bb_cost__done(&cost);
	}
	fclose(mem);
	return text;
}

/* By way of the stored form: what is printed is what was counted and timed. */
static void test_costs(void **state)
{
	struct bb_report *r = make_run(true), *again;
	struct bb_err err = {0};
	double loop = 0, branch = 0;
	char *stored, *text, *row;
	size_t len;
	FILE *in;

	(void)state;
	assert_int_equal(bb_run_json__compose(r, &stored, &len), 0);
	in = fmemopen(stored, len, "r");
	if (bb_run_json__read(in, "run.json", &again, &err))
		fail_msg("%s", err.msg);
	fclose(in);
	text = costs_of(again, 0, &err);
	assert_has(text, "by 64 inputs of the drive step that take ");
	assert_has(text, "with R2 = 0.9");
	row = strstr(text, "a.c:4");
	assert_non_null(row);
	while (row > text && row[-1] != '\n')
		row--;
	loop = strtod(row, NULL);
	branch = strtod(strchr(row, '\n') + 1, NULL);
	assert_true(loop > 2.5 && loop < 3.5);
	assert_true(branch > 32 && branch < 48);
	free(text);
	free(stored);
	bb_report__free(again);
	bb_report__free(r);
}

static void test_no_costs(void **state)
{
	struct bb_report *r = make_run(false);
	struct bb_err err = {0};
	char *text = costs_of(r, 0, &err);

	(void)state;
	assert_string_equal(text, "perf_profiler/loop/exact: no costs by block: the run has no "
				  "time of these inputs, by step or "
				  "slope\n");
	free(text);
	set_text(&r->counted[0].groups[1].counts, "10 20 30");
	text = costs_of(r, -EINVAL, &err);
	assert_has(err.msg, "the counts of blocks do not match its 64 cases");
	free(text);
	bb_report__free(r);
	r = make_report("20261121T131700Z-cost-1a2b3c4d");
	make_counted(r, "ringbuf", 100);
	text = costs_of(r, 0, &err);
	assert_has(text, "no costs by block: it was counted on 2 inputs, and 8 are needed\n");
	free(text);
	bb_report__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_no_costs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
