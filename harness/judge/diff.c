/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/diff.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "core/drive_kind.h"
#include "stats/estimate.h"
#include "stats/quantile.h"
#include "stats/special.h"

/* --- the ratio of two stored runs --- */

/*
 * The latency of a case in run B over that in run A. Two runs at two times share no randomisation:
 * the loads are two independent samples, and the runs themselves differ by what the machine's
 * self-test has seen plain runs differ (bb_case.between; nothing where there is none).
 *
 * Loads that were drawn by place: the standard errors of both stratified means and of both runs
 * add up to a variance, and Student's t takes the degrees of freedom of Welch 1947. Other loads:
 * the intervals of order statistics of both medians (stats/estimate.h), joined with that of the
 * runs.
 */
struct stored_ratio {
	double ratio;                /* of the estimates; NAN: one is missing or not above 0 */
	struct bb_interval interval; /* at 1 - alpha; NAN, NAN: too few loads */
	/* of being beyond the threshold, two-sided; NAN without a ratio */
	double p;
	size_t n_a, n_b, needs; /* loads, and how many an interval takes a side */
};

#define BETWEEN_ALPHA 0.05 /* of bb_case.between */

struct side {
	double *ns; /* [n] locations of the loads that count, ascending */
	size_t n;
	struct bb_over_loads over;
	/* of the ln of the run: standard error by what moves between runs, 0: not known */
	double run_se, run_df;
};

/* A sum of variances with their degrees of freedom (Welch 1947). */
struct variance {
	double sum, squares; /* squares: of v^2 / df */
};

static void add_variance(struct variance *v, double se, double df)
{
	v->sum += se * se;
	v->squares += se * se * se * se / df;
}

static double df_of(const struct variance *v)
{
	return v->sum * v->sum / v->squares;
}

static double known(double x)
{
	return isnan(x) ? 0 : x;
}

static int open_side(const struct bb_case *c, struct side *s)
{
	double floor_share = known(c->summary.floor.value / c->summary.latency.value);
	int rc;

	*s = (struct side){.ns = calloc(c->n_series + 1, sizeof(*s->ns))};
	rc = s->ns ? bb_case__locations(c, s->ns) : -ENOMEM;
	if (!rc)
		rc = bb_case__over_loads(c, s->ns, &s->over);
	if (rc)
		return rc;
	bb_sort_doubles(s->ns, c->n_series); /* NANs last */
	while (s->n < c->n_series && !isnan(s->ns[s->n]))
		s->n++;
	if (c->between_runs < 2)
		return 0;
	s->run_df = c->between_runs - 1;
	s->run_se = hypot(known(c->between), known(c->between_floor) * floor_share) /
		    bb_student_critical(BETWEEN_ALPHA, s->run_df);
	return 0;
}

/* Both runs against each other: what moves between them. */
static struct variance variance_of_runs(const struct side side[2])
{
	struct variance v = {0, 0};

	for (int i = 0; i < 2; i++)
		if (side[i].run_se > 0)
			add_variance(&v, side[i].run_se, side[i].run_df);
	return v;
}

/* p of |ln ratio| beyond ln(1 + threshold), by a t of that variance. */
static double p_beyond(double ln_ratio, double threshold, const struct variance *v)
{
	double beyond = fabs(ln_ratio) - log1p(threshold);

	return beyond > 0 ? bb_student_two_sided(beyond / sqrt(v->sum), df_of(v)) : 1;
}

static void by_place(const struct side side[2], double threshold, double alpha,
		     struct stored_ratio *r)
{
	struct variance v = variance_of_runs(side);
	double ln_ratio, half;

	for (int i = 0; i < 2; i++)
		add_variance(&v, side[i].over.se / side[i].over.estimate.value, side[i].over.df);
	r->ratio = side[1].over.estimate.value / side[0].over.estimate.value;
	ln_ratio = log(r->ratio);
	half = bb_student_critical(alpha, df_of(&v)) * sqrt(v.sum);
	r->interval = (struct bb_interval){exp(ln_ratio - half), exp(ln_ratio + half)};
	r->p = p_beyond(ln_ratio, threshold, &v);
}

static void by_order(const struct side side[2], double threshold, double alpha,
		     struct stored_ratio *r)
{
	struct variance v = variance_of_runs(side);
	const struct side *a = &side[0], *b = &side[1];
	struct bb_order_ratio o = bb_order_ratio(a->ns, a->n, b->ns, b->n, alpha);
	double ln_ratio = log(o.ratio), half;

