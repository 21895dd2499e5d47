/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/diff.h"

#include "stats/loads.h"
#include "stats/paired.h"
#include "stats/quantile.h"

/* Above this product of the numbers of rows, match_rows() does not search the longest common
 * sequence, but skips rows of A until one equals the next row of B. */
#define MOST_ALIGNED (4u << 20)

static bool same_words(const struct bb_timed_row *a, const struct bb_timed_row *b)
{
	size_t n = a->n_from;

	return a->is_loop == b->is_loop && !strcmp(a->call, b->call) && !strcmp(a->text, b->text) &&
	       (a->text[0] || a->insn == b->insn) && n == b->n_from &&
	       (!n || !strcmp(a->from[n - 1].call, b->from[n - 1].call));
}

static void add_row(struct bb_time_diff_case *c, const struct bb_timed_row *a,
		    const struct bb_timed_row *b)
{
	BB_PUSH(c->rows, c->n_rows, (struct bb_time_diff_row){.a = a, .b = b});
}

/* Stores the rows, matched or not, in c->rows in the order in which runs reach them. */
static void match_rows(struct bb_time_diff_case *c)
{
	const struct bb_timed_row *a = c->a->rows, *b = c->b->rows;
	size_t n = c->a->n_rows, m = c->b->n_rows, i = n, j;
	bool aligns = n * m <= MOST_ALIGNED;
	/* lengths[i * (m + 1) + j]: length of the longest common sequence of a[i..n) and b[j..m) */
	uint32_t *lengths = aligns ? bb_calloc((n + 1) * (m + 1), sizeof(*lengths)) : NULL;

	while (lengths && i-- > 0)
		for (j = m; j-- > 0;) {
			uint32_t *at = &lengths[i * (m + 1) + j], down = at[m + 1], right = at[1];

			*at = same_words(&a[i], &b[j]) ? at[m + 2] + 1
			      : down > right           ? down
						       : right;
		}
	i = j = 0;
	while (i < n || j < m) {
		bool both = i < n && j < m;

		if (both && same_words(&a[i], &b[j]))
			add_row(c, &a[i++], &b[j++]);
		else if (i < n && (!both || !lengths ||
				   lengths[(i + 1) * (m + 1) + j] >= lengths[i * (m + 1) + j + 1]))
			add_row(c, &a[i++], NULL);
		else
			add_row(c, NULL, &b[j++]);
	}
	free(lengths);
}

/* A changed line has an unmatched row of A and one of B. Joins them if no matched row is between
 * them and they have the same call or none. */
static void join_changed(struct bb_time_diff_case *c)
{
	size_t kept = 0, open_from = 0;

	for (size_t i = 0; i < c->n_rows; i++) {
		struct bb_time_diff_row *row = &c->rows[i], *old = NULL;

		for (size_t k = open_from; row->b && !row->a && k < kept && !old; k++)
			if (c->rows[k].a && !c->rows[k].b &&
			    !strcmp(c->rows[k].a->call, row->b->call))
				old = &c->rows[k];
		if (old) {
			old->b = row->b;
			continue;
		}
		if (row->a && row->b)
			open_from = kept + 1;
		c->rows[kept++] = *row;
	}
	c->n_rows = kept;
}

/* Returns the parameter at the end of a case's name ("/input=syn"), or "". */
static const char *below_drive(const struct bb_timed *t)
{
	const char *slash = strrchr(t->name, '/');

	return t->param && slash ? slash : "";
}

struct pairing {
	size_t n_a, n_b, n; /* loads of A, of B, and of both */
	size_t processes_a, processes_b;
	double *a, *b, *d;
	/* A and B are of two runs. Then slow_a[k][i] and slow_b[k][i] are the time of reference k
	 * (a fixed piece of work) at load i divided by its usual time in A's run, or NULL. */
	bool apart;
	double *slow_a[BB_N_REFERENCES], *slow_b[BB_N_REFERENCES];
};

static void numbers(const struct bb_numbers *list, double *x, size_t n)
{
	if (list)
		bb_numbers__copy(list, x, n);
	else
		memset(x, 0, n * sizeof(*x));
}

