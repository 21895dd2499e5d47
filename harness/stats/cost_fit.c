/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/cost_fit.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stats/binomial.h"
#include "stats/nnls.h"
#include "stats/quantile.h"
#include "stats/special.h"

#define FOLDS 10u
#define LEAST_WAYS 8u
#define ALPHA_BETTER 0.01
#define ALPHA_INTERVAL 0.05

enum { PARTS, CONSTANT, WORK, N_MODELS };

struct fit {
	const struct bb_cost_data *d;
	size_t n_ways, n_folds;
	size_t *way;              /* by row */
	bool *use;                /* by row: not in the fold that is predicted */
	double *costs;            /* by fold and part */
	double *error[N_MODELS];  /* by row: |y - prediction| out of sample */
	double *of_way[N_MODELS]; /* by way: their sum */
	double squares;           /* of the errors by parts */
};

static void free_fit(struct fit *f)
{
	free(f->way);
	free(f->use);
	free(f->costs);
	for (int k = 0; k < N_MODELS; k++) {
		free(f->error[k]);
		free(f->of_way[k]);
	}
}

static int make_fit(struct fit *f, const struct bb_cost_data *d)
{
	*f = (struct fit){.d = d,
			  .way = calloc(d->n + 1, sizeof(*f->way)),
			  .use = calloc(d->n + 1, sizeof(*f->use)),
			  .costs = calloc(FOLDS * d->m + 1, sizeof(*f->costs))};
	bool ok = f->way && f->use && f->costs;

	for (int k = 0; k < N_MODELS; k++) {
		f->error[k] = calloc(d->n + 1, sizeof(double));
		f->of_way[k] = calloc(d->n + 1, sizeof(double));
		ok &= f->error[k] && f->of_way[k];
	}
	return ok ? 0 : -ENOMEM;
}

/* Numbers the ways as they come first. */
static void find_ways(struct fit *f)
{
	const struct bb_cost_data *d = f->d;

	for (size_t i = 0; i < d->n; i++) {
		size_t k = 0;

		while (k < i && memcmp(d->x + k * d->m, d->x + i * d->m, d->m * sizeof(*d->x)))
			k++;
		f->way[i] = k < i ? f->way[k] : f->n_ways++;
	}
	f->n_folds = f->n_ways < FOLDS ? f->n_ways : FOLDS;
}

/* Least squares for y = a + b work over the rows in use (all: NULL); a mean where the work is
 * always the same. */
static void fit_line(const struct bb_cost_data *d, const bool *use, double *ret_a, double *ret_b)
{
	double n = 0, mean_w = 0, mean_y = 0, ww = 0, wy = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (use && !use[i])
			continue;
		n++;
		mean_w += d->work[i];
		mean_y += d->y[i];
	}
	mean_w /= n;
	mean_y /= n;
	for (size_t i = 0; i < d->n; i++) {
		if (use && !use[i])
			continue;
		ww += (d->work[i] - mean_w) * (d->work[i] - mean_w);
		wy += (d->work[i] - mean_w) * (d->y[i] - mean_y);
	}
	*ret_b = ww > 0 ? wy / ww : 0;
	*ret_a = mean_y - *ret_b * mean_w;
}

static double mean_in_use(const struct fit *f)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < f->d->n; i++) {
		sum += f->use[i] ? f->d->y[i] : 0;
		n += f->use[i];
	}
	return sum / n;
}

/* Each fold by all others. */
static int predict_folds(struct fit *f)
{
	const struct bb_cost_data *d = f->d;

	for (size_t fold = 0; fold < f->n_folds; fold++) {
		double *costs = f->costs + fold * d->m, a, b, mean;
		int rc;

		for (size_t i = 0; i < d->n; i++)
			f->use[i] = f->way[i] % f->n_folds != fold;
		rc = bb_nnls(d->x, d->y, f->use, d->n, d->m, costs);
		if (rc)
			return rc;
		fit_line(d, f->use, &a, &b);
		mean = mean_in_use(f);
		for (size_t i = 0; i < d->n; i++) {
			double parts = 0;

			if (f->use[i])
				continue;
			for (size_t j = 0; j < d->m; j++)
				parts += d->x[i * d->m + j] * costs[j];
			f->error[PARTS][i] = fabs(d->y[i] - parts);
			f->error[CONSTANT][i] = fabs(d->y[i] - mean);
			f->error[WORK][i] = fabs(d->y[i] - a - b * d->work[i]);
			f->squares += (d->y[i] - parts) * (d->y[i] - parts);
			for (int k = 0; k < N_MODELS; k++)
				f->of_way[k][f->way[i]] += f->error[k][i];
		}
	}
	return 0;
}

