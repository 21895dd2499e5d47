/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/diff.h"

#include "base/text.h"
#include "core/drive_kind.h"
#include "stats/quantile.h"
#include "stats/special.h"

/*
 * The latency of a case in run B divided by its latency in run A. The two runs share no
 * randomisation, so their loads are two independent samples. Latencies also differ between runs of
 * one program (bb_case.between), which widens the interval.
 *
 * If bpfbench distributed the loads over the JIT addresses modulo 64 (run/round.h), the latencies
 * are stratified means, and the interval comes from Student's t with the degrees of freedom of
 * Welch 1947. Otherwise the latencies are medians with an order-statistic interval
 * (stats/estimate.h).
 */
struct stored_ratio {
	double ratio;
	/* confidence interval of `ratio` at 1 - alpha; NAN with too few loads */
	struct bb_interval interval;
	double p; /* two-sided p-value of the ratio being beyond the threshold */
	/* loads of A and of B, and loads that A and B each need for an interval */
	size_t n_a, n_b, needs;
};

struct side {
	double *ns; /* ns[n]: latency of each valid load, ascending */
	size_t n;
	struct bb_over_loads over;
	/* standard error of the latency's logarithm from the spread between runs, 0 if unknown, and
	 * its degrees of freedom */
	double run_se, run_df;
};

/* A sum of variances with their degrees of freedom (Welch 1947). */
struct variance {
	double sum, squares; /* `squares` is the sum of variance^2 / degrees of freedom */
};

static void add_variance(struct variance *v, double se, double df)
{
	v->sum += se * se;
	v->squares += se * se * se * se / df;
}

static double known(double x)
{
	return isnan(x) ? 0 : x;
}

static void open_side(const struct bb_case *c, struct side *s)
{
	double floor_share = known(c->summary.floor.value / c->summary.latency.value);

	s->ns = bb_calloc(c->n_series + 1, sizeof(*s->ns));
	bb_case__locations(c, s->ns);
	bb_case__over_loads(c, s->ns, &s->over);
	bb_sort_doubles(s->ns, c->n_series); /* puts NANs at the end */
	while (s->n < c->n_series && !isnan(s->ns[s->n]))
		s->n++;
	if (c->between_runs < 2)
		return;
	s->run_df = c->between_runs - 1;
	s->run_se = hypot(known(c->between), known(c->between_floor) * floor_share) /
		    bb_student_critical(BB_ALPHA, s->run_df);
}

static void find_stored_ratio(const struct bb_case *a, const struct bb_case *b, double threshold,
			      double alpha, struct stored_ratio *ret)
{
	struct side side[2] = {{0}}, *x = &side[0], *y = &side[1];
	struct variance v = {0, 0};

	open_side(a, x);
	open_side(b, y);
	*ret = (struct stored_ratio){NAN, {NAN, NAN}, NAN, x->n, y->n, 0};
	bool by_place = x->over.se > 0 && y->over.se > 0;
	if (by_place) {
		ret->ratio = y->over.estimate.value / x->over.estimate.value;
	} else {
		struct bb_order_ratio o = bb_order_ratio(x->ns, x->n, y->ns, y->n, alpha);

		ret->needs = bb_order_ratio_needs(alpha);
		ret->ratio = o.ratio;
		ret->interval = o.interval;
		ret->p = fmin(bb_order_ratio_p(x->ns, x->n, y->ns, y->n, 1 + threshold),
			      bb_order_ratio_p(y->ns, y->n, x->ns, x->n, 1 + threshold));
	}
	for (int i = 0; i < 2; i++)
		if (side[i].run_se > 0)
			add_variance(&v, side[i].run_se, side[i].run_df);
	for (int i = 0; i < 2 && by_place; i++)
		add_variance(&v, side[i].over.se / side[i].over.estimate.value, side[i].over.df);
	if (v.sum > 0 && (by_place || !isnan(ret->interval.lo))) {
		double ln_ratio = log(ret->ratio), df = v.sum * v.sum / v.squares;
		double half = bb_student_critical(alpha, df) * sqrt(v.sum);
		double beyond = fabs(ln_ratio) - log1p(threshold);
		double p = beyond > 0 ? bb_student_two_sided(beyond / sqrt(v.sum), df) : 1;
		double down = by_place ? half : hypot(ln_ratio - log(ret->interval.lo), half),
		       up = by_place ? half : hypot(log(ret->interval.hi) - ln_ratio, half);

		ret->p = by_place ? p : fmax(ret->p, p);
		ret->interval = (struct bb_interval){exp(ln_ratio - down), exp(ln_ratio + up)};
	}
	free(x->ns);
	free(y->ns);
}

