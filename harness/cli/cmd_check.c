/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/clean.h"
#include "cli/options.h"
#include "env/checks.h"
#include "env/fingerprint.h"

static const struct bb_option options[] = {
	{"testbed", 0, NULL, bb_read_flag, .at = 0,
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

int bb_cmd_check(int argc, char **argv, struct bb_err *err)
{
	size_t counts[BB_CHECK_N_STATUSES] = {0};
	struct bb_fingerprint fp;
	bool testbed = false, is_terminal = isatty(STDOUT_FILENO);
	char name[BB_TESTBED_SIZE];

	bb_usage__parse(&usage, argc, argv, &testbed);
	if (testbed) {
		if (bb_fingerprint__read("", ".", &fp, err))
			return err->code;
		bb_testbed_name(&fp, name);
		puts(name);
		return BB_EXIT_OK;
	}
	for (size_t i = 0; i < bb_n_checks; i++) {
		struct bb_check_result r = {0};

		bb_check__run(&bb_checks[i], &r);
		counts[r.status]++;
		bb_clean__put_raw(stdout, is_terminal ? colours[r.status] : "");
		printf("%-4s", bb_check_status_name(r.status));
		bb_clean__put_raw(stdout, is_terminal ? "\033[0m" : "");
		printf("  %-22s %s\n", bb_checks[i].name, r.text);
		if (r.remedy[0])
			printf("      %-22s -> %s\n", "", r.remedy);
		fflush(stdout);
	}
	printf("%zu ok, %zu warn, %zu fail, %zu skip\n", counts[BB_CHECK_OK], counts[BB_CHECK_WARN],
	       counts[BB_CHECK_FAIL], counts[BB_CHECK_SKIP]);
	return counts[BB_CHECK_FAIL] ? BB_EXIT_FAILURE : BB_EXIT_OK;
}
