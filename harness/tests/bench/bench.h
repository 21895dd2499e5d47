/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/std.h"
#include "base/rng.h"
#include "bpf/prog_stats.h"
#include "cli/measure.h"
#include "drivers/driver.h"
#include "stats/quantile.h"

/*
 * Functions that the benches of bpfbench itself share. A bench is a program that prints rows
 * "what<TAB>bound<TAB>measured<TAB>verdict" (verdict: ok, MISS, or - for a figure without a
 * bound). run.sh formats them as one table. A bench exits with 0 even when a bound is missed, so
 * that the remaining benches still run, and with 1 when it could not measure.
 *
 * Two operations are compared in alternating blocks; a coin decides which of the two comes first.
 * A disturbance of the machine then affects both, and hardly changes the ratio of their medians.
 */
#define BENCH_BLOCK 100u /* samples of a turn, as in run/runner.c */
#define BENCH_WARMUP 8u  /* runs fired and discarded before each block, as in run/runner.c */
#define BENCH_SEED 20260101u

static inline void bench_row(const char *what, const char *bound, const char *measured,
			     const char *verdict)
{
	printf("%s\t%s\t%s\t%s\n", what, bound, measured, verdict);
	fflush(stdout);
}

static inline void bench_judge(const char *what, const char *bound, const char *measured, bool ok)
{
	bench_row(what, bound, measured, ok ? "ok" : "MISS");
}

static inline __attribute__((noreturn)) void bench_die(const char *what, const struct bb_err *err)
{
	fprintf(stderr, "%s: %s\n", what, err->msg);
	exit(1);
}

static inline void *bench_alloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

struct bench_child {
	double wall_s; /* from before fork() until wait4() has returned */
	double cpu_s;  /* CPU time of the child and of all its children that it reaped */
	/* peak resident memory; includes the bench's own few MiB, which the child has until exec */
	double max_rss_mib;
};

/* Runs a program to its end and discards its stdout. Any exit code but 0 ends the bench. */
static inline struct bench_child bench_run(const char *const *argv)
{
	uint64_t began_ns = bb_now_ns();
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		perror(argv[0]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0) {
		perror(argv[0]);
		exit(1);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "%s %s: it failed with status %#x\n", argv[0],
			argv[1] ? argv[1] : "", (unsigned int)status);
		exit(1);
	}
	return (struct bench_child){
		.wall_s = bb_seconds_since(began_ns),
		.cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
		.max_rss_mib = (double)usage.ru_maxrss / 1024,
	};
}

/*
 * Runs `bpfbench selftest`, as a user does on a new machine. The intervals of later runs that are
 * stored in `results` then include the variation from run to run.
 */
static inline void bench_selftest(const char *results)
{
	const char *const argv[] = {"./bpfbench", "selftest", "--results",
				    results,      "--quiet",  NULL};

	bench_run(argv);
}

/* Two series of n figures each, taken in turns. */
struct bench_duel {
	double *a, *b;
	size_t n;
};

/*
 * Takes `n` turns of each. A turn is one call, which returns its figure (for example ns per
 * operation). Two more turns of each come first and are discarded.
 */
static inline struct bench_duel bench_duel(double (*a)(void *), double (*b)(void *), void *arg,
					   size_t n)
{
	struct bench_duel d = {bench_alloc(n, sizeof(double)), bench_alloc(n, sizeof(double)), n};
	struct bb_rng rng;

	bb_rng_seed(&rng, BENCH_SEED);
	for (int i = 0; i < 2; i++) {
		a(arg);
		b(arg);
	}
	for (size_t i = 0; i < n; i++) {
		bool a_first = bb_rng_below(&rng, 2);

		if (a_first)
			d.a[i] = a(arg);
		d.b[i] = b(arg);
		if (!a_first)
			d.a[i] = a(arg);
	}
	return d;
}

struct bench_medians {
	double a, b, ratio; /* ratio: a / b */
};

/* Returns the medians of both series; frees the series. */
static inline struct bench_medians bench_decide(struct bench_duel *d)
{
	struct bench_medians m = {.a = bb_median(d->a, d->n), .b = bb_median(d->b, d->n)};

	m.ratio = m.a / m.b;
	free(d->a);
	free(d->b);
	return m;
}