	r->ratio = o.ratio;
	r->interval = o.interval;
	r->p = fmin(bb_order_ratio_p(a->ns, a->n, b->ns, b->n, 1 + threshold),
		    bb_order_ratio_p(b->ns, b->n, a->ns, a->n, 1 + threshold));
	if (!(v.sum > 0) || isnan(o.interval.lo))
		return;
	half = bb_student_critical(alpha, df_of(&v)) * sqrt(v.sum);
	r->interval.lo = exp(ln_ratio - hypot(ln_ratio - log(o.interval.lo), half));
	r->interval.hi = exp(ln_ratio + hypot(log(o.interval.hi) - ln_ratio, half));
	r->p = fmax(r->p, p_beyond(ln_ratio, threshold, &v));
}

static int find_stored_ratio(const struct bb_case *a, const struct bb_case *b, double threshold,
			     double alpha, struct stored_ratio *ret)
{
	struct side side[2] = {{0}};
	int rc = open_side(a, &side[0]);

	if (!rc)
		rc = open_side(b, &side[1]);
	*ret = (struct stored_ratio){NAN, {NAN, NAN}, NAN, side[0].n, side[1].n, 0};
	if (!rc && side[0].over.se > 0 && side[1].over.se > 0) {
		by_place(side, threshold, alpha, ret);
	} else if (!rc) {
		ret->needs = bb_order_ratio_needs(alpha);
		by_order(side, threshold, alpha, ret);
	}
	free(side[0].ns);
	free(side[1].ns);
	return rc;
}

/* --- rows, notes and warnings --- */

static void row_done(struct bb_diff *row)
{
	free(row->name);
	free(row->note);
}

void bb_diffs__done(struct bb_diffs *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		row_done(&d->rows[i]);
	for (size_t i = 0; i < d->n_warnings; i++)
		free(d->warnings[i]);
	free(d->rows);
	free(d->warnings);
	memset(d, 0, sizeof(*d));
}

/* Append a row without any value; NULL when out of memory. Valid until the next call. */
static struct bb_diff *add_row(struct bb_diffs *d, const char *name, const char *metric)
{
	struct bb_diff *row = bb_append(&d->rows, &d->n, sizeof(*row));

	if (!row)
		return NULL;
	*row = (struct bb_diff){
		.name = strdup(name),
		.metric = metric,
		.unit = "ns",
		.a = NAN,
		.b = NAN,
		.shift = NAN,
		.ratio = NAN,
		.lo = NAN,
		.hi = NAN,
		.p = NAN,
	};
	return row->name ? row : NULL;
}