void bb_diffs__done(struct bb_diffs *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->rows[i].name);
		free(d->rows[i].note);
	}
	for (size_t i = 0; i < d->n_warnings; i++)
		free(d->warnings[i]);
	free(d->rows);
	free(d->warnings);
	memset(d, 0, sizeof(*d));
}

static struct bb_diff row_of(const char *metric, double a, double b)
{
	return (struct bb_diff){
		.metric = metric,
		.unit = "ns",
		.a = a,
		.b = b,
		.shift = b - a,
		.ratio = a > 0 && b > 0 ? b / a : NAN,
		.lo = NAN,
		.hi = NAN,
		.p = NAN,
		.decides = NAN,
	};
}

/* Takes ownership of the row's note. */
static void add_row(struct bb_diffs *d, const char *name, struct bb_diff row)
{
	row.name = bb_strdup(name);
	BB_PUSH(d->rows, d->n, row);
}

#define add_note(row, ...) bb_add_words(&(row)->note, "; ", __VA_ARGS__)
#define warn(d, ...) BB_PUSH((d)->warnings, (d)->n_warnings, bb_asprintf(__VA_ARGS__))

size_t bb_diffs_count(const struct bb_diffs *d, enum bb_verdict verdict)
{
	return BB_SUM(d->rows, d->n, it->has_verdict && it->verdict == verdict);
}

/* Adds a row for each exact metric in which two programs differ, if both kernels reported it. */
static void add_exact(const char *name, const struct bb_program *a, const struct bb_program *b,
		      struct bb_diffs *d)
{
	for (size_t i = 0; i < bb_n_static_metrics; i++) {
		const struct bb_metric_def *def = &bb_static_metrics[i];
		double va = bb_static_of(&a->metrics, def), vb = bb_static_of(&b->metrics, def);
		struct bb_diff row = row_of(def->slug, va, vb);

		if (def->kind != BB_METRIC_EXACT || !(va < vb || va > vb))
			continue;
		row.unit = def->unit;
		row.exact = true;
		add_row(d, name, row);
	}
}

#define EXCERPT 100

/* Copies a fingerprint's value to text[BB_FINGERPRINT_LONG_TEXT]. Of a long one, such as the
 * mitigations, copies only EXCERPT bytes, from the first entry that differs from `other`. */
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

static size_t warn_of_machines(const struct bb_report *a, const struct bb_report *b,
			       struct bb_diffs *d)
{
	char va[BB_FINGERPRINT_LONG_TEXT], vb[BB_FINGERPRINT_LONG_TEXT];
	const char **keys = bb_calloc(bb_n_fingerprint_fields, sizeof(*keys));
	size_t n = bb_fingerprint_differences(&a->fingerprint, &b->fingerprint, keys,
					      bb_n_fingerprint_fields);

	/* `keys` has the order of bb_fingerprint_fields, so one pass finds all of them */
	for (size_t k = 0, i = 0; k < n; i++) {
		const char *of_a = bb_fingerprint_get(&a->fingerprint, i);
		const char *of_b = bb_fingerprint_get(&b->fingerprint, i);

		if (strcmp(keys[k], bb_fingerprint_fields[i].key))
			continue;
		k++;
		excerpt(of_a, of_b, va);
		excerpt(of_b, of_a, vb);
		warn(d, "the two machines differ in %s: '%s' in A, '%s' in B",
		     bb_fingerprint_fields[i].key, va, vb);
	}
	free(keys);
	return n;
}