/* Estimates a row's time in one of two runs from its times by load. They are divided by slow[i],
 * unless `slow` is NULL. If `list` is NULL, the run lacks the row, and the estimate is 0. x[n] is
 * scratch memory. */
static struct bb_signed_rank estimate(const struct bb_numbers *list, const double *slow, double *x,
				      size_t n, size_t processes, double alpha)
{
	if (!list)
		return (struct bb_signed_rank){0};
	bb_numbers__copy(list, x, n);
	for (size_t i = 0; slow && i < n; i++)
		x[i] /= slow[i];
	return bb_in_order(x, n, processes, alpha);
}

/* Compares times of two runs, which share no loads. So A and B each get an interval, at the level 1
 * - alpha / 2 (Bonferroni). */
static void compare_apart(struct pairing *p, const struct bb_numbers *a, const struct bb_numbers *b,
			  const double *slow_a, const double *slow_b, double alpha,
			  struct bb_time_diff_row *ret)
{
	struct bb_signed_rank x = estimate(a, slow_a, p->a, p->n_a, p->processes_a, alpha / 2),
			      y = estimate(b, slow_b, p->b, p->n_b, p->processes_b, alpha / 2);

	ret->a_ns = x.estimate;
	ret->b_ns = y.estimate;
	ret->more = (struct bb_estimate){y.estimate - x.estimate, y.interval.lo - x.interval.hi,
					 y.interval.hi - x.interval.lo};
}

/* Compares times of one run load by load. A list that is NULL counts as 0. B is computed as A plus
 * the difference, so that the printed figures agree. */
static void compare_by_load(struct pairing *p, const struct bb_numbers *a,
			    const struct bb_numbers *b, double alpha, struct bb_time_diff_row *ret)
{
	size_t n = 0;

	numbers(a, p->a, p->n);
	numbers(b, p->b, p->n);
	for (size_t i = 0; i < p->n; i++) {
		if (!isfinite(p->a[i]) || !isfinite(p->b[i]))
			continue;
		p->a[n] = p->a[i];
		p->d[n] = p->b[i] - p->a[i];
		n++;
	}
	struct bb_signed_rank more = bb_robust_rank(p->d, n, alpha);
	ret->a_ns = bb_robust_rank(p->a, n, BB_ALPHA).estimate;
	ret->b_ns = ret->a_ns + more.estimate;
	ret->more = (struct bb_estimate){more.estimate, more.interval.lo, more.interval.hi};
}

/* Noise can make a line's time negative, because it is the difference of two measured times. Such a
 * time counts as 0, and the difference must then still be more than `least`. */
static enum bb_verdict judge(const struct bb_time_diff_row *row, double threshold)
{
	const struct bb_estimate *more = &row->more;
	double least = fmax(BB_BY_LINE_LEAST_NS, threshold * fabs(row->a_ns)),
	       above = fmax(row->b_ns, 0) - fmax(row->a_ns, 0);

	if (isnan(more->lo))
		return BB_VERDICT_INCONCLUSIVE;
	if (more->lo > least)
		return above > least ? BB_VERDICT_REGRESSED : BB_VERDICT_INCONCLUSIVE;
	if (more->hi < -least)
		return above < -least ? BB_VERDICT_IMPROVED : BB_VERDICT_INCONCLUSIVE;
	return more->lo >= -least && more->hi <= least ? BB_VERDICT_SAME : BB_VERDICT_INCONCLUSIVE;
}

/* If A and B are of two runs, the verdict must also hold when all times are divided by those of
 * each reference, because the machine's speed may differ. */
