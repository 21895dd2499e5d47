/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How small a difference does slope resolve while every CPU is busy? First the ladder: programs
 * that do the same work 0 to 128 times (tests/bpf/ladder.bpf.c). They are loaded anew in each
 * round, at the same JIT address mod 64 if possible, and measured in turns. Their costs must lie on
 * a straight line. Then one of them is measured 20 times by slope, by `bpftool prog run repeat N`,
 * and like Go's testing.B by the mean `duration` of as many runs as take 100 ms: how far do the 20
 * figures scatter?
 */
#include <errno.h>

#include "bench.h"
#include "base/give_way.h"
#include "hogs.h"
#include "other_tools.h"

#define ROUNDS 24u /* loads of each rung */
#define TURNS 8u   /* turns of each load; a turn has LINES lines */
#define LINES 2u
#define MAX_TRIES 200u
#define REPEATS 20u
#define REPEAT_LINES 200u
#define RUNG "rung_16"

static const unsigned int rungs[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128};

#define N_RUNGS (sizeof(rungs) / sizeof(rungs[0]))

struct rung {
	char name[16];
	struct bb_variant_spec variant;
	struct bb_test_prog prog;
	struct bb_drive_slot *slot;
	double ns[ROUNDS]; /* for each load, the median of its lines */
	double lines[TURNS * LINES];
};

struct ladder {
	struct bb_drive_spec drive;
	struct bb_driver_opts opts;
	struct bb_drive_state *state;
	struct bb_rng rng;
	struct rung rungs[N_RUNGS];
};

static void open_rung(struct rung *r, unsigned int n)
{
	const char *build = getenv("O");
	struct bb_err err = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/bpf/ladder.bpf.o", build ? build : "build");
	snprintf(r->name, sizeof(r->name), "rung_%u", n);
	r->variant = (struct bb_variant_spec){.name = r->name, .program = r->name};
	if (bb_test_prog__open(&r->variant, path, &r->prog, &err))
		bench_die(r->name, &err);
}

static void take_lines(struct rung *r, size_t n, double *ret_ns)
{
	uint64_t ps[REPEAT_LINES];
	struct bb_batch b = {.ns = ps, .want = n};
	struct bb_err err = {0};

	if (bb_driver__batch(r->slot, 0, &b, &err))
		bench_die(r->name, &err);
	if (b.n != n) {
		fprintf(stderr, "%s: %s\n", r->name, b.void_why);
		exit(1);
	}
	for (size_t i = 0; i < n; i++)
		ret_ns[i] = (double)ps[i] / bb_driver_slope.kind.units_per_ns;
}

/* Loads at a JIT address of `mod64` if the kernel puts it there within MAX_TRIES; -1: anywhere. */
static void load_and_attach(struct ladder *l, struct rung *r, int mod64)
{
	struct bb_err err = {0};
	int rc = bb_test_prog__load(&r->prog, &l->rng, bb_place(mod64), MAX_TRIES, &err);

	if ((rc && rc != -EAGAIN) || bb_driver__attach(l->state, &r->prog, &r->slot, &err))
		bench_die(r->name, &err);
}

static void measure_round(struct ladder *l, unsigned int round)
{
	uint32_t order[N_RUNGS * TURNS];
	size_t taken[N_RUNGS] = {0};

	for (uint32_t i = 0; i < N_RUNGS; i++)
		load_and_attach(l, &l->rungs[i], i ? l->rungs[0].prog.jit_mod64 : -1);
	for (uint32_t i = 0; i < N_RUNGS * TURNS; i++)
		order[i] = i % N_RUNGS;
	bb_rng_shuffle(&l->rng, order, N_RUNGS * TURNS);
	for (size_t i = 0; i < N_RUNGS * TURNS; i++) {
		struct rung *r = &l->rungs[order[i]];

		take_lines(r, LINES, r->lines + taken[order[i]]);
		taken[order[i]] += LINES;
	}
	for (size_t i = 0; i < N_RUNGS; i++) {
		l->rungs[i].ns[round] = bb_median(l->rungs[i].lines, TURNS * LINES);
		bb_driver__detach(l->rungs[i].slot);
	}
}

/* A robust line through (rungs[i], y[i]), like the one that the driver fits. */
static void fit(const double *y, double *ret_step, double *ret_base)
{
	double slopes[N_RUNGS * N_RUNGS], rest[N_RUNGS];
	size_t n = 0;

	for (size_t i = 0; i < N_RUNGS; i++)
		for (size_t j = 0; j < i; j++)
			slopes[n++] = (y[i] - y[j]) / (rungs[i] - rungs[j]);
	*ret_step = bb_median(slopes, n);
	for (size_t i = 0; i < N_RUNGS; i++)
		rest[i] = y[i] - *ret_step * rungs[i];
	*ret_base = bb_median(rest, N_RUNGS);
}

