/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The step drive on real programs: every event is one run, every run one sample, at the requested
 * stack depth. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "bpf/prog_stats.h"
#include "drivers/driver.h"
#include "unit/bpf_testing.h"

#define MAX_SAMPLES 10000u

/* A step drive with one program attached. */
struct stepping {
	struct bb_stats_enable stats;
	struct bb_test_prog prog;
	struct bb_drive_spec spec;
	uint32_t depths[4];
	struct bb_drive_state *state;
	struct bb_drive_slot *slot;
	uint64_t ns[MAX_SAMPLES];
	struct bb_prog_stats before;
};

/* Returns the last CPU that this process may use, which bpfbench also chooses. */
static int last_cpu(void)
{
	cpu_set_t allowed;
	int last = -1;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed))
			last = cpu;
	return last;
}

static struct stepping *begin(const char *object, const char *program, const uint32_t *depths,
			      size_t n_depths)
{
	static cpu_set_t all; /* the CPUs allowed before the drive pinned this thread */
	static bool has_all;
	struct bb_driver_opts opts = {0};
	struct stepping *s = calloc(1, sizeof(*s));
	struct bb_err err = {0};

	assert_non_null(s);
	/* as bb_run_ahead_of_others() does: the kernel may reclaim pages of code that seldom runs,
	 * and running it again is a page fault, which the program counts */
	mlockall(MCL_CURRENT);
	if (!has_all)
		has_all = !sched_getaffinity(0, sizeof(all), &all);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	opts.cpu = opts.poll_cpu = last_cpu();
	memcpy(s->depths, depths, n_depths * sizeof(*depths));
	s->spec.kind = bb_drive_kind_find("step", "page-fault");
	s->spec.values = (struct bb_u32_list){.v = s->depths, .n = n_depths};
	assert_int_equal(bb_stats_enable__on(&s->stats, &err), 0);
	s->prog.target = open_target(object, program);
	load(s->prog.target);
	s->prog.jit_mod64 = s->prog.target->jit_mod64;
	if (bb_driver__open(&s->spec, &opts, &s->state, &err) ||
	    bb_driver__attach(s->state, &s->prog, &s->slot, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(bb_stats_reader__agreed(&s->prog.target->reader, &s->before, &err), 0);
	return s;
}

static struct bb_batch step(struct stepping *s, uint32_t depth, size_t want, size_t warmup,
			    bool drain_each_run)
{
	struct bb_batch b = {.ns = s->ns,
			     .want = want,
			     .warmup = warmup,
			     .drain_each_run = drain_each_run};
	struct bb_err err = {0};

	if (bb_driver__batch(s->slot, depth, &b, &err))
		fail_msg("%s", err.msg);
	return b;
}

static void end(struct stepping *s)
{
	bb_driver__detach(s->slot);
	bb_driver__close(s->state);
	bb_target__free(s->prog.target);
	bb_stats_enable__off(&s->stats);
	free(s);
}

/* Returns what the program's counters have counted since begin(). */
static struct bb_prog_stats since(const struct stepping *s)
{
	struct bb_prog_stats now;
	struct bb_err err = {0};

	if (bb_stats_reader__agreed(&s->prog.target->reader, &now, &err))
		fail_msg("%s", err.msg);
	now.run_cnt -= s->before.run_cnt;
	now.run_time_ns -= s->before.run_time_ns;
	now.recursion_misses -= s->before.recursion_misses;
	return now;
}

static uint64_t drops_of(const struct stepping *s)
{
	uint64_t drops = 0;

	assert_int_equal(bb_target__drops(s->prog.target, &drops), 0);
	return drops;
}

static void test_every_event_is_a_sample(void **state)
{
	static const char *const programs[] = {
		"empty",   "ringbuf", "ringbuf_nowakeup", "scratch_output",
		"perfbuf", "stackid", "kernel_user",      "pid_filter",
	};
	const uint32_t depth = 8;

	(void)state;
	need_exact_faults();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct stepping *s = begin(PERF_PROFILER, programs[i], &depth, 1);
		struct bb_batch b = step(s, depth, 1000, 50, true);
		struct bb_prog_stats counted = since(s);
		uint64_t sum = 0;

		/* A page of ours that the kernel reclaims meanwhile causes one more fault. */
		for (int more = 0; counted.run_cnt > 1050 && more < 5; more++) {
			end(s);
			s = begin(PERF_PROFILER, programs[i], &depth, 1);
			b = step(s, depth, 1000, 50, true);
			counted = since(s);
		}
		for (size_t k = 0; k < b.n; k++)
			sum += b.ns[k];
		assert_int_equal(b.fired, 1000);
		assert_int_equal(b.n, 1000);
		assert_int_equal(b.run_cnt, 1000);
		assert_int_equal(b.multi, 0);
		assert_int_equal(b.run_time_ns, sum);
		assert_true(isnan(b.target_cpu_s));
		/* The kernel's total includes the warm-up, and nothing else. */
		assert_int_equal(counted.run_cnt, 1050);
		assert_true(counted.run_time_ns > sum);
		assert_int_equal(counted.recursion_misses, 0);
		assert_int_equal(drops_of(s), 0);
		end(s);
	}
}

/* Batches of several depths in a row. The fork between them makes every page copy-on-write. */
static void test_batches_add_up(void **state)
{
	const uint32_t depths[] = {8, 32, 127};
	struct stepping *s;
	uint64_t runs = 0;

	(void)state;
	need_exact_faults();
	s = begin(PERF_PROFILER, "ringbuf", depths, 3);
	for (size_t i = 0; i < 9; i++) {
		struct bb_batch b = step(s, depths[i % 3], 100 + i, 8, true);
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		assert_true(child > 0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_int_equal(b.n, 100 + i);
		runs += 108 + i;
		assert_int_equal(since(s).run_cnt, runs);
	}
	assert_int_equal(drops_of(s), 0);
	end(s);
}

static uint64_t seen_at(int map_fd, uint32_t frames)
{
	uint64_t count = 0;

	assert_int_equal(bpf_map_lookup_elem(map_fd, &frames, &count), 0);
	return count;
}

/* With a requested depth of N, bpf_get_stack() sees N frames in every run. */
static void test_stack_depth(void **state)
{
	const uint32_t depths[] = {8, 9, 32, 127};
	struct stepping *s;
	int map_fd;

	(void)state;
	need_exact_faults();
	s = begin(DEPTH, "depth", depths, 4);
	map_fd = bpf_map_get_fd_by_id(map_id(s->prog.target, "frames"));
	assert_true(map_fd >= 0);
	for (size_t i = 0; i < 4; i++) {
		step(s, depths[i], 200, 20, true);
		for (uint32_t frames = 0; frames <= 127; frames++) {
			uint64_t want = 0;

			for (size_t k = 0; k <= i; k++)
				want += depths[k] == frames ? 220 : 0;
			if (seen_at(map_fd, frames) != want)
				fail_msg("depth %u: %llu runs saw %u frames, not %llu", depths[i],
					 (unsigned long long)seen_at(map_fd, frames), frames,
					 (unsigned long long)want);
		}
	}
	close(map_fd);
	end(s);
}

static void test_depth_too_small(void **state)
{
	uint32_t depth = 1;
	struct bb_drive_spec spec = {.kind = bb_drive_kind_find("step", "page-fault"),
				     .values = {.v = &depth, .n = 1}};
	struct bb_driver_opts opts = {0};
	struct bb_err err = {0};
	struct bb_drive_state *driver = NULL;

	(void)state;
	assert_int_equal(bb_driver__open(&spec, &opts, &driver, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "stack_depth: 1 is less than"));
	assert_null(driver);
}

/* More samples than fit into the ring (16 MiB / 4128 bytes = 4064), with a fast reader and with a
 * slow one. */
static void test_rings_never_overflow(void **state)
{
	static const char *const programs[] = {"ringbuf", "perfbuf"};
	const uint32_t depth = 8;

	(void)state;
	need_exact_faults();
	for (size_t i = 0; i < 4; i++) {
		struct stepping *s = begin(PERF_PROFILER, programs[i / 2], &depth, 1);
		struct bb_batch b = step(s, depth, 8000, 100, i % 2);

		assert_int_equal(b.n, 8000);
		assert_int_equal(drops_of(s), 0);
		end(s);
	}
}

/* Walking 127 frames takes longer than walking 8. */
static void test_depth_costs(void **state)
{
	const uint32_t depths[] = {8, 127};
	struct stepping *s;
	uint64_t fastest[2] = {UINT64_MAX, UINT64_MAX};

	(void)state;
	need_root();
	s = begin(DEPTH, "depth", depths, 2);
	for (size_t i = 0; i < 2; i++) {
		struct bb_batch b = step(s, depths[i], 500, 50, true);

		for (size_t k = 0; k < b.n; k++)
			if (b.ns[k] < fastest[i])
				fastest[i] = b.ns[k];
	}
	assert_true(fastest[1] > fastest[0]);
	end(s);
}

static void test_affinity_error(void **state)
{
	const uint32_t depth = 8;
	struct bb_driver_opts opts = {.cpu = CPU_SETSIZE - 1, .poll_cpu = CPU_SETSIZE - 1};
	struct bb_err err = {0};
	struct stepping *s;
	struct bb_batch b;
	struct bb_drive_state *driver = NULL;
	struct bb_drive_slot *slot = NULL;

	(void)state;
	need_root();
	s = begin(PERF_PROFILER, "empty", &depth, 1);
	assert_int_equal(bb_driver__open(&s->spec, &opts, &driver, &err), 0);
	assert_int_equal(bb_driver__attach(driver, &s->prog, &slot, &err), 0);
	b = (struct bb_batch){.ns = s->ns, .want = 10};
	assert_true(bb_driver__batch(slot, depth, &b, &err) < 0);
	assert_non_null(strstr(err.msg, "--cpu"));
	assert_int_equal(since(s).run_cnt, 0);
	bb_driver__detach(slot);
	bb_driver__close(driver);
	end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_event_is_a_sample),
		cmocka_unit_test(test_batches_add_up),
		cmocka_unit_test(test_stack_depth),
		cmocka_unit_test(test_depth_too_small),
		cmocka_unit_test(test_depth_costs),
		cmocka_unit_test(test_rings_never_overflow),
		cmocka_unit_test(test_affinity_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
