/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the drive `lines`: computes the times of rows from the means of bursts. */
#include "drivers/lines.h"

#include "stats/quantile.h"
#include "stats/loads.h"

/* doubled_price() and total_price() find the time of a check by two methods. Their results agree if
 * they differ by at most this, ns, which is about one CPU cycle. */
#define NEAR_NS 0.25
/* They also agree if they differ by this share, because cold caches make a check slower. */
#define NEAR_SHARE 0.5

/* If a smaller share of the sweeps of a load is undisturbed, all its sweeps count. */
#define LOAD_LEAST 0.25

/* find_levels() gives successive cuts the same time (a level) if no time passes between them. */
#define LEVEL_NS 3.0   /* shorter times count as no time, ns; reports show them as "< 3" */
#define LEVEL_LOADS 3u /* with fewer loads, there are no levels */
/* the most instructions between two cuts of a level; a CPU executes several in a cycle */
#define LITTLE_SLOTS 6u
/* standard error of a median = MEDIAN_SE x median deviation / sqrt(n); 1.858 = 1.2533 x 1.4826 */
#define MEDIAN_SE 1.858

/* If a larger share of the runs takes other paths than the one whose lines are timed, the time of
 * the whole program is a mean over several paths. The rows need not add up to it then. */
#define OTHER_PATHS 0.01

/* Returns NAN if the item was not measured in this load. */
static double load_ns(const struct bb_lines_case *p, uint32_t load, uint32_t item)
{
	return p->ns[(size_t)load * p->n_items + item];
}

static const struct bb_lines_means *means_of(const struct bb_lines_case *p, uint32_t load,
					     uint32_t item)
{
	return &p->means[(size_t)load * p->n_items + item];
}

static bool is_fast(const struct bb_lines_means *program, size_t sweep, double most_ns)
{
	return sweep >= program->n || program->v[sweep] <= most_ns;
}

/* Finds which sweeps count, and returns their number. A sweep counts if the program took at most
 * most_ns at the beginning of this sweep and of the next one. With `of_program`, the sweeps before
 * and after this one decide. This is for the mean time of the program itself: if a time decided
 * whether it counts itself, the mean would be too low. */
static size_t find_counting(const struct bb_lines_means *program, double most_ns, bool of_program,
			    bool *counts)
{
	size_t n = 0;

	for (size_t i = 0; i < program->n; i++) {
		size_t first = !of_program ? i : i ? i - 1 : SIZE_MAX;

		counts[i] = is_fast(program, first, most_ns) && is_fast(program, i + 1, most_ns);
		n += counts[i];
	}
	return n;
}

/* Leaves out the lowest and the highest fifth of the sweeps. `x` is scratch memory. */
static double mean_of_load(const struct bb_lines_means *m, const bool *counts, double *x)
{
	size_t n = 0, off;
	double sum = 0;

	for (size_t i = 0; i < m->n; i++)
		if (counts[i] && isfinite(m->v[i]))
			x[n++] = m->v[i];
	if (!n)
		return NAN;
	off = n / 5;
	bb_sort_doubles(x, n);
	for (size_t i = off; i < n - off; i++)
		sum += x[i];
	return sum / (double)(n - 2 * off);
}

/* Computes each item's time in one load from the sweeps in which the program was as fast as usual.
 * If these are too few (LOAD_LEAST), uses all sweeps. `counts` and `x` are scratch memory. */
static void find_load_ns(struct bb_lines_case *p, uint32_t load, bool *counts, double *x)
{
	const struct bb_lines_means *program = means_of(p, load, BB_LINES_ITEM_PROGRAM);
	double most_ns = INFINITY, *ns = p->ns + (size_t)load * p->n_items;
	size_t n = 0;

	for (size_t i = 0; i < program->n; i++)
		if (isfinite(program->v[i]))
			x[n++] = program->v[i];
	if (!p->is_cold)
		most_ns = bb_undisturbed_most(x, n);
	n = find_counting(program, most_ns, false, counts);
	if ((double)n < LOAD_LEAST * (double)program->n) {
		most_ns = INFINITY;
		find_counting(program, most_ns, false, counts);
		n = program->n;
	}
	p->sweeps += program->n;
	p->disturbed += program->n - n;
	for (uint32_t i = 0; i < p->n_items; i++)
		ns[i] = mean_of_load(means_of(p, load, i), counts, x);
	find_counting(program, most_ns, true, counts);
	ns[BB_LINES_ITEM_PROGRAM] = mean_of_load(program, counts, x);
}