/* True if the spread between runs is known for each case that both runs have, except of drives that
 * load no program or measure for a given time. */
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

/* Returns a static text that says why no case gets a verdict, or NULL. */
static const char *find_doubts(const struct bb_report *a, const struct bb_report *b, bool force,
			       struct bb_diffs *d)
{
	const struct bb_report *const side[] = {a, b};
	const char *doubt = warn_of_machines(a, b, d) ? "the machines differ" : NULL;

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0, n = 0; k < side[i]->n_cases; k++)
			if (side[i]->cases[k].found && !n++)
				warn(d, "run %c has cases with a " BB_FOUND_INPUT, "AB"[i]);
		if (!side[i]->incomplete)
			continue;
		warn(d, "run %c is incomplete: %s", "AB"[i], side[i] -> incomplete);
		doubt = doubt ? doubt : "a run is incomplete";
	}
	if (doubt && !force)
		warn(d, "so no verdict is given: measure both on one machine, at best in one run "
			"(`sudo bpfbench compare OLD.o NEW.o`), or insist with --force");
	if (!is_between_known(a, b))
		warn(d, "the intervals do not include the variation between runs: `bpfbench "
			"selftest` measures it, and later runs include it");
	if (a->id && b->id && !strcmp(a->id, b->id))
		warn(d, "A and B are the same run, %s", a->id);
	return force ? NULL : doubt;
}

static void note_voids(struct bb_diff *row, char side, const struct bb_case *c)
{
	/* Slices (periods of watching) in which a live program did not run are usual, so they are
	 * not noted. */
	bool skips_idle = c->is_live && !isnan(c->summary.latency.value);
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		const char *why = c->series[i].void_why;

		if (!why || (skips_idle && !strncmp(why, BB_NO_RUN, strlen(BB_NO_RUN))))
			continue;
		n++;
		first = first ? first : why;
	}
	if (!first)
		return;
	add_note(row, "%zu of %zu series of %c are void", n, c->n_series, side);
	row->void_why[side == 'B'] = first;
}

#define NORMAL_95 1.96

/* Returns the standard deviation of the estimate's logarithm, from its interval as if normal. */
static double sd_of(const struct bb_estimate *e)
{
	return log(e->hi / e->lo) / (2 * NORMAL_95);
}

/* The note advises to watch a live program longer than estimated, because it may run in bursts. */
#define SPARE_SECONDS 1.5

/* Above this factor of the present loads, the note gives no number of loads for a verdict. */
#define MOST_TIMES 10.0

static double seconds_of(const struct bb_case *c)
{
	double s = 0;

	for (size_t i = 0; i < c->n_series; i++)
		s += c->series[i].elapsed_s;
	return s;
}

/* Makes a verdict inconclusive if the relative or the net latency contradicts it
 * (stats/verdict.h). */
static void check_change(const struct bb_case *a, const struct bb_case *b, struct bb_diff *row)
{
	const struct bb_estimate *x = &a->summary.relative, *y = &b->summary.relative;
	const struct bb_estimate *net_a = &a->summary.net, *net_b = &b->summary.net;
	double other = log(y->value / x->value), change = log(row->ratio),
	       net = net_b->value - net_a->value;
	/* standard deviation of `net` as a share of A's latency */
	double sd_of_net = hypot(net_a->hi - net_a->lo, net_b->hi - net_b->lo) /
			   (2 * NORMAL_95 * a->summary.latency.value);

	if (row->verdict != BB_VERDICT_REGRESSED && row->verdict != BB_VERDICT_IMPROVED)
		return;
	/* The relative latency is the latency divided by the time of a fixed piece of work in the
	 * same run. It grows if the program became slower, but hardly if the machine did, because
	 * then the fixed work takes longer, too. */
	if (bb_case__reference(a) == bb_case__reference(b) &&
	    bb_change_is_denied(change, other, hypot(sd_of(x), sd_of(y)))) {
		add_note(row,
			 "rather the machine than your code: beside fixed work of each run, B "
			 "differs by %+.2f %%",
			 100 * expm1(other));
		row->verdict = BB_VERDICT_INCONCLUSIVE;
	} else if (bb_change_is_denied(change, log1p(net / a->summary.latency.value), sd_of_net)) {
		add_note(row,
			 "rather the machine than your code: the empty program changed, too, by "
			 "%+.3g ns",
			 row->shift - net);
		row->verdict = BB_VERDICT_INCONCLUSIVE;
	}
}

