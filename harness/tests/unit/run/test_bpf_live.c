/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program on system calls, which also runs whenever bpfbench reads its counters. `bpfbench live`
 * and the drive `live` must report only the runs that others cause. The program counts both kinds
 * itself. Also: the arithmetic of that, without a kernel.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/std.h"
#include "bpf/globals.h"
#include "bpf/own_runs.h"
#include "bpf/prog_stats.h"
#include "drivers/windows.h"
#include "run/live.h"
#include "unit/bpf_testing.h"

#define GAP_US 100
#define OFF_BY                                                                                     \
	0.15 /* for the ends of windows; bpfbench's readings are several times the others' runs */
#define TRIES 5

struct attached {
	struct bpf_object *obj, *often;
	struct bpf_link *link;
	const volatile uint64_t *by_others; /* shared with the kernel: read without a system call */
	const volatile uint64_t *by_us;
	__u32 id;
	struct bb_stats_enable stats;
	pid_t others;
};

/*
 * Starts a process that makes system calls until its parent ends. It also runs another program
 * three times in a row. `bpfbench live` wants to see each run alone, so it reads often.
 */
static pid_t start_others(int prog_fd)
{
	static char frame[64];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = 1);
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		for (int i = 0; i < 3; i++)
			bpf_prog_test_run_opts(prog_fd, &opts);
		usleep(GAP_US);
	}
}

static void attach(struct attached *a)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	struct bb_err err = {0};
	struct bpf_program *prog;
	const struct bb_global_spec observer = {.name = "observer", .value = getpid()};
	size_t offset, size;
	struct bpf_map *map;
	const char *shared;
	char path[4096];

	built("tests/bpf/syscalls.bpf.o", path, sizeof(path));
	a->obj = bpf_object__open_file(path, NULL);
	assert_non_null(a->obj);
	if (bb_global__set(a->obj, path, &observer, NULL, &err) || bpf_object__load(a->obj) ||
	    bb_global__find(a->obj, "runs", &map, &offset, &size) ||
	    bb_stats_enable__on(&a->stats, &err))
		fail_msg("%s: %s", path, err.msg);
	shared = mmap(NULL, offset + size, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
	assert_true(shared != MAP_FAILED);
	a->by_others = (const uint64_t *)(const void *)(shared + offset);
	a->by_us = a->by_others + 1;
	prog = bpf_object__next_program(a->obj, NULL);
	a->link = bpf_program__attach(prog);
	assert_non_null(a->link);
	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len), 0);
	a->id = info.id;
	a->often = bpf_object__open_file(built("tests/bpf/live.bpf.o", path, sizeof(path)), NULL);
	assert_non_null(a->often);
	assert_int_equal(bpf_object__load(a->often), 0);
	a->others = start_others(bpf_program__fd(bpf_object__next_program(a->often, NULL)));
	assert_true(a->others > 0);
}

static void detach(struct attached *a)
{
	kill(a->others, SIGKILL);
	waitpid(a->others, NULL, 0);
	bb_stats_enable__off(&a->stats);
	bpf_link__destroy(a->link);
	bpf_object__close(a->obj);
	bpf_object__close(a->often);
}

static const struct bb_live_row *row_of(const struct bb_live_row *rows, size_t n, __u32 id)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].program.id == id)
			return &rows[i];
	fail_msg("no row of program %u", id);
	return NULL;
}

/* Takes one snapshot, and reads what the program counted meanwhile, in runs a second. Returns false
 * if the machine was too busy to tell our runs from others'; the row then says so. */
static bool snapshot(const struct attached *a, double *ret_said, double *ret_true, double *ret_ours)
{
	struct bb_live_row *rows = NULL;
	uint64_t others, ours, began_ns;
	const struct bb_live_row *row;
	struct bb_live_watch *live = NULL;
	struct bb_err err = {0};
	double seconds;
	size_t n = 0;
	bool told;

	if (bb_live_watch__open(&(struct bb_live_filter){0}, &live, &err))
		fail_msg("%s", err.msg);
	others = *a->by_others;
	ours = *a->by_us;
	began_ns = bb_now_ns();
	if (bb_live_watch__wait(live, 0.7, &err) || bb_live_watch__snapshot(live, &rows, &n, &err))
		fail_msg("%s", err.msg);
	seconds = bb_seconds_since(began_ns);
	row = row_of(rows, n, a->id);
	*ret_true = (double)(*a->by_others - others) / seconds;
	*ret_ours = (double)(*a->by_us - ours) / seconds;
	*ret_said = row->runs_per_s;
	told = !row->unclear;
	if (told) {
		assert_true(row->own_runs > 0);
		assert_false(row->ns_per_run <= 0 || row->cpu_share <= 0); /* may be NAN, unknown */
		assert_int_equal(row->windows, 0);
	} else {
		assert_true(isnan(row->runs_per_s) && isnan(row->ns_per_run));
	}
	bb_live_rows__free(rows, n);
	bb_live_watch__close(live);
	return told;
}

