/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel's counters of a program: from the text of fdinfo, and for real programs from
 * fdinfo, info-by-fd and bpftool, which agree. Also: what a target keeps from load to load.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include "bpf/prog_stats.h"
#include "bpf/attach.h"
#include "unit/bpf_testing.h"

/* --- the text --- */

/* As Linux 6.1 prints it (kernel/bpf/syscall.c, bpf_prog_show_fdinfo). */
static const char linux_6_1[] = "pos:\t0\nflags:\t02000002\nmnt_id:\t15\nino:\t8\nprog_type:"
				"\t7\nprog_jited:\t1\nprog_tag:\ta04f5eef06a7f555\n"
				"memlock:\t4096\nprog_id:\t42\nrun_time_ns:\t123456789012\nrun_cnt:"
				"\t4242\nrecursion_misses:\t3\nverified_insns:\t2\n";

static void test_fdinfo_text(void **state)
{
	struct bb_prog_stats s = {0};

	(void)state;
	assert_int_equal(bb_stats_parse_fdinfo(linux_6_1, &s), 0);
	assert_int_equal(s.run_time_ns, 123456789012);
	assert_int_equal(s.run_cnt, 4242);
	assert_int_equal(s.recursion_misses, 3);
}

static void test_fdinfo_text_limits(void **state)
{
	struct bb_prog_stats s = {0};

	(void)state;
	/* Before 5.12 there were no misses to count. */
	assert_int_equal(bb_stats_parse_fdinfo("run_time_ns:\t7\nrun_cnt:\t1\n", &s), 0);
	assert_int_equal(s.recursion_misses, 0);
	/* No newline at the end, other orders, the largest number. */
	assert_int_equal(bb_stats_parse_fdinfo("run_cnt:\t18446744073709551615\nrun_time_ns:\t0",
					       &s),
			 0);
	assert_true(s.run_cnt == UINT64_MAX);
	assert_int_equal(s.run_time_ns, 0);
	/* A key that only begins or ends like ours is another key. */
	assert_int_equal(bb_stats_parse_fdinfo("x_run_cnt:\t9\nrun_cnt_x:\t9\nrun_cnt:\t1\nrun_"
					       "time_ns:\t2\n",
					       &s),
			 0);
	assert_int_equal(s.run_cnt, 1);
}

static void test_fdinfo_text_malformed(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"run_cnt:\t1\n", /* a kernel without statistics */
		"run_time_ns:\t1\n",
		"run_time_ns:\t\nrun_cnt:\t1\n",
		"run_time_ns:\t1\nrun_cnt:\t12abc\n",
		"run_time_ns:\t-1\nrun_cnt:\t1\n",
		"run_time_ns:\t1 \nrun_cnt:\t1\n",
		"run_time_ns 1\nrun_cnt 1\n",
		"run_time_ns:\t18446744073709551616\nrun_cnt:\t1\n",
		"run_time_ns:\t1111111111111111111111111111111111111111\nrun_cnt:\t1\n",
		"run_time_ns:\t1\nrun_cnt:\t1\nrecursion_misses:\tmany\n",
		"run_time_ns:",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct bb_prog_stats s = {1, 2, 3};

		if (bb_stats_parse_fdinfo(texts[i], &s) != -EPROTO)
			fail_msg("should be -EPROTO: %s", texts[i]);
		/* Outputs are written on success only. */
		assert_true(s.run_time_ns == 1 && s.run_cnt == 2 && s.recursion_misses == 3);
	}
}

