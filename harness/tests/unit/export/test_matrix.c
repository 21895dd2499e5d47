/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The matrix of programs by kernel, from runs of two kernels. One of them refuses a program. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/export/document_testing.h"
#include "export/matrix.h"

static struct bb_program program(char *name, char *variant, double verified)
{
	return (struct bb_program){.name = name,
				   .variant = variant,
				   .metrics = {.verified_insns = verified,
					       .total_states = verified - 100,
					       .stack_bytes = NAN}};
}

static struct bb_case step(char *name, char *variant, struct bb_series *series, size_t floor)
{
	return (struct bb_case){.name = name,
				.scenario = "x",
				.variant = variant,
				.drive = "step",
				.units_per_ns = 1,
				.series = series,
				.n_series = 1,
				.floor = floor};
}

/* Makes 999 samples of one value and one of another. */
static struct bb_series samples(uint64_t value, uint64_t other)
{
	struct bb_series s = {.run_cnt = 1000};

	bb_hist_add(&s.hist, value, 999);
	bb_hist_add(&s.hist, other, 1);
	return s;
}

static void check(void (*use)(const struct bb_matrix_kernel *kernels))
{
	struct bb_series series[] = {samples(50, 50), samples(151, 152), samples(50, 50),
				     samples(17076, 17084)};
	struct bb_counted_case counted_case = {.name = "x/p/exact",
					       .runs = 2,
					       .least = 103,
					       .most = 103,
					       .instructions = 206};
	struct bb_counted counted = {.name = "x/p/exact",
				     .variant = "p",
				     .cases = &counted_case,
				     .n_cases = 1};
	struct bb_program old_programs[] = {program("x/p", "p", 103)};
	struct bb_program new_programs[] = {program("x/p", "p", 104), program("x/q", "q", 850000)};
	struct bb_case old_cases[] = {step("x/empty/step", "empty", &series[0], BB_NO_FLOOR),
				      step("x/p/step", "p", &series[1], 0)};
	struct bb_case new_cases[] = {step("x/empty/step", "empty", &series[2], BB_NO_FLOOR),
				      step("x/q/step", "q", &series[3], 0)};
	struct bb_skip skip = {"x/q", "unknown func bpf_loop#181"};
	struct bb_report old = {.programs = old_programs,
				.n_programs = 1,
				.cases = old_cases,
				.n_cases = 2,
				.counted = &counted,
				.n_counted = 1,
				.skips = &skip,
				.n_skips = 1};
	struct bb_report new = {.programs = new_programs,
				.n_programs = 2,
				.cases = new_cases,
				.n_cases = 2};
	const struct bb_matrix_kernel kernels[] = {{"5.10", &old, NULL, NULL, -1},
						   {"6.12", &new, NULL, NULL, -1},
						   {"6.1", NULL, "it panicked", NULL, -1}};

	use(kernels);
	for (size_t i = 0; i < BB_LEN(series); i++)
		bb_hist_done(&series[i].hist);
}

static void look_at_text(const struct bb_matrix_kernel *kernels)
{
	struct bb_doc d = {0};
	char *text;

	bb_doc_matrix(kernels, 3, &d);
	text = rendered(&d, as_text);
	assert_non_null(strstr(text, "\nrows that differ: 1 of loads, 1 of verified insns (p: 103 "
				     "to "
				     "104), 1 of verifier states (p: 3 to 4)\n"));
	assert_non_null(strstr(text, "program  figure             5.10           6.12"));
	assert_non_null(strstr(text, "p        verified insns      103            104"));
	assert_non_null(strstr(text, "         verifier states       3              4"));
	assert_null(strstr(text, " stack bytes  ")); /* no kernel reported it */
	assert_non_null(strstr(text, "BPF insns/run       103              -"));
	assert_non_null(strstr(text, "machine insns/run   101              -"));
	assert_non_null(strstr(text, "q        loads                no            yes"));
	assert_non_null(strstr(text, "verified insns        -  850000 (85 %)"));
	/* The mode is the smallest value, so it is exact although its bin is wider. */
	assert_non_null(strstr(text, "17026"));
	assert_non_null(strstr(text, "5.10: x/q: unknown func bpf_loop#181"));
	assert_non_null(strstr(text, "6.1: it panicked"));
	assert_null(strstr(text, "  empty"));
	free(text);
}

