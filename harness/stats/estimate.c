/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/estimate.h"

#include "stats/quantile.h"
#include "stats/special.h"

/* Returns the smallest value in the histogram bucket of v. */
static uint64_t bucket_start(uint64_t v)
{
	return v >> bb_hist_shift(v) << bb_hist_shift(v);
}

/* Finds a tick that is not a whole number of ns, from the first n bins. Each multiple of it is one
 * value, or two values 1 ns apart. Returns 1 if there is no such tick. */
static double rounded_tick(const struct bb_hist_bin *bins, size_t n)
{
	uint64_t first = bins[0].value_ns, start = first;
	double tick = INFINITY, k_known = 1;
	size_t n_multiples = 1;

	for (size_t i = 1; i < n; i++) {
		uint64_t gap = bins[i].value_ns - start;

		if (gap <= 1)
			continue;
		if (gap < 8)
			return 1;
		tick = fmin(tick, (double)gap);
		start = bins[i].value_ns;
		n_multiples++;
	}
	if (n_multiples < 3)
		return 1;
	start = first;
	for (size_t i = 1; i < n; i++) {
		double distance = (double)(bins[i].value_ns - first), k = round(distance / tick);
		/* largest error of k * tick: 1 ns by rounding, and k times the error of `tick` */
		double slack = 1 + k / k_known;

		if (bins[i].value_ns - start <= 1)
			continue;
		if (slack > tick / 4 || fabs(distance - k * tick) > slack)
			return 1;
		tick = distance / k;
		k_known = k;
		start = bins[i].value_ns;
	}
	return tick;
}

double bb_tick(const struct bb_sorted *s)
{
	double limit = 2 * bb_hist_quantile(s, 0.5) + 100;
	size_t n = 0, n_exact = 0;
	uint64_t g = 0;

	for (; n < s->n_bins && (double)s->bins[n].value_ns <= limit; n++)
		n_exact += s->bins[n].value_ns < BB_HIST_EXACT;
	if (n_exact >= 2)
		n = n_exact;
	for (size_t i = 1; i < n; i++) {
		uint64_t a = bucket_start(s->bins[i].value_ns) - bucket_start(s->bins[0].value_ns);

		while (a) {
			uint64_t rest = g % a;

			g = a;
			a = rest;
		}
	}
	if (g == 1 && n_exact >= 2)
		return rounded_tick(s->bins, n);
	return g ? (double)g : 1;
}

double bb_censor_margin(double iqr_ns, double tick_ns)
{
	return fmax(fmax(5 * iqr_ns, 3 * tick_ns), 10);
}

struct bb_censor bb_censor_series(const struct bb_sorted *s)
{
	struct bb_censor c = {.tick_ns = bb_tick(s)};
	double iqr = bb_hist_quantile(s, 0.75) - bb_hist_quantile(s, 0.25);
	double sum = 0, kept_sum = 0, kept = 0;

	c.threshold_ns = bb_hist_quantile(s, 0.5) + bb_censor_margin(iqr, c.tick_ns);
	for (size_t i = 0; i < s->n_bins; i++) {
		double part = (double)s->bins[i].value_ns * (double)s->bins[i].count;

		sum += part;
		if ((double)s->bins[i].value_ns <= c.threshold_ns) {
			kept_sum += part;
			kept += (double)s->bins[i].count;
		}
	}
	c.mean_ns = kept > 0 ? kept_sum / kept : NAN;
	c.share_of_n = s->n ? ((double)s->n - kept) / (double)s->n : NAN;
	c.share_of_sum = !s->n ? NAN : sum > 0 ? (sum - kept_sum) / sum : 0;
	return c;
}