/* bb_diff_reports() applies Holm's correction later. */
static void judge_latency(const struct bb_case *a, const struct bb_case *b,
			  const struct bb_diff_opts *opts, struct bb_diff *row)
{
	/* only a watched live program needs seconds; one measured by test runs has loads */
	bool is_watched = a->is_live && bb_drive_kind_named(a->drive)->seconds > 0;
	struct stored_ratio r;

	find_stored_ratio(a, b, opts->threshold, opts->alpha, &r);
	row->lo = r.interval.lo;
	row->hi = r.interval.hi;
	row->verdict = bb_verdict_of((struct bb_interval){log(r.interval.lo), log(r.interval.hi)},
				     opts->threshold);
	row->p = r.p;
	check_change(a, b, row);
	if (r.n_a < r.needs || r.n_b < r.needs) {
		double least = fmax((double)(r.n_a < r.n_b ? r.n_a : r.n_b), 1);

		if (is_watched)
			add_note(row,
				 "it ran too seldom for an interval: both looks with "
				 "`--seconds %.0f`",
				 ceil(SPARE_SECONDS * (double)r.needs / least *
				      fmax(seconds_of(a), seconds_of(b))));
		else
			add_note(row,
				 "no interval: A has %zu load%s, B %zu, each needs %zu "
				 "(`--loads %zu`)",
				 r.n_a, bb_plural(r.n_a), r.n_b, r.needs, r.needs);
		return;
	}
	if (row->verdict != BB_VERDICT_INCONCLUSIVE || row->note || isnan(row->lo))
		return;
	double times = bb_times_to_decide(log(row->ratio), log(row->lo), log(row->hi),
					  log1p(opts->threshold));
	if (isinf(times))
		add_note(row, "too close to %.3g %% to decide (+-%.2g %%)", 100 * opts->threshold,
			 50 * (row->hi - row->lo));
	else if (!is_watched && times > MOST_TIMES)
		add_note(row, "+-%.2g %%: two stored runs cannot tell as little as %.3g %%",
			 50 * (row->hi - row->lo), 100 * opts->threshold);
	else {
		row->decides = ceil(times * (is_watched ? fmax(seconds_of(a), seconds_of(b))
							: fmax((double)r.n_a, (double)r.n_b)));
		add_note(row, "+-%.2g %% so far", 50 * (row->hi - row->lo));
	}
}

/* True if it is known that no map lookup of the case failed. */
static bool finds_all(const struct bb_case *c)
{
	return c->n_insns && !c->n_in_vain && !c->n_unwatched && !c->first_run_only;
}

const char *bb_failed_lookups(const struct bb_case *a, const struct bb_case *b)
{
	if (!a || !b)
		return NULL;
	if (a->n_in_vain && finds_all(b))
		return "lookups failed in A only";
	return b->n_in_vain && finds_all(a) ? "lookups failed in B only" : NULL;
}

