/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "core/drive_kind.h"
#include "report/report.h"
#include "stats/quantile.h"
#include "stats/loads.h"

/* With fewer loads, no spread p90 / p10 is computed. Of two loads it would only be a ratio. */
#define SPREAD_MIN 3

static const struct bb_estimate absent = {NAN, NAN, NAN};

static struct bb_estimate point(double value)
{
	return (struct bb_estimate){value, NAN, NAN};
}

static double ratio(double sum, double of)
{
	return of > 0 ? sum / of : NAN;
}

/* A program that causes this many interrupts per run or more counts as one that wakes a process. */
#define WAKES 0.5

enum bb_reference bb_case__reference(const struct bb_case *c)
{
	return c->wakeups >= WAKES ? BB_REFERENCE_WAKEUP : BB_REFERENCE_INSTRUCTIONS;
}

void bb_case__relative(const struct bb_case *c, const double *x, double *ret_relative)
{
	enum bb_reference reference = bb_case__reference(c);
	bool is_steady = reference == BB_REFERENCE_INSTRUCTIONS;

	for (size_t i = 0; i < c->n_series; i++)
		ret_relative[i] = ratio(x[i], is_steady ? c->summary.reference[reference].value
							: c->series[i].reference_ns[reference]);
}

/* The place of a load is the address of its JIT code modulo 64. Returns, for each load, the share
 * of random loads that get the same place. stats/loads.h weighs the load by this share.
 * `*ret_place` receives the places, in the same allocation: free() only the shares. */
static double *shares_of(const struct bb_case *c, int **ret_place)
{
	double *share = bb_calloc(c->n_series + 1, sizeof(*share) + sizeof(**ret_place));

	*ret_place = (int *)(void *)(share + c->n_series);
	for (size_t i = 0; i < c->n_series; i++) {
		share[i] = c->series[i].jit_share;
		/* -1 means that bpfbench did not choose the place of this load */
		(*ret_place)[i] = isnan(share[i]) ? -1 : c->series[i].jit_mod64;
	}
	return share;
}

void bb_case__over_loads(const struct bb_case *c, const double *x, struct bb_over_loads *ret)
{
	struct bb_location l = bb_location_over_loads(x, c->n_series, BB_ALPHA);
	struct bb_stratified s;
	int *place;

	*ret = (struct bb_over_loads){
		.estimate = {l.value, l.interval.lo, l.interval.hi},
		.se = NAN,
		.df = NAN,
		.spread = l.n >= SPREAD_MIN ? l.spread : NAN,
		.least = NAN,
		.most = NAN,
	};
	double *share = shares_of(c, &place);
	if (bb_stratified_mean(x, place, share, c->n_series, BB_ALPHA, &s)) {
		ret->estimate = (struct bb_estimate){s.value, s.interval.lo, s.interval.hi};
		ret->se = s.se;
		ret->df = (double)(s.n - s.n_strata);
		ret->least = s.least;
		ret->most = s.most;
		ret->n_places = s.n_strata;
	}
	free(share);
}

void bb_case__sort(const struct bb_case *c, struct bb_sorted *ret_sorted)
{
	struct bb_hist all = {0};

	for (size_t i = 0; i < c->n_series; i++)
		if (!c->series[i].void_why)
			bb_hist_merge(&all, &c->series[i].hist);
	bb_hist_sort(&all, ret_sorted);
	bb_hist_done(&all);
}

struct bb_most_frequent bb_case__most_frequent(const struct bb_case *c)
{
	struct bb_most_frequent mode = {NAN, NAN};
	const struct bb_hist_bin *best = NULL;
	struct bb_sorted sorted;

	bb_case__sort(c, &sorted);
	for (size_t i = 0; i < sorted.n_bins; i++)
		if (!best || sorted.bins[i].count > best->count)
			best = &sorted.bins[i];
	if (best) {
		mode.value = bb_case__ns(c, (double)best->value_ns);
		mode.others = 1 - (double)best->count / (double)sorted.n;
	}
	bb_sorted_done(&sorted);
	return mode;
}

