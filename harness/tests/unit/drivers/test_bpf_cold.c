/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The step drives on real programs, hot and cold in turns: a program that reads much memory, or has
 * many instructions, costs more cold. Only the order is tested, no figures. If there were no
 * difference, a test would pass with a probability of 1e-6.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <sched.h>

#include "bpf/prog_stats.h"
#include "drivers/driver.h"
#include "stats/quantile.h"
#include "unit/bpf_testing.h"
#include "unit/signed_rank_testing.h"

#define ROUNDS 40u
#define N_HOT 9u
#define N_COLD 3u
#define DEPTH_FRAMES 8u

static const struct bb_driver *driver_by(const char *with, const char *by)
{
	return bb_driver_of(bb_drive_kind_find(with, by));
}

/* One program under one trigger, with a drive for each state of the caches. */
struct hot_and_cold {
	const struct bb_driver *driver;
	struct bb_drive_spec spec[2];
	struct bb_test_prog prog;
	struct bb_drive_state *state[2];
	struct bb_drive_slot *slot[2];
	uint32_t depth;
};

static void open_end(struct hot_and_cold *b, enum bb_caches caches)
{
	struct bb_driver_opts opts = {.cpu = sched_getcpu()};
	struct bb_err err = {0};
	int rc;

	b->spec[caches].kind = &b->driver->kind;
	b->spec[caches].caches = caches;
	rc = bb_driver__open(&b->spec[caches], &opts, &b->state[caches], &err);
	if (rc == -ENOTSUP) {
		print_message("# skip: %s\n", err.msg);
		skip();
	}
	if (rc || bb_driver__attach(b->state[caches], &b->prog, &b->slot[caches], &err))
		fail_msg("%s", err.msg);
}

#define TRIES 3 /* the kernel may reclaim a page of ours, whose fault fires once more */

/* Returns the median of one batch, ns. Emptying the caches must not fire, else no try would have
 * exactly the requested runs. */
static double measure(struct hot_and_cold *b, enum bb_caches caches)
{
	bool cold = caches == BB_CACHES_COLD;
	uint64_t ns[N_HOT];
	struct bb_batch batch = {.n = 0};
	struct bb_err err = {0};
	double x[N_HOT];

	for (int i = 0; i < TRIES && (!i || batch.n != batch.want); i++) {
		batch = (struct bb_batch){.ns = ns,
					  .want = cold ? N_COLD : N_HOT,
					  .warmup = cold ? 0 : 20};
		if (bb_driver__batch(b->slot[caches], b->depth, &batch, &err))
			fail_msg("%s", err.msg);
	}
	assert_int_equal(batch.n, batch.want);
	assert_int_equal(batch.run_cnt, batch.want);
	for (size_t i = 0; i < batch.n; i++)
		x[i] = (double)ns[i];
	return bb_median(x, batch.n);
}

static void cold_costs_more(const struct bb_driver *driver, const char *object, const char *program)
{
	struct hot_and_cold b = {.driver = driver,
				 .depth = driver == driver_by("step", "page-fault") ? DEPTH_FRAMES
										    : 0};
	struct bb_stats_enable stats;
	struct signed_rank_p p;
	struct bb_err err = {0};
	double d[ROUNDS];

	assert_int_equal(bb_stats_enable__on(&stats, &err), 0);
	b.prog.target = open_target(object, program);
	load(b.prog.target);
	open_end(&b, BB_CACHES_HOT);
	open_end(&b, BB_CACHES_COLD);
	for (size_t i = 0; i < ROUNDS; i++)
		d[i] = log(measure(&b, BB_CACHES_COLD) / measure(&b, BB_CACHES_HOT));
	for (int i = 0; i < 2; i++) {
		bb_driver__detach(b.slot[i]);
		bb_driver__close(b.state[i]);
	}
	bb_target__free(b.prog.target);
	bb_stats_enable__off(&stats);
	p = signed_rank_p(d, ROUNDS, 0);
	print_message("# %s: cold is %.1f times hot\n", program, exp(bb_median(d, ROUNDS)));
	if (p.greater > 1e-6)
		fail_msg("%s: p = %g that cold costs no more than hot", program, p.greater);
}

static void test_memory_by_page_fault(void **state)
{
	(void)state;
	need_exact_faults();
	cold_costs_more(driver_by("step", "page-fault"), "tests/bpf/cold.bpf.o", "walk_on_event");
}

static void test_instructions_by_page_fault(void **state)
{
	(void)state;
	need_exact_faults();
	cold_costs_more(driver_by("step", "page-fault"), "bpf/loops.bpf.o", "straight");
}

static void test_memory_by_test_run(void **state)
{
	(void)state;
	need_root();
	cold_costs_more(driver_by("step", "test-run"), "tests/bpf/cold.bpf.o", "walk_on_packet");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_by_page_fault),
		cmocka_unit_test(test_instructions_by_page_fault),
		cmocka_unit_test(test_memory_by_test_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
