/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/cross_check.h"

#include <math.h>
#include <string.h>

#include "core/drive_kind.h"

#define OFF_NS 10 /* the margin that censoring allows a sample, stats/estimate.h */
#define OFF_SHARE 0.1

/* What follows the drive in a case's name: "/input=syn", or nothing. */
static const char *rest_of(const struct bb_case *c)
{
	size_t len = strlen(c->scenario) + strlen(c->variant) + strlen(c->drive) + 2;

	return strlen(c->name) >= len ? c->name + len : "";
}

static const struct bb_case *step_beside(const struct bb_report *r, const struct bb_case *slope)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!strcmp(c->drive, bb_drive_kind_named(slope->drive)->agrees_with) &&
		    !strcmp(c->scenario, slope->scenario) && !strcmp(c->variant, slope->variant) &&
		    !strcmp(rest_of(c), rest_of(slope)))
			return c;
	}
	return NULL;
}

static double step_minus_slope(const struct bb_report *r, const struct bb_case *slope)
{
	const struct bb_case *step = step_beside(r, slope);

	return step ? step->summary.latency.value - slope->summary.latency.value : NAN;
}

/* The square of half an interval; 0 where there is none, as of few loads. */
static double variance_of(const struct bb_estimate *e)
{
	double half_ns = (e->hi - e->lo) / 2;

	return isfinite(half_ns) ? half_ns * half_ns : 0;
}

/* Of both, ns squared: the four figures that `off` is made of are measured one by one. */
static double variance_of_both(const struct bb_report *r, const struct bb_case *slope)
{
	const struct bb_case *step = step_beside(r, slope);

	return variance_of(&slope->summary.latency) +
	       (step ? variance_of(&step->summary.latency) : 0);
}

/* slope and what bpf_stats adds to it, against step. */
static void check_slope(const struct bb_report *r, struct bb_cross_checked *k)
{
	const struct bb_case *slope = k->slope;

	k->slope_ns = slope->summary.latency.value;
	k->step_ns = k->step->summary.latency.value;
	k->noise_ns = variance_of_both(r, slope);
	if (slope->floor == BB_NO_FLOOR)
		return;
	k->stats_ns = step_minus_slope(r, &r->cases[slope->floor]);
	k->noise_ns += variance_of_both(r, &r->cases[slope->floor]);
}

static const struct bb_program *program_of(const struct bb_report *r, const struct bb_case *c)
{
	for (size_t i = 0; i < r->n_programs; i++)
		if (!strcmp(r->programs[i].scenario, c->scenario) &&
		    !strcmp(r->programs[i].variant, c->variant))
			return &r->programs[i];
	return NULL;
}

/* Both less their empty programs. */
static void check_hook(const struct bb_report *r, struct bb_cross_checked *k)
{
	const struct bb_program *program = program_of(r, k->slope);

	k->slope_ns = k->slope->summary.net.value;
	k->step_ns = k->step->summary.net.value;
	k->stats_ns = 0;
	k->noise_ns = variance_of(&k->slope->summary.net) + variance_of(&k->step->summary.net);
	k->wakes_reader = program && program->has_ring && k->slope_ns > k->step_ns;
}

bool bb_cross_check(const struct bb_report *r, size_t i, struct bb_cross_checked *ret_reconciled)
{
	struct bb_cross_checked k = {.slope = &r->cases[i],
				     .rest = rest_of(&r->cases[i]),
				     .stats_ns = NAN};
	const struct bb_drive_kind *kind = bb_drive_kind_named(k.slope->drive);

	if (!kind->agrees_with)
		return false;
	k.step = step_beside(r, k.slope);
	if (!k.step || isnan(step_minus_slope(r, k.slope)))
		return false;
	if (kind->own_floor)
		check_hook(r, &k);
	else
		check_slope(r, &k);
	k.off_ns = k.step_ns - k.slope_ns - k.stats_ns;
	k.noise_ns = sqrt(k.noise_ns);
	k.agrees = fabs(k.off_ns) - k.noise_ns <= fmax(OFF_NS, OFF_SHARE * k.step_ns);
	*ret_reconciled = k;
	return true;
}