static void judge_ladder(struct ladder *l)
{
	double y[N_RUNGS], step, base, worst = -1, worst_ns = 0;
	size_t in_order = 0, worst_at = 0;
	char measured[128], bound[32];

	for (size_t i = 0; i < N_RUNGS; i++) {
		y[i] = bb_median(l->rungs[i].ns, ROUNDS);
		in_order += i && y[i] > y[i - 1];
	}
	fit(y, &step, &base);
	for (size_t i = 0; i < N_RUNGS; i++) {
		double off = fabs(y[i] - base - step * rungs[i]),
		       share = off / fmax(0.3, 0.01 * y[i]);

		if (getenv("BB_BENCH_VERBOSE"))
			fprintf(stderr, "rung %3u: %8.3f ns, off the line by %+.3f\n", rungs[i],
				y[i], y[i] - base - step * rungs[i]);
		if (share > worst) {
			worst = share;
			worst_ns = off;
			worst_at = i;
		}
	}
	snprintf(measured, sizeof(measured), "%.2f ns at %u (%.1f + n %.3f ns)", worst_ns,
		 rungs[worst_at], base, step);
	bench_judge("slope: a ladder's worst rung off its line, busy CPUs", "<= 0.3 ns or 1%",
		    measured, worst <= 1);
	snprintf(bound, sizeof(bound), "%zu", N_RUNGS - 1);
	snprintf(measured, sizeof(measured), "%zu", in_order);
	bench_judge("slope: neighbouring rungs in the right order", bound, measured,
		    in_order == N_RUNGS - 1);
}

/* --- 20 repeats of one program --- */

static double by_slope(struct rung *r)
{
	double ns[REPEAT_LINES];

	take_lines(r, REPEAT_LINES, ns);
	return bb_median(ns, REPEAT_LINES);
}

static void say_spread(const char *how, double *ns)
{
	double median;
	char what[128], measured[128];

	median = bb_median(ns, REPEATS); /* sorts */
	snprintf(what, sizeof(what), "%u repeats of one program by %s: spread", REPEATS, how);
	snprintf(measured, sizeof(measured), "%.2f %% (%.2f to %.2f ns)",
		 100 * (ns[REPEATS - 1] - ns[0]) / median, ns[0], ns[REPEATS - 1]);
	bench_row(what, "", measured, "-");
}

static void repeat_all(struct ladder *l, const char *scratch)
{
	double slope_ns[REPEATS], bpftool_ns[REPEATS], go_ns[REPEATS];
	struct rung *r = NULL;
	char path[512];

	for (size_t i = 0; i < N_RUNGS; i++)
		if (!strcmp(l->rungs[i].name, RUNG))
			r = &l->rungs[i];
	other_packet_path(scratch, path, sizeof(path));
	load_and_attach(l, r, -1);
	for (size_t i = 0; i < REPEATS; i++) {
		slope_ns[i] = by_slope(r);
		bpftool_ns[i] = other_bpftool_ns(r->prog.target->prog_fd, path,
						 OTHER_BPFTOOL_REPEAT);
		go_ns[i] = other_go_ns(r->prog.target->prog_fd);
	}
	bb_driver__detach(r->slot);
	say_spread("slope", slope_ns);
	say_spread("bpftool prog run", bpftool_ns);
	say_spread("a mean as Go's testing.B", go_ns);
}

int main(int argc, char **argv)
{
	struct ladder *l = bench_alloc(1, sizeof(*l));
	struct hogs hogs = start_hogs();
	struct bb_err err = {0};

	l->opts.seed = BENCH_SEED;
	l->drive.kind = &bb_driver_slope.kind;
	bb_rng_seed(&l->rng, BENCH_SEED);
	bb_run_ahead_of_others();
	if (bb_machine_cpus(-1, &l->opts.cpu, &l->opts.poll_cpu, &err) ||
	    bb_driver__open(&l->drive, &l->opts, &l->state, &err))
		bench_die("slope", &err);
	for (size_t i = 0; i < N_RUNGS; i++)
		open_rung(&l->rungs[i], rungs[i]);
	for (unsigned int round = 0; round < ROUNDS; round++)
		measure_round(l, round);
	judge_ladder(l);
	repeat_all(l, argc > 1 ? argv[1] : "/tmp");
	for (size_t i = 0; i < N_RUNGS; i++)
		bb_test_prog__close(&l->rungs[i].prog);
	bb_driver__close(l->state);
	stop_hogs(&hogs);
	free(l);
	return 0;
}
