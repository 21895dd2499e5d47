/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/gate.h"
#include "unit/report_testing.h"
#include "unit/export/document_testing.h"

/* Adds a comparison of twelve pairs with nearly the same ratio, named "prog.work" or by another
 * label. */
static void add_comparison(struct bb_report *r, const char *name, double ratio)
{
	struct bb_comparison *c = BB_ADD(bb_comparison_record, r, comparisons);

	assert_non_null(c);
	set_text(&c->name, name);
	set_text(&c->base, "base");
	set_text(&c->head, "head");
	c->threshold = 0.01;
	c->alpha = 0.05;
	for (int i = 0; i < 12; i++) {
		struct bb_pair *p = BB_ADD(bb_pair_record, c, pairs);

		assert_non_null(p);
		p->matched = true;
		p->base_mod64 = p->head_mod64 = 0;
		p->blocks = 8;
		p->base_ns = 1000;
		p->head_ns = 1000 * ratio;
		p->shift_ns = p->head_ns - p->base_ns;
		p->d = log(ratio) + 1e-4 * (i - 5.5);
	}
}

static void add_program(struct bb_report *r, const char *scenario, const char *variant,
			double insns)
{
	struct bb_program *p = make_program(r, variant, "work");
	char name[200];

	snprintf(name, sizeof(name), "%s/%s", scenario, variant);
	set_text(&p->name, name);
	set_text(&p->scenario, scenario);
	p->metrics.verified_insns = insns;
}

static struct bb_gate_program *add(struct bb_gate *g, const char *object, const char *program,
				   const char *label, enum bb_gate_state state)
{
	struct bb_gate_program *p = bb_gate__add(g, object, program, state);

	assert_non_null(p);
	if (label) {
		set_text(&p->label, label);
		p->program_at = strlen(label) - strlen(program);
	}
	return p;
}

static struct bb_gate make_gate(void)
{
	struct bb_gate g = {.threshold = 0.01,
			    .alpha = 0.05,
			    .dirty = true,
			    .base_commit = "0123456789abcdef0123456789abcdef01234567",
			    .head_commit = "fedcba9876543210fedcba9876543210fedcba98"};

	set_text(&g.base, "origin/main");
	add(&g, "src/a.bpf.o", "slow", "a.slow", BB_GATE_COMPARED);
	add(&g, "src/a.bpf.o", "slow2", "a.slow2", BB_GATE_COMPARED);
	add(&g, "src/a.bpf.o", "young", NULL, BB_GATE_NEW);
	set_text(&add(&g, "src/a.bpf.o", "odd", "a.odd", BB_GATE_SKIPPED)->why, "no | trigger");
	add(&g, "src/b.bpf.o", NULL, NULL, BB_GATE_SAME);
	return g;
}

static struct bb_report *measured(const char *id, double slow, double slow2)
{
	struct bb_report *r = make_report(id);

	add_comparison(r, "a.slow/step/input=1", slow);
	add_comparison(r, "a.slow2/step", slow2);
	add_program(r, "a.slow", "base", 100);
	add_program(r, "a.slow", "head", 103);
	add_program(r, "a.slow2", "base", 7);
	add_program(r, "a.slow2", "head", 7);
	bb_comparisons_judge(r->comparisons, r->n_comparisons);
	return r;
}

/* Adds what the exact drive counted for "a.slow": `base` and `head` instructions per run, on two
 * lines. */
static void add_counts(struct bb_report *r, uint64_t base, uint64_t head)
{
	for (int l = 0; l < 2; l++) {
		const char *variant = l ? "head" : "base";
		struct bb_counted *c = BB_ADD(bb_counted_record, r, counted);
		struct bb_counted_case *k;
		struct bb_counted_line *line;
		char name[200];

		assert_non_null(c);
		snprintf(name, sizeof(name), "a.slow/%s/exact", variant);
		set_text(&c->name, name);
		set_text(&c->scenario, "a.slow");
		set_text(&c->variant, variant);
		k = BB_ADD(bb_counted_case_record, c, cases);
		assert_non_null(k);
		set_text(&k->name, name);
		c->runs = k->runs = 10;
		k->least = k->most = l ? head : base;
		c->instructions = k->instructions = 10 * k->least;
		line = BB_ADD(bb_counted_line_record, c, lines);
		assert_non_null(line);
		set_text(&line->file, "/src/a.bpf.c");
		set_text(&line->text, "\tx = y | z;");
		line->line = 12;
		line->instructions = k->instructions;
	}
}

static char *markdown(const struct bb_gate *g, const struct bb_report *first,
		      const struct bb_report *again)
{
	struct bb_doc d = {0};

	bb_doc_gate(&(struct bb_doc_gate){g, first, again}, &d);
	return rendered(&d, bb_doc__markdown);
}

static void test_owns(void **state)
{
	struct bb_gate g = make_gate();

	(void)state;
	assert_true(bb_gate__owns(&g.programs[0], "a.slow/step"));
	assert_false(bb_gate__owns(&g.programs[0], "a.slow2/step"));
	assert_false(bb_gate__owns(&g.programs[0], "a.slow"));
	assert_false(bb_gate__owns(&g.programs[4], "/step"));
	bb_gate__done(&g);
}

