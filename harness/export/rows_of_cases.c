/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables in which a row stands for several cases: all values of a sweep, hot and cold caches,
 * numbers of CPUs, or two drives that check each other (slope or hook against step). */

#include "core/drive_kind.h"
#include "export/documents.h"
#include "stats/quantile.h"

#define NAMED_CHECKS 3u /* a sentence names at most this many cross-checks */

static double latency_of(const struct bb_case *c)
{
	return c->summary.latency.value;
}

static double net_of(const struct bb_case *c)
{
	return c->summary.net.value;
}

static void add_value(struct bb_doc *d, double ns)
{
	bb_doc__number_cell(d, ns, ns);
}

bool bb_is_sweep(const struct bb_report *r, size_t i)
{
	size_t n = 0;

	/* a variant has a case for each value of the parameter */
	for (size_t k = 0; n <= BB_SWEEP_VALUES && k < r->n_cases; k++)
		n += r->cases[k].param && bb_same_curve(&r->cases[k], &r->cases[i]);
	return n > BB_SWEEP_VALUES;
}

bool bb_is_sweep_head(const struct bb_report *r, size_t i)
{
	return bb_is_first_of_group(r, i) && bb_is_sweep(r, i);
}

/* Adds the latency and the parameter of the cheapest or dearest case of a sweep. `c` may be NULL.
 */
static void add_end(struct bb_doc *d, const struct bb_case *c)
{
	add_value(d, c ? latency_of(c) : (double)NAN);
	bb_doc__text_cell(d, c ? c->param_text : NULL);
}

/* Adds the row of the variant of case `first` in the sweep that begins with case `head`. Does
 * nothing if an earlier case has added the row. */
static void add_variant(const struct bb_report *r, size_t head, size_t first, struct bb_doc *d)
{
	const struct bb_case *c = &r->cases[first], *least = NULL, *most = NULL;
	double *ns, *nets;
	size_t n = 0, n_nets = 0, n_cases = 0;

	if (BB_ANY(r->cases + head, first - head, bb_same_curve(it, c)))
		return;
	ns = bb_calloc(2 * r->n_cases, sizeof(*ns));
	nets = ns + r->n_cases;
	for (size_t i = first; i < r->n_cases; i++) {
		const struct bb_case *k = &r->cases[i];

		if (!bb_same_curve(k, c))
			continue;
		n_cases++;
		if (isnan(latency_of(k)))
			continue;
		ns[n++] = latency_of(k);
		if (!isnan(net_of(k)))
			nets[n_nets++] = net_of(k);
		if (!least || latency_of(k) < latency_of(least))
			least = k;
		if (!most || latency_of(k) > latency_of(most))
			most = k;
	}
	bb_doc__text_cell(d, c->variant);
	bb_doc__cell(d, "%zu", n_cases);
	add_end(d, least);
	add_value(d, bb_median(ns, n));
	add_end(d, most);
	add_value(d, bb_median(nets, n_nets));
	free(ns);
}

void bb_doc_sweep(const struct bb_report *r, size_t head, struct bb_doc *d)
{
	bb_doc_group_title(&r->cases[head], false,
			   "(latency, ns per run; `show --format bmf` and `make plot` have every "
			   "value)",
			   d);
	bb_doc__columns(d, {BB_TEXT("variant")}, {BB_NUMBER("values")}, {BB_NUMBER("least")},
			{BB_NUMBER("at")}, {BB_NUMBER("median")}, {BB_NUMBER("most")},
			{BB_NUMBER("at")}, {BB_NUMBER("net median")});
	for (size_t i = head; i < r->n_cases; i++)
		if (bb_same_group(&r->cases[i], &r->cases[head]))
			add_variant(r, head, i, d);
}

/* True if `c` differs from the case `curve` at most in its parameter, and has a latency and a
 * return value. If `returned` is not NULL, it must be this return value. */
