/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/contention.h"

#include "core/drive_kind.h"
#include "stats/paired.h"

const char *bb_contention_name(enum bb_contention_verdict verdict)
{
	static const char *const names[] = {
		[BB_CONTENTION_UNSURE] = "unsure",
		[BB_CONTENDED] = "contended",
		[BB_NOT_CONTENDED] = "not contended",
	};

	return names[verdict];
}

/* Adds sign * ln(latency of `c` at load i of the case `of`) to ln[i], NAN if there is none. */
static void add_logs(const struct bb_case *of, const struct bb_case *c, double sign, double *ln)
{
	double *ns = bb_calloc(c->n_series + 1, sizeof(*ns));

	bb_case__locations(c, ns);
	for (size_t i = 0; i < of->n_series; i++)
		ln[i] += sign * log(bb_case__at_load(c, ns, of->series[i].load));
	free(ns);
}

bool bb_contention(const struct bb_report *r, size_t i, struct bb_contention *ret)
{
	const struct bb_case *c = &r->cases[i];
	size_t n = 0;

	if (!(bb_drive_kind_named(c->drive)->fills & BB_FILLS_THROUGHPUT) || bb_is_floor(r, c))
		return false;
	*ret = (struct bb_contention){.few = c, .many = c};
	for (size_t k = 0; k < r->n_cases; k++) {
		const struct bb_case *other = &r->cases[k];

		if (!bb_same_curve(other, c))
			continue;
		if (other->param_value < ret->few->param_value)
			ret->few = other;
		if (other->param_value > ret->many->param_value)
			ret->many = other;
	}
	if (ret->many != c || ret->few == c)
		return false;
	double *ln = bb_calloc(c->n_series + 1, sizeof(*ln));
	add_logs(c, c, 1, ln);
	add_logs(c, ret->few, -1, ln);
	if (c->floor != BB_NO_FLOOR && ret->few->floor != BB_NO_FLOOR) {
		add_logs(c, &r->cases[c->floor], -1, ln);
		add_logs(c, &r->cases[ret->few->floor], 1, ln);
	}
	for (size_t k = 0; k < c->n_series; k++)
		if (isfinite(ln[k]))
			ln[n++] = ln[k];
	struct bb_signed_rank rank = bb_robust_rank(ln, n, BB_ALPHA);
	free(ln);
	ret->more = (struct bb_estimate){expm1(rank.estimate), expm1(rank.interval.lo),
					 expm1(rank.interval.hi)};
	ret->more_ns = ret->many->summary.latency.value * (1 - exp(-rank.estimate));
	if (ret->more.lo > BB_CONTENTION_LEAST)
		ret->verdict = BB_CONTENDED;
	else if (ret->more.hi <= BB_CONTENTION_LEAST)
		ret->verdict = BB_NOT_CONTENDED;
	return true;
}