static void test_text(void **state)
{
	(void)state;
	check(look_at_text);
}

static void look_at_bmf(const struct bb_matrix_kernel *kernels)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	bb_matrix__write_bmf(kernels, 3, out);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "\"x/p/step/kernel=5.10\": {\n"
				     "    \"machine-instructions\": {\"value\": 101},\n"
				     "    \"instructions\": {\"value\": 103}\n"));
	assert_non_null(strstr(text, "\"x/q/kernel=6.12\": {\n"
				     "    \"verified-instructions\": {\"value\": 850000},\n"
				     "    \"verifier-states\": {\"value\": 849900}\n"));
	free(text);
}

static void test_bmf(void **state)
{
	(void)state;
	check(look_at_bmf);
}

/* Base and head of two programs: one executes an instruction more in head, the other does not load
 * in head. */
static void test_pairs(void **state)
{
	static const struct bb_matrix_pair pair = {"prog", "base0", "head0"};
	struct bb_gate gate = {.base = (char *)(uintptr_t) "main", .grow = 0.1};
	struct bb_matrix_judge judge = {&pair, 1, &gate};
	struct bb_series series[] = {samples(50, 50), samples(151, 152), samples(152, 151)};
	struct bb_program programs[] = {program("x/a", "base0.p", 1000),
					program("x/b", "head0.p", 1100),
					program("x/c", "base0.q", 7)};
	struct bb_case cases[] = {step("x/e/step", "e", &series[0], BB_NO_FLOOR),
				  step("x/a/step", "base0.p", &series[1], 0),
				  step("x/b/step", "head0.p", &series[2], 0)};
	struct bb_skip skip = {"x/head0.q", "it reads outside"};
	struct bb_report run = {.programs = programs,
				.n_programs = 3,
				.cases = cases,
				.n_cases = 3,
				.skips = &skip,
				.n_skips = 1};
	const struct bb_matrix_kernel kernel = {"6.12", &run, NULL, NULL, -1};
	struct bb_doc d = {0};
	char *text;

	(void)state;
	assert_int_equal(bb_doc_matrix_pairs(&kernel, 1, &judge, &d), 2);
	text = rendered(&d, as_text);
	assert_non_null(strstr(text, "2 of 2 rows fail"));
	assert_non_null(strstr(text, "prog.p: machine instructions: 101 to 102 (+1)\n"));
	assert_non_null(strstr(text, "prog.q: head does not load, base does: it reads outside"));
	free(text);

	/* 1101 is more than 10 % above 1000, and more than 0.1 % of the limit. */
	programs[1].metrics.verified_insns = 1101;
	gate.complexity = 0.001;
	cases[2].series = &series[1];
	assert_int_equal(bb_doc_matrix_pairs(&kernel, 1, &judge, &d), 2);
	text = rendered(&d, as_text);
	assert_non_null(strstr(text, "verified instructions: 1000 to 1101, 0.1 % of the limit; "
				     "more "
				     "than 0.1 % (--complexity); grew by more than 10 % (--grow)"));
	assert_null(strstr(text, "machine instructions:"));
	free(text);

	/* If base lacks the program, there is no number to compare with. */
	programs[0].variant = "other";
	assert_int_equal(bb_doc_matrix_pairs(&kernel, 1, &judge, &d), 2);
	text = rendered(&d, as_text);
	assert_non_null(strstr(text, "prog.p: verified instructions: 1101, 0.1 % of the limit; "
				     "more than 0.1 % (--complexity)\n"));
	assert_null(strstr(text, "nan"));
	free(text);

	judge.gate = NULL;
	assert_int_equal(bb_doc_matrix_pairs(&kernel, 1, &judge, &d), 0);
	bb_doc__done(&d);
	for (size_t i = 0; i < BB_LEN(series); i++)
		bb_hist_done(&series[i].hist);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_bmf),
					   cmocka_unit_test(test_pairs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