static bool is_of_class(const struct bb_case *c, const struct bb_case *curve, const char *returned)
{
	return bb_same_curve(c, curve) && c->returned && !isnan(latency_of(c)) &&
	       (!returned || !strcmp(c->returned, returned));
}

/* Returns the share of production's runs that the input of case `c` stands for, or 1 if unknown. */
static double weight_of(const struct bb_case *c)
{
	return isnan(c->path_share) ? 1 : c->path_share;
}

/* Adds a row about the inputs on which the program returned `returned` (all inputs if NULL). */
static void add_class(const struct bb_report *r, const struct bb_case *curve, const char *returned,
		      struct bb_doc *d)
{
	double all = 0, share = 0, ns = 0, net = 0, least = NAN, most = NAN;
	size_t n = 0;

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		all += is_of_class(c, curve, NULL) ? weight_of(c) : 0;
		if (!is_of_class(c, curve, returned))
			continue;
		n++;
		share += weight_of(c);
		ns += weight_of(c) * latency_of(c);
		net += weight_of(c) * net_of(c);
		least = fmin(least, latency_of(c));
		most = fmax(most, latency_of(c));
	}
	bb_doc__text_cell(d, returned ? returned : "all");
	bb_doc__cell(d, "%zu", n);
	bb_doc__cell(d, "%.3g", 100 * share / all);
	bb_doc__number_cell(d, net / share, ns / share);
	add_value(d, ns / share);
	add_value(d, least);
	add_value(d, most);
}

/* Adds a table of the return values of the program of case `first`, over all its inputs. */
static void add_classes(const struct bb_report *r, size_t first, struct bb_doc *d)
{
	const struct bb_case *curve = &r->cases[first];

	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s, %s, %s, by return value (ns per run)",
		    curve->scenario, curve->variant, curve->drive);
	bb_doc__columns(d, {BB_TEXT("returned")}, {BB_NUMBER("inputs")}, {BB_NUMBER("runs %")},
			{BB_NUMBER("net")}, {BB_NUMBER("mean")}, {BB_NUMBER("least")},
			{BB_NUMBER("most")});
	for (size_t i = first; i < r->n_cases; i++) {
		const char *returned = r->cases[i].returned;

		if (is_of_class(&r->cases[i], curve, NULL) &&
		    !BB_ANY(r->cases + first, i - first, is_of_class(it, curve, returned)))
			add_class(r, curve, returned, d);
	}
	add_class(r, curve, NULL, d);
}

static void add_returned_row(struct bb_doc *d, const struct bb_case *c,
			     const struct bb_class_cost *cost)
{
	double floor = latency_of(c) - net_of(c), ns = cost->ns;

	bb_doc__text_cell(d, cost->returned);
	bb_doc__text_cell(d, cost->path ? cost->path : "");
	bb_doc__cell(d, "%.3g", 100 * cost->share);
	bb_doc__number_cell(d, ns - floor, ns);
	add_value(d, ns);
}

void bb_doc_classes(const struct bb_report *r, struct bb_doc *d)
{
	/* the cost of each mix (a case whose runs take several inputs in turn) */
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		struct bb_class_cost all = {.returned = "the mix", .share = 1, .ns = latency_of(c)};
		struct bb_class_cost *costs = NULL;
		size_t n = bb_is_floor(r, c) ? 0 : bb_case__class_costs(c, &costs);

		if (!n)
			continue;
		bb_doc__add(d, BB_DOC_TITLE, NULL, "%s, %s, %s", c->scenario, c->variant, c->drive);
		if (c->param)
			bb_doc__append(d, ", %s = %s", c->param, c->param_text);
		bb_doc__append(d, ", by return value%s (ns per run)",
			       BB_ANY(costs, n, it->path) ? " and path" : "");
		bb_doc__columns(d, {BB_TEXT("returned")}, {BB_TEXT("path")}, {BB_NUMBER("runs %")},
				{BB_NUMBER("net")}, {BB_NUMBER("latency")});
		for (size_t k = 0; k < n; k++)
			add_returned_row(d, c, &costs[k]);
		add_returned_row(d, c, &all);
		free(costs);
	}
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (c->param && !strcmp(c->param, "input") && is_of_class(c, c, NULL) &&
		    !BB_ANY(r->cases, i, is_of_class(it, c, NULL)) &&
		    BB_ANY(r->cases, r->n_cases,
			   is_of_class(it, c, NULL) && !is_of_class(it, c, c->returned)))
			add_classes(r, i, d);
	}
}