static void add_case(const struct bb_case *a, const struct bb_case *b, bool is_floor,
		     const struct bb_diff_opts *opts, const char *doubt, struct bb_diffs *d)
{
	struct bb_diff row = row_of("latency", a->summary.latency.value, b->summary.latency.value),
		       share = row_of("runs", 100 * a->path_share, 100 * b->path_share);

	/* `inside` gets no verdict: A and B have one load each, perhaps under different work */
	row.has_verdict = !is_floor && !(bb_drive_kind_named(a->drive)->fills & BB_FILLS_WORST);
	if (row.has_verdict)
		judge_latency(a, b, opts, &row);
	if (is_floor)
		add_note(&row, "the empty program: what differs here is the machine");
	else if (doubt) {
		row.verdict = BB_VERDICT_INCONCLUSIVE;
		/* More loads do not remove the doubt, so drop the advised number. */
		row.decides = NAN;
		free(row.note);
		row.note = NULL;
		add_note(&row, "%s", doubt);
	}
	row.lookups = bb_failed_lookups(a, b);
	note_voids(&row, 'A', a);
	note_voids(&row, 'B', b);
	add_row(d, a->name, row);
	share.unit = "%";
	if (!isnan(share.shift))
		add_row(d, a->name, share);
	for (const struct bb_metric_def *def = bb_metrics; def < bb_metrics + bb_n_metrics; def++) {
		const struct bb_estimate *x = bb_metric_of(&a->summary, def),
					 *y = bb_metric_of(&b->summary, def);

		if (bb_has_word("net p50 p90 p99 worst", ' ', def->name) &&
		    (!isnan(x->value) || !isnan(y->value)))
			add_row(d, a->name, row_of(def->name, x->value, y->value));
	}
}

static void add_lonely(const struct bb_case *c, bool in_a, struct bb_diffs *d)
{
	double ns = c->summary.latency.value;
	struct bb_diff row = row_of("latency", in_a ? ns : (double)NAN, in_a ? (double)NAN : ns);

	add_note(&row, in_a ? "only in A" : "only in B");
	note_voids(&row, in_a ? 'A' : 'B', c);
	add_row(d, c->name, row);
}

int bb_diff_reports(const struct bb_report *a, const struct bb_report *b,
		    const struct bb_diff_opts *opts, struct bb_diffs *ret_diffs, struct bb_err *err)
{
	struct bb_diffs d = {.threshold = opts->threshold, .alpha = opts->alpha};
	double *p;

	if (!(opts->threshold >= 0) || isinf(opts->threshold) ||
	    !(opts->alpha > 0 && opts->alpha < 1))
		return bb_fail(err, -EINVAL,
			       "a threshold of %g at a significance of %g: they must be >= 0 and "
			       "between 0 and 1",
			       opts->threshold, opts->alpha);
	const char *doubt = find_doubts(a, b, opts->force, &d);
	for (size_t i = 0; i < a->n_cases; i++) {
		const struct bb_case *in_a = &a->cases[i],
				     *in_b = bb_report__find_case(b, in_a->name);

		if (in_b)
			add_case(in_a, in_b, bb_is_floor(a, in_a), opts, doubt, &d);
		else
			add_lonely(in_a, true, &d);
	}
	for (size_t i = 0; i < b->n_cases; i++)
		if (!bb_report__find_case(a, b->cases[i].name))
			add_lonely(&b->cases[i], false, &d);
	for (size_t i = 0; i < a->n_programs; i++) {
		const struct bb_program *in_b = bb_report__find_program(b, a->programs[i].name);

		if (in_b)
			add_exact(in_b->name, &a->programs[i], in_b, &d);
	}
	/* correct the p-values for the number of cases (Holm 1979); a NAN stays NAN */
	p = bb_calloc(d.n + 1, sizeof(*p));
	for (size_t i = 0; i < d.n; i++)
		p[i] = d.rows[i].p;
	bb_holm(p, d.n, p);
	for (size_t i = 0; i < d.n; i++) {
		struct bb_diff *row = &d.rows[i];

		row->p = p[i];
		if ((row->verdict != BB_VERDICT_REGRESSED && row->verdict != BB_VERDICT_IMPROVED) ||
		    p[i] <= opts->alpha)
			continue;
		add_note(row,
			 "%s if it were the only case, but among so many cases chance does as much "
			 "(Holm: p = %.2g)",
			 bb_verdict_name(row->verdict), p[i]);
		row->verdict = BB_VERDICT_INCONCLUSIVE;
	}
	free(p);
	*ret_diffs = d;
	return 0;
}

/* Returns the case of `variant` in the comparison `c`, or NULL. The case's name is the comparison's
 * name with the variant inserted after the scenario. */
