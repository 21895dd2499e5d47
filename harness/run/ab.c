/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/ab.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "drivers/cold.h"
#include "run/ab_pair.h"
#include "run/count.h"
#include "run/executed.h"
#include "run/record.h"

#define LEAST_PAIRS 7u /* for a verdict, see stats/paired.h */

/* What is left to do of a drive. */
struct todo {
	bool any; /* comparisons without a verdict */
	/* and one of them has not even an interval yet: no difference is large enough to be found
	 */
	bool bare;
};

/*
 * Look at a drive's comparisons after a pair: what has its verdict is done. The looks share alpha
 * by Bonferroni, which is Holm's first step: who stops here survives the correction at the end.
 */
static int look(struct bb_ab *ab, size_t drive, struct todo *ret_todo, struct bb_err *err)
{
	size_t n_family = ab->opts->n_family > ab->n_cases ? ab->opts->n_family : ab->n_cases;

	*ret_todo = (struct todo){0};
	for (size_t i = 0; i < ab->n_cases; i++) {
		struct bb_ab_case *c = &ab->cases[i];
		struct bb_comparison *k = &ab->report->comparisons[c->comparison];

		if (!c->active || bb_ab_case__drive(ab, c) != &ab->session.drives[drive])
			continue;
		if (bb_comparison__judge(k, k->alpha / (double)n_family))
			return bb_fail_nomem(err);
		c->active = k->verdict == BB_VERDICT_INCONCLUSIVE;
		ret_todo->any |= c->active;
		ret_todo->bare |= c->active && isnan(k->ratio.lo);
	}
	return 0;
}

static size_t count_active(const struct bb_ab *ab, size_t drive)
{
	size_t n = 0;

	for (size_t i = 0; i < ab->n_cases; i++)
		n += ab->cases[i].active &&
		     bb_ab_case__drive(ab, &ab->cases[i]) == &ab->session.drives[drive];
	return n ? n : 1;
}

/* What is known of a drive's comparisons without a verdict: the time that they had, and whether a
 * pair was measured at all. */
static int note_undecided(struct bb_ab *ab, size_t drive, bool by_time, struct bb_err *err)
{
	const struct bb_run_opts *run = &ab->opts->run;
	char why[200];
	int rc = 0;

	for (size_t i = 0; !rc && i < ab->n_cases; i++) {
		const struct bb_ab_case *c = &ab->cases[i];
		struct bb_comparison *k = &ab->report->comparisons[c->comparison];

		if (!c->active || bb_ab_case__drive(ab, c) != &ab->session.drives[drive])
			continue;
		if (by_time)
			k->budget_s = fmax(run->budget_s, bb_seconds_since(ab->began_ns));
		if (!by_time || (!ab->is_cut && !bb_deadline_has_passed))
			continue;
		for (int l = 0; l < BB_N_LABELS; l++)
			if (c->planned[l] != BB_NO_CASE)
				bb_case__drop_empty_series(&ab->report->cases[c->case_of[l]]);
		snprintf(why, sizeof(why),
			 "no pair of loads was measured within the budget of %g s; --budget gives "
			 "more",
			 run->budget_s);
		if (!k->n_pairs && bb_report__add_skip(ab->report, k->name, why))
			rc = bb_fail_nomem(err);
	}
	return rc;
}

/*
 * One drive, until its comparisons have their verdicts or `budget_s` is used up; `limit_s` while
 * one of them could not have a verdict yet, whatever it is like. 0: no limit.
 */
static int run_pairs(struct bb_ab *ab, size_t drive, double budget_s, double limit_s,
		     struct bb_err *err)
{
	const struct bb_progress *p = ab->opts->run.progress;
	struct todo todo = {.any = true, .bare = true};
	uint64_t began_ns = bb_now_ns();
	struct bb_deadline deadline;
	uint32_t pair = 0;
	int rc = bb_session__stats_for(&ab->session, drive, err);

	ab->is_cut = false;
	ab->pair_s = budget_s > 0 ? budget_s / LEAST_PAIRS / (double)count_active(ab, drive) : 0;
	bb_deadline__begin(&deadline, limit_s);
	for (; !rc && todo.any && !bb_must_end() &&
	       (!ab->opts->max_pairs || pair < ab->opts->max_pairs);
	     pair++) {
		double elapsed_s = bb_seconds_since(began_ns);

		if (pair && budget_s > 0 &&
		    elapsed_s + elapsed_s / pair > (todo.bare ? limit_s : budget_s))
			break;
		if (p && ab->opts->run.budget_s > 0)
			p->update(p->arg, bb_seconds_since(ab->began_ns), ab->opts->run.budget_s,
				  "at the latest; a verdict ends it");
		rc = bb_ab__run_pair(ab, drive, pair, err);
		if (rc == -ETIME)
			rc = 0;
		if (!rc)
			rc = look(ab, drive, &todo, err);
	}
	if (!rc && bb_stop_signal)
		rc = -EINTR;
	if (!rc)
		rc = note_undecided(ab, drive, !ab->opts->max_pairs || pair < ab->opts->max_pairs,
				    err);
	bb_deadline__end(&deadline);
	return rc;
}