/* Are the errors by parts smaller than those of another model, on more ways than chance would have
 * it? */
static bool is_better(const struct fit *f, int than)
{
	uint64_t better = 0, worse = 0;

	for (size_t w = 0; w < f->n_ways; w++) {
		better += f->of_way[PARTS][w] < f->of_way[than][w];
		worse += f->of_way[PARTS][w] > f->of_way[than][w];
	}
	return better && bb_binomial_upper(better, better + worse, 0.5) <= ALPHA_BETTER;
}

static struct bb_interval interval_of(const struct fit *f, size_t part, double cost)
{
	double mean = 0, squares = 0, half, n = (double)f->n_folds;

	for (size_t k = 0; k < f->n_folds; k++)
		mean += f->costs[k * f->d->m + part] / n;
	for (size_t k = 0; k < f->n_folds; k++)
		squares += pow(f->costs[k * f->d->m + part] - mean, 2);
	half = bb_student_critical(ALPHA_INTERVAL, n - 1) * sqrt(squares * (n - 1) / n);
	return (struct bb_interval){fmax(cost - half, 0), cost + half};
}

static double variance_sum(const struct bb_cost_data *d)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < d->n; i++)
		mean += d->y[i] / (double)d->n;
	for (size_t i = 0; i < d->n; i++)
		sum += (d->y[i] - mean) * (d->y[i] - mean);
	return sum;
}

static int judge(struct fit *f, double *costs, struct bb_interval *intervals,
		 struct bb_cost_fit *out)
{
	const struct bb_cost_data *d = f->d;
	double a;
	int rc = predict_folds(f);

	if (!rc)
		rc = bb_nnls(d->x, d->y, NULL, d->n, d->m, costs);
	if (rc)
		return rc;
	for (size_t j = 0; j < d->m; j++) {
		intervals[j] = interval_of(f, j, costs[j]);
		out->n_costs += costs[j] > 0;
	}
	fit_line(d, NULL, &a, &out->per_work);
	out->r2 = 1 - f->squares / variance_sum(d);
	out->error = bb_median(f->error[PARTS], d->n);
	out->error_constant = bb_median(f->error[CONSTANT], d->n);
	out->error_work = bb_median(f->error[WORK], d->n);
	out->verdict = out->n_ways < 2 * out->n_costs ? BB_COST_FEW_WAYS
		       : !is_better(f, CONSTANT)      ? BB_COST_AS_CONSTANT
		       : !is_better(f, WORK)          ? BB_COST_AS_WORK
						      : BB_COST_FITS;
	return 0;
}

int bb_cost_fit(const struct bb_cost_data *d, double *ret_costs, struct bb_interval *ret_intervals,
		struct bb_cost_fit *ret_fit)
{
	struct bb_cost_fit out = {.verdict = BB_COST_FEW_WAYS,
				  .r2 = NAN,
				  .error = NAN,
				  .error_constant = NAN,
				  .error_work = NAN,
				  .per_work = NAN};
	struct fit f;
	int rc = make_fit(&f, d);

	for (size_t j = 0; j < d->m; j++) {
		ret_costs[j] = NAN;
		ret_intervals[j] = (struct bb_interval){NAN, NAN};
	}
	if (!rc) {
		find_ways(&f);
		out.n_ways = f.n_ways;
		if (f.n_ways >= LEAST_WAYS)
			rc = judge(&f, ret_costs, ret_intervals, &out);
	}
	free_fit(&f);
	if (!rc)
		*ret_fit = out;
	return rc;
}