/* The cases that were measured both with hot and with cold caches. */
struct ends {
	const struct bb_report *r;
	/* cold[n_cases]: the case that differs from this one only in its cold caches, or NULL */
	const struct bb_case **cold;
	double *ns; /* scratch space, ns[n_cases] */
};

/* True if two cases share a row: one variant, and one value of the parameter or one sweep. */
static bool same_row(const struct bb_report *r, size_t a, size_t b)
{
	return bb_same_curve(&r->cases[a], &r->cases[b]) &&
	       (r->cases[a].param_value == r->cases[b].param_value || bb_is_sweep(r, a));
}

/* Returns the hot or cold figure of the row of case `first`: the median over the row's cases. */
static double end_of_row(const struct ends *b, size_t first, bool cold,
			 double (*value)(const struct bb_case *))
{
	size_t n = 0;

	for (size_t i = first; i < b->r->n_cases; i++) {
		double ns = b->cold[i] && same_row(b->r, first, i)
				    ? value(cold ? b->cold[i] : &b->r->cases[i])
				    : NAN;

		if (!isnan(ns))
			b->ns[n++] = ns;
	}
	return bb_median(b->ns, n);
}

/* True if case `i` was measured both hot and cold, and is the first such case of its row or,
 * without `of_row`, of its table. */
static bool is_first(const struct ends *b, size_t i, bool of_row)
{
	const struct bb_case *cases = b->r->cases;

	return b->cold[i] &&
	       !BB_ANY(cases, i,
		       b->cold[it - cases] && (of_row ? same_row(b->r, (size_t)(it - cases), i)
						      : bb_same_group(it, &cases[i])));
}

/* Adds the table of hot and cold figures that begins with case `head`. */
static void add_table(const struct ends *b, size_t head, struct bb_doc *d)
{
	const struct bb_case *c = &b->r->cases[head];
	bool sweep = bb_is_sweep(b->r, head);

	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s, %s, from hot to cold caches (%sns per run)",
		    c->scenario, c->drive, sweep ? "medians over the values, " : "");
	bb_doc__columns(d, {.head = sweep ? "values" : c->param}, {BB_TEXT("variant")},
			{BB_NUMBER("hot")}, {BB_NUMBER("cold")}, {BB_NUMBER("cold/hot")},
			{BB_NUMBER("hot net")}, {BB_NUMBER("cold net")});
	for (size_t i = head; i < b->r->n_cases; i++) {
		const struct bb_case *first = &b->r->cases[i];
		double hot, cold;
		size_t n_values = 0;

		if (!bb_same_group(first, c) || !is_first(b, i, true))
			continue;
		hot = end_of_row(b, i, false, latency_of);
		cold = end_of_row(b, i, true, latency_of);
		for (size_t k = i; k < b->r->n_cases; k++)
			n_values += b->cold[k] && same_row(b->r, i, k);
		if (first->param && bb_is_sweep(b->r, i))
			bb_doc__cell(d, "%zu", n_values);
		else
			bb_doc__text_cell(d, first->param ? first->param_text : "");
		bb_doc__text_cell(d, first->variant);
		add_value(d, hot);
		add_value(d, cold);
		add_value(d, hot > 0 ? cold / hot : (double)NAN);
		add_value(d, end_of_row(b, i, false, net_of));
		add_value(d, end_of_row(b, i, true, net_of));
	}
}