static void compare_and_judge(struct pairing *p, const struct bb_numbers *a,
			      const struct bb_numbers *b, double threshold, double alpha,
			      struct bb_time_diff_row *ret)
{
	if (p->apart)
		compare_apart(p, a, b, NULL, NULL, alpha, ret);
	else
		compare_by_load(p, a, b, alpha, ret);
	ret->verdict = judge(ret, threshold);
	for (size_t k = 0; k < BB_N_REFERENCES; k++) {
		struct bb_time_diff_row relative;

		if (!p->slow_a[k] || !p->slow_b[k])
			continue;
		compare_apart(p, a, b, p->slow_a[k], p->slow_b[k], alpha, &relative);
		if (judge(&relative, threshold) != ret->verdict)
			ret->verdict = BB_VERDICT_INCONCLUSIVE;
	}
}

/* Returns the time of a reference (a fixed piece of work) at each of n loads, divided by `usual`.
 * free() it. For instructions, it is the median of the run, because single measurements are
 * disturbed more often than the CPU's clock changes. */
static double *find_slow(const struct bb_case *c, size_t n, enum bb_reference reference,
			 double usual)
{
	double *slow = bb_calloc(n + 1, sizeof(*slow));

	for (size_t i = 0; i < n; i++)
		slow[i] = c->summary.reference[reference].value / usual;
	for (size_t k = 0; reference == BB_REFERENCE_WAKEUP && k < c->n_series; k++)
		if (c->series[k].load < n && isfinite(c->series[k].reference_ns[reference]))
			slow[c->series[k].load] = c->series[k].reference_ns[reference] / usual;
	return slow;
}

static int by_difference(const void *a, const void *b)
{
	const struct bb_time_diff_row *x = a, *y = b;

	return BB_ORDER(fabs(y->more.value), fabs(x->more.value));
}

/* Sets c->half_ns, c->times and c->needs_loads. */
static void find_next_step(struct bb_time_diff_case *c, struct pairing *p, double threshold,
			   double alpha)
{
	double *times = bb_calloc(2 * c->n_rows + 1, sizeof(*times)), *half_ns = times + c->n_rows;
	size_t n = 0;

	for (size_t i = 0; i < c->n_rows; i++) {
		const struct bb_time_diff_row *row = &c->rows[i];

		if (row->verdict != BB_VERDICT_INCONCLUSIVE || isnan(row->more.lo))
			continue;
		half_ns[n] = (row->more.hi - row->more.lo) / 2;
		times[n++] =
			bb_times_to_decide(row->more.value, row->more.lo, row->more.hi,
					   fmax(BB_BY_LINE_LEAST_NS, threshold * fabs(row->a_ns)));
	}
	c->times = n ? bb_median(times, n) : (double)NAN;
	c->half_ns = n ? bb_median(half_ns, n) : (double)NAN;
	free(times);
	c->n_loads = p->apart ? 0 : p->n;
	c->needs_loads = 0;
	while (!p->apart && c->needs_loads < BB_SIGNED_RANK_EXACT_MAX &&
	       !bb_signed_rank_critical(c->needs_loads, alpha))
		c->needs_loads++;
}

/* Replaces the figures of the whole run, so that all commands show the same ones. They come from
 * o->whole if it has them. Otherwise, if A and B are of one run, A's time becomes the latency of
 * A's case. */
static void take_whole(struct bb_time_diff_case *c, const struct bb_report *r,
		       const struct bb_time_diff_opts *o)
{
	const struct bb_diff *row = BB_FIND(o->whole->rows, o->whole ? o->whole->n : 0,
					    it->has_verdict && !strcmp(it->name, c->b->name));
	double latency = o->base_run ? (double)NAN : bb_timed__latency(r, c->a);

	if (row) {
		c->whole.a_ns = row->a;
		c->whole.b_ns = row->b;
		c->whole.more = (struct bb_estimate){row->shift, row->a * (row->lo - 1),
						     row->a * (row->hi - 1)};
		c->whole.verdict = row->verdict;
		c->note = row->note;
	} else if (isfinite(latency)) {
		c->whole.a_ns = latency;
		c->whole.b_ns = latency + c->whole.more.value;
	}
}