static void test_reader_of_no_program(void **state)
{
	struct bb_stats_reader r = {0};
	struct bb_prog_stats s;
	struct bb_err err = {0};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(bb_stats_reader__open(1000000, &r, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/proc/self/fdinfo/1000000"));
	assert_int_equal(bb_stats_reader__open(fd, &r, &err), 0);
	assert_int_equal(bb_stats_reader__fdinfo(&r, &s), -EPROTO);
	assert_true(bb_stats_reader__info(&r, &s) < 0);
	assert_true(bb_stats_reader__agreed(&r, &s, &err) < 0);
	bb_stats_reader__close(&r);
	bb_stats_reader__close(&r); /* a second close is harmless */
	bb_stats_reader__close(NULL);
	close(fd);
}

/* --- real programs --- */

/* Causes one fault a page. Not instrumented, because AddressSanitizer's reads of its own memory
 * would sometimes fault, too. */
static __attribute__((noinline, no_sanitize("address"))) void touch(const char *region, size_t n,
								    size_t page)
{
	for (size_t i = 0; i < n; i++)
		(void)*(const volatile char *)(region + i * page);
}

/* Fires `n` page-fault events at the loaded program, without the step drive. */
static void fire(const struct bb_target *t, size_t n)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.exclude_kernel = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct bb_err err = {0};
	char *region = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	int fd;

	assert_true(region != MAP_FAILED);
	madvise(region, n * page, MADV_NOHUGEPAGE);
	if (bb_perf_event__open(&attr, 0, -1, t->prog_fd, &fd, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(bb_perf_event__enable(fd), 0);
	touch(region, n, page);
	assert_int_equal(bb_perf_event__disable(fd), 0);
	close(fd);
	munmap(region, n * page);
}

static void test_same_as_bpftool(void **state)
{
	static const char *const programs[] = {"empty", "ringbuf", "perfbuf", "stackid"};
	struct bb_stats_enable on;
	struct bb_err err = {0};
	char path[4096];
	const char *bpftool;

	(void)state;
	need_root();
	bpftool = find_bpftool(path, sizeof(path));
	if (!bpftool) {
		print_message("# skip: no bpftool that works here\n");
		skip();
	}
	assert_int_equal(bb_stats_enable__on(&on, &err), 0);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct bb_target *t = open_target(PERF_PROFILER, programs[i]);
		struct bb_prog_stats fdinfo, info, agreed;
		json_t *said;

		load(t);
		fire(t, 300 + i);
		assert_int_equal(bb_stats_reader__fdinfo(&t->reader, &fdinfo), 0);
		assert_int_equal(bb_stats_reader__info(&t->reader, &info), 0);
		assert_int_equal(bb_stats_reader__agreed(&t->reader, &agreed, &err), 0);
		said = ask_bpftool(bpftool, "prog", prog_id(t));
		assert_int_equal(fdinfo.run_cnt, 300 + i);
		assert_int_equal(info.run_cnt, 300 + i);
		assert_int_equal(agreed.run_cnt, 300 + i);
		assert_int_equal(json_integer_value(json_object_get(said, "run_cnt")), 300 + i);
		assert_true(fdinfo.run_time_ns > 0);
		assert_int_equal(info.run_time_ns, fdinfo.run_time_ns);
		assert_int_equal(agreed.run_time_ns, fdinfo.run_time_ns);
		assert_int_equal(json_integer_value(json_object_get(said, "run_time_ns")),
				 fdinfo.run_time_ns);
		assert_string_equal(json_string_value(json_object_get(said, "name")), programs[i]);
		json_decref(said);
		bb_target__free(t);
	}
	bb_stats_enable__off(&on);
}

static int read_sysctl(void)
{
	FILE *in = fopen("/proc/sys/kernel/bpf_stats_enabled", "re");
	int c = in ? fgetc(in) : EOF;

	if (in)
		fclose(in);
	return c;
}

/* True if bpf_stats is on: the program's run_cnt grows when it runs. */
static bool is_counting(const struct bb_target *t)
{
	struct bb_prog_stats before, after;

	assert_int_equal(bb_stats_reader__info(&t->reader, &before), 0);
	fire(t, 1);
	assert_int_equal(bb_stats_reader__info(&t->reader, &after), 0);
	return after.run_cnt != before.run_cnt;
}

/* bpf_stats is on only between __on and __off. Afterwards the sysctl has its old value. */
static void test_stats_on_and_off(void **state)
{
	struct bb_stats_enable on;
	struct bb_err err = {0};
	struct bb_target *t;
	int sysctl = read_sysctl();
	bool held, left;

	(void)state;
	need_root();
	t = open_target(PERF_PROFILER, "empty");
	load(t);
	held = is_counting(t);
	assert_int_equal(bb_stats_enable__on(&on, &err), 0);
	assert_true(is_counting(t));
	bb_stats_enable__off(&on);
	assert_int_equal(read_sysctl(), sysctl);
	/* Another process may have bpf_stats on for a moment: give it time to end. */
	left = !held && is_counting(t);
	for (int i = 0; left && i < 100; i++) {
		usleep(50000);
		left = is_counting(t);
	}
	bb_target__free(t);
	bb_stats_enable__off(&on); /* a second off is harmless */
	bb_stats_enable__off(NULL);
	if (held) {
		print_message("# skip: another process holds bpf_stats\n");
		skip();
	}
	assert_false(left);
}

static void test_reload(void **state)
{
	struct bb_target *t;
	__u32 ring, stacks;
	uint64_t places = 0;
	int fds_before, fds_after;

	(void)state;
	need_root();
	t = open_target(PERF_PROFILER, "ringbuf");
	load(t);
	ring = map_id(t, "samples");
	stacks = map_id(t, "stacks");
	assert_true(ring > 0);
	assert_int_equal(stacks, 0); /* ringbuf does not use this map */
	fds_before = dup(0);
	close(fds_before);
	for (int i = 0; i < 30; i++) {
		load(t);
		assert_int_equal(map_id(t, "samples"), ring);
		assert_in_range(t->jit_mod64, 0, 63);
		places |= UINT64_C(1) << t->jit_mod64;
	}
	fds_after = dup(0);
	close(fds_after);
	/* 30 loads hold no more descriptors than one. */
	assert_int_equal(fds_after, fds_before);
	if (!(places & (places - 1)))
		fail_msg("30 loads were all at one address mod 64: places %llx",
			 (unsigned long long)places);
	bb_target__free(t);
}

static void test_load_at(void **state)
{
	struct bb_err err = {0};
	struct bb_target *t;
	uint32_t seen[BB_PLACES] = {0};
	int first;

	(void)state;
	need_root();
	t = open_target(PERF_PROFILER, "ringbuf");
	load(t);
	first = t->jit_mod64;
	for (int i = 0; i < 100 && t->jit_mod64 == first; i++)
		load(t);
	assert_int_not_equal(t->jit_mod64, first);
	/* With 16 places or fewer, 1000 tries miss one with a probability of 1e-28. */
	assert_int_equal(bb_target__load_at(t, bb_place(first), 1000, seen, &err), 0);
	assert_int_equal(t->jit_mod64, first);
	assert_int_equal(seen[first], 1);
	assert_int_equal(bb_target__load_at(t, BB_ANYWHERE, 1, NULL, &err), 0);
	/* Code begins at even addresses. */
	memset(seen, 0, sizeof(seen));
	assert_int_equal(bb_target__load_at(t, bb_place(63), 3, seen, &err), -EAGAIN);
	assert_int_equal(seen[63], 0);
	for (int i = 0; i < BB_PLACES; i++)
		seen[63] += i < 63 ? seen[i] : 0;
	assert_int_equal(seen[63], 3);
	bb_target__free(t);
}

static void test_unload_leaves_no_program(void **state)
{
	struct bb_target *t;
	__u32 id, next;
	bool seen = true;

	(void)state;
	need_root();
	t = open_target(PERF_PROFILER, "empty");
	load(t);
	id = prog_id(t);
	bb_target__unload(t);
	assert_int_equal(t->prog_fd, -1);
	assert_int_equal(t->jit_mod64, -1);
	/* The id goes with the last reference, but the kernel may defer that. */
	for (int i = 0; i < 3000 && seen; i++) {
		seen = !bpf_prog_get_next_id(id - 1, &next) && next == id;
		if (seen)
			usleep(20000);
	}
	assert_false(seen);
	bb_target__unload(t); /* a second unload is harmless */
	load(t);              /* and the target can be loaded again */
	assert_true(t->prog_fd >= 0);
	bb_target__free(t);
}

static void test_drops(void **state)
{
	const struct bb_global_spec third = {.name = (char *)(uintptr_t) "every", .value = 3};
	uint64_t drops = 99;
	struct bb_target *t;

	(void)state;
	need_root();
	t = open_target(DROPS, "drops_some");
	load(t);
	assert_int_equal(bb_target__drops(t, &drops), 0);
	assert_int_equal(drops, 0);
	fire(t, 30);
	assert_int_equal(bb_target__drops(t, &drops), 0);
	assert_int_equal(drops, 30);
	load(t); /* each load has its own .bss */
	assert_int_equal(bb_target__drops(t, &drops), 0);
	assert_int_equal(drops, 0);
	bb_target__free(t);
	t = open_target_with(DROPS, "drops_some", &third, 1);
	load(t);
	fire(t, 30);
	assert_int_equal(bb_target__drops(t, &drops), 0);
	assert_int_equal(drops, 10);
	bb_target__free(t);
}

/* The ring of a program overflows if nobody empties it. It does not if bb_target__drain() empties
 * it. */
static void test_drain(void **state)
{
	const size_t n = 2000; /* samples of 4120 bytes: 8 MB; the ring holds 16 MB */
	uint64_t drops = 0;
	struct bb_target *t;

	(void)state;
	need_root();
	t = open_target(PERF_PROFILER, "ringbuf");
	load(t);
	for (int i = 0; i < 3; i++)
		fire(t, n);
	assert_int_equal(bb_target__drops(t, &drops), 0);
	assert_true(drops > 0);
	load(t);
	bb_target__drain(t, false);
	for (int i = 0; i < 4; i++) {
		fire(t, n);
		bb_target__drain(t, false);
	}
	assert_int_equal(bb_target__drops(t, &drops), 0);
	assert_int_equal(drops, 0);
	/* "Only when half full": 1000 samples stay in the ring. With the next 2000, it is more than
	 * half full. */
	load(t);
	fire(t, 1000);
	bb_target__drain(t, true);
	for (int i = 0; i < 6; i++) {
		fire(t, n);
		bb_target__drain(t, true);
	}
	assert_int_equal(bb_target__drops(t, &drops), 0);
	assert_int_equal(drops, 0);
	bb_target__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fdinfo_text),
		cmocka_unit_test(test_fdinfo_text_limits),
		cmocka_unit_test(test_fdinfo_text_malformed),
		cmocka_unit_test(test_reader_of_no_program),
		cmocka_unit_test(test_same_as_bpftool),
		cmocka_unit_test(test_stats_on_and_off),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_load_at),
		cmocka_unit_test(test_unload_leaves_no_program),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_drain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
