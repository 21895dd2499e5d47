/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/clean.h"
#include "cli/options.h"
#include "env/checks.h"
#include "env/fingerprint.h"

struct check_args {
	bool testbed, details;
};

#define ARGS struct check_args

static const struct bb_option options[] = {
	{"details", 0, NULL, bb_read_flag, BB_ARG(details),
	 "also on a terminal the lines that are ok"},
	{"testbed", 0, NULL, bb_read_flag, BB_ARG(testbed),
	 "print only a name for machines like this one, for --testbed of Bencher"},
	{0},
};

static const struct bb_usage usage = {
	.doc = "Check this machine: one line per question, with the change that would help.",
	.more = "ok: as it should be. warn: it works, but slower, noisier or incomplete. skip: "
		"unknown, or missing for some scenarios only. fail: the main job cannot work, and "
		"the exit code is 1.",
	.example = "  sudo bpfbench check\n",
	.sets = {{NULL, options, 0}},
};

static const char *const colours[] = {
	[BB_CHECK_OK] = "\033[32m",
	[BB_CHECK_WARN] = "\033[33m",
	[BB_CHECK_FAIL] = "\033[31m",
	[BB_CHECK_SKIP] = "\033[2m",
};

/* Prints a check's answer, and its remedy unless an earlier line had the same. */
static void print_result(const struct bb_check_result *results, size_t i, bool is_terminal)
{
	const struct bb_check_result *r = &results[i];
	size_t same = 0;

	while (strcmp(results[same].remedy, r->remedy))
		same++;
	bb_clean__put_raw(stdout, is_terminal ? colours[r->status] : "");
	printf("%-4s", bb_check_status_name(r->status));
	bb_clean__put_raw(stdout, is_terminal ? "\033[0m" : "");
	printf("  %-22s %s\n", bb_checks[i].name, r->text);
	if (r->remedy[0] && same == i)
		printf("      %-22s -> %s\n", "", r->remedy);
	fflush(stdout);
}

/* Prints the names of the checks with that status and the beginning of each answer: ": load (5.11
 * on 2 CPUs), perf_pmu (no PMU)". */
static void print_named(const struct bb_check_result *results, enum bb_check_status status)
{
	const char *separator = ":";

	for (size_t i = 0; i < bb_n_checks; i++) {
		if (results[i].status != status)
			continue;
		printf("%s %s (%.*s)", separator, bb_checks[i].name,
		       (int)strcspn(results[i].text, ":,;"), results[i].text);
		separator = ",";
	}
}

/* Prints in a sentence whether this machine can measure, and what costs accuracy. */
static void print_verdict(const struct bb_check_result *results, size_t n_fail, size_t n_warn)
{
	size_t first = 0;

	printf("This machine %s measure", n_fail ? "cannot" : "can");
	if (n_fail) {
		print_named(results, BB_CHECK_FAIL);
		while (results[first].status != BB_CHECK_FAIL)
			first++;
		printf("; what to do first: %s", results[first].remedy);
	} else if (n_warn) {
		printf("; %zu thing%s accuracy or detail", n_warn,
		       n_warn == 1 ? " costs" : "s cost");
		print_named(results, BB_CHECK_WARN);
	}
	printf("\n");
}

int bb_cmd_check(int argc, char **argv, struct bb_err *err)
{
	size_t counts[BB_CHECK_N_STATUSES] = {0};
	struct check_args a = {0};
	struct bb_check_result *results;
	struct bb_fingerprint fp;
	bool is_terminal = isatty(STDOUT_FILENO), all;
	char name[BB_TESTBED_SIZE];

	bb_usage__parse(&usage, argc, argv, &a);
	if (a.testbed) {
		if (bb_fingerprint__read("", ".", &fp, err))
			return err->code;
		bb_testbed_name(&fp, name);
		puts(name);
		return BB_EXIT_OK;
	}
	results = calloc(bb_n_checks, sizeof(*results));
	if (!results)
		return bb_fail_nomem(err);
	all = a.details || !is_terminal;
	for (size_t i = 0; i < bb_n_checks; i++) {
		bb_check__run(&bb_checks[i], &results[i]);
		counts[results[i].status]++;
		if (all || results[i].status != BB_CHECK_OK)
			print_result(results, i, is_terminal);
	}
	printf("%zu ok%s, %zu warn, %zu fail, %zu skip\n", counts[BB_CHECK_OK],
	       all ? "" : " (bpfbench check --details)", counts[BB_CHECK_WARN],
	       counts[BB_CHECK_FAIL], counts[BB_CHECK_SKIP]);
	print_verdict(results, counts[BB_CHECK_FAIL], counts[BB_CHECK_WARN]);
	free(results);
	return counts[BB_CHECK_FAIL] ? BB_EXIT_FAILURE : BB_EXIT_OK;
}
