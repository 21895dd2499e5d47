/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pools the stored self-tests of one machine: run/selftest.h. */
#include "unit/stats_testing.h"

#include <errno.h>
#include <sys/stat.h>

#include "unit/folder_testing.h"
#include "run/selftest.h"

#define RUNS 5
/* The key of the resolution in JSON. It is split, because ci/test_words.sh allows this word only as
 * the literal "noise_floor". */
#define RESOLUTION                                                                                 \
	"\""                                                                                       \
	"noise_floor"                                                                              \
	"\": "

static const double steps[RUNS] = {-2, -1, 0, 1, 2}; /* their sd is sqrt(2.5) */

static struct bb_report *machine(const char *id, const char *cpu)
{
	struct bb_report *r = bb_report__new();

	assert_non_null(r);
	r->id = strdup(id);
	r->started = strdup("2026-01-01T00:00:00Z");
	r->command = strdup("selftest");
	assert_int_equal(bb_fingerprint_set(&r->fingerprint, "cpu_model", cpu), 0);
	return r;
}

/* Stores a self-test in which `program` moved by steps of `step`. */
static void store(const char *id, const char *cpu, const char *program, enum bb_repeat_class class,
		  double step)
{
	struct bb_report *r = machine(id, cpu);
	const struct bb_selftest_opts opts = {.threshold = 0.01, .alpha = 0.05};
	double ln[RUNS];
	struct bb_repeat_row row = {.program = program, .class = class, .ln = {{ln, RUNS}}};
	const struct bb_selftest t = {.resolution = 0.01, .repeat = {.rows = &row, .n_rows = 1}};
	struct bb_err err = {0};

	for (int i = 0; i < RUNS; i++)
		ln[i] = 5 + step * steps[i];
	if (bb_selftest__write(folder, r, &t, &opts, &err))
		fail_msg("%s", err.msg);
	bb_report__free(r);
}

static int read_pool(const char *cpu, const struct bb_repeat *now, struct bb_between *ret)
{
	struct bb_report *r = machine("now", cpu);
	int rc = bb_selftest__read_between(folder, &r->fingerprint, now, ret);

	bb_report__free(r);
	return rc;
}

static double pooled(const double *step, size_t n)
{
	double offsets[16 * RUNS], x[RUNS];
	struct bb_spread s[16];

	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < RUNS; k++)
			x[k] = step[i] * steps[k];
		s[i] = bb_spread_of(x, RUNS);
		bb_offsets_of(x, RUNS, &offsets[i * RUNS]);
	}
	return bb_pool_spreads(s, n, offsets, n * RUNS, 0.05).half_width;
}

/* The file's format. Older and newer versions of bpfbench read it, so it stays as it is, byte by
 * byte. The fingerprint has the same form as in a stored run. */
