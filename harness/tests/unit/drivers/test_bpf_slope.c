/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slope drive on real programs: more work gives a steeper line, bpf_stats stays off, and
 * signals lose no line. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>

#include "bpf/prog_stats.h"
#include "drivers/driver.h"
#include "drivers/trigger_test_run.h"
#include "run/record.h"
#include "stats/quantile.h"
#include "unit/bpf_testing.h"
#include "unit/signed_rank_testing.h"

#define TEST_RUN "tests/bpf/test_run.bpf.o"
#define LADDER "tests/bpf/ladder.bpf.o"
#define QUEUE "tests/bpf/queue.bpf.o"
#define LINES 40u
#define PAIRS 20u

/* A drive with one program attached. */
struct running {
	struct bb_test_prog prog;
	struct bb_drive_spec spec;
	struct bb_input input;
	struct bb_drive_state *state;
	struct bb_drive_slot *slot;
	uint64_t ps[LINES];
};

static struct running *begin(const char *object, const char *program)
{
	struct running *r = calloc(1, sizeof(*r));
	struct bb_driver_opts opts = {0};
	struct bb_err err = {0};

	assert_non_null(r);
	opts.cpu = opts.poll_cpu = sched_getcpu();
	r->spec.kind = &bb_driver_slope.kind;
	r->prog.target = open_target(object, program);
	load(r->prog.target);
	if (bb_driver__open(&r->spec, &opts, &r->state, &err) ||
	    bb_driver__probe(r->state, &r->prog, &err) ||
	    bb_record__attach(r->state, &r->prog, &r->slot, &err))
		fail_msg("%s", err.msg);
	return r;
}

static struct bb_batch batch(struct running *r)
{
	struct bb_batch b = {.ns = r->ps, .want = LINES};
	struct bb_err err = {0};

	if (bb_driver__batch(r->slot, 0, &b, &err))
		fail_msg("%s", err.msg);
	return b;
}

static void end(struct running *r)
{
	bb_driver__detach(r->slot);
	bb_driver__close(r->state);
	bb_target__free(r->prog.target);
	free(r);
}

static double median_ns(const struct bb_batch *b)
{
	double x[LINES];

	for (size_t i = 0; i < b->n; i++)
		x[i] = (double)b->ns[i] / bb_driver_slope.kind.units_per_ns;
	return bb_median(x, b->n);
}

/* Takes lines of both programs in turns. `steep` must be steeper in so many pairs that two equal
 * programs would pass once in 10 000 times. Other processes disturb some pairs. */
static void is_steeper(const char *steep, const char *flat)
{
	const char *const programs[] = {flat, steep};
	struct running *r[2];
	struct signed_rank_p p;
	double ns[2], d[PAIRS];
	size_t positive = 0, repeated = 0;

	for (size_t i = 0; i < 2; i++)
		r[i] = begin(LADDER, programs[i]);
	for (size_t k = 0; k < PAIRS; k++) {
		for (size_t i = 0; i < 2; i++) {
			struct bb_batch b = batch(r[i]);

			/* The driver voids a batch that other processes disturbed, which happens
			 * under emulation on a busy machine. Most batches must be valid. */
			while (b.void_why[0] && ++repeated <= PAIRS / 2)
				b = batch(r[i]);
			assert_string_equal(b.void_why, "");
			assert_int_equal(b.n, LINES);
			assert_int_equal(b.fired, LINES);
			ns[i] = median_ns(&b);
			assert_true(ns[i] > 0);
			positive += b.slope.intercept_ns > 0;
		}
		d[k] = ns[1] - ns[0];
	}
	for (size_t i = 0; i < 2; i++)
		end(r[i]);
	/* A system call takes time, so the intercept is positive. If other processes slow down only
	 * the long calls, a line may meet the axis below 0. */
	assert_true(positive > 0);
	p = signed_rank_p(d, PAIRS, 0);
	if (p.greater > 1e-4)
		fail_msg("p = %g that %s is no steeper than %s", p.greater, steep, flat);
}

/* The programs differ only in the work: 16 times as much, or some against none. */
static void test_more_work_is_steeper(void **state)
{
	(void)state;
	need_root();
	is_steeper("rung_128", "rung_8");
	is_steeper("rung_128", "rung_0");
}

/* The program's counters do not change. If another process has bpf_stats on, they do, and the check
 * says so. */
static void test_statistics_of_others(void **state)
{
	struct bb_stats_enable others;
	struct bb_err err = {0};
	struct running *r;
	char why[300] = "not looked at yet";
	uint64_t misses;

	(void)state;
	need_root();
	r = begin(LADDER, "rung_0");
	/* Another process on this machine may really have it on. */
	for (int tries = 0; tries < 10 && why[0]; tries++) {
		assert_int_equal(bb_stats_reader__agreed(&r->prog.target->reader, &r->slot->before,
							 &err),
				 0);
		batch(r);
		bb_record__check(r->slot, &misses, why, sizeof(why));
		if (why[0])
			usleep(200000);
	}
	if (strstr(why, "another process has bpf_stats on")) {
		end(r);
		print_message("# skip: another process holds bpf_stats\n");
		skip();
	}
	assert_string_equal(why, "");
	assert_int_equal(bb_stats_enable__on(&others, &err), 0);
	batch(r);
	bb_stats_enable__off(&others);
	bb_record__check(r->slot, &misses, why, sizeof(why));
	assert_non_null(strstr(why, "another process has bpf_stats on"));
	end(r);
}

