/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A against A: does the same load of the same program get the same figure twice while both CPUs are
 * busy with something else? Two series of the step drive are taken in turns, 20 such pairs; in 19
 * of them the medians may differ by 1 % at the most. Beside them the location that bpfbench reports
 * (the censored mean) and the naive mean, run_time_ns / run_cnt, of the very same series.
 *
 * What the turns are like decides it. For a millisecond or so at a time every program costs 1.4 x
 * as much here (the core's other thread, most likely): a median jumps between the two levels, so
 * both series must see the same mixture of them. Hence the blocks of A/B comparisons
 * (docs/methods/two-programs.md): turns of 16 samples in ABBA or BAAB, by a coin. Pairs of 20
 * within 1 % for ringbuf_nowakeup: with turns of 100 and 5000 samples a series 11, with 10 000 12;
 * with turns of 16 and 13 000 samples 18 to 20, with 26 000 20 in each of three runs (worst pair
 * 0.6 to 0.9 %).
 */
#include "bench.h"
#include "core/hist.h"
#include "hogs.h"
#include "stats/estimate.h"

#define PAIRS 20u
#define PAIRS_NEEDED 19
#define LIMIT 0.01
#define TURN 16u /* samples */

/* Samples a series: 4 turns a block, two of them a series'. */
static const struct prog {
	const char *program;
	unsigned int blocks;
} progs[] = {
	{"ringbuf_nowakeup", 1200},
	{"ringbuf", 150}, /* dearer, but what varies is a smaller part of it */
};

struct series {
	struct bb_hist hist;
	uint64_t run_time_ns, run_cnt;
};

enum figure { MEDIAN, CENSORED, NAIVE, N_FIGURES };

struct tally {
	unsigned int within; /* pairs whose ratio is within the limit */
	/* |ratio - 1| over pairs; extremes of the figure over all series */
	double worst, least, most;
};

static void take_turn(struct bench_step *step, struct series *s)
{
	struct bb_batch b = bench_step__block(step, TURN);

	for (size_t i = 0; i < b.n; i++)
		bb_hist_add(&s->hist, b.ns[i], 1);
	s->run_time_ns += b.run_time_ns;
	s->run_cnt += b.run_cnt;
}

/* The three figures of a series; empties it. */
static void finish(struct series *s, double figure[N_FIGURES])
{
	struct bb_sorted sorted;

	bb_hist_sort(&s->hist, &sorted);
	figure[MEDIAN] = bb_hist_quantile(&sorted, 0.5);
	figure[CENSORED] = bb_censor_series(&sorted, 0).mean_ns;
	figure[NAIVE] = (double)s->run_time_ns / (double)s->run_cnt;
	bb_sorted_done(&sorted);
	bb_hist_done(&s->hist);
	memset(s, 0, sizeof(*s));
}

static void count(struct tally *t, double a, double b)
{
	double off = fabs(a / b - 1);

	t->within += off <= LIMIT;
	t->worst = fmax(t->worst, off);
	t->least = fmin(t->least, fmin(a, b));
	t->most = fmax(t->most, fmax(a, b));
}

static void report(const struct prog *prog, const struct tally *tally)
{
	static const char *const names[] = {"medians", "locations", "naive means"};

	for (int f = 0; f < N_FIGURES; f++) {
		const struct tally *t = &tally[f];
		char what[128], measured[128];

		snprintf(what, sizeof(what), "aa: `%s`, %u samples, %s", prog->program,
			 prog->blocks * 2 * TURN, names[f]);
		snprintf(measured, sizeof(measured), "%u of %u, worst %.2f %% (%.0f..%.0f ns)",
			 t->within, PAIRS, t->worst * 100, t->least, t->most);
		if (f == MEDIAN)
			bench_judge(what, "1 % in 19 of 20", measured, t->within >= PAIRS_NEEDED);
		else
			bench_row(what, "", measured, "-");
	}
}

static void measure(struct bench_step *step, const struct prog *prog)
{
	struct tally tally[N_FIGURES];
	double fa[N_FIGURES], fb[N_FIGURES];
	struct series a = {0}, b = {0};
	struct bb_rng rng;

	for (int f = 0; f < N_FIGURES; f++)
		tally[f] = (struct tally){.least = INFINITY};
	bb_rng_seed(&rng, BENCH_SEED);
	bench_step__open(step, prog->program);
	bench_step__block(step, BENCH_BLOCK);
	for (unsigned int p = 0; p < PAIRS; p++) {
		for (unsigned int i = 0; i < prog->blocks; i++) {
			bool abba = bb_rng_below(&rng, 2);
			struct series *outer = abba ? &a : &b, *inner = abba ? &b : &a;

			take_turn(step, outer);
			take_turn(step, inner);
			take_turn(step, inner);
			take_turn(step, outer);
		}
		finish(&a, fa);
		finish(&b, fb);
		for (int f = 0; f < N_FIGURES; f++)
			count(&tally[f], fa[f], fb[f]);
	}
	bench_step__close(step);
	report(prog, tally);
}

int main(void)
{
	struct bench_step *step = bench_alloc(1, sizeof(*step));
	struct hogs hogs = start_hogs();

	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]); i++)
		measure(step, &progs[i]);
	stop_hogs(&hogs);
	free(step);
	return 0;
}