/* One of a drive's comparisons, all of which have the same floor; NULL: it has none. */
static const struct bb_ab_case *case_of_drive(const struct bb_ab *ab, size_t drive)
{
	for (size_t i = 0; i < ab->n_cases; i++)
		if (bb_ab_case__drive(ab, &ab->cases[i]) == &ab->session.drives[drive])
			return &ab->cases[i];
	return NULL;
}

static struct bb_test_prog *planned_prog(struct bb_ab *ab, size_t planned)
{
	if (planned == BB_NO_CASE)
		return NULL;
	return &ab->session.progs[bb_session__variant(&ab->session,
						      &ab->session.plan->cases[planned])];
}

/* A drive's share of what is left of `total_s`; 0: no limit. */
static double share_of(const struct bb_ab *ab, double total_s, size_t drives_left)
{
	return total_s > 0
		       ? fmax(total_s - bb_seconds_since(ab->began_ns), 1e-9) / (double)drives_left
		       : 0;
}

/*
 * Drive by drive, so that a slow one does not hold up a fast one's verdict; what one leaves of its
 * share, others have. A drive that goes by time takes as long as it does on any machine, and so
 * gets no more than that.
 */
static int run_drives(struct bb_ab *ab, struct bb_err *err)
{
	size_t n = ab->session.plan->scenario->n_drives, left = 0;
	double budget_s = ab->opts->run.budget_s;
	int rc = 0;

	for (size_t d = 0; d < n; d++)
		left += case_of_drive(ab, d) != NULL;
	for (size_t d = 0; !rc && d < n; d++) {
		const struct bb_ab_case *c = case_of_drive(ab, d);
		double share_s, limit_s;

		if (!c)
			continue;
		share_s = share_of(ab, budget_s, left);
		limit_s = ab->session.plan->cases[c->planned[BB_LABEL_BASE]].seconds > 0
				  ? share_s
				  : share_of(ab, budget_s + ab->opts->patience_s, left);
		ab->prog[BB_LABEL_FLOOR] = planned_prog(ab, c->planned[BB_LABEL_FLOOR]);
		rc = run_pairs(ab, d, share_s, limit_s, err);
		left--;
	}
	return rc;
}

static size_t find_planned(const struct bb_plan *plan, const struct bb_plan_case *like,
			   const char *variant)
{
	for (size_t i = 0; variant && i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i];

		if (c->drive == like->drive && c->driver_param == like->driver_param &&
		    !strcmp(c->variant->name, variant))
			return i;
	}
	return BB_NO_CASE;
}

static int add_comparison(struct bb_ab *ab, struct bb_ab_case *c, struct bb_err *err)
{
	const struct bb_plan_case *planned = &ab->session.plan->cases[c->planned[BB_LABEL_BASE]];
	struct bb_comparison *k = bb_report__add_comparison(ab->report);

	if (!k)
		return bb_fail_nomem(err);
	c->comparison = ab->report->n_comparisons - 1;
	if (asprintf(&k->name, "%s/%s", ab->session.plan->scenario->name,
		     bb_plan_case__below_variant(planned)) < 0)
		k->name = NULL;
	k->base = strdup(ab->opts->base);
	k->head = strdup(ab->opts->head);
	k->threshold = ab->opts->threshold;
	k->alpha = ab->opts->alpha;
	k->injected = ab->opts->inject;
	return k->name && k->base && k->head ? 0 : bb_fail_nomem(err);
}

/* The floor of a comparison whose base and head are known; BB_NO_CASE when it is one of the two or
 * cannot be measured. */
static size_t floor_planned(const struct bb_ab *ab, const struct bb_ab_case *c)
{
	size_t floor = ab->session.plan->cases[c->planned[BB_LABEL_BASE]].floor;

	if (floor == BB_NO_CASE || floor == c->planned[BB_LABEL_HEAD] ||
	    !bb_session__can(&ab->session, &ab->session.plan->cases[floor]))
		return BB_NO_CASE;
	return floor;
}

static int note_fired_by(struct bb_ab *ab, const struct bb_ab_case *c, int label)
{
	return bb_record__fired_by(&ab->report->cases[c->case_of[label]],
				   bb_ab_case__drive(ab, c)->driver,
				   planned_prog(ab, c->planned[label]));
}