static void takes_no_repeat(const char *program)
{
	struct bb_test_prog prog = {.target = open_target(TEST_RUN, program)};
	struct bb_driver_opts opts = {0};
	struct bb_drive_spec spec = {.kind = &bb_driver_slope.kind};
	struct bb_err err = {0};
	struct bb_drive_state *drive = NULL;

	load(prog.target);
	assert_int_equal(bb_driver__open(&spec, &opts, &drive, &err), 0);
	assert_int_equal(bb_driver__probe(drive, &prog, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "takes no repeat"));
	bb_driver__close(drive);
	bb_target__free(prog.target);
}

static void test_raw_tp_without_repeat(void **state)
{
	(void)state;
	need_root();
	takes_no_repeat("raw_tp_third");
}

static void test_syscall_without_repeat(void **state)
{
	(void)state;
	need_prog_type(BPF_PROG_TYPE_SYSCALL);
	takes_no_repeat("syscall_sum");
}

static void test_wrong_return_value(void **state)
{
	struct running *r;
	struct bb_batch b;

	(void)state;
	need_root();
	r = begin(LADDER, "rung_0");
	r->input = (struct bb_input){.name = (char *)(uintptr_t) "zeros",
				     .data = (uint8_t[64]){0},
				     .len = 64,
				     .has_retval = true,
				     .retval = 2};
	r->spec.inputs = (struct bb_inputs){&r->input, 1};
	b = batch(r);
	assert_string_equal(b.void_why, "returned 0 (TC_ACT_OK), 2 (TC_ACT_SHOT) expected");
	end(r);
}

/* The queue has 16 entries and is emptied after every call. With `repeat: 8` all entries fit; with
 * a larger repeat they do not. */
static void test_repeat_is_kept(void **state)
{
	struct running *r;
	uint64_t drops = 1;

	(void)state;
	need_root();
	r = begin(QUEUE, "pushes");
	r->spec.slope.repeat = 8;
	batch(r);
	assert_int_equal(bb_target__drops(r->prog.target, &drops), 0);
	assert_int_equal(drops, 0);
	r->spec.slope.repeat = 0;
	batch(r);
	assert_int_equal(bb_target__drops(r->prog.target, &drops), 0);
	assert_true(drops > 0);
	end(r);
}

/* There may be no PMU, so CPU time stands for cycles. The third counter's event does not exist. */
static void test_counters(void **state)
{
	static const struct bb_pmu_event events[BB_PMU_COUNTERS] = {
		[BB_PMU_CYCLES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
		[BB_PMU_INSTRUCTIONS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
		[BB_PMU_LLC_MISSES] = {UINT32_MAX, 0},
	};
	struct bb_slope_state *t;
	struct running *r;
	struct bb_batch b;
	bool agree = false;

	(void)state;
	need_root();
	r = begin(LADDER, "rung_32");
	t = (struct bb_slope_state *)r->state;
	bb_pmu__close(&t->pmu);
	bb_pmu__open(events, &t->pmu);
	/* CPU time is compared with wall time, and other processes may interrupt the batch. */
	for (int tries = 0; tries < 20 && !agree; tries++) {
		b = batch(r);
		agree = b.slope.pmu[BB_PMU_CYCLES] > 0.5 * median_ns(&b) &&
			b.slope.pmu[BB_PMU_CYCLES] < 2 * median_ns(&b);
	}
	assert_true(agree);
	assert_true(b.slope.pmu[BB_PMU_INSTRUCTIONS] == 0);
	assert_true(isnan(b.slope.pmu[BB_PMU_LLC_MISSES]));
	end(r);
}

static void on_alarm(int signal_number)
{
	(void)signal_number;
}

/* A call that a signal interrupts is repeated, so no line is lost. The machine decides how often
 * signals must come to meet a call; the test makes them more frequent until one does, because too
 * many would leave no time for the calls. */
static void test_signals(void **state)
{
	const struct itimerval never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm}, old;
	struct bb_batch b = {0};
	struct running *r;

	(void)state;
	need_root();
	r = begin(LADDER, "rung_128");
	assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
	for (suseconds_t us = 100000; us > 20 && !b.retries; us = us * 2 / 3) {
		const struct itimerval often = {{0, us}, {0, us}};

		setitimer(ITIMER_REAL, &often, NULL);
		b = batch(r);
		setitimer(ITIMER_REAL, &never, NULL);
		/* b.n is less if a busy machine makes a line fall, which voids the batch */
		assert_int_equal(b.fired, LINES);
	}
	sigaction(SIGALRM, &old, NULL);
	assert_true(b.retries > 0);
	end(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_work_is_steeper),
		cmocka_unit_test(test_statistics_of_others),
		cmocka_unit_test(test_raw_tp_without_repeat),
		cmocka_unit_test(test_syscall_without_repeat),
		cmocka_unit_test(test_wrong_return_value),
		cmocka_unit_test(test_repeat_is_kept),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