static int add_note(struct bb_diff *row, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static int add_note(struct bb_diff *row, const char *fmt, ...)
{
	char *more = NULL, *both = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&more, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	if (!row->note) {
		row->note = more;
		return 0;
	}
	n = asprintf(&both, "%s; %s", row->note, more);
	free(more);
	if (n < 0)
		return -ENOMEM;
	free(row->note);
	row->note = both;
	return 0;
}

static int warn(struct bb_diffs *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int warn(struct bb_diffs *d, const char *fmt, ...)
{
	char **warning = bb_append(&d->warnings, &d->n_warnings, sizeof(*warning));
	va_list ap;
	int n;

	if (!warning)
		return -ENOMEM;
	va_start(ap, fmt);
	n = vasprintf(warning, fmt, ap);
	va_end(ap);
	if (n >= 0)
		return 0;
	d->n_warnings--;
	return -ENOMEM;
}

size_t bb_diffs_count(const struct bb_diffs *d, enum bb_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += d->rows[i].has_verdict && d->rows[i].verdict == verdict;
	return n;
}

bool bb_diffs_have(const struct bb_diffs *d, enum bb_verdict verdict)
{
	return bb_diffs_count(d, verdict) > 0;
}

static void set_values(struct bb_diff *row, double a, double b)
{
	row->a = a;
	row->b = b;
	row->shift = b - a;
	row->ratio = a > 0 && b > 0 ? b / a : NAN;
}

/* Rows of the exact metrics in which two programs differ; what one kernel did not say is no
 * difference. */
static int add_exact(const char *name, const struct bb_program *a, const struct bb_program *b,
		     struct bb_diffs *d)
{
	for (size_t i = 0; i < bb_n_static_metrics; i++) {
		const struct bb_metric_def *def = &bb_static_metrics[i];
		double va = bb_static_of(&a->metrics, def), vb = bb_static_of(&b->metrics, def);
		struct bb_diff *row;

		if (def->kind != BB_METRIC_EXACT || !(va < vb || va > vb))
			continue;
		row = add_row(d, name, def->name);
		if (!row)
			return -ENOMEM;
		row->unit = def->unit;
		row->exact = true;
		set_values(row, va, vb);
		if (add_note(row, "exact"))
			return -ENOMEM;
	}
	return 0;
}

/* --- two stored runs: whether they may be compared --- */

#define EXCERPT 100

/* Long values (mitigations) from the entry on in which they first differ;
 * text[BB_FINGERPRINT_LONG_TEXT]. */
static void excerpt(const char *value, const char *other, char *text)
{
	size_t len = strlen(value), from = 0;

	if (len > EXCERPT) {
		while (value[from] && value[from] == other[from])
			from++;
		while (from && value[from - 1] != ';' && value[from - 1] != ',')
			from--;
		from += strspn(value + from, " ");
	}
	snprintf(text, BB_FINGERPRINT_LONG_TEXT, "%s%.*s%s", from ? "..." : "", EXCERPT,
		 value + from, len - from > EXCERPT ? "..." : "");
}

static int warn_of_machines(const struct bb_report *a, const struct bb_report *b,
			    struct bb_diffs *d, size_t *ret_n)
{
	char va[BB_FINGERPRINT_LONG_TEXT], vb[BB_FINGERPRINT_LONG_TEXT];
	const char **keys = calloc(bb_n_fingerprint_fields, sizeof(*keys));
	size_t n;
	int rc = 0;

	if (!keys)
		return -ENOMEM;
	n = bb_fingerprint_differences(&a->fingerprint, &b->fingerprint, keys,
				       bb_n_fingerprint_fields);
	/* the keys are in the order of the table */
	for (size_t k = 0, i = 0; !rc && k < n; i++) {
		const char *of_a = bb_fingerprint_get(&a->fingerprint, i);
		const char *of_b = bb_fingerprint_get(&b->fingerprint, i);

		if (strcmp(keys[k], bb_fingerprint_fields[i].key))
			continue;
		k++;
		excerpt(of_a, of_b, va);
		excerpt(of_b, of_a, vb);
		rc = warn(d, "the two machines differ in %s: '%s' in A, '%s' in B",
			  bb_fingerprint_fields[i].key, va, vb);
	}
	free(keys);
	*ret_n = n;
	return rc;
}

/* Has the machine's self-test said how far two runs of a case that both have differ? */
static bool is_between_known(const struct bb_report *a, const struct bb_report *b)
{
	for (size_t i = 0; i < a->n_cases; i++) {
		const struct bb_case *c = bb_report__find_case(b, a->cases[i].name);
		const struct bb_drive_kind *kind = bb_drive_kind_named(a->cases[i].drive);

		if (c && kind->needs_bpf && !(kind->seconds > 0) &&
		    (!a->cases[i].between_runs || !c->between_runs))
			return false;
	}
	return true;
}

/* What speaks against any verdict; *ret_doubt is a static text for the notes, NULL when nothing
 * does. */
static int find_doubts(const struct bb_report *a, const struct bb_report *b, bool force,
		       struct bb_diffs *d, const char **ret_doubt)
{
	const struct bb_report *const side[] = {a, b};
	const char *doubt = NULL;
	size_t n;
	int rc = warn_of_machines(a, b, d, &n);

	if (n)
		doubt = "the machines differ";
	for (size_t i = 0; !rc && i < 2; i++) {
		if (!side[i]->incomplete)
			continue;
		rc = warn(d, "run %c is incomplete: %s", "AB"[i], side[i] -> incomplete);
		doubt = doubt ? doubt : "a run is incomplete";
	}
	if (!rc && doubt && !force)
		rc = warn(d, "so no verdict is given: measure both on one machine, at best in one "
			     "run (`bpfbench compare --base V1 --head V2`), or insist with "
			     "--force");
	if (!rc && !is_between_known(a, b))
		rc = warn(d, "the intervals lack the differences between any two runs: `bpfbench "
			     "selftest` measures those, and later runs include them");
	if (!rc && a->id && b->id && !strcmp(a->id, b->id))
		rc = warn(d, "A and B are the same run, %s", a->id);
	*ret_doubt = force ? NULL : doubt;
	return rc;
}

/* --- two stored runs: the rows --- */

static int note_voids(struct bb_diff *row, char side, const struct bb_case *c)
{
	for (size_t i = 0; i < c->n_series; i++)
		if (c->series[i].void_why)
			return add_note(row, "%u of %zu series of %c are void (%s)",
					c->summary.voids, c->n_series, side, c->series[i].void_why);
	return 0;
}

#define NORMAL_95 1.96

/* ln, taken as normal; NAN where there is no interval. */
static double sd_of(const struct bb_estimate *e)
{
	return log(e->hi / e->lo) / (2 * NORMAL_95);
}

/* A slower program takes longer in pieces of the reference of its run, too; a slower machine as a
 * rule does not. */
static int look_at_reference(const struct bb_case *a, const struct bb_case *b, struct bb_diff *row)
{
	const struct bb_estimate *x = &a->summary.relative, *y = &b->summary.relative;
	double other = log(y->value / x->value);

	if ((row->verdict != BB_VERDICT_REGRESSED && row->verdict != BB_VERDICT_IMPROVED) ||
	    bb_case__reference(a) != bb_case__reference(b) ||
	    !bb_change_is_denied(log(row->ratio), other, hypot(sd_of(x), sd_of(y))))
		return 0;
	row->verdict = BB_VERDICT_INCONCLUSIVE;
	return add_note(row, "%+.2f %% in pieces of the reference: the machine may have changed",
			100 * expm1(other));
}

#define MOST_TIMES 8.0 /* the loads there are: more of them is no advice */

/* Ratio, interval, verdict by the interval, and p, which Holm's correction follows up. */
static int judge_latency(const struct bb_case *a, const struct bb_case *b,
			 const struct bb_diff_opts *opts, struct bb_diff *row)
{
	struct stored_ratio r;
	double times;
	int rc = find_stored_ratio(a, b, opts->threshold, opts->alpha, &r);

	if (rc)
		return rc;
	row->lo = r.interval.lo;
	row->hi = r.interval.hi;
	row->verdict = bb_verdict_of((struct bb_interval){log(r.interval.lo), log(r.interval.hi)},
				     opts->threshold);
	row->p = r.p;
	rc = look_at_reference(a, b, row);
	if (rc)
		return rc;
	if (r.n_a < r.needs || r.n_b < r.needs)
		return add_note(row, "an interval takes %zu loads a side, there are %zu and %zu",
				r.needs, r.n_a, r.n_b);
	if (row->verdict != BB_VERDICT_INCONCLUSIVE || row->note || isnan(row->lo))
		return 0;
	times = bb_times_to_decide(log(row->ratio), log(row->lo), log(row->hi),
				   log1p(opts->threshold));
	if (times > MOST_TIMES)
		return add_note(row,
				"known to +-%.2g %%; `compare --base V1 --head V2` measures "
				"both in turns, which shows less",
				50 * (row->hi - row->lo));
	return add_note(row, "known to +-%.2g %%; --loads %.0f in both runs should decide",
			50 * (row->hi - row->lo), ceil(times * fmax((double)r.n_a, (double)r.n_b)));
}

static int add_latency(const struct bb_case *a, const struct bb_case *b,
		       const struct bb_diff_opts *opts, const char *doubt, struct bb_diffs *d)
{
	struct bb_diff *row = add_row(d, a->name, "latency");
	int rc;

	if (!row)
		return -ENOMEM;
	row->has_verdict = true;
	set_values(row, a->summary.latency.value, b->summary.latency.value);
	rc = judge_latency(a, b, opts, row);
	if (!rc && doubt) {
		row->verdict = BB_VERDICT_INCONCLUSIVE;
		rc = add_note(row, "%s", doubt);
	}
	if (!rc)
		rc = note_voids(row, 'A', a);
	if (!rc)
		rc = note_voids(row, 'B', b);
	return rc;
}

/* What stands beside the latency, without a verdict. */
static const struct {
	const char *name;
	size_t offset;
} others[] = {
	{"net", offsetof(struct bb_summary, net)},
	{"p50", offsetof(struct bb_summary, p50)},
	{"p90", offsetof(struct bb_summary, p90)},
	{"p99", offsetof(struct bb_summary, p99)},
};

static double value_at(const struct bb_case *c, size_t offset)
{
	return ((const struct bb_estimate *)((const char *)&c->summary + offset))->value;
}

static int add_others(const struct bb_case *a, const struct bb_case *b, struct bb_diffs *d)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		double va = value_at(a, others[i].offset), vb = value_at(b, others[i].offset);
		struct bb_diff *row;

		if (isnan(va) && isnan(vb))
			continue;
		row = add_row(d, a->name, others[i].name);
		if (!row)
			return -ENOMEM;
		set_values(row, va, vb);
	}
	return 0;
}