static void estimate_over_loads(const struct bb_case *c, const double *x,
				struct bb_estimate *ret_estimate)
{
	struct bb_over_loads l;

	bb_case__over_loads(c, x, &l);
	*ret_estimate = l.estimate;
}

static struct bb_censor censor(const struct bb_hist *h)
{
	struct bb_sorted sorted;

	bb_hist_sort(h, &sorted);
	struct bb_censor censor = bb_censor_series(&sorted);
	bb_sorted_done(&sorted);
	return censor;
}

/* Computes the mean of a series without its outliers. In a mix, outliers are found by return value
 * and path, so that rare, longer runs are no outliers. The means are weighted by runs. */
static struct bb_censor censor_series(const struct bb_series *s)
{
	struct bb_censor all = {.mean_ns = 0};

	if (!s->n_classes)
		return censor(&s->hist);
	for (size_t i = 0; i < s->n_classes; i++) {
		const struct bb_hist *h = &s->classes[i].hist;
		struct bb_censor c = censor(h);

		all.mean_ns += c.mean_ns * (double)h->n / (double)s->hist.n;
		all.share_of_n += c.share_of_n * (double)h->n / (double)s->hist.n;
		all.share_of_sum += c.share_of_sum * h->sum_ns / s->hist.sum_ns;
	}
	return all;
}

static int by_runs(const void *a, const void *b)
{
	const struct bb_class_cost *x = a, *y = b;

	return BB_ORDER(y->runs, x->runs) ?: BB_ORDER(x->value, y->value);
}

size_t bb_case__class_costs(const struct bb_case *c, struct bb_class_cost **ret_costs)
{
	struct bb_class_cost *costs = NULL;
	size_t n = 0;
	double all = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		const struct bb_series *s = &c->series[i];

		for (size_t k = 0; !s->void_why && k < s->n_classes; k++) {
			const struct bb_class *class = &s->classes[k];
			double runs = (double)class->hist.n;
			struct bb_class_cost *cost =
				BB_FIND(costs, n,
					it->value == class->value &&
						bb_same_text(it->path, class->path));

			if (!cost) {
				cost = bb_append(&costs, &n, sizeof(*cost));
				cost->returned = class->returned;
				cost->path = class->path;
				cost->value = class->value;
			}
			cost->runs += runs;
			cost->ns += runs * bb_case__ns(c, censor(&class->hist).mean_ns);
			all += runs;
		}
	}
	for (size_t i = 0; i < n; i++) {
		costs[i].ns = ratio(costs[i].ns, costs[i].runs);
		costs[i].share = ratio(costs[i].runs, all);
	}
	if (n)
		qsort(costs, n, sizeof(*costs), by_runs);
	*ret_costs = costs;
	return n;
}

/* Computes the latency of each series: its mean without outliers or, with BB_FILLS_MEAN, over all
 * runs. With `sum`, also sets the shares of outliers, and counts disturbed series as void. */
static void locate(const struct bb_case *c, double *ret_ns, struct bb_summary *sum)
{
	bool is_mean = bb_drive_kind_named(c->drive)->fills & BB_FILLS_MEAN;
	double outliers = 0, outlier_ns = 0, n = 0, sum_ns = 0, *share;
	int *place;

	for (size_t i = 0; i < c->n_series; i++) {
		const struct bb_series *s = &c->series[i];

		ret_ns[i] = NAN;
		if (s->void_why || !s->hist.n)
			continue;
		struct bb_censor in = censor_series(s);
		ret_ns[i] = is_mean ? ratio((double)s->run_time_ns, (double)s->run_cnt)
				    : bb_case__ns(c, in.mean_ns);
		outliers += in.share_of_n * (double)s->hist.n;
		outlier_ns += in.share_of_sum * s->hist.sum_ns;
		n += (double)s->hist.n;
		sum_ns += s->hist.sum_ns;
	}
	/* Sets the latency of a load to NAN if something other than the program slowed it down. */
	share = shares_of(c, &place);
	size_t n_aside = bb_strata_set_aside(ret_ns, place, c->n_series);
	free(share);
	if (!sum)
		return;
	sum->outlier_share = point(is_mean ? NAN : ratio(outliers, n));
	sum->outlier_time_share = point(is_mean ? NAN : ratio(outlier_ns, sum_ns));
	sum->loads -= (uint32_t)n_aside;
	sum->voids += (uint32_t)n_aside;
}

