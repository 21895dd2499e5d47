/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emptying caches: the size of the buffer follows sysfs, and reading takes longer afterwards. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/std.h"
#include "drivers/cold.h"
#include "unit/folder_testing.h"
#include "unit/signed_rank_testing.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Writes root/sys/devices/system/cpu/cpu3/cache/index<i>/{type,size}. */
static void add_cache(const char *root, unsigned int i, const char *type, const char *size)
{
	const char *const name[] = {"type", "size"}, *const text[] = {type, size};
	char path[512];

	for (int k = 0; k < 2; k++) {
		FILE *file;

		snprintf(path, sizeof(path),
			 "mkdir -p %s/sys/devices/system/cpu/cpu3/cache/index%u", root, i);
		assert_int_equal(system(path), 0); /* NOLINT: a path of this test */
		snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu3/cache/index%u/%s",
			 root, i, name[k]);
		file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%s\n", text[k]);
		assert_int_equal(fclose(file), 0);
	}
}

static void test_sizes(void **state)
{
	const char *root = folder;

	(void)state;
	assert_int_equal(bb_cold_bytes(root, 3), 4 * MIB); /* the default without sysfs */
	add_cache(root, 0, "Data", "48K");
	/* Twice the size, rounded up to a power of two. */
	assert_int_equal(bb_cold_bytes(root, 3), 128 * KIB);
	assert_int_equal(bb_cold_bytes(root, 2), 4 * MIB); /* another CPU */
	add_cache(root, 1, "Instruction", "512K");
	assert_int_equal(bb_cold_bytes(root, 3), 128 * KIB);
	add_cache(root, 2, "Unified", "2048K");
	assert_int_equal(bb_cold_bytes(root, 3), 4 * MIB);
	add_cache(root, 3, "Unified", "16384K");
	assert_int_equal(bb_cold_bytes(root, 3), 32 * MIB);
	add_cache(root, 3, "Unified", "16385K"); /* too large to be emptied: L2 decides */
	assert_int_equal(bb_cold_bytes(root, 3), 4 * MIB);
	add_cache(root, 3, "Unified", "491520K");
	assert_int_equal(bb_cold_bytes(root, 3), 4 * MIB);
	add_cache(root, 3, "Unified", "99999999999999999999K");
	assert_int_equal(bb_cold_bytes(root, 3), 4 * MIB);
	add_cache(root, 3, "Unified", "much");
	assert_int_equal(bb_cold_bytes(root, 3), 4 * MIB);
}

static struct bb_cold *must_open(void)
{
	struct bb_err err = {0};
	struct bb_cold *c = NULL;
	int rc = bb_cold__open("", 0, &c, &err);

	if (rc == -ENOTSUP) {
		print_message("# skip: %s\n", err.msg);
		skip();
	}
	if (rc)
		fail_msg("%s", err.msg);
	return c;
}

/* Reads `bytes` bytes, one access a cache line. Returns the time, ns. */
static double read_all(const char *memory, size_t bytes)
{
	uint64_t began_ns = bb_now_ns();

	for (size_t at = 0; at < bytes; at += 64)
		(void)*(const volatile char *)(memory + at);
	return (double)(bb_now_ns() - began_ns);
}

/* 16 KiB take longer to read after emptying. If there were no difference, the test would pass once
 * in 1e6 times. */
static void test_evicts(void **state)
{
	enum { N = 60 };
	struct bb_cold *c = must_open();
	char *memory = calloc(1, 16 * KIB);
	struct signed_rank_p p;
	double d[N];

	(void)state;
	assert_non_null(memory);
	memset(memory, 1, 16 * KIB);
	for (size_t i = 0; i < N; i++) {
		double hot_ns;

		read_all(memory, 16 * KIB);
		hot_ns = read_all(memory, 16 * KIB);
		bb_cold__empty(c);
		d[i] = read_all(memory, 16 * KIB) - hot_ns;
	}
	p = signed_rank_p(d, N, 0);
	if (p.greater > 1e-6)
		fail_msg("p = %g that reading is as fast then; emptied: %s", p.greater,
			 bb_cold__emptied(c));
	free(memory);
	bb_cold__free(c);
	bb_cold__free(NULL);
}

/* The message names the caches that determine the size of the buffer. A child process gets a buffer
 * of its own. */
static void test_says_and_forks(void **state)
{
	struct bb_cold *c = must_open();
	pid_t child;
	int status;

	(void)state;
	assert_non_null(strstr(bb_cold__emptied(c), "TLB and branch history by writing "));
	assert_true(bb_cold__line_ns(c) > 0);
	child = fork();
	if (!child) {
		bb_cold__after_fork(c);
		_exit(!(bb_cold__line_ns(c) > 0));
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	bb_cold__free(c);
}

/* Emptying causes no page faults, which would fire an attached program, not even after a fork. */
static void test_takes_no_faults(void **state)
{
	struct bb_cold *c = must_open();
	struct rusage before, after;
	long least = LONG_MAX;
	pid_t child;

	(void)state;
	child = fork();
	if (!child)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	bb_cold__empty(c); /* its own state is copy-on-write since the fork */
	/* The kernel may take back pages in some rounds. Faults that our code causes would be in
	 * all. */
	for (int round = 0; round < 5; round++) {
		getrusage(RUSAGE_SELF, &before);
		for (int i = 0; i < 10; i++)
			bb_cold__line_ns(c);
		getrusage(RUSAGE_SELF, &after);
		if (after.ru_minflt - before.ru_minflt < least)
			least = after.ru_minflt - before.ru_minflt;
	}
	/* Counting itself causes two. One fault for each page of the buffer would be a thousand. */
	assert_true(least < 10);
	bb_cold__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sizes, make_folder, remove_folder),
		cmocka_unit_test(test_evicts),
		cmocka_unit_test(test_says_and_forks),
		cmocka_unit_test(test_takes_no_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