/* An alert counts only if the second measurement of the same comparison raises it, too. */
static void test_confirmation(void **state)
{
	struct bb_report *first = measured("first", 1.03, 1.0),
			 *same = measured("again", 1.0, 1.03),
			 *slow = measured("again", 1.028, 1.0);
	struct bb_gate g = make_gate();
	char *text;

	(void)state;
	assert_int_equal(bb_gate__verdict(&first->comparisons[0], slow), BB_GATE_REGRESSED);
	assert_int_equal(bb_gate__verdict(&first->comparisons[0], same), BB_GATE_UNCONFIRMED);
	assert_int_equal(bb_gate__verdict(&first->comparisons[0], NULL), BB_GATE_UNCONFIRMED);
	assert_int_equal(bb_gate__verdict(&first->comparisons[1], same), BB_GATE_NOT_REGRESSED);
	assert_int_equal(bb_gate__count(first, slow, BB_GATE_REGRESSED), 1);
	assert_int_equal(bb_gate__count(first, same, BB_GATE_REGRESSED), 0);
	text = markdown(&g, first, slow);
	assert_has(text, "## bpfbench gate: FAILED (exit code 3): 1 of 2 comparisons regressed, 1 "
			 "same\n");
	assert_has(text, "- B: head: the work tree (f&#8203;edcba987654 and uncommitted "
			 "changes)\n");
	assert_has(text, "- **a.slow/step/input=1**: +3.00 % \\[");
	assert_has(text, "\\], measured again: +2.80 % \\[");
	assert_has(text, "**next**: mend a.slow, then the same again; if the slowdown is "
			 "wanted: the same with `--threshold 4`");
	assert_has(text, "\\] | **regressed** |");
	assert_has(text, "| a.slow | verified-instructions | 100 | 103 | +3 | ");
	assert_has(text, "- src/a.bpf.o, young: new in head\n");
	assert_has(text, "- src/a.bpf.o, odd: not compared: no \\| trigger\n");
	assert_has(text, "- src/b.bpf.o: the same bytes in both, not measured\n");
	free(text);
	text = markdown(&g, first, same);
	assert_has(text, "## bpfbench gate: passed (exit code 0): no regression, 1 same, 1 "
			 "regressed at first, but not when measured again\n");
	assert_has(text, " | not confirmed |");
	free(text);
	g.programs[3].state = BB_GATE_FAILED;
	text = markdown(&g, first, same);
	assert_has(text, "## bpfbench gate: FAILED (exit code 1): a program does not load any "
			 "more");
	free(text);
	bb_gate__done(&g);
	bb_report__free(first);
	bb_report__free(same);
	bb_report__free(slow);
}

/* Makes a comparison inconclusive, from about -0.5 % to +1.5 %, after `budget_s`. */
static void make_unsure(struct bb_comparison *c, double budget_s)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		c->pairs[i].d = 0.005 + 0.002 * ((double)i - 5.5);
	c->budget_s = budget_s;
}

/* Returns the number after `option` in the next step of the gate; 0 without the option. */
static double advised(const struct bb_gate *g, const struct bb_report *first,
		      const struct bb_report *again, const char *option)
{
	char *text = markdown(g, first, again), *next = strstr(text, "next**: "), *at;
	double value = 0;

	assert_non_null(next);
	at = strstr(next, option);
	if (at)
		value = atof(at + strlen(option));
	free(text);
	return value;
}

/* The gate advises an --each that is longer than the current one, if any, and a --budget only if
 * the current one is too short. */
static void test_next(void **state)
{
	struct bb_report *first = measured("first", 1.0, 1.0), *again = measured("again", 1.03, 1);
	struct bb_gate g = make_gate();
	double with_all;

	(void)state;
	g.each_s = 10;
	make_unsure(&first->comparisons[1], 10);
	bb_comparisons_judge(first->comparisons, 2);
	assert_int_equal(first->comparisons[1].verdict, BB_VERDICT_INCONCLUSIVE);
	assert_true(advised(&g, first, NULL, "`--each ") > 10);
	assert_true(advised(&g, first, NULL, "`--budget ") == 0);
	/* The budget left half a second for each program. */
	first->comparisons[1].budget_s = 0.5;
	g.budget_s = 6;
	g.spent_s = 2;
	assert_true(advised(&g, first, NULL, "`--each ") == 0);
	assert_true(advised(&g, first, NULL, "`--budget ") >= 2 + 2 * 2 * 10);
	/* A program that had no turn needs as much time as the others. */
	assert_int_equal(g.programs[3].state, BB_GATE_SKIPPED);
	with_all = advised(&g, first, NULL, "`--budget ");
	g.programs[3].is_late = true;
	assert_true(advised(&g, first, NULL, "`--budget ") >= with_all + 2 * 10 - 1);
	/* Also if no measured program is inconclusive. */
	first->comparisons[1].budget_s = NAN;
	assert_true(advised(&g, first, NULL, "`--budget ") >= 2 + 3 * 2 * 10);
	first->comparisons[1].budget_s = 0.5;
	g.programs[3].is_late = false;
	/* Also beside a confirmed regression. */
	for (size_t i = 0; i < first->comparisons[0].n_pairs; i++)
		first->comparisons[0].pairs[i].d += log(1.03);
	bb_comparisons_judge(first->comparisons, 2);
	assert_int_equal(bb_gate__count(first, again, BB_GATE_REGRESSED), 1);
	assert_true(advised(&g, first, again, "`--threshold ") > 0);
	assert_true(advised(&g, first, again, "`--budget ") > 0);
	bb_gate__done(&g);
	bb_report__free(first);
	bb_report__free(again);
}