static void judge_case(struct bb_time_diff_case *c, const struct bb_report *r,
		       const struct bb_time_diff_opts *o, double alpha)
{
	const struct bb_case *a = bb_report__find_case(o->base_run ? o->base_run : r, c->a->name),
			     *b = bb_report__find_case(r, c->b->name);
	size_t n_a = c->a->program_ns.n, n_b = c->b->program_ns.n;
	struct pairing p = {.n_a = n_a,
			    .n_b = n_b,
			    .n = n_a < n_b ? n_a : n_b,
			    .processes_a = c->a->processes,
			    .processes_b = c->b->processes,
			    .apart = o->base_run != NULL};

	p.a = bb_calloc(n_a + n_b + p.n + 3, sizeof(*p.a));
	p.b = p.a + n_a + 1;
	p.d = p.b + n_b + 1;
	for (enum bb_reference k = 0; p.apart && k < BB_N_REFERENCES; k++) {
		bool is_counted = a && b &&
				  (k == BB_REFERENCE_INSTRUCTIONS || k == bb_case__reference(a));
		double usual = is_counted ? a->summary.reference[k].value : NAN;

		c->slower[k] = is_counted ? b->summary.reference[k].value / usual - 1 : NAN;
		if (!isfinite(c->slower[k]))
			continue;
		p.slow_a[k] = find_slow(a, n_a, k, usual);
		p.slow_b[k] = find_slow(b, n_b, k, usual);
	}
	c->lookups = bb_failed_lookups(a, b);
	compare_and_judge(&p, &c->a->program_ns, &c->b->program_ns, o->threshold, o->alpha,
			  &c->whole);
	take_whole(c, r, o);
	for (struct bb_time_diff_row *row = c->rows; row < c->rows + c->n_rows; row++)
		compare_and_judge(&p, row->a ? &row->a->ns : NULL, row->b ? &row->b->ns : NULL,
				  o->threshold, alpha, row);
	qsort(c->rows, c->n_rows, sizeof(*c->rows), by_difference);
	find_next_step(c, &p, o->threshold, alpha);
	free(p.a);
	for (size_t k = 0; k < BB_N_REFERENCES; k++) {
		free(p.slow_a[k]);
		free(p.slow_b[k]);
	}
}

int bb_time_diff__make(const struct bb_report *r, const struct bb_time_diff_opts *opts,
		       struct bb_time_diff *ret_diff, struct bb_err *err)
{
	const struct bb_report *of_base = opts->base_run ? opts->base_run : r;
	struct bb_time_diff d = {.option = opts->option, .amount = opts->amount};
	size_t n_rows = 0;

	for (size_t i = 0; i < r->n_timed; i++) {
		const struct bb_timed *head = &r->timed[i], *base;

		if (opts->head && strcmp(head->variant, opts->head))
			continue;
		base = BB_FIND(of_base->timed, of_base->n_timed,
			       !strcmp(it->variant, opts->base ? opts->base : head->variant) &&
				       !strcmp(it->scenario, head->scenario) &&
				       !strcmp(it->drive, head->drive) &&
				       !strcmp(below_drive(it), below_drive(head)));
		if (!base)
			continue;
		struct bb_time_diff_case *c = bb_append(&d.cases, &d.n_cases, sizeof(*c));
		c->a = base;
		c->b = head;
		match_rows(c);
		join_changed(c);
		n_rows += c->n_rows;
	}
	for (size_t i = 0; i < d.n_cases; i++)
		judge_case(&d.cases[i], r, opts, opts->alpha / (double)(n_rows ? n_rows : 1));
	if (!d.n_cases)
		return bb_fail(err, -ENODATA,
			       "nothing to compare line by line: no case of a drive {with: lines} "
			       "was measured of both");
	*ret_diff = d;
	return 0;
}

void bb_time_diff__done(struct bb_time_diff *d)
{
	for (size_t i = 0; i < d->n_cases; i++)
		free(d->cases[i].rows);
	free(d->cases);
	*d = (struct bb_time_diff){0};
}

size_t bb_time_diff__count(const struct bb_time_diff *d, enum bb_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_cases; i++)
		n += BB_SUM(d->cases[i].rows, d->cases[i].n_rows, it->verdict == verdict);
	return n;
}
