/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The consumer's function: what it logs and what it refuses, and that the built-in bug is as
 * documented. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/std.h"
#include "core/drive_kind.h"
#include "drivers/driver.h"
#include "perf_profiler.h"
#include "stats/quantile.h"
#include "unit/signed_rank_testing.h"
#include "workloads/functions.h"

static struct bb_sample_log log_in(char *text, size_t size)
{
	return (struct bb_sample_log){.text = text, .size = size, .fd = -1};
}

static struct bb_sample sample_of(uint64_t frames)
{
	struct bb_sample s = {.header = {.ktime_ns = 12000000345,
					 .pid = 7,
					 .tid = 4294967295,
					 .stack_len = 8 * frames}};

	for (uint64_t i = 0; i < frames; i++)
		s.stack[i] = 0xabc0 + i;
	return s;
}

static void test_line(void **state)
{
	struct bb_sample s = sample_of(3), none = sample_of(0);
	char text[1024];
	struct bb_sample_log log = log_in(text, sizeof(text));

	(void)state;
	s.stack[2] = UINT64_MAX;
	assert_int_equal(bb_process_sample_fixed.process(&s, sizeof(s), &log), 0);
	assert_int_equal(bb_process_sample_fixed.process(&none, sizeof(none.header), &log), 0);
	text[log.used] = '\0';
	assert_string_equal(text, "12.000000345 pid 7 tid 4294967295 frames 3 "
				  "0xabc0..0xffffffffffffffff\n"
				  "12.000000345 pid 7 tid 4294967295 frames 0\n");
	assert_int_equal(log.lines, 2);
}

/* Data from a ring is untrusted: a stack longer than its record must not be read. */
static void test_no_sample(void **state)
{
	struct bb_sample s = sample_of(3);
	char text[1024];
	struct bb_sample_log log = log_in(text, sizeof(text));

	(void)state;
	assert_int_equal(bb_process_sample_fixed.process(&s, sizeof(s.header) - 1, &log), -EINVAL);
	assert_int_equal(bb_process_sample_fixed.process(&s, sizeof(s.header) + 23, &log), -EINVAL);
	assert_int_equal(bb_process_sample_fixed.process(&s, sizeof(s.header) + 24, &log), 0);
	s.header.stack_len = 7;
	assert_int_equal(bb_process_sample_fixed.process(&s, sizeof(s), &log), -EINVAL);
	s.header.stack_len = UINT64_MAX - 7;
	assert_int_equal(bb_process_sample_fixed.process(&s, sizeof(s), &log), -EINVAL);
	assert_int_equal(log.lines, 1);
}

/* The longest line fits into the smallest room, and everything reaches the file. */
static void test_flush(void **state)
{
	static const char longest[] = "18446744073.709551615 pid 4294967295 tid 4294967295 frames "
				      "512 "
				      "0xffffffffffffffff..0xffffffffffffffff\n";
	struct bb_sample s = sample_of(512);
	char text[BB_SAMPLE_LINE_BYTES], back[4096];
	struct bb_sample_log log = log_in(text, sizeof(text));
	int fds[2];
	ssize_t n;

	(void)state;
	s.header = (struct bb_sample_header){UINT64_MAX, UINT32_MAX, UINT32_MAX, sizeof(s.stack)};
	s.stack[0] = s.stack[511] = UINT64_MAX;
	assert_int_equal(pipe(fds), 0);
	log.fd = fds[1];
	for (int i = 0; i < 10; i++)
		assert_int_equal(bb_process_sample_fixed.process(&s, sizeof(s), &log), 0);
	assert_int_equal(bb_sample_log__flush(&log), 0);
	close(fds[1]);
	n = read(fds[0], back, sizeof(back) - 1);
	close(fds[0]);
	assert_true(n > 0);
	back[n] = '\0';
	assert_int_equal(n, 10 * strlen(longest));
	for (const char *line = back; *line; line += strlen(longest))
		assert_memory_equal(line, longest, strlen(longest));
	log = log_in(text, sizeof(text));
	log.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_int_equal(bb_process_sample_fixed.process(&s, sizeof(s), &log), 0);
	assert_int_equal(bb_process_sample_fixed.process(&s, sizeof(s), &log), -ENOSPC);
	close(log.fd);
}

/* Calls the buggy function. Returns by how much longer it took than the milliseconds of the second
 * at its start. */
static double slept_too_long_ms(struct bb_sample_log *log)
{
	struct bb_sample s = sample_of(1);
	struct timespec before, after;

	clock_gettime(CLOCK_REALTIME, &before);
	assert_int_equal(bb_process_sample_oops.process(&s, sizeof(s), log), 0);
	clock_gettime(CLOCK_REALTIME, &after);
	return 1e3 * (double)(after.tv_sec - before.tv_sec) +
	       1e-6 * (double)(after.tv_nsec - before.tv_nsec) - (double)(before.tv_nsec / 1000000);
}