static void test_nothing(void **state)
{
	struct bb_report *r = make_report("none");
	struct bb_gate g = make_gate();
	char *text = markdown(&g, r, NULL);

	(void)state;
	assert_has(text, "## bpfbench gate: passed (exit code 0): nothing to compare\n");
	assert_null(strstr(text, "| Case |"));
	free(text);
	bb_gate__done(&g);
	bb_report__free(r);
}

/* One side of the comparison gets the names of a plain run, without the floors and the other
 * side. */
static void test_side(void **state)
{
	static const char *const cases[][3] = {
		{"a.slow", "base", "a.slow/base/step/input=1"},
		{"a.slow", "head", "a.slow/head/step/input=1"},
		{"a.slow", "empty-tc", "a.slow/empty-tc/step/input=1"},
	};
	struct bb_report *r = measured("first", 1.03, 1.0), side;
	struct bb_gate g = make_gate();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t at = make_case(r, cases[i][1], "step", NULL, 0);
		struct bb_case *c = &r->cases[at];

		set_text(&c->scenario, cases[i][0]);
		set_text(&c->name, cases[i][2]);
	}
	add_counts(r, 40, 41);
	bb_gate__side(&g, r, "head", &side);
	assert_int_equal(side.n_counted, 1);
	assert_string_equal(side.counted[0].cases[0].name, "a/slow/exact");
	assert_int_equal(side.counted[0].cases[0].least, 41);
	assert_int_equal(side.n_cases, 1);
	assert_string_equal(side.cases[0].name, "a/slow/step/input=1");
	assert_int_equal(side.n_programs, 2);
	assert_string_equal(side.programs[0].name, "a/slow");
	assert_true(side.programs[0].metrics.verified_insns > 102);
	assert_string_equal(side.programs[1].name, "a/slow2");
	bb_gate__side_done(&side);
	bb_gate__done(&g);
	bb_report__free(r);
}

/* One more instruction is reported. With --exact, it is a regression if two measurements count
 * it. */
static void test_exact(void **state)
{
	struct bb_report *first = measured("20260101T000000Z-11111111", 1, 1),
			 *more = measured("20260101T000001Z-22222222", 1, 1);
	struct bb_report *same = measured("20260101T000002Z-33333333", 1, 1);
	struct bb_gate g = make_gate();
	struct bb_err err;
	char *text;

	(void)state;
	add_counts(first, 40, 41);
	add_counts(more, 40, 41);
	add_counts(same, 40, 40);
	assert_int_equal(bb_exact_diff__make(first, first, "base", "head", &g.counted, &err), 0);
	assert_int_equal(bb_gate__count_exact(&g, BB_GATE_NOT_REGRESSED), 1);
	text = markdown(&g, first, NULL);
	assert_has(text, "## bpfbench gate: passed (exit code 0): no regression");
	assert_has(text, "Executed instructions per run: A 40, B 41, +1 (for information; with "
			 "--exact, more fails)");
	assert_has(text, "- +1  a.bpf.c:12  x = y \\| z;\n");
	free(text);
	g.exact = true;
	assert_int_equal(bb_gate__count_exact(&g, BB_GATE_UNCONFIRMED), 1);
	assert_int_equal(bb_exact_diff__make(same, same, "base", "head", &g.counted_again, &err),
			 0);
	assert_int_equal(bb_gate__count_exact(&g, BB_GATE_UNCONFIRMED), 1);
	text = markdown(&g, first, same);
	assert_has(text, "## bpfbench gate: passed (exit code 0): no regression");
	assert_has(text, "| +1 | not confirmed |\n");
	free(text);
	bb_exact_diff__done(&g.counted_again);
	assert_int_equal(bb_exact_diff__make(more, more, "base", "head", &g.counted_again, &err),
			 0);
	assert_int_equal(bb_gate__count_exact(&g, BB_GATE_REGRESSED), 1);
	text = markdown(&g, first, more);
	assert_has(text, "## bpfbench gate: FAILED (exit code 3): 1 of 1 cases execute more "
			 "instructions");
	assert_has(text, "| +1 | **regressed** |\n");
	free(text);
	bb_gate__done(&g);
	bb_report__free(same);
	bb_report__free(more);
	bb_report__free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owns),    cmocka_unit_test(test_confirmation),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_side),
		cmocka_unit_test(test_exact),   cmocka_unit_test(test_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