static void find_ns(struct bb_lines_case *p)
{
	size_t most = 0;

	for (uint32_t l = 0; l < p->n_loads; l++)
		if (means_of(p, l, BB_LINES_ITEM_PROGRAM)->n > most)
			most = means_of(p, l, BB_LINES_ITEM_PROGRAM)->n;
	free(p->ns);
	p->ns = bb_calloc((size_t)p->n_loads * p->n_items, sizeof(*p->ns));
	bool *counts = bb_calloc(most, sizeof(*counts));
	double *x = bb_calloc(most, sizeof(*x));
	p->sweeps = p->disturbed = 0;
	for (uint32_t l = 0; l < p->n_loads; l++)
		find_load_ns(p, l, counts, x);
	free(counts);
	free(x);
}

static bool takes_other_paths(const struct bb_lines_case *p)
{
	return (double)p->other_paths > OTHER_PATHS * (double)p->runs;
}

/* Returns the number of checks in a run up to this position, without the check at the first cut. */
static double checks_at(const struct bb_lines_case *p, uint32_t position)
{
	return p->path.checks[position < p->path.n ? position : p->path.n - 1];
}

/* Returns the time of a check, ns, from the clone with doubled checks: the slope of the added time
 * against the number of checks, by least squares. With few positions, the line goes through 0. */
static double doubled_price(const struct bb_lines_case *p)
{
	uint32_t first = BB_LINES_ITEM_FIRST_CUT, end = p->first_bare;
	double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;

	for (uint32_t i = p->first_doubled; i < p->n_items; i++) {
		double x = 1 + checks_at(p, p->items[i].position);

		for (uint32_t j = first; j < end; j++) {
			if (p->items[j].position != p->items[i].position)
				continue;
			for (uint32_t l = 0; l < p->n_loads; l++) {
				double y = load_ns(p, l, i) - load_ns(p, l, j);

				if (isnan(y))
					continue;
				n++;
				sx += x;
				sy += y;
				sxx += x * x;
				sxy += x * y;
			}
		}
	}
	if (n <= 0)
		return 0;
	return fmax(p->n_items - p->first_doubled > 3 ? (n * sxy - sx * sy) / (n * sxx - sx * sx)
						      : sxy / sxx,
		    0);
}

static double between(const struct bb_lines_case *p, uint32_t load, uint32_t from, uint32_t to)
{
	return load_ns(p, load, to) - load_ns(p, load, from);
}

/* Returns the time from the first cut to the last, ns, with the shortest exit path. */
static double bare_ns(const struct bb_lines_case *p, uint32_t load)
{
	return between(p, load, p->first_bare, p->first_bare + 1);
}

/* Returns the time of a check, ns, from how much slower the clone is than the program, or NAN. */
static double total_price(const struct bb_lines_case *p, double *x)
{
	uint32_t n = 0;

	for (uint32_t l = 0; l < p->n_loads; l++) {
		double more = bare_ns(p, l) -
			      between(p, l, BB_LINES_ITEM_EMPTY, BB_LINES_ITEM_PROGRAM);

		if (isfinite(more))
			x[n++] = more;
	}
	return bb_median(x, n) / checks_at(p, p->items[p->first_bare + 1].position);
}

/* Returns the time of a check, ns. doubled_price() is right only to within a cycle, because the
 * second of two checks can take a part of a cycle more or less than the first. Within that range,
 * this takes the time with which all rows add up to the time of the program. */
