/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/by_line.h"

#include "stats/loads.h"

#define DIFFERS_SHARE 0.02
#define LOADS_LEAST 6u /* With fewer loads, signed ranks give no 95 % interval. */
/* loads per group, if too few processes measured them for one group per process */
#define GROUP_LOADS 4u
#define OTHER_WAYS 0.01 /* a smaller share of runs on other paths counts as 0 */

/* The loads of one case, and scratch memory for their times. */
struct loads {
	size_t n;
	bool *use; /* use[i] is true if load i has all figures and was not disturbed */
	double *x; /* x[n]: one list of times. `sum` and `kept` point into this allocation. */
	double *sum;
	double *kept; /* kept[n]: a list of times with NAN for each load not in use */
	size_t processes;
	size_t n_whole; /* number of loads that have all figures, including disturbed ones */
	/* spread between runs of bpfbench: half a 95 % interval, as a share; 0 if unknown */
	double between;
};

static struct bb_estimate estimate(struct loads *l, const double *x)
{
	for (size_t i = 0; i < l->n; i++)
		l->kept[i] = l->use[i] ? x[i] : NAN;
	struct bb_signed_rank r = bb_in_order(l->kept, l->n, l->processes, BB_ALPHA);
	double more = l->between * fabs(r.estimate);
	return (struct bb_estimate){r.estimate,
				    r.estimate - hypot(r.estimate - r.interval.lo, more),
				    r.estimate + hypot(r.interval.hi - r.estimate, more)};
}

static struct bb_estimate estimate_numbers(struct loads *l, const struct bb_numbers *list)
{
	bb_numbers__copy(list, l->x, l->n);
	return estimate(l, l->x);
}

static void begin_sum(struct loads *l)
{
	memset(l->sum, 0, l->n * sizeof(*l->sum));
}

static void add_numbers(struct loads *l, const struct bb_numbers *list)
{
	bb_numbers__copy(list, l->x, l->n);
	for (size_t i = 0; i < l->n; i++)
		l->sum[i] += l->x[i];
}

/* Adds the time of every source line to l->sum, load by load. The lines are those of one path. Runs
 * on other paths may be longer, so the mean extra time of all runs (`rest_ns`) is added, too. */
static void add_parts(struct loads *l, const struct bb_timed *t)
{
	add_numbers(l, &t->rest_ns);
	for (size_t i = 0; i < t->n_rows; i++)
		add_numbers(l, &t->rows[i].ns);
}

/* Stops using the loads whose time in l->x[] is missing (NAN), if LOADS_LEAST loads remain. */
static void keep_finite(struct loads *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->use[i] && isfinite(l->x[i]);
	for (size_t i = 0; n >= LOADS_LEAST && i < l->n; i++)
		l->use[i] &= isfinite(l->x[i]);
}

/* Leaves out groups of loads that are slower than other groups, then single loads that are slower
 * than others at the same JIT address modulo 64. A group is the loads of one process, or
 * GROUP_LOADS successive loads. Loads with cold caches all stay, because their times differ
 * anyway. */
static void leave_out_disturbed(struct loads *l, const struct bb_case *c, const struct bb_timed *t)
{
	/* JIT address modulo 64 of each load, 0 if it is unknown */
	int *place = bb_calloc(l->n + 1, sizeof(*place));

	bb_numbers__copy(&t->program_ns, l->x, l->n);
	for (size_t i = 0; i < l->n; i++) {
		const struct bb_series *s = c ? BB_FIND(c->series, c->n_series,
							it->load == i && it->jit_mod64 >= 0)
					      : NULL;

		place[i] = s ? s->jit_mod64 : 0;
		if (!l->use[i])
			l->x[i] = NAN;
	}
	if (!bb_timed__is_cold(t)) {
		bb_undisturbed_groups(l->x, l->n,
				      l->processes >= BB_IN_ORDER_GROUPS ? l->processes
									 : l->n / GROUP_LOADS);
		keep_finite(l);
		bb_strata_set_aside(l->x, place, l->n);
		keep_finite(l);
	}
	free(place);
}

double bb_timed__latency(const struct bb_report *r, const struct bb_timed *t)
{
	const struct bb_case *c = bb_report__find_case(r, t->name);

	return c && c->summary.latency.value > 0 ? c->summary.latency.value : (double)NAN;
}