void bb_doc_hot_cold(const struct bb_report *r, struct bb_doc *d)
{
	struct ends b = {.r = r};

	b.cold = bb_calloc(r->n_cases + 1, sizeof(*b.cold));
	b.ns = bb_calloc(r->n_cases + 1, sizeof(*b.ns));
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *hot = &r->cases[i];
		const struct bb_drive_kind *kind = bb_drive_kind_named(hot->drive);

		if (isnan(latency_of(hot)) || !kind->cold_name ||
		    strcmp(hot->drive, bb_drive_kind_name(kind)))
			continue;
		b.cold[i] = BB_FIND(r->cases, r->n_cases,
				    !strcmp(it->drive, kind->cold_name) &&
					    bb_same_program(it, hot) &&
					    bb_same_text(it->param, hot->param) &&
					    it->param_value == hot->param_value &&
					    !isnan(latency_of(it)));
	}
	for (size_t i = 0; i < r->n_cases; i++)
		if (is_first(&b, i, false))
			add_table(&b, i, d);
	free(b.ns);
	free(b.cold);
}

static bool contends_for_shares(const struct bb_report *r, size_t i)
{
	struct bb_contention k;

	return r->cases[i].shares && bb_contention(r, i, &k) && k.verdict == BB_CONTENDED;
}

static void add_shares(const struct bb_report *r, struct bb_doc *d)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (contends_for_shares(r, i) &&
		    !BB_ANY(r->cases, i,
			    contends_for_shares(r, (size_t)(it - r->cases)) &&
				    bb_same_program(it, c) && !strcmp(it->shares, c->shares)))
			bb_doc__add(d, BB_DOC_ITEM, "shared",
				    "%s: what a run writes for all CPUs: %s", c->variant,
				    c->shares);
	}
}

/* Finds the case of `variant` in `drive` with the scenario and the number of CPUs of the case
 * `like`. Writes its contention to `ret`. Returns false if that was not measured. */
static bool find_contention(const struct bb_report *r, const struct bb_case *like,
			    const char *variant, const char *drive, struct bb_contention *ret)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (!strcmp(r->cases[i].variant, variant) && !strcmp(r->cases[i].drive, drive) &&
		    !strcmp(r->cases[i].scenario, like->scenario) && bb_contention(r, i, ret) &&
		    ret->many->param_value == like->param_value)
			return true;
	return false;
}

/* Returns how many ns longer a run takes on many CPUs, if it takes 1 + more times as long. */
static double ns_more(const struct bb_contention *k, double more)
{
	return k->many->summary.latency.value * (1 - 1 / (1 + more));
}

/* Returns words that say whether the CPUs contend for a thing, such as the value of a map. `one`
 * was measured while all CPUs shared it, `each` while each CPU had its own. */
static const char *is_it(const struct bb_contention *one, const struct bb_contention *each)
{
	if (each->verdict == BB_NOT_CONTENDED)
		return "is what the CPUs contend for";
	if (ns_more(each, each->more.hi) < ns_more(one, one->more.lo))
		return "is a part of what the CPUs contend for";
	if (each->verdict == BB_CONTENDED)
		return "is at most a part of what the CPUs contend for";
	return "may be what the CPUs contend for, which these loads do not show";
}

/* Adds a line for each map that was measured with one value for all CPUs and with a value for each
 * CPU, if the CPUs contend with one for all. */
static void add_per_cpu(const struct bb_report *r, struct bb_doc *d)
{
	struct bb_contention each, one;

	for (size_t i = 0; i < r->n_cases; i++)
		if (r->cases[i].per_cpu_of && r->cases[i].per_cpu_map &&
		    bb_contention(r, i, &each) && isfinite(each.more.lo) &&
		    find_contention(r, each.many, each.many->per_cpu_of, each.many->drive, &one) &&
		    one.verdict == BB_CONTENDED)
			bb_doc__add(d, BB_DOC_ITEM, "shared",
				    "%s: the value of map '%s' %s: %.1f ns more a run on %" PRIu32
				    " CPUs with one value for all, %.1f with one for each",
				    one.many->variant, each.many->per_cpu_map, is_it(&one, &each),
				    one.more_ns, each.many->param_value, each.more_ns);
}