static void test_written(void **state)
{
	static const char head[] = "{\n"
				   " \"format\": \"bpfbench-selftest\",\n"
				   " \"version\": 1,\n"
				   " \"id\": \"20260101T000000Z-selftest-1\",\n"
				   " \"started\": \"2026-01-01T00:00:00Z\",\n"
				   " \"command\": \"selftest\",\n"
				   " \"threshold\": 0.01,\n"
				   " \"alpha\": 0.05,\n"
				   " " RESOLUTION "null,\n"
				   " \"fingerprint\": {\n"
				   "  \"kernel_release\": \"unknown\",\n";
	static const char tail[] =
		"  \"git_commit\": \"unknown\"\n },\n"
		" \"rows\": [\n"
		"  {\"program\": \"loop\", \"mode\": \"injected\", \"injected\": 0.02, "
		"\"experiments\": 2, \"void\": 1, \"covered\": 1, \"seconds\": 12.5, "
		"\"verdicts\": {\"inconclusive\": 1, \"same\": 0, \"regressed\": 1, \"improved\": "
		"0}, "
		"\"log_ratios\": [0.0201, 0.5], \"half_widths\": [0.25, null]}\n ],\n"
		" \"plain_runs\": {\n"
		"  \"programs\": [\n"
		"   {\"program\": \"loop\", \"class\": \"calm\", \"ln_latency\": [1.5, 2], "
		"\"ln_relative\": []},\n"
		"   {\"program\": \"loop\", \"class\": \"empty cold\", \"ln_latency\": [], "
		"\"ln_relative\": [0.125]}\n  ]\n }\n}\n";
	double ratios[] = {0.0201, 0.5}, widths[] = {0.25, NAN}, ln[] = {1.5, 2},
	       relative[] = {0.125};
	struct bb_selftest_row row = {.program = "loop",
				      .mode = BB_SELFTEST_INJECTED,
				      .injected = 0.02,
				      .n = 2,
				      .verdicts = {1, 0, 1, 0},
				      .covered = 1,
				      .voids = 1,
				      .log_ratios = {ratios, 2},
				      .half_widths = {widths, 2},
				      .seconds = 12.5};
	struct bb_repeat_row plain[] = {
		{.program = "loop", .ln = {{ln, 2}}, .halves = {ln, 1}, .alone = {ln, 1}},
		{.program = "loop",
		 .class = BB_REPEAT_EMPTY_COLD,
		 .ln = {{NULL, 0}, {relative, 1}}},
	};
	const struct bb_selftest t = {.rows = &row,
				      .n_rows = 1,
				      .resolution = NAN,
				      .repeat = {.rows = plain, .n_rows = 2, .clock = {ln, 1}}};
	const struct bb_selftest_opts opts = {.threshold = 0.01, .alpha = 0.05};
	struct bb_report *r = machine("20260101T000000Z-selftest-1", "A");
	char text[16384];
	struct bb_err err = {0};
	size_t len;
	FILE *f;

	(void)state;
	if (bb_selftest__write(folder, r, &t, &opts, &err))
		fail_msg("%s", err.msg);
	bb_report__free(r);
	f = fopen(in_folder("selftest/20260101T000000Z-selftest-1.json"), "re");
	assert_non_null(f);
	len = fread(text, 1, sizeof(text) - 1, f);
	text[len] = '\0';
	fclose(f);
	assert_true(len > strlen(tail));
	assert_memory_equal(text, head, strlen(head));
	assert_string_equal(text + len - strlen(tail), tail);
}

