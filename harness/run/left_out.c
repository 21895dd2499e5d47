/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/left_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int bb_left_out__loads(struct bb_run *r, uint32_t first, uint32_t end, struct bb_err *err)
{
	char what[600], why[200];

	snprintf(what, sizeof(what), "%s/loads %u..%u", r->session.plan->scenario->name, first + 1,
		 end);
	snprintf(why, sizeof(why), "the budget of %g s would be exceeded; --budget gives more",
		 r->session.opts->budget_s);
	return bb_report__add_skip(r->report, what, why) ? bb_fail_nomem(err) : 0;
}

/* How many of the first `loads` rounds the cell takes part in. */
static uint32_t rounds_of(const struct bb_plan *plan, const struct bb_plan_case *c, uint32_t loads)
{
	uint32_t n = 0;

	for (uint32_t load = 0; load < loads; load++)
		n += bb_plan_case__has_turn(plan, c, load);
	return n;
}

/* Samples, or of a drive that goes by time ms, that the loads which were begun took and wanted. */
static void count_samples(const struct bb_run *r, size_t cell, uint32_t loads, uint64_t *ret_taken,
			  uint64_t *ret_wanted)
{
	const struct bb_plan *plan = r->session.plan;
	const struct bb_plan_case *c = &plan->cases[cell];
	const struct bb_case *k = &r->report->cases[r->case_of[cell]];
	double taken_s = 0;

	*ret_taken = 0;
	for (size_t i = 0; i < k->n_series; i++) {
		*ret_taken += k->series[i].fired;
		taken_s += k->series[i].elapsed_s;
	}
	*ret_wanted = (uint64_t)rounds_of(plan, c, loads) * bb_round__samples(c);
	if (c->seconds > 0) { /* the last window ends when it ends */
		*ret_taken = (uint64_t)(1e3 * taken_s + 1);
		*ret_wanted = (uint64_t)(1e3 * c->seconds / c->loads * rounds_of(plan, c, loads));
	}
}

/* Cases that nothing was measured of, all by name: nothing else says a word of them. */
static int note_unmeasured(struct bb_run *r, size_t n, const size_t *cells, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;
	char what[600], *why = NULL;
	size_t size = 0;
	FILE *out = n ? open_memstream(&why, &size) : NULL;
	bool done;

	if (!n)
		return 0;
	snprintf(what, sizeof(what), "%s: %zu of %zu cases", plan->scenario->name, n,
		 plan->n_cases);
	if (out)
		fprintf(out, "not measured within the budget of %g s, --budget gives more: ",
			r->session.opts->budget_s);
	for (size_t i = 0; out && i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "", plan->cases[cells[i]].name);
	done = out && !fclose(out) && !bb_report__add_skip(r->report, what, why);
	free(why);
	return done ? 0 : bb_fail_nomem(err);
}

static int note_fewer(struct bb_run *r, size_t cell, uint64_t taken, uint64_t wanted,
		      struct bb_err *err)
{
	const struct bb_plan_case *c = &r->session.plan->cases[cell];
	char what[600], why[200];

	snprintf(what, sizeof(what), "%s: %llu of %llu %s", c->name,
		 (unsigned long long)(wanted - taken), (unsigned long long)wanted,
		 c->seconds > 0 ? "ms" : "samples");
	snprintf(why, sizeof(why), "the budget of %g s holds no more; --budget gives more",
		 r->session.opts->budget_s);
	return bb_report__add_skip(r->report, what, why) ? bb_fail_nomem(err) : 0;
}

int bb_left_out__samples(struct bb_run *r, uint32_t loads, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;
	size_t *none = calloc(plan->n_cases, sizeof(*none)), n_none = 0;
	int rc = none ? 0 : bb_fail_nomem(err);

	for (size_t i = 0; !rc && i < plan->n_cases; i++) {
		uint64_t taken, wanted;

		if (r->case_of[i] == SIZE_MAX)
			continue;
		count_samples(r, i, loads, &taken, &wanted);
		if (taken >= wanted)
			continue;
		bb_case__drop_empty_series(&r->report->cases[r->case_of[i]]);
		if (!r->report->cases[r->case_of[i]].n_series)
			none[n_none++] = i;
		else
			rc = note_fewer(r, i, taken, wanted, err);
	}
	if (!rc)
		rc = note_unmeasured(r, n_none, none, err);
	bb_report__drop_empty_cases(r->report);
	if (!rc && n_none && !bb_report__has_samples(r->report))
		rc = bb_fail(err, -ETIME,
			     "scenario '%s': the budget of %g s was used up before anything was "
			     "measured; --budget gives more",
			     plan->scenario->name, r->session.opts->budget_s);
	free(none);
	return rc;
}