static void open_loads(struct loads *l, const struct bb_report *r, const struct bb_timed *t)
{
	const struct bb_case *c = bb_report__find_case(r, t->name);

	l->between = c && isfinite(c->between) ? c->between : 0;
	l->n = t->program_ns.n;
	l->processes = t->processes;
	l->use = bb_calloc(l->n + 1, sizeof(*l->use));
	l->x = bb_calloc(3 * l->n + 1, sizeof(*l->x));
	l->sum = l->x + l->n;
	l->kept = l->sum + l->n;
	add_numbers(l, &t->program_ns);
	add_numbers(l, &t->empty_ns);
	if (t->hidden_ns.n)
		add_numbers(l, &t->hidden_ns);
	add_parts(l, t);
	for (size_t i = 0; i < l->n; i++)
		l->n_whole += l->use[i] = isfinite(l->sum[i]);
	leave_out_disturbed(l, c, t);
}

int bb_timed_row__compare_place(const struct bb_timed_row *a, const struct bb_timed_row *b)
{
	return strcmp(a->file, b->file)                    ?: BB_ORDER(a->line, b->line)
	       ?: BB_ORDER(a->last_line, b->last_line)
	       ?: (a->line ? 0 : BB_ORDER(a->insn, b->insn))
	       ?: bb_timed_row__compare_from(a, b, SIZE_MAX);
}

static int by_place(const void *a, const void *b)
{
	const struct bb_timed_row *const *x = a, *const *y = b;

	return bb_timed_row__compare_place(*x, *y) ?: BB_ORDER(*x, *y);
}

static bool same_line(const struct bb_timed_row *a, const struct bb_timed_row *b)
{
	return a->line && !bb_timed_row__compare_place(a, b);
}

/* Returns the instructions that one run executes for the lines of a row (drive `exact`). NAN if
 * they were not counted, or if narrower rows within this row count them. */
static double insns_of(const struct bb_report *r, const struct bb_timed *t,
		       const struct bb_timed_row *row)
{
	double sum = NAN;

	for (size_t i = 0; i < t->n_rows && row->line != row->last_line; i++)
		if (t->rows[i].line >= row->line && t->rows[i].last_line <= row->last_line &&
		    !same_line(&t->rows[i], row) && !strcmp(t->rows[i].file, row->file))
			return NAN;
	for (size_t i = 0; i < r->n_counted; i++) {
		const struct bb_counted *c = &r->counted[i];

		if (strcmp(c->scenario, t->scenario) || strcmp(c->variant, t->variant) || !c->runs)
			continue;
		for (size_t k = 0; k < c->n_lines; k++) {
			const struct bb_counted_line *l = &c->lines[k];

			if (l->line >= row->line && l->line <= row->last_line && row->line &&
			    !strcmp(l->file, row->file))
				sum = (isnan(sum) ? 0 : sum) +
				      (double)l->instructions / (double)c->runs;
		}
	}
	return sum;
}

static void add_line(struct bb_by_line *b, const struct bb_report *r, struct loads *l,
		     const struct bb_timed_row *const *rows, size_t n)
{
	struct bb_line_time *line = &b->lines[b->n_lines++];

	*line = (struct bb_line_time){.row = rows[0],
				      .insns = insns_of(r, b->timed, rows[0]),
				      .cold_ns = NAN,
				      .parts = &b->parts[b->n_parts],
				      .n_parts = n};
	begin_sum(l);
	for (size_t i = 0; i < n; i++) {
		b->parts[b->n_parts++] = (struct bb_line_part){
			.row = rows[i],
			.ns = estimate_numbers(l, &rows[i]->ns),
			.first = estimate_numbers(l, &rows[i]->first_ns),
			.cold = {NAN, NAN, NAN},
		};
		add_numbers(l, &rows[i]->ns);
	}
	line->ns = estimate(l, l->sum);
}

static int by_time(const void *a, const void *b)
{
	const struct bb_line_part *const *x = a, *const *y = b;

	return BB_ORDER((*y)->ns.value, (*x)->ns.value) ?: BB_ORDER(*x, *y);
}