void bb_case__locations(const struct bb_case *c, double *ret_ns)
{
	locate(c, ret_ns, NULL);
}

double bb_case__at_load(const struct bb_case *c, const double *x, uint32_t load)
{
	const struct bb_series *s = BB_FIND(c->series, c->n_series,
					    it->load == load && !isnan(x[it - c->series]));

	return s ? x[s - c->series] : NAN;
}

/* Adds up the counters and times of the valid series, and sets figures that follow from them. */
static void count(struct bb_case *c)
{
	double run_cnt = 0, run_time_ns = 0, drops = 0, events = 0, events_s = 0, wall_s = 0,
	       steal = 0, steal_s = 0, worst = 0;
	const struct bb_drive_kind *kind = bb_drive_kind_named(c->drive);
	bool by_rate = c->param && kind->seconds > 0 && kind->fires,
	     by_freq = c->param && kind->seconds > 0 && !kind->fires,
	     watched = kind->fills & BB_FILLS_RUN_RATE;
	struct bb_summary *sum = &c->summary;
	size_t valid = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		const struct bb_series *s = &c->series[i];

		if (s->void_why) {
			sum->voids++;
			continue;
		}
		valid++;
		sum->loads += s->hist.n > 0;
		run_cnt += (double)s->run_cnt;
		run_time_ns += (double)s->run_time_ns;
		drops += (double)s->drops;
		wall_s += s->elapsed_s;
		worst = s->hist.n ? fmax(worst, (double)s->hist.max_ns) : worst;
		if (by_rate || s->target_cpu_s > 0) {
			events += (double)(by_rate ? s->events : s->run_cnt);
			events_s += by_rate ? s->elapsed_s : s->target_cpu_s;
		}
		if (!isnan(s->steal) && s->elapsed_s > 0) {
			steal += s->steal * s->elapsed_s;
			steal_s += s->elapsed_s;
		}
	}
	sum->naive_mean = point(ratio(run_time_ns, run_cnt));
	sum->live.run_rate = point(watched ? ratio(run_cnt, wall_s) : NAN);
	sum->live.cpu_share = point(watched ? ratio(run_time_ns, wall_s * 1e9) : NAN);
	sum->live.path_share = point(c->path_share);
	sum->map_bytes = point(c->map_bytes);
	sum->live.worst = point(kind->fills & BB_FILLS_WORST && worst > 0 ? bb_case__ns(c, worst)
									  : NAN);
	/* drops of a live program are unknown, because bpfbench does not read its maps */
	sum->drops = point(valid && !c->is_live ? drops : NAN);
	sum->rate_achieved = point(ratio(events, events_s));
	sum->rate_requested = point(by_rate || by_freq ? (double)c->param_value : (double)NAN);
	sum->steal = point(ratio(steal, steal_s));
}

