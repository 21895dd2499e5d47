/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A against A: does the same load of the same program get the same figure twice while both CPUs are
 * busy with other work? Two series of the step drive are taken in turns; 20 such pairs. In at
 * least 19 of them the medians must differ by at most 1 %. The table also has the figure that
 * bpfbench reports (the censored mean) and the naive mean, run_time_ns / run_cnt, of these series.
 *
 * The length of the turns matters. For about a millisecond at a time every program costs 1.4 x as
 * much here (most likely because of the core's other thread). A median jumps between the two
 * levels, so both series must have the same share of each. That is why the turns are those of A/B
 * comparisons (docs/methods/two-programs.md): 16 samples each, ABBA or BAAB, by a coin. So many
 * pairs of 20 are within 1 % for ringbuf_nowakeup:
 * - turns of 100 samples: 11 with 5000 samples per series, 12 with 10 000;
 * - turns of 16: 18 to 20 with 13 000, 20 in each of three runs with 26 000 (worst 0.6 to 0.9 %).
 */
#include "bench.h"
#include "core/hist.h"
#include "hogs.h"
#include "stats/estimate.h"

#define PAIRS 20u
#define PAIRS_NEEDED 19
#define LIMIT 0.01
#define TURN 16u /* samples of a turn */

/* A block has 4 turns, two for each series. */
static const struct prog {
	const char *program;
	unsigned int blocks;
} progs[] = {
	{"ringbuf_nowakeup", 1200},
	{"ringbuf", 150}, /* takes longer, but varies by a smaller share */
};

struct series {
	struct bb_hist hist;
	uint64_t run_time_ns, run_cnt;
};

enum figure { MEDIAN, CENSORED, NAIVE, N_FIGURES };

struct tally {
	unsigned int within; /* pairs whose ratio is within the limit */
	/* the largest |ratio - 1| of all pairs; the extremes of the figure, ns, over all series */
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

/* Writes the three figures of a series to figure[]; empties the series. */
static void finish(struct series *s, double figure[N_FIGURES])
{
	struct bb_sorted sorted;

	bb_hist_sort(&s->hist, &sorted);
	figure[MEDIAN] = bb_hist_quantile(&sorted, 0.5);
	figure[CENSORED] = bb_censor_series(&sorted).mean_ns;
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
