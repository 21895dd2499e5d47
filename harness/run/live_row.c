/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/live_row.h"

#include <math.h>
#include <string.h>

#include "stats/quantile.h"

void bb_live_row__count(struct bb_live_row *row, const struct bb_prog_stats *before,
			const struct bb_prog_stats *after, double seconds)
{
	double ran_ns = (double)(after->run_time_ns - before->run_time_ns);

	row->seconds = seconds;
	row->total = *after;
	row->runs = after->run_cnt - before->run_cnt;
	row->misses = after->recursion_misses - before->recursion_misses;
	row->runs_per_s = (double)row->runs / seconds;
	row->misses_per_s = (double)row->misses / seconds;
	row->ns_per_run = row->runs ? ran_ns / (double)row->runs : NAN;
	row->cpu_share = ran_ns * 1e-9 / seconds;
}

void bb_live_row__take_out(struct bb_live_row *row, const struct bb_own_runs *own,
			   const struct bb_own_share *share)
{
	double ns = bb_own_share__others_ns(share, own->ns);

	row->unclear = own->unclear || share->unclear;
	row->own_runs = row->unclear ? 0 : share->own + share->mixed_own;
	row->runs = row->unclear ? 0 : share->others;
	row->runs_per_s = row->unclear ? (double)NAN : (double)row->runs / row->seconds;
	row->ns_per_run = row->unclear || !row->runs ? (double)NAN : ns / (double)row->runs;
	row->cpu_share = row->unclear ? (double)NAN : row->runs ? ns * 1e-9 / row->seconds : 0;
}

int bb_live_windows__add(struct bb_live_windows *w, uint64_t runs, uint64_t ns)
{
	return runs <= BB_WINDOWS_MEAN_OF_MAX
		       ? bb_hist_add(&w->means[runs - 1], (ns + runs / 2) / runs, 1)
		       : 0;
}

void bb_live_windows__done(struct bb_live_windows *w)
{
	for (uint32_t i = 0; i < BB_WINDOWS_MEAN_OF_MAX; i++)
		bb_hist_done(&w->means[i]);
}

int bb_live_row__distribute(struct bb_live_row *row, const struct bb_live_windows *windows)
{
	uint64_t n[BB_WINDOWS_MEAN_OF_MAX];
	const struct bb_hist *means;
	struct bb_sorted sorted;
	uint32_t k;
	int rc;

	for (uint32_t i = 0; i < BB_WINDOWS_MEAN_OF_MAX; i++)
		n[i] = windows->means[i].n;
	k = bb_windows_mean_of(n);
	means = &windows->means[k ? k - 1 : 0];
	rc = bb_hist_sort(means, &sorted);
	if (rc)
		return rc;
	row->mean_of = k;
	row->windows = means->n;
	row->windows_ns = means->sum_ns * k;
	row->p50 = bb_hist_quantile(&sorted, 0.5);
	row->p90 = means->n >= BB_P90_MIN ? bb_hist_quantile(&sorted, 0.9) : NAN;
	row->p99 = means->n >= BB_P99_MIN ? bb_hist_quantile(&sorted, 0.99) : NAN;
	bb_sorted_done(&sorted);
	return 0;
}

double bb_live_row__share(const struct bb_live_row *row)
{
	return row->runs ? (double)(row->windows * row->mean_of) / (double)row->runs : NAN;
}

static int by_id(const struct bb_live_row *a, const struct bb_live_row *b)
{
	return (a->program.id > b->program.id) - (a->program.id < b->program.id);
}

/* Largest first, what is absent last, equals by id: rows must not dance on a screen. */
static int descending(double x, double y, const struct bb_live_row *a, const struct bb_live_row *b)
{
	x = isnan(x) ? -1 : x;
	y = isnan(y) ? -1 : y;
	return x > y ? -1 : x < y ? 1 : by_id(a, b);
}

static int by_cpu(const void *a, const void *b)
{
	const struct bb_live_row *x = a, *y = b;

	return descending(x->cpu_share, y->cpu_share, x, y);
}

static int by_runs(const void *a, const void *b)
{
	const struct bb_live_row *x = a, *y = b;

	return descending(x->runs_per_s, y->runs_per_s, x, y);
}

static int by_ns(const void *a, const void *b)
{
	const struct bb_live_row *x = a, *y = b;

	return descending(x->ns_per_run, y->ns_per_run, x, y);
}

static int by_name(const void *a, const void *b)
{
	const struct bb_live_row *x = a, *y = b;
	int order = strcmp(x->program.name, y->program.name);

	return order ? order : by_id(x, y);
}

const struct bb_live_order bb_live_orders[] = {
	{"cpu", "share of a CPU", by_cpu},
	{"runs", "runs per second", by_runs},
	{"ns", "mean cost of a run", by_ns},
	{"name", "name", by_name},
};

const size_t bb_n_live_orders = sizeof(bb_live_orders) / sizeof(bb_live_orders[0]);

const struct bb_live_order *bb_live_order_find(const char *name)
{
	for (size_t i = 0; i < bb_n_live_orders; i++)
		if (!strcmp(bb_live_orders[i].name, name))
			return &bb_live_orders[i];
	return NULL;
}