/* Sets the figures of the ring and its consumer, from the series that have `flow`. */
static void count_flow(struct bb_case *c)
{
	double produced = 0, consumed = 0, cpu_s = 0, peak = 0, max_ns = 0;
	struct bb_summary *sum = &c->summary;
	size_t n = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		const struct bb_ring_use *f = c->series[i].flow;

		if (!f || c->series[i].void_why)
			continue;
		n++;
		produced += (double)(f->consumed + f->waiting);
		consumed += (double)f->consumed;
		cpu_s += f->consumer_cpu_s;
		for (size_t k = 0; k < f->n_points; k++)
			peak = fmax(peak, ratio((double)f->points[k].backlog_bytes,
						(double)f->ring_bytes));
		if (c->series[i].hist.n)
			max_ns = fmax(max_ns, (double)c->series[i].hist.max_ns);
	}
	sum->pipeline.produced = point(n ? produced : NAN);
	sum->pipeline.consumed = point(n ? consumed : NAN);
	sum->pipeline.ring_peak = point(n ? peak : NAN);
	sum->pipeline.lag_max = point(n ? bb_case__ns(c, max_ns) : NAN);
	sum->pipeline.consumer_cpu = point(n ? 1e9 * ratio(cpu_s, consumed) : NAN);
	if (bb_drive_kind_named(c->drive)->is_whole)
		sum->naive_mean = absent; /* run_time_ns covers less than the samples */
}

/* Sets the figures of the drive slope over all loads, and the references as medians over rounds. */
static void averages(struct bb_case *c, double *scratch)
{
	static const struct {
		size_t in_series, in_summary;
	} columns[] = {
		{offsetof(struct bb_series, slope.intercept_ns),
		 offsetof(struct bb_summary, slope.intercept)},
		{offsetof(struct bb_series, slope.cycles),
		 offsetof(struct bb_summary, slope.cycles)},
		{offsetof(struct bb_series, slope.instructions),
		 offsetof(struct bb_summary, slope.instructions)},
		{offsetof(struct bb_series, slope.llc_misses),
		 offsetof(struct bb_summary, slope.llc_misses)},
	};

	for (size_t k = 0; k < BB_LEN(columns); k++) {
		for (size_t i = 0; i < c->n_series; i++)
			scratch[i] = c->series[i].void_why
					     ? NAN
					     : *(const double *)((const char *)&c->series[i] +
								 columns[k].in_series);
		estimate_over_loads(c, scratch,
				    (void *)((char *)&c->summary + columns[k].in_summary));
	}
	for (int k = 0; k < BB_N_REFERENCES; k++) {
		size_t n = 0;

		for (size_t i = 0; i < c->n_series; i++)
			if (isfinite(c->series[i].reference_ns[k]))
				scratch[n++] = c->series[i].reference_ns[k];
		c->summary.reference[k] = point(bb_median(scratch, n));
	}
}

/* Widens the interval of `e` by an independent error whose interval has the half width `more`. */
static void widen(struct bb_estimate *e, double more)
{
	if (!(more > 0) || isnan(e->lo))
		return;
	e->lo = e->value - hypot(e->value - e->lo, more);
	e->hi = e->value + hypot(e->hi - e->value, more);
}

/* Computes all figures of a summary that need no other case. ret_location[n_series] receives the
 * latency of each series, ns, as bb_case__locations() does. */
