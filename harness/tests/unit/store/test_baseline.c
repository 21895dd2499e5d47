/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "store/store.h"
#include "unit/folder_testing.h"
#include "unit/report_testing.h"

#define OLD_RUN "20261121T131700Z-perf_profiler-00000001"
#define NEW_RUN "20261121T131800Z-perf_profiler-00000002"

static void store(const char *id)
{
	struct bb_report *r = make_report(id);

	assert_int_equal(bb_store__write(folder, r, NULL, NULL), 0);
	bb_report__free(r);
}

static int make_folder_with_runs(void **state)
{
	if (make_folder(state))
		return -1;
	store(OLD_RUN);
	store(NEW_RUN);
	return 0;
}

static int save(const char *name, const char *id, struct bb_err *err)
{
	return bb_baseline__save(folder, name, id, err);
}

static void assert_says(const struct bb_err *err, const char *part)
{
	if (!strstr(err->msg, part))
		fail_msg("'%s' is not in '%s'", part, err->msg);
	if (strchr(err->msg, '\n'))
		fail_msg("more than one line: '%s'", err->msg);
}

static void assert_is_run(const char *which, const char *id)
{
	struct bb_report *r = NULL;
	struct bb_err err = {0};

	if (bb_baseline__read(which, folder, &r, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(r->id, id);
	bb_report__free(r);
}

static int count_baselines(void)
{
	DIR *d = opendir(in_folder("baselines"));
	int n = -2;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_saved_and_overwritten(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(save("main", OLD_RUN, NULL), 0);
	assert_is_run("main", OLD_RUN);
	text = slurp(in_folder("baselines/main"));
	assert_string_equal(text, OLD_RUN "\n");
	free(text);
	assert_int_equal(save("main", NEW_RUN, NULL), 0);
	assert_is_run("main", NEW_RUN);
	assert_int_equal(save("v1.0_rc-2", OLD_RUN, NULL), 0);
	assert_is_run("v1.0_rc-2", OLD_RUN);
	assert_is_run("main", NEW_RUN);
	assert_int_equal(count_baselines(), 2); /* and no temporary file */
}

static void test_runs_by_other_names(void **state)
{
	(void)state;
	assert_int_equal(save("main", OLD_RUN, NULL), 0);
	assert_is_run("latest", NEW_RUN);
	assert_is_run(OLD_RUN, OLD_RUN);
	assert_is_run("20261121T131800Z", NEW_RUN);
	assert_is_run(in_folder(OLD_RUN ".json"), OLD_RUN);
}

/* A baseline's name goes before a run whose id begins with it. */
static void test_baseline_comes_first(void **state)
{
	(void)state;
	assert_int_equal(save("20261121T131800Z", OLD_RUN, NULL), 0);
	assert_is_run("20261121T131800Z", OLD_RUN);
}

static void test_bad_names(void **state)
{
	static const char *const bad[] = {"",     ".",      "..",  ".hidden", "-x",      "a/b",
					  "../x", "latest", "a b", "x\n",     "\xc3\xa9"};
	char name[200];
	struct bb_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(save(bad[i], OLD_RUN, &err), -EINVAL);
		assert_non_null(strstr(err.msg, "cannot be the name of a baseline"));
	}
	memset(name, 'n', sizeof(name));
	name[101] = '\0';
	assert_int_equal(save(name, OLD_RUN, &err), -EINVAL);
	name[100] = '\0';
	assert_int_equal(save(name, OLD_RUN, &err), 0);
	assert_int_equal(count_baselines(), 1);
}

static void test_run_must_be_there(void **state)
{
	struct bb_report *r = NULL;
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(save("main", "20250101T000000Z-nothing", &err), -ENOENT);
	assert_says(&err, "is not stored in");
	assert_int_equal(save("main", "../" OLD_RUN, &err), -ENOENT);
	assert_int_equal(save("main", OLD_RUN, &err), 0);
	assert_int_equal(unlink(in_folder(OLD_RUN ".json")), 0);
	assert_int_equal(bb_baseline__read("main", folder, &r, &err), -ENOENT);
	assert_says(&err, "the baseline 'main' is the run " OLD_RUN);
	assert_null(r);
}

static void test_unknown_name_lists_those_there_are(void **state)
{
	struct bb_report *r = NULL;
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_baseline__read("mian", folder, &r, &err), -ENOENT);
	assert_says(&err, "Baselines saved there: none");
	assert_int_equal(save("main", OLD_RUN, NULL), 0);
	assert_int_equal(bb_baseline__read("mian", folder, &r, &err), -ENOENT);
	assert_says(&err, "no run 'mian'");
	assert_says(&err, "Baselines saved there: main");
	assert_null(r);
}

static void test_damaged_files(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} bad[] = {
		{"", 0},       {"\n", 1},     {"../x\n", 5}, {OLD_RUN "\n\n", sizeof(OLD_RUN) + 1},
		{"a\nb\n", 4}, {"a\0b\n", 4}, {".\n", 2},
	};
	struct bb_report *report = NULL;
	char large[2000];
	struct bb_err err;

	(void)state;
	assert_int_equal(save("main", OLD_RUN, NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		spill(in_folder("baselines/main"), bad[i].text, bad[i].len);
		assert_int_equal(bb_baseline__read("main", folder, &report, &err), -EINVAL);
		assert_says(&err, "baselines/main: not a baseline");
	}
	memset(large, 'x', sizeof(large));
	spill(in_folder("baselines/main"), large, sizeof(large));
	assert_int_equal(bb_baseline__read("main", folder, &report, &err), -EFBIG);
	assert_null(report);
	/* An editor may add no newline. */
	spill(in_folder("baselines/main"), OLD_RUN, strlen(OLD_RUN));
	assert_is_run("main", OLD_RUN);
}

static void test_folder_that_is_a_file(void **state)
{
	struct bb_err err;

	(void)state;
	spill(in_folder("baselines"), "x", 1);
	assert_int_equal(save("main", OLD_RUN, &err), -ENOTDIR);
	assert_says(&err, "the baseline was not saved");
	assert_is_run(OLD_RUN, OLD_RUN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_saved_and_overwritten, make_folder_with_runs,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_runs_by_other_names, make_folder_with_runs,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_baseline_comes_first, make_folder_with_runs,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_bad_names, make_folder_with_runs,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_run_must_be_there, make_folder_with_runs,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_unknown_name_lists_those_there_are,
						make_folder_with_runs, remove_folder),
		cmocka_unit_test_setup_teardown(test_damaged_files, make_folder_with_runs,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_folder_that_is_a_file, make_folder_with_runs,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
