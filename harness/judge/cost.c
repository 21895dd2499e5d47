/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "core/drive_kind.h"

void bb_cost__done(struct bb_cost *k)
{
	if (!k)
		return;
	free(k->x);
	free(k->y);
	free(k->work);
	free(k->of);
	free(k->costs);
	free(k->intervals);
	*k = (struct bb_cost){0};
}

static int init(struct bb_cost *k, const struct bb_counted *c)
{
	size_t n = c->n_cases + 1, m = c->n_groups + 1;

	*k = (struct bb_cost){.counted = c,
			      .x = calloc(n * m, sizeof(*k->x)),
			      .y = calloc(n, sizeof(*k->y)),
			      .work = calloc(n, sizeof(*k->work)),
			      .of = calloc(n, sizeof(*k->of)),
			      .costs = calloc(m, sizeof(*k->costs)),
			      .intervals = calloc(m, sizeof(*k->intervals))};
	return k->x && k->y && k->work && k->of && k->costs && k->intervals ? 0 : -ENOMEM;
}

/* What a run of the counted case takes by a drive, ns; NAN: it was not measured. */
static double time_of(const struct bb_report *r, const struct bb_counted *c,
		      const struct bb_counted_case *k, const char *drive)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *timed = &r->cases[i];

		if (!strcmp(timed->drive, drive) && !strcmp(timed->variant, c->variant) &&
		    !strcmp(timed->scenario, c->scenario) && bb_same_text(timed->param, k->param) &&
		    timed->param_value == k->param_value)
			return timed->summary.latency.value;
	}
	return NAN;
}

static bool times_single_runs(const struct bb_drive_kind *kind)
{
	return kind->needs_bpf && !kind->counts && (kind->one_by_one || kind->agrees_with);
}

/* The drive that timed most of the cases; of two, the finer one. */
static void find_times(struct bb_cost *k, const struct bb_report *r)
{
	const struct bb_counted *c = k->counted;

	for (size_t d = 0; d < bb_n_drive_kinds; d++) {
		const char *drive = bb_drive_kind_name(bb_drive_kinds[d]);
		size_t n = 0;

		if (!times_single_runs(bb_drive_kinds[d]))
			continue;

		for (size_t i = 0; i < c->n_cases; i++)
			n += !c->cases[i].void_why && c->cases[i].runs &&
			     !isnan(time_of(r, c, &c->cases[i], drive));
		if (!n || n < k->n)
			continue;
		k->drive = drive;
		k->n = 0;
		for (size_t i = 0; i < c->n_cases; i++) {
			double ns = time_of(r, c, &c->cases[i], drive);

			if (c->cases[i].void_why || !c->cases[i].runs || isnan(ns))
				continue;
			k->of[k->n] = i;
			k->work[k->n] = (double)c->cases[i].instructions / (double)c->cases[i].runs;
			k->y[k->n++] = ns;
		}
	}
}

/* Column j: executions in one run of each case that was timed. */
static int read_counts(struct bb_cost *k, size_t j, struct bb_err *err)
{
	const struct bb_counted *c = k->counted;
	const char *at = c->groups[j].counts;
	uint64_t count;

	for (size_t i = 0, row = 0; i < c->n_cases; i++) {
		if (bb_parse_digits(&at, &count))
			return bb_fail(err, -EINVAL,
				       "%s: the counts of blocks do not match its %zu cases",
				       c->name, c->n_cases);
		at += *at == ' ';
		if (row == k->n || k->of[row] != i)
			continue;
		k->x[row++ * c->n_groups + j] = (double)count / (double)c->cases[i].runs;
	}
	return *at ? bb_fail(err, -EINVAL, "%s: there are more counts of blocks than its %zu cases",
			     c->name, c->n_cases)
		   : 0;
}

static int fit(struct bb_cost *k, const struct bb_report *r, struct bb_err *err)
{
	int rc = 0;

	find_times(k, r);
	for (size_t j = 0; !rc && j < k->counted->n_groups; j++)
		rc = read_counts(k, j, err);
	if (rc || !k->n || !k->counted->n_groups)
		return rc;
	rc = bb_cost_fit(&(struct bb_cost_data){k->x, k->y, k->work, k->n, k->counted->n_groups},
			 k->costs, k->intervals, &k->fit);
	return rc ? bb_fail_nomem(err) : 0;
}

int bb_cost__make(const struct bb_report *r, const struct bb_counted *c, struct bb_cost *ret_cost,
		  struct bb_err *err)
{
	struct bb_cost k;
	int rc = init(&k, c) ? bb_fail_nomem(err) : fit(&k, r, err);

	if (rc)
		bb_cost__done(&k);
	else
		*ret_cost = k;
	return rc;
}

double bb_cost__executions(const struct bb_cost *k, size_t j)
{
	double sum = 0;

	for (size_t i = 0; i < k->n; i++)
		sum += k->x[i * k->counted->n_groups + j];
	return sum / (double)k->n;
}