static void add_totals(struct bb_by_line *b, const struct bb_report *r, struct loads *l)
{
	const struct bb_timed *t = b->timed;
	struct bb_estimate hidden = {0};

	b->n_loads = BB_SUM(l->use, l->n, *it);
	if (l->n_whole)
		b->left_out = 1 - (t->sweeps ? 1 - (double)t->disturbed / (double)t->sweeps : 1) *
					  (double)b->n_loads / (double)l->n_whole;
	b->n_all = l->n;
	b->program = estimate_numbers(l, &t->program_ns);
	b->latency = bb_timed__latency(r, t);
	b->rest = estimate_numbers(l, &t->rest_ns);
	/* Calling and timing the program takes as long as with an empty program, except that a part
	 * of its exit overlaps with its own work. This part is subtracted if it is surely longer
	 * than BB_BY_LINE_LEAST_NS. */
	if (t->hidden_ns.n)
		hidden = estimate_numbers(l, &t->hidden_ns);
	begin_sum(l);
	for (size_t i = 0; i < l->n && hidden.lo > BB_BY_LINE_LEAST_NS; i++)
		l->sum[i] = -l->x[i];
	add_numbers(l, &t->empty_ns);
	b->calling = estimate(l, l->sum);
	add_parts(l, t);
	b->sum = estimate(l, l->sum);
	begin_sum(l);
	add_parts(l, t);
	b->own = estimate(l, l->sum);
}

static void add_cold(struct bb_by_line *b, const struct bb_report *r)
{
	const struct bb_timed *t = b->timed, *cold;
	size_t len = strlen(t->drive);
	struct loads l = {0};

	b->cold = (struct bb_estimate){NAN, NAN, NAN};
	cold = BB_FIND(r->timed, r->n_timed,
		       !strcmp(it->scenario, t->scenario) && !strcmp(it->variant, t->variant) &&
			       it->param_value == t->param_value &&
			       !strncmp(it->drive, t->drive, len) &&
			       !strcmp(it->drive + len, "-cold"));
	if (!cold)
		return;
	open_loads(&l, r, cold);
	b->cold = estimate_numbers(&l, &cold->program_ns);
	for (size_t i = 0; i < b->n_lines; i++) {
		struct bb_line_time *line = &b->lines[i];

		for (size_t k = 0; k < line->n_parts; k++) {
			struct bb_line_part *p = &line->parts[k];
			const struct bb_timed_row *like = p->row;
			const struct bb_timed_row *row =
				BB_FIND(cold->rows, cold->n_rows,
					it->insn == like->insn && it->line == like->line &&
						it->last_line == like->last_line &&
						!strcmp(it->call, like->call) &&
						!bb_timed_row__compare_from(it, like, SIZE_MAX));

			if (row)
				p->cold = estimate_numbers(&l, &row->ns);
			if (isfinite(p->cold.value))
				line->cold_ns = (isnan(line->cold_ns) ? 0 : line->cold_ns) +
						p->cold.value;
		}
	}
	free(l.use);
	free(l.x);
}

void bb_by_line__make(const struct bb_report *r, const struct bb_timed *t,
		      struct bb_by_line *ret_lines)
{
	struct bb_by_line b = {.timed = t,
			       .least = t->counts_instructions ? 1 : BB_BY_LINE_LEAST_NS};
	const struct bb_timed_row **rows = bb_calloc(t->n_rows + 1, sizeof(*rows));
	struct loads l = {0};

	open_loads(&l, r, t);
	b.lines = bb_calloc(t->n_rows + 1, sizeof(*b.lines));
	b.parts = bb_calloc(t->n_rows + 1, sizeof(*b.parts));
	b.top = bb_calloc(t->n_rows + 1, sizeof(*b.top));
	add_totals(&b, r, &l);
	for (size_t i = 0; i < t->n_rows; i++)
		rows[i] = &t->rows[i];
	qsort(rows, t->n_rows, sizeof(*rows), by_place);
	for (size_t i = 0, n; i < t->n_rows; i += n) {
		for (n = 1; i + n < t->n_rows && same_line(rows[i], rows[i + n]);)
			n++;
		add_line(&b, r, &l, &rows[i], n);
	}
	free(rows);
	for (size_t i = 0; i < b.n_parts; i++)
		b.top[i] = &b.parts[i];
	qsort(b.top, b.n_parts, sizeof(*b.top), by_time);
	add_cold(&b, r);
	free(l.use);
	free(l.x);
	*ret_lines = b;
}

void bb_by_line__done(struct bb_by_line *b)
{
	free(b->lines);
	free(b->parts);
	free(b->top);
	*b = (struct bb_by_line){0};
}

double bb_by_line__other_ways(const struct bb_by_line *b)
{
	const struct bb_timed *t = b->timed;
	double n = (double)t->runs + (double)t->other_ways,
	       share = n > 0 ? (double)t->other_ways / n : 0;

	return share >= OTHER_WAYS ? share : 0;
}

bool bb_by_line__differs(const struct bb_by_line *b)
{
	double off = fabs(b->sum.value - b->program.value);

	return off > BB_BY_LINE_LEAST_NS && off > DIFFERS_SHARE * b->program.value;
}