/* Pins us to the CPU that a run of bpfbench would choose, and turns bpf_stats on. */
static inline int bench_prepare(struct bb_driver_opts *ret_opts, struct bb_stats_enable *ret_stats,
				struct bb_err *err)
{
	int rc = bb_machine_cpus(-1, &ret_opts->cpu, &ret_opts->poll_cpu, err);

	if (!rc)
		rc = bb_pin_to_cpu(ret_opts->cpu, NULL);
	return rc ? rc : bb_stats_enable__on(ret_stats, err);
}

static inline int bench_load(const struct bb_variant_spec *variant, const char *path,
			     struct bb_rng *rng, struct bb_test_prog *ret_prog, struct bb_err *err)
{
	int rc = bb_test_prog__open(variant, path, ret_prog, err);

	return rc ? rc : bb_test_prog__load(ret_prog, rng, BB_ANYWHERE, 1, err);
}

/* One variant of perf_profiler, loaded and attached to the step drive. */
struct bench_step {
	struct bb_variant_spec variant;
	struct bb_drive_spec drive;
	uint32_t depth;
	struct bb_stats_enable stats;
	struct bb_test_prog prog;
	struct bb_drive_state *state;
	struct bb_drive_slot *slot;
	int cpu;
	uint64_t ns[BENCH_BLOCK];
};

static inline const char *bench_object(void)
{
	static char path[512];
	const char *build = getenv("O");

	snprintf(path, sizeof(path), "%s/bpf/perf_profiler.bpf.o", build ? build : "build");
	return path;
}

/* `s` is large and keeps pointers into itself: it must not be moved until bench_step__close(). */
static inline void bench_step__open(struct bench_step *s, const char *program)
{
	struct bb_driver_opts opts = {.seed = BENCH_SEED};
	struct bb_err err = {0};
	struct bb_rng rng;
	int rc;

	memset(s, 0, sizeof(*s));
	bb_rng_seed(&rng, BENCH_SEED);
	s->depth = 8;
	s->variant = (struct bb_variant_spec){.name = (char *)(uintptr_t)program,
					      .program = (char *)(uintptr_t)program};
	s->drive.kind = bb_drive_kind_find("step", "page-fault");
	s->drive.values = (struct bb_u32_list){&s->depth, 1};
	rc = bench_prepare(&opts, &s->stats, &err);
	s->cpu = opts.cpu;
	if (!rc)
		rc = bench_load(&s->variant, bench_object(), &rng, &s->prog, &err);
	if (!rc)
		rc = bb_driver__open(&s->drive, &opts, &s->state, &err);
	if (!rc)
		rc = bb_driver__attach(s->state, &s->prog, &s->slot, &err);
	if (rc)
		bench_die(program, &err);
}

/* Takes one block of `n` <= BENCH_BLOCK samples by the drive, with the same settings as
 * run/runner.c. The samples are in s->ns. */
static inline struct bb_batch bench_step__block(struct bench_step *s, size_t n)
{
	struct bb_batch b = {.ns = s->ns,
			     .want = n,
			     .warmup = BENCH_WARMUP,
			     .drain_each_run = true};
	struct bb_err err = {0};

	if (bb_driver__batch(s->slot, s->depth, &b, &err))
		bench_die(s->variant.name, &err);
	return b;
}

/* Takes a block of samples by a drive, and returns its wall time divided by the samples, ns. The
 * samples go to ns[BENCH_BLOCK], the programs' return values to `returns` unless it is NULL. */
static inline double bench_drive_block(void *slot, uint64_t *ns, uint32_t *returns,
				       const char *what)
{
	struct bb_batch b = {.ns = ns,
			     .returns = returns,
			     .want = BENCH_BLOCK,
			     .warmup = BENCH_WARMUP,
			     .drain_each_run = true};
	uint64_t began_ns = bb_now_ns();
	struct bb_err err = {0};

	if (bb_driver__batch(slot, 0, &b, &err))
		bench_die(what, &err);
	began_ns = bb_now_ns() - began_ns;
	if (b.n != BENCH_BLOCK || b.void_why[0]) {
		fprintf(stderr, "the drive took %zu samples of %u; %s\n", b.n, BENCH_BLOCK,
			b.void_why);
		exit(1);
	}
	return (double)began_ns / BENCH_BLOCK;
}

static inline void bench_step__close(struct bench_step *s)
{
	bb_driver__detach(s->slot);
	bb_driver__close(s->state);
	bb_test_prog__close(&s->prog);
	bb_stats_enable__off(&s->stats);
}