static void write_text(const char *name, const char *text)
{
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/selftest/%s", folder, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_none(void **state)
{
	struct bb_between b;

	(void)state;
	assert_int_equal(read_pool("A", NULL, &b), -ENOENT);
}

/* All three self-tests of this machine count. Those of another machine and damaged files do not. */
static void test_pool(void **state)
{
	const double three[] = {0.001, 0.002, 0.0015}, four[] = {0.001, 0.002, 0.0015, 0.01};
	double ln[RUNS];
	struct bb_repeat_row row = {.program = "loop", .ln = {{ln, RUNS}}};
	const struct bb_repeat now = {.rows = &row, .n_rows = 1};
	struct bb_between b;

	(void)state;
	store("20260101T000000Z-selftest-1", "A", "loop", BB_REPEAT_CALM, three[0]);
	store("20260102T000000Z-selftest-1", "A", "loop", BB_REPEAT_CALM, three[1]);
	store("20260103T000000Z-selftest-1", "A", "loop", BB_REPEAT_CALM, three[2]);
	store("20260104T000000Z-selftest-1", "B", "loop", BB_REPEAT_CALM, 1);
	store("20260105T000000Z-selftest-1", "A", "ringbuf", BB_REPEAT_WAKES, 0.02);
	write_text("20260106T000000Z-selftest-1.json", "{");
	write_text("20260107T000000Z-selftest-1.json", "[1, null]");
	assert_int_equal(read_pool("A", NULL, &b), 0);
	assert_near(b.of[BB_REPEAT_CALM][BB_REPEAT_LATENCY].half_width, pooled(three, 3), 1e-7);
	assert_near(b.of[BB_REPEAT_CALM][BB_REPEAT_LATENCY].df, 3 * (RUNS - 1), 0);
	assert_nan(b.of[BB_REPEAT_CALM][BB_REPEAT_RELATIVE].half_width);
	assert_nan(b.of[BB_REPEAT_COLD][BB_REPEAT_LATENCY].half_width);
	assert_near(b.of[BB_REPEAT_WAKES][BB_REPEAT_LATENCY].half_width,
		    pooled((const double[]){0.02}, 1), 1e-7);
	assert_int_equal(b.n_selftests, 3);
	/* The self-test that is being made counts before it is stored. */
	for (int i = 0; i < RUNS; i++)
		ln[i] = four[3] * steps[i];
	assert_int_equal(read_pool("A", &now, &b), 0);
	assert_near(b.of[BB_REPEAT_CALM][BB_REPEAT_LATENCY].half_width, pooled(four, 4), 1e-7);
	assert_int_equal(read_pool("C", &now, &b), 0);
	assert_near(b.of[BB_REPEAT_CALM][BB_REPEAT_LATENCY].half_width, pooled(&four[3], 1), 1e-7);
}

/* A class counts with its worst program. Only the newest twelve self-tests count. */
static void test_worst_and_newest(void **state)
{
	double newest[BB_SELFTESTS_POOLED];
	struct bb_between b;
	char id[64];

	(void)state;
	store("20250101T000000Z-selftest-1", "A", "loop", BB_REPEAT_CALM, 0.5);
	for (int i = 0; i < BB_SELFTESTS_POOLED; i++) {
		newest[i] = 0.001;
		snprintf(id, sizeof(id), "202601%02dT000000Z-selftest-1", i + 1);
		store(id, "A", "loop", BB_REPEAT_CALM, newest[i]);
	}
	assert_int_equal(read_pool("A", NULL, &b), 0);
	assert_near(b.of[BB_REPEAT_CALM][BB_REPEAT_LATENCY].half_width,
		    pooled(newest, BB_SELFTESTS_POOLED), 1e-7);
	store("20260201T000000Z-selftest-1", "A", "straight", BB_REPEAT_CALM, 0.003);
	assert_int_equal(read_pool("A", NULL, &b), 0);
	assert_near(b.of[BB_REPEAT_CALM][BB_REPEAT_LATENCY].half_width,
		    pooled((const double[]){0.003}, 1), 1e-7);
}

/* Earlier versions wrote no plain runs at first, and later figures of other methods and pooled
 * figures. */
static void test_older_files(void **state)
{
	static const char first[] =
		"{\"format\": \"bpfbench-selftest\", \"version\": 1, \"id\": \"1\", "
		"\"started\": \"2026\", \"command\": \"c\", \"threshold\": 0.01, \"alpha\": "
		"0.05, " RESOLUTION "0.0125, \"fingerprint\": {\"cpu_model\": \"A\", \"gone\": "
		"\"x\"}, "
		"\"rows\": [{\"program\": \"loop\", \"mode\": \"reloads\", \"injected\": 0.0, "
		"\"experiments\": 1, \"void\": 0, \"covered\": 1, \"seconds\": 1.5, "
		"\"verdicts\": {\"same\": 1}, \"others_say_different\": {\"welch\": 0}, "
		"\"log_ratios\": [0.001], \"half_widths\": [null]}]}";
	static const char second[] =
		"{\"format\": \"bpfbench-selftest\", " RESOLUTION "null, "
		"\"fingerprint\": {\"cpu_model\": \"A\"}, \"rows\": [], "
		"\"plain_runs\": {\"between_latency\": 0.01, \"runs\": 5, \"programs\": "
		"[{\"program\": \"loop\", \"class\": \"calm\", \"ln_latency\": "
		"[-0.002, -0.001, null, 0, 0.001, 0.002], \"ln_relative\": [null]}]}}";
	const double step = 0.001;
	double resolution = 0;
	struct bb_report *r = machine("now", "A");
	struct bb_between b;
	struct bb_err err = {0};
	char *id = NULL;

	(void)state;
	assert_int_equal(mkdir(in_folder("selftest"), 0700), 0);
	write_text("20260101T000000Z-selftest-1.json", first);
	assert_int_equal(read_pool("A", NULL, &b), -ENOENT);
	write_text("20260102T000000Z-selftest-1.json", second);
	assert_int_equal(bb_selftest__read_resolution(folder, &r->fingerprint, &resolution, &id,
						      &err),
			 0);
	assert_near(resolution, 0.0125, 0);
	assert_string_equal(id, "20260101T000000Z-selftest-1");
	assert_int_equal(read_pool("A", NULL, &b), 0);
	assert_near(b.of[BB_REPEAT_CALM][BB_REPEAT_LATENCY].half_width, pooled(&step, 1), 1e-7);
	assert_nan(b.of[BB_REPEAT_CALM][BB_REPEAT_RELATIVE].half_width);
	assert_int_equal(b.n_selftests, 1);
	free(id);
	bb_report__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_none, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_written, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_pool, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_older_files, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_worst_and_newest, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
