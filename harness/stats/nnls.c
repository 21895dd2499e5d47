/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/nnls.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDENT 1e-9 /* of a column of length 1: what is left of it beside the others */
#define GRADIENT 1e-10 /* of the largest: as good as none */

struct nnls {
	size_t m;
	double *gram, *right; /* x'x and x'y of the scaled columns; m x m, m */
	double *scale;        /* length of the columns; 0: nothing in it */
	double *factor;       /* lower Cholesky factor of gram over the passive columns; m x m */
	/* by column; the solution so far, and that of the passive columns without the bound */
	double *b, *z;
	size_t *passive; /* columns that are not held at 0; n_passive of them */
	size_t n_passive;
	bool *is_passive, *barred; /* barred: it depends on the passive ones */
};

static void free_nnls(struct nnls *s)
{
	free(s->gram);
	free(s->right);
	free(s->scale);
	free(s->factor);
	free(s->b);
	free(s->z);
	free(s->passive);
	free(s->is_passive);
	free(s->barred);
}

static int make_nnls(struct nnls *s, size_t m)
{
	*s = (struct nnls){
		.m = m,
		.gram = calloc(m * m + 1, sizeof(double)),
		.right = calloc(m + 1, sizeof(double)),
		.scale = calloc(m + 1, sizeof(double)),
		.factor = calloc(m * m + 1, sizeof(double)),
		.b = calloc(m + 1, sizeof(double)),
		.z = calloc(m + 1, sizeof(double)),
		.passive = calloc(m + 1, sizeof(size_t)),
		.is_passive = calloc(m + 1, sizeof(bool)),
		.barred = calloc(m + 1, sizeof(bool)),
	};
	return s->gram && s->right && s->scale && s->factor && s->b && s->z && s->passive &&
			       s->is_passive && s->barred
		       ? 0
		       : -ENOMEM;
}

static void normal_equations(struct nnls *s, const double *x, const double *y, const bool *use,
			     size_t n)
{
	size_t m = s->m;

	for (size_t i = 0; i < n; i++) {
		const double *row = x + i * m;

		for (size_t j = 0; (!use || use[i]) && j < m; j++) {
			s->right[j] += row[j] * y[i];
			for (size_t k = 0; k <= j; k++)
				s->gram[j * m + k] += row[j] * row[k];
		}
	}
	for (size_t j = 0; j < m; j++)
		s->scale[j] = sqrt(s->gram[j * m + j]);
	for (size_t j = 0; j < m; j++) {
		if (!(s->scale[j] > 0))
			continue;
		s->right[j] /= s->scale[j];
		for (size_t k = 0; k <= j; k++)
			if (s->scale[k] > 0)
				s->gram[k * m + j] = s->gram[j * m + k] /= s->scale[j] *
									   s->scale[k];
	}
}

/* Take column j in; false: it depends on those that are in. */
static bool append(struct nnls *s, size_t j)
{
	size_t m = s->m, p = s->n_passive;
	double *row = s->factor + p * m, rest = 1;

	for (size_t i = 0; i < p; i++) {
		double sum = s->gram[j * m + s->passive[i]];

		for (size_t k = 0; k < i; k++)
			sum -= row[k] * s->factor[i * m + k];
		row[i] = sum / s->factor[i * m + i];
		rest -= row[i] * row[i];
	}
	if (!(rest > DEPENDENT))
		return false;
	row[p] = sqrt(rest);
	s->passive[s->n_passive++] = j;
	s->is_passive[j] = true;
	return true;
}

static void solve(struct nnls *s)
{
	size_t m = s->m, p = s->n_passive;
	double *z = s->z;

	for (size_t i = 0; i < p; i++) {
		double sum = s->right[s->passive[i]];

		for (size_t k = 0; k < i; k++)
			sum -= s->factor[i * m + k] * z[k];
		z[i] = sum / s->factor[i * m + i];
	}
	for (size_t i = p; i-- > 0;) {
		for (size_t k = i + 1; k < p; k++)
			z[i] -= s->factor[k * m + i] * z[k];
		z[i] /= s->factor[i * m + i];
	}
}

/* Go from b towards z as far as nothing falls below 0, and hold at 0 what stops it. True: all the
 * way. */
static bool step(struct nnls *s)
{
	size_t kept = 0, p = s->n_passive, stop = SIZE_MAX;
	double share = 1;

	for (size_t i = 0; i < p; i++) {
		double b = s->b[s->passive[i]];

		if (s->z[i] <= 0 && b / (b - s->z[i]) < share) {
			share = b / (b - s->z[i]);
			stop = i;
		}
	}
	for (size_t i = 0; i < p; i++)
		s->b[s->passive[i]] += share * (s->z[i] - s->b[s->passive[i]]);
	if (stop == SIZE_MAX)
		return true;
	s->n_passive = 0;
	for (size_t i = 0; i < p; i++) { /* the factor anew, without it */
		size_t j = s->passive[i];

		s->is_passive[j] = false;
		if (i == stop || s->b[j] <= 0 || !append(s, j))
			s->b[j] = 0;
		else
			kept++;
	}
	return !kept;
}

/* The column held at 0 by which the sum of squares falls fastest; SIZE_MAX: it is at its least. */
static size_t steepest(const struct nnls *s)
{
	double most = 0, largest = 0;
	size_t best = SIZE_MAX;

	for (size_t j = 0; j < s->m; j++)
		largest = fmax(largest, fabs(s->right[j]));
	for (size_t j = 0; j < s->m; j++) {
		double gradient = s->right[j];

		if (s->is_passive[j] || s->barred[j] || !(s->scale[j] > 0))
			continue;
		for (size_t i = 0; i < s->n_passive; i++)
			gradient -= s->gram[j * s->m + s->passive[i]] * s->b[s->passive[i]];
		if (gradient > GRADIENT * largest && gradient > most) {
			most = gradient;
			best = j;
		}
	}
	return best;
}

int bb_nnls(const double *x, const double *y, const bool *use, size_t n, size_t m, double *ret_b)
{
	struct nnls s;
	size_t j;
	int rc = make_nnls(&s, m);

	if (!rc)
		normal_equations(&s, x, y, use, n);
	for (size_t round = 0; !rc && round < 10 * m + 10 && (j = steepest(&s)) != SIZE_MAX;
	     round++) {
		if (!append(&s, j)) {
			s.barred[j] = true;
			continue;
		}
		memset(s.barred, 0, m * sizeof(*s.barred));
		solve(&s);
		while (!step(&s))
			solve(&s);
	}
	for (size_t k = 0; !rc && k < m; k++)
		ret_b[k] = s.scale[k] > 0 ? s.b[k] / s.scale[k] : 0;
	free_nnls(&s);
	return rc;
}