/* The bug: the function sleeps for as many milliseconds as have passed of the current second. */
static void test_oops(void **state)
{
	char text[1024];
	struct bb_sample_log log = log_in(text, sizeof(text));
	unsigned int calls = 1;

	(void)state;
	/* If a new second begins between the clock and the call, the function hardly sleeps. */
	while (slept_too_long_ms(&log) < 0 && calls < 10)
		calls++;
	assert_in_range(calls, 1, 9);
	assert_int_equal(log.lines, calls);
	assert_ptr_equal(bb_sample_processor_find("oops"), &bb_process_sample_oops);
	assert_null(bb_sample_processor_find("none"));
	for (size_t i = 0; bb_sample_consumer_name(i); i++)
		assert_true(!strcmp(bb_sample_consumer_name(i), "none") ||
			    bb_sample_processor_find(bb_sample_consumer_name(i)));
}

/* --- with: call --- */

struct calls {
	struct bb_drive_spec drive;
	struct bb_variant_spec variant;
	struct bb_test_prog prog;
	struct bb_drive_state *state;
	struct bb_drive_slot *slot;
};

static int open_calls(struct calls *c, const char *function, const char *version,
		      struct bb_err *err)
{
	const struct bb_driver_opts opts = {.cpu = 0, .seed = 1};
	int rc;

	*c = (struct calls){.drive.kind = &bb_driver_call.kind,
			    .drive.call.function = (char *)(uintptr_t)function,
			    .variant.program = (char *)(uintptr_t)version};
	c->prog.spec = &c->variant;
	assert_int_equal(bb_driver__open(&c->drive, &opts, &c->state, err), 0);
	rc = bb_driver__probe(c->state, &c->prog, err);
	if (!rc)
		assert_int_equal(bb_driver__attach(c->state, &c->prog, &c->slot, err), 0);
	return rc;
}

static void close_calls(struct calls *c)
{
	bb_driver__detach(c->slot);
	bb_driver__close(c->state);
}

/* Returns the median of a batch of a fast function, in ps. The batch has as many samples as
 * requested, each of many calls. */
static double fast_call_ps(const char *version)
{
	uint64_t ps[20];
	double x[20];
	struct bb_batch b = {.ns = ps, .want = 20, .max_s = 60};
	struct bb_err err = {0};
	struct calls c;

	assert_int_equal(open_calls(&c, "source_addr", version, &err), 0);
	assert_int_equal(bb_driver__batch(c.slot, 0, &b, &err), 0);
	assert_int_equal(b.n, 20);
	assert_true(b.run_cnt > 20 * 5 * 8);
	assert_true(isnan(b.target_cpu_s));
	for (int k = 0; k < 20; k++)
		x[k] = (double)ps[k];
	close_calls(&c);
	return bb_median(x, 20);
}

/* v3 takes longer than v4 because of its loop: in so many of 20 pairs that equal functions would
 * pass once in 10 000 times. */
static void test_fast_calls(void **state)
{
	struct signed_rank_p p;
	double d[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		d[i] = fast_call_ps("v3") - fast_call_ps("v4");
	p = signed_rank_p(d, 20, 0);
	if (p.greater > 1e-4)
		fail_msg("p = %g that v3 costs no more than v4", p.greater);
}

/* A function that sleeps is called once a sample, and the batch's time limits the number of
 * calls. */
static void test_slow_calls(void **state)
{
	uint64_t ps[100], began_ns = bb_now_ns();
	struct bb_batch b = {.ns = ps, .want = 100, .max_s = 0.001};
	struct bb_err err = {0};
	struct calls c;

	(void)state;
	assert_int_equal(open_calls(&c, "process_sample", "oops", &err), 0);
	assert_int_equal(bb_driver__batch(c.slot, 0, &b, &err), 0);
	assert_true(b.n >= 1 && b.n < 100);
	assert_int_equal(b.run_cnt, b.n);
	assert_true((double)b.run_time_ns <= (double)(bb_now_ns() - began_ns));
	close_calls(&c);
}

/* The calls that warm up a fast function are in no figure: the naive mean is of the others. */
static void test_warm_up_calls(void **state)
{
	uint64_t ps[1];
	struct bb_batch b = {.ns = ps, .want = 0, .max_s = 60};
	struct bb_err err = {0};
	struct calls c;

	(void)state;
	assert_int_equal(open_calls(&c, "source_addr", "v3", &err), 0);
	assert_int_equal(bb_driver__batch(c.slot, 0, &b, &err), 0);
	assert_int_equal(b.n, 0);
	assert_int_equal(b.run_cnt, 0);
	assert_int_equal(b.run_time_ns, 0);
	close_calls(&c);
}

static void test_no_version(void **state)
{
	struct bb_err err = {0};
	struct calls c;

	(void)state;
	assert_int_equal(open_calls(&c, "source_addr", "v5", &err), -ENOENT);
	assert_string_equal(err.msg, "function 'source_addr' has no version 'v5'; it has: v1, v2, "
				     "v3, v4");
	close_calls(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),          cmocka_unit_test(test_no_sample),
		cmocka_unit_test(test_flush),         cmocka_unit_test(test_oops),
		cmocka_unit_test(test_fast_calls),    cmocka_unit_test(test_slow_calls),
		cmocka_unit_test(test_warm_up_calls), cmocka_unit_test(test_no_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