size_t bb_order_rank(size_t n, double alpha)
{
	/* C(n, i) / 2^n is computed from the term before it. This is exact while a double can hold
	 * it, so rounding never lifts a tail of exactly alpha / 2 above alpha / 2. */
	double m = (double)n, term = ldexp(1, n <= 1000 ? -(int)n : 0), tail = 0;
	size_t k = 0;

	if (!(alpha > 0 && alpha < 1))
		return 0;
	for (; k < n / 2 + 1; k++) {
		double i = (double)k;

		if (n > 1000) /* 2^-n would underflow, so use logarithms */
			term = exp(bb_lgamma(m + 1) - bb_lgamma(i + 1) - bb_lgamma(m - i + 1) -
				   m * M_LN2);
		tail += term;
		if (2 * tail > alpha)
			break;
		if (n <= 1000)
			term = term * (m - i) / (i + 1);
	}
	return k;
}

struct bb_interval bb_order_interval(const double *sorted, size_t n, double alpha)
{
	struct bb_interval none = {NAN, NAN};
	size_t k = bb_order_rank(n, alpha);

	if (BB_ANY(sorted, n, isnan(*it)))
		return none;
	return k ? (struct bb_interval){sorted[k - 1], sorted[n - k]} : none;
}

struct bb_location bb_location_over_loads(const double *x, size_t n, double alpha)
{
	struct bb_location l = {NAN, {NAN, NAN}, NAN, 0};
	double *sorted = bb_calloc(n, sizeof(*sorted)), p10;

	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]))
			sorted[l.n++] = x[i];
	l.value = bb_median(sorted, l.n);
	l.interval = bb_order_interval(sorted, l.n, alpha);
	p10 = bb_quantile_sorted(sorted, l.n, 0.1);
	if (l.n >= 2 && p10 > 0)
		l.spread = bb_quantile_sorted(sorted, l.n, 0.9) / p10;
	free(sorted);
	return l;
}

static bool usable(const double *x, size_t n)
{
	return n && !BB_ANY(x, n, !isfinite(*it) || *it <= 0 || (it > x && *it < it[-1]));
}

struct bb_order_ratio bb_order_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
				     double alpha)
{
	struct bb_order_ratio r = {NAN, {NAN, NAN}};
	struct bb_interval ia, ib;

	if (!usable(a, n_a) || !usable(b, n_b) || !(alpha > 0 && alpha < 1))
		return r;
	ia = bb_order_interval(a, n_a, alpha / 2);
	ib = bb_order_interval(b, n_b, alpha / 2);
	r.ratio = bb_quantile_sorted(b, n_b, 0.5) / bb_quantile_sorted(a, n_a, 0.5);
	r.interval = (struct bb_interval){ib.lo / ia.hi, ib.hi / ia.lo};
	return r;
}

/* Returns the least alpha with rank k: 2 P(Bin(n, 1/2) <= k - 1) = alpha / 2. */
static double alpha_of_rank(size_t k, size_t n)
{
	return 4 * bb_binomial_cdf(k - 1, n, 0.5);
}

double bb_order_ratio_p(const double *a, size_t n_a, const double *b, size_t n_b, double factor)
{
	/* b[i - 1] is the ith lowest value of b, a[n_a - j] is the jth highest value of a */
	size_t i = 1, j = 1;
	double next_b, next_a, p;

	if (!usable(a, n_a) || !usable(b, n_b) || !(factor > 0) || isinf(factor))
		return NAN;
	p = fmax(alpha_of_rank(1, n_a), alpha_of_rank(1, n_b));
	/* The interval becomes narrower as alpha grows. So the loop tries growing alphas, and
	 * returns the first one whose interval lies above `factor`. */
	while (p < 1) {
		while ((next_b = alpha_of_rank(i + 1, n_b)) <= p)
			i++;
		while ((next_a = alpha_of_rank(j + 1, n_a)) <= p)
			j++;
		if (b[i - 1] > factor * a[n_a - j])
			return p;
		p = fmin(next_a, next_b);
	}
	return 1;
}

size_t bb_order_ratio_needs(double alpha)
{
	size_t n = 1;

	if (!(alpha > 0 && alpha < 1))
		return 0;
	while (!bb_order_rank(n, alpha / 2))
		n++;
	return n;
}