static void test_live_leaves_its_readings_out(void **state)
{
	double said = NAN, true_rate = NAN, ours = NAN;
	struct attached a = {0};
	bool told = false;

	(void)state;
	need_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT);
	attach(&a);
	for (int i = 0; i < TRIES; i++) {
		told = snapshot(&a, &said, &true_rate, &ours);
		if (told && fabs(said - true_rate) <= OFF_BY * ours)
			break;
	}
	detach(&a);
	print_message("live: %.0f runs/s said, %.0f true, %.0f by its readings\n", said, true_rate,
		      ours);
	/* Skips if others make so many runs that their fluctuation hides ours. */
	if (!told || (fabs(said - true_rate) > OFF_BY * ours && ours < true_rate / 2)) {
		print_message("# skip: others make far more system calls here than we do\n");
		skip();
	}
	assert_true(fabs(said - true_rate) <= OFF_BY * ours);
}

/* Polls with the drive, which reads as fast as it can. */
static bool poll_for(const struct attached *a, double *ret_said, double *ret_true, double *ret_ours)
{
	enum { ROOM = 1000000 };
	uint64_t others, ours, began_ns;
	struct bb_target *target = NULL;
	struct bb_windows windows;
	struct bb_err err = {0};
	struct bb_batch b = {.want = ROOM, .ns = calloc(ROOM, sizeof(*b.ns))};
	int rc = bb_target__open(&(struct bb_source_spec){.id = a->id}, &target, &err);

	assert_non_null(b.ns);
	if (!rc)
		rc = bb_target__load(target, &err);
	if (!rc)
		rc = bb_windows__begin(target, &windows, &err);
	if (!rc)
		rc = bb_windows__find_own(&windows, &b, &err);
	others = *a->by_others;
	ours = *a->by_us;
	began_ns = bb_now_ns();
	while (!rc && bb_seconds_since(began_ns) < 0.3 && b.n < b.want)
		rc = bb_windows__poll(&windows, &b, &err);
	b.elapsed_s = bb_seconds_since(began_ns);
	if (rc)
		fail_msg("%s", err.msg);
	*ret_true = (double)(*a->by_others - others) / b.elapsed_s;
	*ret_ours = (double)(*a->by_us - ours) / b.elapsed_s;
	*ret_said = (double)b.run_cnt / b.elapsed_s;
	free(b.ns);
	bb_target__free(target);
	return !windows.own.unclear && !b.void_why[0];
}

static void test_drive_leaves_its_readings_out(void **state)
{
	double said = NAN, true_rate = NAN, ours = NAN;
	struct attached a = {0};
	bool told = false;

	(void)state;
	need_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT);
	attach(&a);
	for (int i = 0; i < TRIES; i++) {
		told = poll_for(&a, &said, &true_rate, &ours);
		if (told && fabs(said - true_rate) <= OFF_BY * ours)
			break;
	}
	detach(&a);
	print_message("drive live: %.0f runs/s said, %.0f true, %.0f by its readings\n", said,
		      true_rate, ours);
	/* Skips if others make so many runs that their fluctuation hides ours. */
	if (!told || (fabs(said - true_rate) > OFF_BY * ours && ours < true_rate / 2)) {
		print_message("# skip: others make far more system calls here than we do\n");
		skip();
	}
	assert_true(fabs(said - true_rate) <= OFF_BY * ours);
}

/* --- without a kernel --- */

static void add(struct bb_own_share *s, uint64_t runs, uint64_t ns, uint64_t misses, uint64_t own)
{
	const struct bb_prog_stats window = {ns, runs, misses};

	bb_own_share__add(s, &window, own);
}

static void test_shares(void **state)
{
	struct bb_own_share s = {0};

	(void)state;
	assert_true(isnan(bb_own_share__others_ns(&s, NAN)));
	add(&s, 3, 300, 0, 3); /* only our runs: 100 ns each */
	add(&s, 3, 360, 0, 3); /* now 110 ns each */
	assert_true(isnan(bb_own_share__others_ns(&s, 5)));
	add(&s, 5, 1330, 0, 3);
	assert_int_equal(s.others, 2);
	assert_true(fabs(bb_own_share__others_ns(&s, 5) - 1000) < 1e-9);
	assert_false(s.unclear);
	add(&s, 2, 200, 1, 3); /* one of our runs was missed */
	add(&s, 0, 0, 7, 3);
	assert_false(s.unclear);
	assert_int_equal(s.own, 8);
	add(&s, 2, 200, 0, 3);
	assert_true(s.unclear);

	s = (struct bb_own_share){0};
	add(&s, 4, 500, 0, 3); /* never only our runs: uses the cost that was tried out */
	assert_true(fabs(bb_own_share__others_ns(&s, 100) - 200) < 1e-9);
	assert_true(isnan(bb_own_share__others_ns(&s, NAN)));
	assert_true(isnan(bb_own_share__others_ns(&s, 1000))); /* would be less than 0 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_leaves_its_readings_out),
		cmocka_unit_test(test_drive_leaves_its_readings_out),
		cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