static int add_case(struct bb_ab *ab, size_t base_planned, size_t head_planned, struct bb_err *err)
{
	const struct bb_plan *plan = ab->session.plan;
	struct bb_ab_case *c = &ab->cases[ab->n_cases];
	char *second = NULL;
	int rc = 0;

	*c = (struct bb_ab_case){.tick_ns = NAN, .active = true};
	c->planned[BB_LABEL_BASE] = base_planned;
	c->planned[BB_LABEL_HEAD] = head_planned;
	c->planned[BB_LABEL_FLOOR] = floor_planned(ab, c);
	/* A program against itself is two cases, and no two of a run have one name. */
	if (c->planned[BB_LABEL_HEAD] == c->planned[BB_LABEL_BASE] &&
	    asprintf(&second, "%s (head)", ab->opts->head) < 0)
		return bb_fail_nomem(err);
	for (int l = 0; !rc && l < BB_N_LABELS; l++)
		if (c->planned[l] != BB_NO_CASE)
			rc = bb_record__case(ab->report, plan, &plan->cases[c->planned[l]],
					     l == BB_LABEL_HEAD ? second : NULL, &c->case_of[l],
					     err);
	for (int l = 0; !rc && l < BB_N_LABELS; l++)
		if (c->planned[l] != BB_NO_CASE && note_fired_by(ab, c, l))
			rc = bb_fail_nomem(err);
	free(second);
	if (rc)
		return rc;
	if (c->planned[BB_LABEL_FLOOR] != BB_NO_CASE)
		for (int l = BB_LABEL_BASE; l <= BB_LABEL_HEAD; l++)
			ab->report->cases[c->case_of[l]].floor = c->case_of[BB_LABEL_FLOOR];
	ab->n_cases++;
	return add_comparison(ab, c, err);
}

static struct bb_test_prog *session_prog(struct bb_ab *ab, const char *variant)
{
	const struct bb_scenario *sc = ab->session.plan->scenario;

	for (size_t i = 0; variant && i < sc->n_variants; i++)
		if (!strcmp(sc->variants[i].name, variant) && ab->session.usable[i])
			return &ab->session.progs[i];
	return NULL;
}

/* Base against itself needs a second program: two loads of one program at the same time. */
static int open_second(struct bb_ab *ab, struct bb_err *err)
{
	const struct bb_variant_spec *v = ab->prog[BB_LABEL_BASE]->spec;
	char *path = NULL;
	int rc;

	if (ab->prog[BB_LABEL_BASE]->target) {
		path = bb_object_path(ab->session.plan->scenario, v,
				      ab->opts->run.driver.object_dir);
		if (!path)
			return bb_fail_nomem(err);
	}
	rc = bb_test_prog__open(v, path, &ab->second, err);
	ab->second.in_place = ab->prog[BB_LABEL_BASE]->in_place;
	free(path);
	ab->prog[BB_LABEL_HEAD] = &ab->second;
	return rc;
}

static int open_cases(struct bb_ab *ab, struct bb_err *err)
{
	const struct bb_plan *plan = ab->session.plan;
	int rc = 0;

	ab->prog[BB_LABEL_BASE] = session_prog(ab, ab->opts->base);
	ab->prog[BB_LABEL_HEAD] = session_prog(ab, ab->opts->head);
	if (!ab->prog[BB_LABEL_BASE] || !ab->prog[BB_LABEL_HEAD])
		return bb_fail(err, -ENOTSUP, "'%s' and '%s' cannot both be loaded on this machine",
			       ab->opts->base, ab->opts->head);
	if (ab->prog[BB_LABEL_BASE] == ab->prog[BB_LABEL_HEAD] && !ab->opts->same_load)
		rc = open_second(ab, err);
	if (!rc && ab->prog[BB_LABEL_HEAD] != ab->prog[BB_LABEL_BASE] &&
	    ab->prog[BB_LABEL_BASE]->target && ab->prog[BB_LABEL_HEAD]->target)
		bb_target__borrow_maps(ab->prog[BB_LABEL_HEAD]->target,
				       ab->prog[BB_LABEL_BASE]->target);
	ab->cases = calloc(plan->n_cases, sizeof(*ab->cases));
	if (!rc && !ab->cases)
		rc = bb_fail_nomem(err);
	for (size_t i = 0; !rc && i < plan->n_cases; i++) {
		size_t head = find_planned(plan, &plan->cases[i], ab->opts->head);

		if (!strcmp(plan->cases[i].variant->name, ab->opts->base) &&
		    bb_session__can_time(&ab->session, &plan->cases[i]) && head != BB_NO_CASE &&
		    bb_session__can(&ab->session, &plan->cases[head]))
			rc = add_case(ab, i, head, err);
	}
	if (!rc && !ab->n_cases)
		rc = bb_fail(err, -ENOTSUP,
			     "no drive of '%s' drives both '%s' and '%s' on this machine",
			     plan->scenario->name, ab->opts->base, ab->opts->head);
	return rc;
}

