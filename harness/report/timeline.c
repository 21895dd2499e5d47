/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/store.h"
#include "stats/estimate.h"
#include "stats/quantile.h"

#define ALPHA		0.05	/* of the intervals shown, as in summary.c */
#define MAD_TO_SD	1.4826
#define MEDIAN_SE	1.2533	/* sqrt(pi / 2) */

static const struct bb_estimate absent = {NAN, NAN, NAN};

/* Room for one more in an array that doubles whenever its length reaches a power of two; NULL when out of memory. */
static void *grow(void *items, size_t n, size_t item_size)
{
	if (n & (n - 1))
		return items;
	return reallocarray(items, n ? 2 * n : 1, item_size);
}

void bb_timeline__done(struct bb_timeline *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_runs; i++) {
		free(t->runs[i].id);
		free(t->runs[i].started);
		free(t->runs[i].incomplete);
	}
	for (size_t i = 0; i < t->n_cases; i++) {
		struct bb_timeline_case *c = &t->cases[i];

		free(c->name);
		free(c->scenario);
		free(c->variant);
		free(c->drive);
		free(c->param);
		free(c->points);
	}
	free(t->runs);
	free(t->cases);
	free(t->machines);
	memset(t, 0, sizeof(*t));
}

/* --- reducing a run to points -------------------------------------------------------------------------------- */

/* x[n], NANs left out: the median's standard error. NAN when there are fewer than 2 or memory is out. */
static double median_se(const double *x, size_t n)
{
	double *v = calloc(n + 1, sizeof(*v)), median, mad = NAN;
	size_t m = 0;

	for (size_t i = 0; v && i < n; i++)
		if (!isnan(x[i]))
			v[m++] = x[i];
	if (m >= 2) {
		median = bb_median(v, m);
		for (size_t i = 0; i < m; i++)
			v[i] = fabs(v[i] - median);
		mad = bb_median(v, m);
	}
	free(v);
	return MEDIAN_SE * MAD_TO_SD * mad / sqrt((double)m);
}

static double log_of(double x)
{
	return x > 0 ? log(x) : NAN;
}

/* The location of the series of that round; as a rule it is the one with the same index. NAN when there is none. */
static double location_at(const struct bb_case *c, const double *ns, uint32_t load, size_t hint)
{
	if (hint < c->n_series && c->series[hint].load == load)
		return ns[hint];
	for (size_t i = 0; i < c->n_series; i++)
		if (c->series[i].load == load)
			return ns[i];
	return NAN;
}

static const struct bb_case *find_anchor(const struct bb_report *r, const struct bb_case *c)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *k = &r->cases[i];

		if (k->is_anchor && k != c && bb_same_text(k->scenario, c->scenario) && bb_same_text(k->drive, c->drive) &&
		    bb_same_text(k->param, c->param) && k->param_value == c->param_value)
			return k;
	}
	return NULL;
}

/* ln of the locations of `c`, of which those of the anchor (may be NULL) are subtracted round by round. */
static int log_locations(const struct bb_case *c, const struct bb_case *anchor, double *ret_x)
{
	double *ns = anchor ? calloc(anchor->n_series + 1, sizeof(*ns)) : NULL;
	int rc = bb_case__locations(c, ret_x);

	if (!rc && anchor)
		rc = ns ? bb_case__locations(anchor, ns) : -ENOMEM;
	for (size_t i = 0; !rc && i < c->n_series; i++) {
		ret_x[i] = log_of(ret_x[i]);
		if (anchor)
			ret_x[i] -= log_of(location_at(anchor, ns, c->series[i].load, i));
	}
	free(ns);
	return rc;
}

static int reduce(const struct bb_report *r, const struct bb_case *c, struct bb_timeline_point *p)
{
	const struct bb_case *anchor = c->is_anchor ? NULL : find_anchor(r, c);
	double *x = calloc(c->n_series + 1, sizeof(*x));
	struct bb_location l;
	int rc = x ? log_locations(c, anchor, x) : -ENOMEM;

	if (!rc) {
		p->latency = c->summary.latency;
		p->ratio = absent;
		p->loads = c->summary.loads;
		p->voids = c->summary.voids;
		p->se = median_se(x, c->n_series);
		l = bb_location_over_loads(x, c->n_series, ALPHA);
		if (anchor)
			p->ratio = (struct bb_estimate){exp(l.value), exp(l.interval.lo), exp(l.interval.hi)};
	}
	free(x);
	return rc;
}