static double check_price(const struct bb_lines_case *p, double *room)
{
	double doubled = doubled_price(p), total = total_price(p, room),
	       near = fmax(NEAR_NS, NEAR_SHARE * doubled);

	if (!isfinite(total) || takes_other_paths(p))
		return doubled;
	return fmax(fmin(fmax(total, doubled - near), doubled + near), 0);
}

/* Computes the time of a run up to each measured position in one load, without the time of the
 * checks: ret_ns[n_measured]. If the path ends in a tail call, the clone has no exit path there.
 * The last time then comes from bare_ns(). */
static void find_cumulative(const struct bb_lines_case *p, uint32_t load, double check_ns,
			    double *ret_ns)
{
	uint32_t first = BB_LINES_ITEM_FIRST_CUT, n = p->path.n_measured;

	for (uint32_t i = 0; i < n; i++) {
		bool is_bare = p->path.leaves && i + 1 == n;
		double ns = is_bare ? bare_ns(p, load) : between(p, load, first, first + i);

		ret_ns[i] = load_ns(p, load, BB_LINES_ITEM_EMPTY) + ns -
			    check_ns * checks_at(p, p->items[first + i].position);
	}
}

/* True if only a few instructions and no call are between measured[i] and measured[i + 1]. */
static bool is_little(const struct bb_line_path *path, const struct bb_cuts *cuts, uint32_t i)
{
	uint32_t position = path->measured[i];
	const struct bb_cut *from = &cuts->v[path->cuts[position]],
			    *to = &cuts->v[path->cuts[position + 1]];
	const struct bb_line_row *row = &path->rows[path->row_of[position]];

	return path->measured[i + 1] == position + 1 && !row->call[0] && !row->is_loop &&
	       to->slot >= from->slot && to->slot - from->slot <= LITTLE_SLOTS;
}

/* True if the loads show no time from measured[i] to measured[k]. */
static bool is_level(const struct bb_lines_case *p, const double *cumulative, uint32_t i,
		     uint32_t k, double *x)
{
	double middle, se;
	uint32_t n = 0;

	for (uint32_t l = 0; l < p->n_loads; l++) {
		const double *of = &cumulative[(size_t)l * p->path.n_measured];

		if (isfinite(of[k] - of[i]))
			x[n++] = of[k] - of[i];
	}
	if (n < LEVEL_LOADS)
		return false;
	middle = bb_median(x, n);
	for (uint32_t l = 0; l < n; l++)
		x[l] = fabs(x[l] - middle);
	se = MEDIAN_SE * bb_median(x, n) / sqrt(n);
	return fabs(middle) < LEVEL_NS + 2 * se;
}

/* Gives successive cuts the same time (a level) if only a few instructions are between them and the
 * loads show no time between them. The mean over these cuts is closer to the true time than the
 * time of one cut, so the rows beside them get less noise. The first and the last cut keep their
 * times, so the sum of the rows stays the same. */
static void find_levels(const struct bb_lines_case *p, const struct bb_cuts *cuts,
			double *cumulative, double *x)
{
	uint32_t n = p->path.n_measured, end;

	for (uint32_t i = 1; !p->is_cold && i + 2 < n; i = end + 1) {
		for (end = i; end + 2 < n && is_little(&p->path, cuts, end) &&
			      is_level(p, cumulative, end, end + 1, x) &&
			      is_level(p, cumulative, i, end + 1, x);)
			end++;
		for (uint32_t l = 0; end > i && l < p->n_loads; l++) {
			double *of = &cumulative[(size_t)l * n], sum = 0;

			for (uint32_t k = i; k <= end; k++)
				sum += of[k] / (end - i + 1);
			for (uint32_t k = i; k <= end; k++)
				of[k] = sum;
		}
	}
}

/* Rounds to 0.01 ns, the precision of the clocks. */
static void push(struct bb_numbers *list, double ns)
{
	BB_PUSH(list->x, list->n, round(100 * ns) / 100);
}