/* A case that the other run lacks. */
static int add_lonely(const struct bb_case *c, bool in_a, struct bb_diffs *d)
{
	struct bb_diff *row = add_row(d, c->name, "latency");
	int rc;

	if (!row)
		return -ENOMEM;
	*(in_a ? &row->a : &row->b) = c->summary.latency.value;
	rc = add_note(row, in_a ? "only in A" : "only in B");
	return rc ? rc : note_voids(row, in_a ? 'A' : 'B', c);
}

/* Holm 1979 over the latencies: a verdict that does not survive becomes inconclusive, and says so.
 */
static int correct(struct bb_diffs *d, double alpha)
{
	double *p = calloc(d->n + 1, sizeof(*p));
	int rc = p ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < d->n; i++)
		p[i] = d->rows[i].p;
	if (!rc)
		rc = bb_holm(p, d->n, p);
	for (size_t i = 0; !rc && i < d->n; i++) {
		struct bb_diff *row = &d->rows[i];

		row->p = p[i];
		if ((row->verdict == BB_VERDICT_REGRESSED || row->verdict == BB_VERDICT_IMPROVED) &&
		    !(p[i] <= alpha)) {
			rc = add_note(row, "%s alone, but not among so many cases (Holm: p = %.2g)",
				      bb_verdict_name(row->verdict), p[i]);
			row->verdict = BB_VERDICT_INCONCLUSIVE;
		}
	}
	free(p);
	return rc;
}