/* --- collecting ---------------------------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !n;
}

static bool is_wanted(const struct bb_timeline_filter *f, const struct bb_case *c)
{
	return (!f->scenario || !strcmp(f->scenario, c->scenario)) &&
	       is_among(c->variant, f->variants, f->n_variants) && is_among(c->drive, f->drives, f->n_drives);
}

static char *copy_or_null(const char *text, bool *failed)
{
	char *copy = text ? strdup(text) : NULL;

	*failed |= text && !copy;
	return copy;
}

static struct bb_timeline_case *add_case(struct bb_timeline *t, const struct bb_case *c)
{
	struct bb_timeline_case *cases = grow(t->cases, t->n_cases, sizeof(*cases)), *k;
	bool failed = false;

	if (!cases)
		return NULL;
	t->cases = cases;
	k = &cases[t->n_cases++];
	*k = (struct bb_timeline_case){.param_value = c->param_value, .is_anchor = c->is_anchor};
	k->name = copy_or_null(c->name, &failed);
	k->scenario = copy_or_null(c->scenario, &failed);
	k->variant = copy_or_null(c->variant, &failed);
	k->drive = copy_or_null(c->drive, &failed);
	k->param = copy_or_null(c->param, &failed);
	return failed ? NULL : k;
}

/* The case of that name, looked for from *hint on: runs have their cases in one order as a rule. Added when new. */
static struct bb_timeline_case *intern(struct bb_timeline *t, const struct bb_case *c, size_t *hint)
{
	for (size_t k = 0; k < t->n_cases; k++) {
		size_t i = (*hint + k) % t->n_cases;

		if (strcmp(t->cases[i].name, c->name))
			continue;
		*hint = i + 1;
		return &t->cases[i];
	}
	*hint = t->n_cases + 1;
	return add_case(t, c);
}

static bool same_identity(const struct bb_fingerprint *a, const struct bb_fingerprint *b)
{
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		if (bb_fingerprint_fields[i].identity && strcmp(bb_fingerprint_get(a, i), bb_fingerprint_get(b, i)))
			return false;
	return true;
}

/* Index of the machine, the last ones first; n_machines when out of memory. */
static size_t intern_machine(struct bb_timeline *t, const struct bb_fingerprint *fp)
{
	struct bb_fingerprint *machines;

	for (size_t i = t->n_machines; i-- > 0;)
		if (same_identity(&t->machines[i], fp))
			return i;
	machines = grow(t->machines, t->n_machines, sizeof(*machines));
	if (!machines)
		return t->n_machines;
	t->machines = machines;
	machines[t->n_machines] = *fp;
	return t->n_machines++;
}

static double epoch_of(const char *started)
{
	struct tm tm = {0};
	const char *end = started ? strptime(started, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

	return end && !*end ? (double)timegm(&tm) : NAN;
}

static int add_run(struct bb_timeline *t, const struct bb_report *r)
{
	struct bb_timeline_run *runs = grow(t->runs, t->n_runs, sizeof(*runs)), *run;
	bool failed = false;

	if (!runs)
		return -ENOMEM;
	t->runs = runs;
	run = &runs[t->n_runs++];
	*run = (struct bb_timeline_run){.epoch_s = epoch_of(r->started)};
	run->id = copy_or_null(r->id, &failed);
	run->started = copy_or_null(r->started, &failed);
	run->incomplete = copy_or_null(r->incomplete, &failed);
	memcpy(run->commit, r->fingerprint.git_commit, sizeof(run->commit));
	run->machine = intern_machine(t, &r->fingerprint);
	return failed || run->machine == t->n_machines ? -ENOMEM : 0;
}

static int take(struct bb_timeline *t, const struct bb_report *r, const struct bb_timeline_filter *filter)
{
	size_t hint = 0, taken = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		struct bb_timeline_point *points;
		struct bb_timeline_case *k;

		if (!is_wanted(filter, c))
			continue;
		if (!taken++)
			rc = add_run(t, r);
		k = rc ? NULL : intern(t, c, &hint);
		points = k ? grow(k->points, k->n_points, sizeof(*points)) : NULL;
		if (!points)
			return -ENOMEM;
		k->points = points;
		k->is_anchor = c->is_anchor;	/* the newest file has the last word */
		points[k->n_points] = (struct bb_timeline_point){.run = t->n_runs - 1};
		rc = reduce(r, c, &points[k->n_points]);
		k->n_points += !rc;
	}
	return rc;
}

