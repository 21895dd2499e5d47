/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/cross_check.h"

#include "core/drive_kind.h"

/* Two figures agree if they differ by at most OFF_NS or OFF_SHARE of step's figure, whichever is
 * more. Noise and the cost of bpf_stats are taken off first. OFF_NS is 10 ns because the margin of
 * censoring outliers is at least 10 ns (stats/estimate.h). */
#define OFF_NS 10
#define OFF_SHARE 0.1

/* Returns the part of a case's name after the drive: "/input=syn" or "". */
static const char *rest_of(const struct bb_case *c)
{
	size_t len = strlen(c->scenario) + strlen(c->variant) + strlen(c->drive) + 2;

	return strlen(c->name) >= len ? c->name + len : "";
}

static const struct bb_case *step_beside(const struct bb_report *r, const struct bb_case *slope)
{
	const char *drive = bb_drive_kind_named(slope->drive)->agrees_with;

	return BB_FIND(r->cases, r->n_cases,
		       !strcmp(it->drive, drive) && bb_same_program(it, slope) &&
			       !strcmp(rest_of(it), rest_of(slope)));
}

/* Returns the square of half the interval's width, 0 without an interval. */
static double variance_of(const struct bb_estimate *e)
{
	double half_ns = (e->hi - e->lo) / 2;

	return isfinite(half_ns) ? half_ns * half_ns : 0;
}

bool bb_cross_check(const struct bb_report *r, size_t i, struct bb_cross_checked *ret_reconciled)
{
	const struct bb_case *slope = &r->cases[i];
	const struct bb_drive_kind *kind = bb_drive_kind_named(slope->drive);
	struct bb_cross_checked k = {.slope = slope, .rest = rest_of(slope), .stats_ns = NAN};
	const struct bb_case *floor, *step_floor;
	const struct bb_program *program;

	if (!kind->agrees_with)
		return false;
	k.step = step_beside(r, slope);
	if (!k.step || isnan(k.step->summary.latency.value - slope->summary.latency.value))
		return false;
	/* hook: compares net latencies, because each drive has an empty program of its own */
	if (kind->own_floor) {
		k.slope_ns = slope->summary.net.value;
		k.step_ns = k.step->summary.net.value;
		k.stats_ns = 0;
		k.noise_ns = variance_of(&slope->summary.net) + variance_of(&k.step->summary.net);
		program = bb_report__program_of(r, slope);
		k.wakes_reader = program && program->has_ring && k.slope_ns > k.step_ns;
	} else {
		/* slope: latency plus cost of bpf_stats should equal step's latency */
		k.slope_ns = slope->summary.latency.value;
		k.step_ns = k.step->summary.latency.value;
		k.noise_ns = variance_of(&slope->summary.latency) +
			     variance_of(&k.step->summary.latency);
		floor = slope->floor == BB_NO_FLOOR ? NULL : &r->cases[slope->floor];
		step_floor = floor ? step_beside(r, floor) : NULL;
		if (floor)
			k.noise_ns += variance_of(&floor->summary.latency);
		if (step_floor) {
			k.stats_ns = step_floor->summary.latency.value -
				     floor->summary.latency.value;
			k.noise_ns += variance_of(&step_floor->summary.latency);
		}
	}
	k.off_ns = k.step_ns - k.slope_ns - k.stats_ns;
	/* up to here a sum of variances, because the figures are measured independently */
	k.noise_ns = sqrt(k.noise_ns);
	k.agrees = fabs(k.off_ns) - k.noise_ns <= fmax(OFF_NS, OFF_SHARE * k.step_ns);
	*ret_reconciled = k;
	return true;
}