/* Adds a line for each program that was measured with one input for all CPUs and with one for each
 * CPU, if the CPUs contend in either case. Contention with only one input is about what belongs to
 * it, such as a value of a map. Other contention is about what all inputs share, such as a ring. */
static void add_inputs(const struct bb_report *r, struct bb_doc *d)
{
	struct bb_contention one, each;

	for (size_t i = 0; i < r->n_cases; i++)
		if (r->cases[i].each_input_in && bb_contention(r, i, &one) &&
		    find_contention(r, one.many, one.many->variant, one.many->each_input_in,
				    &each) &&
		    isfinite(one.more_ns) && isfinite(each.more.lo) &&
		    (one.verdict == BB_CONTENDED || each.verdict == BB_CONTENDED))
			bb_doc__add(d, BB_DOC_ITEM, "shared",
				    "%s: what belongs to one input (a value, a bucket) %s: %.1f ns "
				    "more a run on %" PRIu32 " CPUs with one input for all, %.1f "
				    "with one for each%s",
				    one.many->variant, is_it(&one, &each), one.more_ns,
				    one.many->param_value, each.more_ns,
				    each.verdict == BB_CONTENDED ? "; the rest all inputs share (a "
								   "ring's position, a map's "
								   "lists, one value for all keys)"
								 : "");
}

void bb_doc_contention(const struct bb_report *r, struct bb_doc *d)
{
	const struct bb_case *head = NULL;
	struct bb_contention k;

	for (size_t i = 0; i < r->n_cases; i++) {
		if (!bb_contention(r, i, &k))
			continue;
		if (!head || !bb_same_table(head, k.many)) {
			head = k.many;
			bb_doc__add(d, BB_DOC_TITLE, NULL,
				    "%s, %s: a run on several CPUs at once against one on %" PRIu32
				    "%s",
				    head->scenario, head->drive, k.few->param_value,
				    head->floor == BB_NO_FLOOR ? ""
							       : ", beyond the empty program's");
			bb_doc__columns(d, {BB_TEXT("variant")}, {BB_NUMBER("CPUs")},
					{BB_NUMBER("ns more")}, {BB_NUMBER("more %")},
					{BB_NUMBER("95 % interval")}, {BB_TEXT("verdict")});
		}
		bb_doc__text_cell(d, k.many->variant);
		bb_doc__cell(d, "%" PRIu32, k.many->param_value);
		bb_doc__number_cell(d, k.more_ns, k.many->summary.latency.value);
		bb_doc__cell(d, "%+.1f", 100 * k.more.value);
		bb_doc__cell(d, "[%+.1f, %+.1f]", 100 * k.more.lo, 100 * k.more.hi);
		bb_doc__text_cell(d, bb_contention_name(k.verdict));
	}
	add_shares(r, d);
	add_per_cpu(r, d);
	add_inputs(r, d);
}

/* Finds the next cross-check from case `*i` on: of the drive hook or, without `hooks`, of slope.
 * Sets `*i` to the case after it. Returns false if there is none. */
static bool next_check(const struct bb_report *r, bool hooks, size_t *i,
		       struct bb_cross_checked *ret_check)
{
	while (*i < r->n_cases) {
		size_t nth = (*i)++;

		if (bb_drive_kind_named(r->cases[nth].drive)->own_floor == hooks &&
		    bb_cross_check(r, nth, ret_check) && isfinite(ret_check->off_ns))
			return true;
	}
	return false;
}