static const struct bb_case *case_of(const struct bb_report *r, const struct bb_comparison *c,
				     const char *variant)
{
	size_t len = strcspn(c->name, "/");

	return BB_FIND(r->cases, r->n_cases,
		       bb_same_text(it->variant, variant) && strlen(it->scenario) == len &&
			       !strncmp(c->name, it->name, len + 1) &&
			       !strcmp(c->name + len, it->name + len + 1 + strlen(variant)));
}

/* The verdict is on the ratio of the pairs of loads. B's latency is A's latency times this ratio,
 * so that the printed figures agree. */
static void add_measured(const struct bb_report *r, const struct bb_comparison *c,
			 struct bb_diffs *d)
{
	bool has_ratio = isfinite(c->ratio.value);
	double head_ns = has_ratio ? c->base_ns * c->ratio.value : c->head_ns;
	struct bb_diff row = row_of("latency", c->base_ns, head_ns);
	char step[BB_WHY_SIZE];
	size_t i = 0;

	row.lo = c->ratio.lo;
	row.hi = c->ratio.hi;
	row.has_verdict = true;
	row.verdict = c->verdict;
	row.p = fmin(c->p_regressed, c->p_improved);
	row.lookups = bb_failed_lookups(case_of(r, c, c->base), case_of(r, c, c->head));
	bb_comparison__why_inconclusive(c, step);
	if (step[0])
		add_note(&row, "%s", step);
	while (i < c->n_pairs && !c->pairs[i].void_why)
		i++;
	if (i < c->n_pairs) {
		add_note(&row, "%u of %zu pairs are void", c->n_void, c->n_pairs);
		row.void_why[0] = c->pairs[i].void_why;
	}
	if (c->n_unmatched && !c->n_matched && c->pairs[0].base_mod64 < 0)
		add_note(&row, "%u pairs, without JIT addresses to match", c->n_unmatched);
	if (fabs(c->injected) > 0)
		add_note(&row, "%+.3g %% were injected into B", 100 * c->injected);
	add_row(d, c->name, row);
	if (isfinite(c->floor_ns)) {
		/* Both programs have one floor, so both figures differ by as many ns. */
		double base_net = c->base_ns - c->floor_ns, scale = c->base_ns / base_net;
		struct bb_diff net = row_of("net", base_net, head_ns - c->floor_ns);

		if (base_net > 0) {
			net.lo = 1 + (c->ratio.lo - 1) * scale;
			net.hi = 1 + (c->ratio.hi - 1) * scale;
		}
		add_row(d, c->name, net);
	}
}

/* Returns NULL if the run has no such program, as with the fake driver. */
static const struct bb_program *program_of(const struct bb_report *r, const struct bb_comparison *c,
					   const char *variant)
{
	size_t len = strcspn(c->name, "/");

	return BB_FIND(r->programs, r->n_programs,
		       bb_same_text(it->variant, variant) && it->scenario &&
			       strlen(it->scenario) == len && !memcmp(it->scenario, c->name, len));
}

void bb_diff_comparisons(const struct bb_report *r, size_t first, size_t n,
			 struct bb_diffs *ret_diffs)
{
	const struct bb_comparison *c = n ? &r->comparisons[first] : NULL;
	struct bb_diffs d = {.threshold = c ? c->threshold : NAN};

	for (size_t i = 0; i < n; i++)
		add_measured(r, &c[i], &d);
	/* Add the exact metrics of a scenario's two programs once, after its last comparison. */
	for (size_t i = 0; i < n; i++) {
		const struct bb_program *base = program_of(r, &c[i], c[i].base),
					*head = program_of(r, &c[i], c[i].head);
		size_t len = strcspn(c[i].name, "/");
		bool last = i + 1 == n || strcspn(c[i + 1].name, "/") != len ||
			    memcmp(c[i].name, c[i + 1].name, len) != 0;

		if (last && base && head)
			add_exact(base->scenario, base, head, &d);
	}
	*ret_diffs = d;
}