/* Appends the times of a load. cumulative[n_measured] is the result of find_cumulative(). */
static void push_load(const struct bb_lines_case *p, uint32_t load, const double *cumulative,
		      struct bb_timed *t)
{
	/* With cold caches, all the time of the program that is not in the rows is rest. */
	bool has_rest = takes_other_paths(p) || p->is_cold;
	double program = load_ns(p, load, BB_LINES_ITEM_PROGRAM),
	       covered = between(p, load, BB_LINES_ITEM_FIRST_CUT, p->first_bare - 1),
	       *rows = bb_calloc(2 * t->n_rows, sizeof(*rows)), *first = rows + t->n_rows;

	push(&t->program_ns, program);
	push(&t->empty_ns, load_ns(p, load, BB_LINES_ITEM_EMPTY));
	push(&t->hidden_ns, has_rest || p->path.leaves ? 0 : covered - bare_ns(p, load));
	push(&t->rest_ns, has_rest ? program - cumulative[p->path.n_measured - 1] : 0);
	bb_line_path__share(&p->path, cumulative, rows, first);
	for (size_t i = 0; i < t->n_rows; i++) {
		push(&t->rows[i].ns, rows[i]);
		push(&t->rows[i].first_ns, first[i]);
	}
	free(rows);
}

static void add_rows(const struct bb_line_path *path, struct bb_timed *t)
{
	for (size_t i = 0; i < path->n_rows; i++) {
		const struct bb_line_row *from = &path->rows[i];
		struct bb_timed_row row = {.file = bb_strdup(from->file),
					   .text = bb_strdup(from->text),
					   .call = bb_strdup(from->call),
					   .enters = from->enters,
					   .line = from->line,
					   .last_line = from->last_line,
					   .insn = from->first_insn,
					   .is_loop = from->is_loop,
					   .turns = from->turns};

		bb_timed_row__set_from(&row, from->from);
		BB_PUSH(t->rows, t->n_rows, row);
	}
}

static struct bb_timed timed_of(const struct bb_lines_plan *plan, const struct bb_lines_case *p)
{
	struct bb_timed t = {
		.cuts = plan->parts.cuts.n,
		.points = plan->points,
		.refused = plan->refused,
		.thinned_why = plan->thinned_why[0] ? bb_strdup(plan->thinned_why) : NULL,
		.refused_why = plan->refused ? bb_strdup(plan->refused_why) : NULL,
		.passed = p->path.n,
		.measured = p->path.n_measured - p->path.leaves,
		.runs = p->runs,
		.other_ways = p->other_paths,
		.leaves = p->path.leaves,
		.processes = 1,
		.sweeps = p->sweeps,
		.disturbed = p->disturbed,
	};

	add_rows(&p->path, &t);
	return t;
}

int bb_lines__of(void *state, const struct bb_variant_spec *spec, uint32_t param,
		 struct bb_timed *ret_timed)
{
	struct bb_lines_variant *v = bb_lines_state__variant(state, spec);
	struct bb_lines_case *p = v ? BB_FIND(v->cases, v->n_cases, it->param == param) : NULL;
	double *cumulative, *x;

	if (!p || !p->n_loads)
		return -ENOENT;
	size_t n = p->path.n_measured;
	find_ns(p);
	x = bb_calloc(p->n_loads, sizeof(*x));
	cumulative = bb_calloc(p->n_loads * n, sizeof(*cumulative));
	*ret_timed = timed_of(&v->plan, p);
	ret_timed->check_ns = check_price(p, x);
	for (uint32_t l = 0; l < p->n_loads; l++)
		find_cumulative(p, l, ret_timed->check_ns, &cumulative[l * n]);
	find_levels(p, &v->plan.parts.cuts, cumulative, x);
	for (uint32_t l = 0; l < p->n_loads; l++)
		push_load(p, l, &cumulative[l * n], ret_timed);
	free(cumulative);
	free(x);
	return 0;
}