static void summarise_case(struct bb_case *c, double *ret_location, double *scratch)
{
	unsigned int fills = bb_drive_kind_named(c->drive)->fills;
	struct bb_summary *sum = &c->summary;
	struct bb_sorted sorted;
	struct bb_over_loads l;
	double p50, p90, p99;

	memset(sum, 0, sizeof(*sum));
	sum->floor = sum->net = sum->slowdown.ratio = absent;
	count(c);
	count_flow(c);
	locate(c, ret_location, sum);
	bb_case__sort(c, &sorted);
	p50 = bb_hist_quantile(&sorted, 0.5);
	p90 = bb_hist_quantile(&sorted, 0.9);
	p99 = bb_hist_quantile(&sorted, 0.99);
	sum->samples = sorted.n;
	/* a path of `inside` may have too few runs for a median */
	sum->p50 = point(fills & BB_FILLS_WORST && sorted.n < BB_P50_MIN ? NAN
									 : bb_case__ns(c, p50));
	sum->p90 = point(sorted.n >= BB_P90_MIN ? bb_case__ns(c, p90) : NAN);
	sum->p99 = point(sorted.n >= BB_P99_MIN ? bb_case__ns(c, p99) : NAN);
	bb_sorted_done(&sorted);
	bb_case__over_loads(c, ret_location, &l);
	averages(c, scratch);
	sum->latency = l.estimate;
	if (fills & (BB_FILLS_THROUGHPUT | BB_FILLS_PACKET_RATE)) {
		/* CPU time that all CPUs of the case have together in 1 s, ns */
		double ns = 1e9 * (fills & BB_FILLS_THROUGHPUT ? c->param_value : 1);

		sum->live.run_rate = (struct bb_estimate){ratio(ns, l.estimate.value),
							  ratio(ns, l.estimate.hi),
							  ratio(ns, l.estimate.lo)};
	}
	sum->layout_best = point(l.least);
	sum->layout_worst = point(l.most);
	sum->places = (uint32_t)l.n_places;
	/* a live program has one address, and its loads are slices of time */
	sum->layout_spread = point(c->is_live ? NAN : l.spread);
	bb_case__relative(c, ret_location, scratch);
	estimate_over_loads(c, scratch, &sum->relative);
}

/* Computes floor, net and slowdown of a case, load by load. The floor of a load is the latency of
 * the floor's case in the same round, because a disturbance in a round affects both. Without such a
 * case it is the series' own floor_ns. */
static void against_floor(struct bb_report *r, size_t i, double *const *locations)
{
	struct bb_case *c = &r->cases[i];
	const struct bb_case *floor = c->floor < r->n_cases ? &r->cases[c->floor] : NULL;
	double *floor_ns, *net, *ratios;

	if (c->floor == i)
		return;
	floor_ns = bb_calloc(3 * c->n_series, sizeof(*net));
	net = floor_ns + c->n_series;
	ratios = net + c->n_series;
	for (size_t k = 0; k < c->n_series; k++) {
		const struct bb_series *s = &c->series[k];

		floor_ns[k] = floor         ? bb_case__at_load(floor, locations[c->floor], s->load)
			      : s->void_why ? NAN
					    : s->floor_ns;
		net[k] = locations[i][k] - floor_ns[k];
		ratios[k] = locations[i][k] / floor_ns[k];
	}
	estimate_over_loads(c, floor_ns, &c->summary.floor);
	if (floor)
		c->summary.floor = floor->summary.latency;
	estimate_over_loads(c, net, &c->summary.net);
	if (bb_drive_kind_named(c->drive)->fills & BB_FILLS_SLOWDOWN)
		estimate_over_loads(c, ratios, &c->summary.slowdown.ratio);
	free(floor_ns);
}

static double known(double x)
{
	return isnan(x) ? 0 : x;
}

void bb_report__summarise(struct bb_report *r)
{
	double **locations = bb_calloc(r->n_cases, sizeof(*locations));

	for (size_t i = 0; i < r->n_cases; i++) {
		size_t n = r->cases[i].n_series;

		locations[i] = bb_calloc(2 * n, sizeof(double));
		summarise_case(&r->cases[i], locations[i], locations[i] + n);
	}
	for (size_t i = 0; i < r->n_cases; i++)
		against_floor(r, i, locations);
	/* Widen the intervals by the differences between runs of bpfbench, if these are known. */
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		struct bb_summary *s = &r->cases[i].summary;
		double ns = s->latency.value;
		double floor_ns = known(c->between_floor) * known(s->floor.value);
		double more_ns = hypot(known(c->between) * ns, floor_ns);

		widen(&s->latency, more_ns);
		widen(&s->net, more_ns);
		widen(&s->floor, floor_ns);
		widen(&s->relative,
		      hypot(known(c->between_relative), floor_ns / ns) * s->relative.value);
	}
	for (size_t i = 0; i < r->n_cases; i++)
		free(locations[i]);
	free(locations);
}