/* Pairs are made of loads, and a live program has one. */
static int check_none_live(const struct bb_plan *plan, struct bb_err *err)
{
	for (size_t i = 0; i < plan->n_cases; i++)
		if (bb_variant_is_live(plan->cases[i].variant))
			return bb_fail(err, -EINVAL,
				       "variant '%s' is a live program, and compare loads both "
				       "programs again and again: give it objects, or compare two "
				       "stored runs",
				       plan->cases[i].variant->name);
	return 0;
}

/* Emptying caches takes its time: what cannot come to a verdict within the budget is not begun. */
static int check_cold(const struct bb_plan *plan, const struct bb_ab_opts *opts, struct bb_err *err)
{
	uint32_t max = opts->max_pairs, pairs = max && max < LEAST_PAIRS ? max : LEAST_PAIRS;
	const char *name = NULL;
	double need_s = 0;
	size_t n = 0;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_drive_spec *d = plan->cases[i].drive;

		if (d->caches != BB_CACHES_COLD || strcmp(plan->cases[i].variant->name, opts->base))
			continue;
		name = bb_drive_name(d);
		need_s += bb_ab__pair_s(bb_drive_pace(d)) * pairs;
		n++;
	}
	if (opts->run.budget_s <= 0 || need_s <= opts->run.budget_s)
		return 0;
	return bb_fail(err, -EINVAL,
		       "%zu cases with emptied caches take about %.0f s for %u pairs of loads, "
		       "which is more than the budget; --budget %.0f allows it, or leave the drive "
		       "%s out",
		       n, need_s, pairs, ceil(need_s), name);
}

/* Before the two come to share maps: what one leaves in them may change the other's count. */
static int count(struct bb_ab *ab, struct bb_err *err)
{
	int rc = ab->opts->count ? bb_count_all(&ab->session, 0.25, ab->report, err) : 0;

	return rc ? bb_record__incomplete(ab->report, rc, err) : 0;
}

static int note_executed(struct bb_ab *ab, struct bb_err *err)
{
	size_t n = ab->session.plan->n_cases, *case_of;
	struct bb_test_prog *head = ab->prog[BB_LABEL_HEAD];
	int rc = 0;

	if (!ab->opts->executed)
		return 0;
	case_of = malloc(n * sizeof(*case_of));
	if (!case_of)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		case_of[i] = SIZE_MAX;
	for (size_t i = 0; i < ab->n_cases; i++)
		for (int l = 0; l < BB_N_LABELS; l++)
			if (ab->cases[i].planned[l] != BB_NO_CASE)
				case_of[ab->cases[i].planned[l]] = ab->cases[i].case_of[l];
	/* it was unloaded to borrow base's maps */
	if (head != ab->prog[BB_LABEL_BASE] && head != &ab->second && head->target)
		rc = bb_test_prog__load(head, &ab->session.rng, BB_ANYWHERE, 1, err);
	if (!rc)
		rc = bb_note_executed(&ab->session, case_of, ab->report);
	free(case_of);
	return rc ? bb_record__incomplete(ab->report, rc, err) : 0;
}

int bb_run_ab(const struct bb_plan *plan, const struct bb_ab_opts *opts, struct bb_report *report,
	      struct bb_err *err)
{
	struct bb_deadline budget;
	struct bb_ab *ab;
	int rc = check_none_live(plan, err);

	if (!rc)
		rc = check_cold(plan, opts, err);
	if (rc)
		return rc;
	ab = calloc(1, sizeof(*ab));
	if (!ab)
		return bb_fail_nomem(err);
	ab->opts = opts;
	ab->report = report;
	ab->began_ns = bb_now_ns();
	bb_deadline__begin(&budget,
			   opts->run.budget_s > 0 ? opts->run.budget_s + opts->patience_s : 0);
	rc = bb_session__open(plan, &opts->run, report, &ab->session, err);
	if (rc) {
		bb_deadline__end(&budget);
		free(ab);
		return rc == -EINTR ? bb_record__incomplete(report, rc, err) : rc;
	}
	rc = count(ab, err);
	if (!rc)
		rc = open_cases(ab, err);
	if (!rc)
		rc = note_executed(ab, err);
	if (!rc) {
		rc = run_drives(ab, err);
		if (rc)
			rc = bb_record__incomplete(report, rc, err);
	}
	bb_deadline__end(&budget);
	/* Valid at every look: what there is by the time of a signal or an error is judged as well.
	 */
	if (bb_comparisons_judge(report->comparisons, report->n_comparisons) && !rc)
		rc = bb_fail_nomem(err);
	bb_test_prog__close(&ab->second);
	free(ab->cases);
	bb_session__close(&ab->session);
	free(ab);
	return rc;
}