int bb_diff_reports(const struct bb_report *a, const struct bb_report *b,
		    const struct bb_diff_opts *opts, struct bb_diffs *ret_diffs, struct bb_err *err)
{
	struct bb_diffs d = {0};
	const char *doubt = NULL;
	int rc;

	if (!(opts->threshold >= 0) || isinf(opts->threshold) ||
	    !(opts->alpha > 0 && opts->alpha < 1))
		return bb_fail(err, -EINVAL,
			       "a threshold of %g at a significance of %g: they must be >= 0 and "
			       "between 0 and 1",
			       opts->threshold, opts->alpha);
	rc = find_doubts(a, b, opts->force, &d, &doubt);
	for (size_t i = 0; !rc && i < a->n_cases; i++) {
		const struct bb_case *in_a = &a->cases[i],
				     *in_b = bb_report__find_case(b, in_a->name);

		rc = in_b ? add_latency(in_a, in_b, opts, doubt, &d) : add_lonely(in_a, true, &d);
		if (!rc && in_b)
			rc = add_others(in_a, in_b, &d);
	}
	for (size_t i = 0; !rc && i < b->n_cases; i++)
		if (!bb_report__find_case(a, b->cases[i].name))
			rc = add_lonely(&b->cases[i], false, &d);
	for (size_t i = 0; !rc && i < a->n_programs; i++) {
		const struct bb_program *in_b = bb_report__find_program(b, a->programs[i].name);

		if (in_b)
			rc = add_exact(in_b->name, &a->programs[i], in_b, &d);
	}
	if (!rc)
		rc = correct(&d, opts->alpha);
	if (rc) {
		bb_diffs__done(&d);
		return bb_fail_nomem(err);
	}
	*ret_diffs = d;
	return 0;
}

/* --- comparisons that are measured now --- */

static void set_ratio(struct bb_diff *row, double a, double b, double shift,
		      const struct bb_estimate *ratio)
{
	row->a = a;
	row->b = b;
	row->shift = shift;
	row->ratio = ratio->value;
	row->lo = ratio->lo;
	row->hi = ratio->hi;
}