static void say_checks(const struct bb_report *r, bool hooks, struct bb_doc *d)
{
	struct bb_cross_checked k;
	size_t n = 0;

	for (size_t i = 0; next_check(r, hooks, &i, &k);) {
		if (k.agrees || n++ >= NAMED_CHECKS)
			continue;
		if (n == 1)
			bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "A run costs ");
		bb_doc__append(d, "%s%s +- %s ns %s (%s%s)", n > 1 ? ", " : "",
			       bb_table_cell_number(fabs(k.off_ns), k.step_ns).text,
			       bb_table_cell_number(k.noise_ns, k.step_ns).text,
			       k.off_ns < 0 ? "less" : "more", k.slope->variant, k.rest);
	}
	if (n > NAMED_CHECKS)
		bb_doc__append(d, ", and so for %zu more cases,", n - NAMED_CHECKS);
	if (n)
		bb_doc__append(d, " in step than in %s; `show --details` has the sums",
			       hooks ? "hook: the kernel wakes a ring buffer's reader by an "
				       "interrupt behind the program, which only hook contains"
				     : "slope, without the cost of bpf_stats: take the drive that "
				       "is more like your use");
}

/* Adds a table of the cross-checks of the drive hook or, without `hooks`, of slope. */
static void add_checks(const struct bb_report *r, bool hooks, struct bb_doc *d)
{
	size_t begin = d->n, n = 0;
	struct bb_cross_checked k;

	bb_doc__add(d, BB_DOC_TITLE, NULL,
		    "%s DISAGREE: off by more than 10 ns, 10 %% and the noise, the +-%s)",
		    hooks ? "hook - empty = step - empty step? (ns; the program's own part, above "
			    "an empty program of its type: by the time of the event without "
			    "bpf_stats, and by bpf_stats."
			  : "slope + bpf_stats = step? (ns per run; the floor gives the cost of "
			    "bpf_stats.",
		    hooks ? ". The kernel wakes a ring buffer's reader by an interrupt behind the "
			    "program: it is in hook, not in step"
			  : ". Then a run costs something else after a system call (step) than "
			    "right after the run before it (slope)");
	if (hooks)
		bb_doc__columns(d, {BB_TEXT("program")}, {BB_NUMBER("hook")},
				{BB_NUMBER("- empty")}, {BB_NUMBER("= own")}, {BB_NUMBER("step")},
				{BB_NUMBER("- empty step")}, {BB_NUMBER("= own")},
				{BB_NUMBER("off by")}, {BB_NUMBER("+-")}, {BB_TEXT("")});
	else
		bb_doc__columns(d, {BB_TEXT("program")}, {BB_NUMBER("slope")},
				{BB_NUMBER("+ bpf_stats")}, {BB_NUMBER("step")},
				{BB_NUMBER("off by")}, {BB_NUMBER("+-")}, {BB_TEXT("")});
	for (size_t i = 0; next_check(r, hooks, &i, &k); n++) {
		const struct bb_summary *s = &k.slope->summary, *step = &k.step->summary;
		double scale = s->latency.value;

		bb_doc__cell(d, "%s%s", k.slope->variant, k.rest);
		if (hooks) {
			bb_doc__number_cell(d, scale, scale);
			bb_doc__number_cell(d, s->floor.value, scale);
			bb_doc__number_cell(d, k.slope_ns, scale);
			scale = step->latency.value;
			bb_doc__number_cell(d, scale, scale);
			bb_doc__number_cell(d, step->floor.value, scale);
			bb_doc__number_cell(d, k.step_ns, scale);
		} else {
			bb_doc__number_cell(d, k.slope_ns, k.step_ns);
			bb_doc__number_cell(d, k.stats_ns, k.step_ns);
			bb_doc__number_cell(d, k.step_ns, k.step_ns);
		}
		bb_doc__number_cell(d, k.off_ns, k.step_ns);
		bb_doc__number_cell(d, k.noise_ns, k.step_ns);
		bb_doc__text_cell(d, k.agrees         ? "agree"
				     : k.wakes_reader ? "and its reader is woken"
						      : "DISAGREE");
	}
	if (!n)
		bb_doc__cut(d, begin);
}

void bb_doc_cross_checks(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	for (int hooks = 0; hooks < 2; hooks++)
		if (detail == BB_SHORT)
			say_checks(r, hooks, d);
		else
			add_checks(r, hooks, d);
}