static void say(const struct bb_timeline_opts *opts, const char *why)
{
	if (opts->passed_over)
		opts->passed_over(opts->arg, why);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A file of another name than its run's id, while that is there too: a baseline somebody made by hand, say. */
static bool is_copy(const char *name, const char *id, char **ids, size_t n)
{
	return strcmp(name, id) && bsearch(&id, ids, n, sizeof(*ids), by_text);
}

static int take_file(struct bb_timeline *t, const char *dir, const struct bb_timeline_opts *opts, size_t i, char **ids,
		     size_t n)
{
	struct bb_report *r = NULL;
	struct bb_err err = {0};
	char *path, *why;
	int rc = 0;

	if (asprintf(&path, "%s/%s.json", dir, ids[i]) < 0)
		return -ENOMEM;
	if (bb_store__read(path, dir, &r, &err)) {
		rc = err.code == -ENOMEM ? -ENOMEM : 0;
		say(opts, err.msg);
	} else if (is_copy(ids[i], r->id, ids, n)) {
		rc = asprintf(&why, "%s: a copy of the run %s, which is counted once", path, r->id) < 0 ? -ENOMEM : 0;
		if (!rc) {
			say(opts, why);
			free(why);
		}
	} else if (!r->n_comparisons) {
		rc = take(t, r, &opts->filter);
	}
	bb_report__free(r);
	free(path);
	return rc;
}

/* --- in the order of time ------------------------------------------------------------------------------------ */

static int by_time(const void *x, const void *y, void *arg)
{
	const struct bb_timeline_run *runs = arg, *a = &runs[*(const size_t *)x], *b = &runs[*(const size_t *)y];

	if (isnan(a->epoch_s) != isnan(b->epoch_s))
		return isnan(a->epoch_s) ? -1 : 1;
	if (a->epoch_s < b->epoch_s || a->epoch_s > b->epoch_s)
		return a->epoch_s < b->epoch_s ? -1 : 1;
	return strcmp(a->id, b->id);
}

static int by_run(const void *x, const void *y)
{
	const struct bb_timeline_point *a = x, *b = y;

	return (a->run > b->run) - (a->run < b->run);
}

/* Names need not be in the order of time: people rename files. */
static int sort_runs(struct bb_timeline *t)
{
	size_t *order = calloc(t->n_runs + 1, sizeof(*order)), *place = calloc(t->n_runs + 1, sizeof(*place));
	struct bb_timeline_run *sorted = calloc(t->n_runs + 1, sizeof(*sorted));
	int rc = order && place && sorted ? 0 : -ENOMEM;

	if (rc) {
		free(sorted);
		goto out;
	}
	for (size_t i = 0; i < t->n_runs; i++)
		order[i] = i;
	qsort_r(order, t->n_runs, sizeof(*order), by_time, t->runs);
	for (size_t i = 0; i < t->n_runs; i++) {
		place[order[i]] = i;
		sorted[i] = t->runs[order[i]];
	}
	free(t->runs);
	t->runs = sorted;
	for (size_t i = 0; i < t->n_cases; i++) {
		struct bb_timeline_case *c = &t->cases[i];

		for (size_t k = 0; k < c->n_points; k++)
			c->points[k].run = place[c->points[k].run];
		qsort(c->points, c->n_points, sizeof(*c->points), by_run);
	}
out:
	free(order);
	free(place);
	return rc;
}

/* --- judging ------------------------------------------------------------------------------------------------- */

/* The first key in which each machine differs from machine `now`, NULL where it does not. Keys are static texts. */
static void compare_machines(const struct bb_timeline *t, size_t now, const char **ret_differs)
{
	for (size_t i = 0; i < t->n_machines; i++)
		if (!bb_fingerprint_differences(&t->machines[i], &t->machines[now], &ret_differs[i], 1))
			ret_differs[i] = NULL;
}

static int judge_case(const struct bb_timeline *t, struct bb_timeline_case *c, const struct bb_history_rule *rule,
		      const char **differs)
{
	double *r = calloc(c->n_points, sizeof(*r)), *se = calloc(c->n_points, sizeof(*se));
	struct bb_history_point *judged = calloc(c->n_points, sizeof(*judged));
	int rc = r && se && judged ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->n_points; i++)
		c->by_ratio |= !isnan(c->points[i].ratio.value);
	for (size_t i = 0; !rc && i < c->n_points; i++) {
		struct bb_timeline_point *p = &c->points[i];
		const struct bb_timeline_run *run = &t->runs[p->run];

		p->differs = differs[run->machine];
		r[i] = run->incomplete || p->differs ? (double)NAN :
		       log_of(c->by_ratio ? p->ratio.value : p->latency.value);
		se[i] = p->se;
	}
	if (!rc)
		rc = bb_history_judge(r, se, c->n_points, rule, judged);
	for (size_t i = 0; !rc && i < c->n_points; i++)
		c->points[i].judged = judged[i];
	free(r);
	free(se);
	free(judged);
	return rc;
}

static int judge(struct bb_timeline *t, const struct bb_history_rule *rule)
{
	const char **differs = calloc(t->n_machines + 1, sizeof(*differs));
	size_t now = t->n_machines;
	int rc = differs ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < t->n_cases; i++) {
		struct bb_timeline_case *c = &t->cases[i];
		size_t machine = t->runs[c->points[c->n_points - 1].run].machine;

		if (machine != now)
			compare_machines(t, machine, differs);
		now = machine;
		rc = judge_case(t, c, rule, differs);
	}
	free(differs);
	return rc;
}

int bb_timeline__read(const char *dir, const struct bb_timeline_opts *opts, struct bb_timeline *ret_timeline,
		      struct bb_err *err)
{
	struct bb_timeline t = {0};
	char **ids = NULL;
	size_t n = 0;
	int rc = bb_store__list(dir, &ids, &n, err);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < n; i++)
		rc = take_file(&t, dir, opts, i, ids, n);
	bb_store__list_free(ids, n);
	if (!rc)
		rc = sort_runs(&t);
	if (!rc)
		rc = judge(&t, &opts->rule);
	if (rc) {
		bb_timeline__done(&t);
		return rc == -ENOMEM ? bb_fail_nomem(err) :
		       bb_fail(err, rc, "a history over windows of %zu to %zu runs at %g: out of bounds",
			       opts->rule.window_min, opts->rule.window_max, opts->rule.eps);
	}
	*ret_timeline = t;
	return 0;
}