static int note_pairs(struct bb_diff *row, const struct bb_comparison *c)
{
	bool blind = c->n_unmatched && !c->n_matched && c->pairs[0].base_mod64 < 0;
	int rc = add_note(row, "pairs: %u matched, %u unmatched%s", c->n_matched, c->n_unmatched,
			  blind ? " (no JIT addresses to match)" : "");

	for (size_t i = 0; !rc && i < c->n_pairs; i++)
		if (c->pairs[i].void_why)
			return add_note(row, "%u of %zu pairs are void (%s)", c->n_void, c->n_pairs,
					c->pairs[i].void_why);
	return rc;
}

static int add_measured_latency(const struct bb_comparison *c, struct bb_diffs *d)
{
	struct bb_diff *row = add_row(d, c->name, "latency");
	char step[BB_NEXT_STEP];
	int rc;

	if (!row)
		return -ENOMEM;
	set_ratio(row, c->base_ns, c->head_ns, c->shift_ns.value, &c->ratio);
	row->has_verdict = true;
	row->verdict = c->verdict;
	row->p = fmin(c->p_regressed, c->p_improved);
	rc = note_pairs(row, c);
	bb_comparison__next_step(c, "--budget", step);
	if (!rc && step[0])
		rc = add_note(row, "%s", step);
	if (!rc && fabs(c->injected) > 0)
		rc = add_note(row, "%+.3g %% were injected into B", 100 * c->injected);
	return rc;
}

static int add_measured_unmatched(const struct bb_comparison *c, struct bb_diffs *d)
{
	struct bb_diff *row = add_row(d, c->name, "latency unmatched");

	if (!row)
		return -ENOMEM;
	set_ratio(row, c->base_unmatched_ns, c->head_unmatched_ns,
		  c->head_unmatched_ns - c->base_unmatched_ns, &c->ratio_unmatched);
	return 0;
}

/* The floor is the same for both, so the difference is that of the gross costs. */
static int add_measured_net(const struct bb_comparison *c, struct bb_diffs *d)
{
	struct bb_diff *row = add_row(d, c->name, "net");

	if (!row)
		return -ENOMEM;
	set_ratio(row, c->base_ns - c->floor_ns, c->head_ns - c->floor_ns, c->shift_ns.value,
		  &c->ratio_net);
	return 0;
}

/* Bytes of the scenario's name, with which a comparison's begins. */
static size_t scenario_len(const struct bb_comparison *c)
{
	return strcspn(c->name, "/");
}

/* The program of a comparison's base or head; NULL: none, as with the fake driver. */
static const struct bb_program *program_of(const struct bb_report *r, const struct bb_comparison *c,
					   const char *variant)
{
	size_t len = scenario_len(c);

	for (size_t i = 0; i < r->n_programs; i++)
		if (bb_same_text(r->programs[i].variant, variant) && r->programs[i].scenario &&
		    strlen(r->programs[i].scenario) == len &&
		    !memcmp(r->programs[i].scenario, c->name, len))
			return &r->programs[i];
	return NULL;
}

/* The exact metrics of each scenario's two programs once, after the last of its comparisons. */
static int add_measured_exact(const struct bb_report *r, const struct bb_comparison *c, size_t n,
			      struct bb_diffs *d)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		const struct bb_program *base = program_of(r, &c[i], c[i].base),
					*head = program_of(r, &c[i], c[i].head);
		size_t len = scenario_len(&c[i]);
		bool last = i + 1 == n || scenario_len(&c[i + 1]) != len ||
			    memcmp(c[i].name, c[i + 1].name, len) != 0;

		if (last && base && head)
			rc = add_exact(base->scenario, base, head, d);
	}
	return rc;
}

int bb_diff_comparisons(const struct bb_report *r, size_t first, size_t n,
			struct bb_diffs *ret_diffs, struct bb_err *err)
{
	const struct bb_comparison *c = n ? &r->comparisons[first] : NULL;
	struct bb_diffs d = {0};
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		rc = add_measured_latency(&c[i], &d);
		if (!rc && c[i].n_unmatched)
			rc = add_measured_unmatched(&c[i], &d);
		if (!rc && !isnan(c[i].floor_ns))
			rc = add_measured_net(&c[i], &d);
	}
	if (!rc)
		rc = add_measured_exact(r, c, n, &d);
	if (rc) {
		bb_diffs__done(&d);
		return bb_fail_nomem(err);
	}
	*ret_diffs = d;
	return 0;
}
