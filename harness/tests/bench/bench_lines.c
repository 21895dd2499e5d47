/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How exact is the time by line? Parts, of which BENCH_LINES names some (known tables compare):
 * - known: lines of 64, 128 and 256 multiplications, and the sum of all lines;
 * - tables, busy: do the tables of BENCH_LINES_TABLES (2) processes agree, pair by pair, on a quiet
 *   machine and with every CPU busy? As measured, and scaled to one speed of the machine;
 * - compare: BENCH_LINES_TIMES (4) times `compare --time` of a program with itself, and with one
 *   that calls one more helper;
 * - tracer: as many comparisons with a tracer that makes one more call, 28 s each;
 * - objects: the cuts of all programs of the objects in the folder BENCH_LINES_OBJECTS.
 */
#include <errno.h>

#include "base/parse.h"
#include "bench.h"
#include "hogs.h"
#include "judge/by_line.h"
#include "stats/paired.h"
#include "store/store.h"

#define PROFILER "bpf/perf_profiler.bpf.o"
#define LINES "tests/bpf/lines.bpf.o"
#define FIRST_NS 8.0 /* error of the first line: so much of it overlaps with the end of the run */
#define NEAR_NS 3.0

static char results[4096];

static const char *built(const char *name)
{
	static char path[8192];
	const char *o = getenv("O");

	snprintf(path, sizeof(path), "%s/%s", o ? o : BB_BUILD_DIR, name);
	return path;
}

/* Makes one table; returns its wall time, s. */
static double make_table(const char *object, const char *program, struct bb_report **ret_report)
{
	const char *const argv[] = {"./bpfbench", "--object", built(object), "--program",
				    program,      "--lines",  "--results",   results,
				    "--quiet",    "--output", "/dev/null",   NULL};
	struct bb_err err = {0};
	double wall_s = bench_run(argv).wall_s;

	if (bb_store__read("latest", results, ret_report, &err))
		bench_die("lines", &err);
	if (!(*ret_report)->n_timed) {
		bb_fail(&err, -ENODATA, "no line of %s was timed", program);
		bench_die("lines", &err);
	}
	return wall_s;
}

static void lines_of(const struct bb_report *r, struct bb_by_line *ret_lines)
{
	bb_by_line__make(r, &r->timed[0], ret_lines);
}

static double ns_of(const struct bb_by_line *b, const char *text)
{
	for (size_t i = 0; i < b->n_lines; i++)
		if (strstr(b->lines[i].row->text, text))
			return b->lines[i].ns.value;
	return NAN;
}

static void judge_sum(const char *what, const struct bb_by_line *b)
{
	double off = fabs(b->sum.value - b->program.value);
	char measured[64];

	snprintf(measured, sizeof(measured), "%.1f of %.1f ns", b->sum.value, b->program.value);
	bench_judge(what, "<= 1 % or 3 ns off", measured,
		    off <= NEAR_NS || off <= 0.01 * b->program.value);
}

/* The time of one multiplication is that of the line of 256 less that of 128, divided by 128. */
static void known_costs(void)
{
	struct bb_report *r;
	struct bb_by_line b;
	double one, off;
	char measured[64];

	make_table(LINES, "known", &r);
	lines_of(r, &b);
	one = (ns_of(&b, "/* 256 */") - ns_of(&b, "/* 128 */")) / 128;
	off = ns_of(&b, "/* 128 */") - 128 * one;
	snprintf(measured, sizeof(measured), "%+.1f of %.1f ns", off, 128 * one);
	bench_judge("lines: a line of 128 multiplications", "<= 3 ns or 5 % off", measured,
		    fabs(off) <= fmax(NEAR_NS, 0.05 * 128 * one));
	off = ns_of(&b, "/* 64 */") - 64 * one;
	snprintf(measured, sizeof(measured), "%+.1f of %.1f ns", off, 64 * one);
	bench_judge("lines: the first line, of 64", "<= 8 ns off", measured, fabs(off) <= FIRST_NS);
	judge_sum("lines: the parts of lines of multiplications", &b);
	bb_by_line__done(&b);
	bb_report__free(r);
}

/* --- tables of whole processes --- */

struct table {
	struct bb_report *report;
	struct bb_by_line by_line;
};

/*
 * A row's time in pieces of a reference, which is measured in each load beside the program: for
 * bpf_ringbuf_submit, a wakeup, in wakeups; for all others in instructions. Without that, tables
 * made minutes apart would not be comparable: the CPU's clock changed by up to 7 %.
 */
static double in_pieces(const struct table *t, const struct bb_line_part *part)
{
	enum bb_reference by = strcmp(part->row->call, "bpf_ringbuf_submit")
				       ? BB_REFERENCE_INSTRUCTIONS
				       : BB_REFERENCE_WAKEUP;
	const struct bb_case *c = &t->report->cases[0];
	size_t n = part->row->ns.n;
	double *x = bench_alloc(n + 1, sizeof(*x));
	struct bb_signed_rank r;

	bb_numbers__copy(&part->row->ns, x, n);
	for (size_t i = 0; i < n; i++)
		x[i] /= i < c->n_series ? c->series[i].reference_ns[by] : (double)NAN;
	r = bb_signed_rank(x, n, 0.05);
	free(x);
	return r.estimate;
}

static bool same_row(const struct bb_timed_row *a, const struct bb_timed_row *b)
{
	return a->line == b->line && a->last_line == b->last_line && !strcmp(a->call, b->call) &&
	       !bb_timed_row__compare_from(a, b, SIZE_MAX);
}

static bool is_near(double x, double y, double share)
{
	return fabs(x - y) <= fmax(NEAR_NS, share * fmin(x, y));
}

static bool do_cover(const struct bb_estimate *x, const struct bb_estimate *y)
{
	const struct bb_estimate *low = x->value < y->value ? x : y, *high = low == x ? y : x;

	return high->value - low->value <= hypot(low->hi - low->value, high->value - high->lo);
}

/* An estimate scaled to another speed of the machine, at which its value is `ns`. */
static struct bb_estimate at_speed(const struct bb_estimate *e, double ns)
{
	return (struct bb_estimate){ns, ns * e->lo / e->value, ns * e->hi / e->value};
}

/* Pairs of tables that agree, and pairs whose intervals cover the difference. */
struct agreement {
	unsigned int near, covered;
};

static void add_pair(struct agreement *a, const struct bb_estimate *x, const struct bb_estimate *y,
		     double share)
{
	a->near += is_near(x->value, y->value, share);
	a->covered += do_cover(x, y);
}

/* Judges row `part` of the first table in all pairs of tables t[n]. */
static void judge_row(const struct table *t, size_t n, size_t part, double share, const char *when)
{
	const struct bb_line_part *first = &t[0].by_line.parts[part];
	double ns_a_piece = first->ns.value / in_pieces(&t[0], first);
	struct agreement measured = {0}, steady = {0};
	unsigned int pairs = 0;
	char what[200], bound[64], said[160];

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			const struct bb_line_part *x = &t[i].by_line.parts[part],
						  *y = &t[k].by_line.parts[part];
			struct bb_estimate x_steady, y_steady;

			if (part >= t[i].by_line.n_parts || part >= t[k].by_line.n_parts ||
			    !same_row(x->row, first->row) || !same_row(y->row, first->row))
				continue;
			pairs++;
			add_pair(&measured, &x->ns, &y->ns, share);
			x_steady = at_speed(&x->ns, in_pieces(&t[i], x) * ns_a_piece);
			y_steady = at_speed(&y->ns, in_pieces(&t[k], y) * ns_a_piece);
			add_pair(&steady, &x_steady, &y_steady, share);
		}
	snprintf(what, sizeof(what), "lines%s: pairs of tables, line %u %.60s", when,
		 first->row->line, first->row->call);
	snprintf(bound, sizeof(bound), "<= 3 ns or %g %%", 100 * share);
	snprintf(said, sizeof(said),
		 "%u of %u at one speed, %u covered; as measured %u, %u covered", steady.near,
		 pairs, steady.covered, measured.near, measured.covered);
	bench_judge(what, bound, said, steady.near == pairs);
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	if (text && bb_parse_u64(text, &otherwise))
		exit(1);
	return otherwise;
}

static void tables_of(const char *when, double share)
{
	size_t n = number_of("BENCH_LINES_TABLES", 2), apart = 0;
	struct table *t = bench_alloc(n + 1, sizeof(*t));
	char what[100], measured[64];
	double wall_s = 0;

	for (size_t i = 0; i < n; i++) {
		struct bb_by_line *b = &t[i].by_line;

		wall_s = fmax(wall_s, make_table(PROFILER, "ringbuf", &t[i].report));
		lines_of(t[i].report, b);
		apart += fabs(b->sum.value - b->program.value) >
			 fmax(NEAR_NS, 0.01 * b->program.value);
	}
	for (size_t i = 0; n && i < t[0].by_line.n_parts; i++)
		if (t[0].by_line.parts[i].ns.value >= 10)
			judge_row(t, n, i, share, when);
	snprintf(what, sizeof(what), "lines%s: tables of ringbuf whose parts do not sum to it",
		 when);
	snprintf(measured, sizeof(measured), "%zu of %zu", apart, n);
	bench_judge(what, "0 (1 % or 3 ns)", measured, !apart);
	snprintf(what, sizeof(what), "lines%s: a table of ringbuf, the slowest", when);
	snprintf(measured, sizeof(measured), "%.1f s", wall_s);
	bench_judge(what, "<= 10 s", measured, wall_s <= 10);
	for (size_t i = 0; i < n; i++) {
		bb_by_line__done(&t[i].by_line);
		bb_report__free(t[i].report);
	}
	free(t);
}

static void tables(void)
{
	tables_of("", 0.02);
}

static void busy_tables(void)
{
	struct hogs h = start_hogs();

	tables_of(", busy", 0.04);
	stop_hogs(&h);
}

/* --- compare --time --- */

/* Returns the number before `word` in "19 lines: 5 same, 1 regressed, ..."; 0 if absent. */
static uint64_t count_before(const char *text, const char *word)
{
	const char *at = strstr(text, word), *digits = at;
	uint64_t n = 0;

	while (digits && digits > text && digits[-1] == ' ')
		digits--;
	while (digits && digits > text && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	return digits && !bb_parse_digits(&digits, &n) ? n : 0;
}

/* Numbers of lines in the output of `compare --time`, by verdict. */
struct counts {
	uint64_t lines, regressed, improved, added;
	uint64_t changed, found; /* rows of CHANGED: regressed ones; regressed or new ones */
};

#define CHANGED "/* one more */"

/* Adds the lines of `compare --time` with these options. */
static void compare(const char *options, struct counts *c)
{
	char command[24000], line[4096];
	FILE *out;

	snprintf(command, sizeof(command), "./bpfbench compare --time --no-store --quiet %s",
		 options);
	out = popen(command, "r");
	while (out && fgets(line, sizeof(line), out)) {
		c->changed += strstr(line, " regressed ") && strstr(line, CHANGED);
		c->found += (strstr(line, " regressed ") || strstr(line, " new ")) &&
			    strstr(line, CHANGED);
		if (!count_before(line, " lines of "))
			continue;
		c->lines += count_before(line, " lines of ");
		c->added += count_before(line, " new");
		c->regressed += count_before(line, " regressed");
		c->improved += count_before(line, " improved");
	}
	if (!out || pclose(out)) {
		struct bb_err err = {0};

		bb_fail(&err, -EPROTO, "%s: failed", command);
		bench_die("lines", &err);
	}
}

static void compare_pair(const char *head, struct counts *c)
{
	char options[8192];

	snprintf(options, sizeof(options), "--scenario '%s/pair.yml' --base known --head %s",
		 results, head);
	compare(options, c);
}

static void write_pair(void)
{
	char path[8192], *object = realpath(built(LINES), NULL);
	FILE *out;

	snprintf(path, sizeof(path), "%s/pair.yml", results);
	out = fopen(path, "w");
	if (!out || !object)
		exit(1);
	fprintf(out,
		"name: pair\nobject: %s\nvariants: [{name: known}, {name: again, program: known}, "
		"{name: one_more}]\ndrive:\n  - {with: step, trigger: test-run}\n",
		object);
	fclose(out);
	free(object);
}

static void comparisons(void)
{
	uint64_t times = number_of("BENCH_LINES_TIMES", 4), found = 0;
	struct counts same = {0};
	char measured[64], bound[64];

	write_pair();
	for (uint64_t i = 0; i < times; i++)
		compare_pair("again", &same);
	snprintf(measured, sizeof(measured), "%llu of %llu",
		 (unsigned long long)(same.regressed + same.improved),
		 (unsigned long long)same.lines);
	bench_judge("lines: compare --time of a program with itself, wrong lines", "0", measured,
		    !(same.regressed + same.improved) && same.lines);
	for (uint64_t i = 0; i < times; i++) {
		struct counts c = {0};

		compare_pair("one_more", &c);
		/* the next line overlaps less with it, so it may be called improved */
		found += c.regressed + c.added == 1;
	}
	snprintf(measured, sizeof(measured), "%llu", (unsigned long long)found);
	snprintf(bound, sizeof(bound), "%llu", (unsigned long long)times);
	bench_judge("lines: one more bpf_ktime_get_ns is found, and nothing else slower", bound,
		    measured, found == times);
}

/* A tracer with one more call: how often is another line called regressed? */
static void tracers(void)
{
	uint64_t times = number_of("BENCH_LINES_TIMES", 4), found = 0, wrong = 0;
	char options[20000], base[8192], measured[64];

	snprintf(base, sizeof(base), "%s", built("tests/bpf/tracer.bpf.o"));
	snprintf(options, sizeof(options),
		 "--base-object '%s' --head-object '%s' --program tracer --budget 28", base,
		 built("tests/bpf/tracer_more.bpf.o"));
	for (uint64_t i = 0; i < times; i++) {
		struct counts c = {0};

		compare(options, &c);
		found += c.found == 1;
		wrong += c.regressed > c.changed;
	}
	snprintf(measured, sizeof(measured), "%llu of %llu, found in %llu",
		 (unsigned long long)wrong, (unsigned long long)times, (unsigned long long)found);
	bench_judge("lines: a tracer with one call more, runs with another line slower", "0",
		    measured, !wrong);
}

/* --- objects of other projects --- */

/* The share of the lines' time that is in rows of exactly one line; 1 for up to 5 ns in all. */
static double told_apart(const struct bb_by_line *b)
{
	double one = 0, all = 0;

	for (size_t i = 0; i < b->n_lines; i++) {
		const struct bb_timed_row *row = b->lines[i].row;
		double ns = fmax(b->lines[i].ns.value, 0);

		all += ns;
		if (row->line == row->last_line)
			one += ns;
	}
	return all > 5 ? one / all : 1;
}

static void objects(void)
{
	const char *const folder = getenv("BENCH_LINES_OBJECTS");
	unsigned int programs = 0, well = 0, cuts = 0, refused = 0;
	char command[20000], path[4096], one[4200], measured[64];
	FILE *list;

	if (!folder) {
		bench_row("lines: objects of others", "", "BENCH_LINES_OBJECTS names no folder",
			  "skip");
		return;
	}
	snprintf(command, sizeof(command), "ls '%s'/*.o", folder);
	snprintf(one, sizeof(one), "%s/one", results);
	list = popen(command, "r");
	while (list && fgets(path, sizeof(path), list)) {
		struct bb_report *r;

		path[strcspn(path, "\n")] = '\0';
		snprintf(command, sizeof(command),
			 "rm -rf '%s'; ./bpfbench --object '%s' --lines --loads 2 --samples 200 "
			 "--budget 25 --quiet --output /dev/null --results '%s' 2>/dev/null",
			 one, path, one);
		if (system(command) || bb_store__read("latest", one, &r, NULL))
			continue; /* none of its programs runs here */
		for (size_t i = 0; i < r->n_timed; i++) {
			struct bb_by_line b;

			bb_by_line__make(r, &r->timed[i], &b);
			programs++;
			well += told_apart(&b) >= 0.9;
			cuts += r->timed[i].cuts;
			refused += r->timed[i].refused;
			bb_by_line__done(&b);
		}
		bb_report__free(r);
	}
	if (list)
		pclose(list);
	snprintf(measured, sizeof(measured), "%u of %u", cuts - refused, cuts);
	bench_judge("lines: cuts of objects of others that load", ">= 99 %", measured,
		    refused <= 0.01 * cuts);
	snprintf(measured, sizeof(measured), "%u of %u", well, programs);
	bench_judge("lines: their programs with 90 % in rows of one line", ">= 90 %", measured,
		    programs && well >= 0.9 * programs);
}

static const struct {
	const char *name;
	void (*measure)(void);
	bool by_default;
} pieces[] = {
	{"known", known_costs, true},   {"tables", tables, true},   {"busy", busy_tables, false},
	{"compare", comparisons, true}, {"tracer", tracers, false}, {"objects", objects, false},
};

int main(int argc, char **argv)
{
	const char *asked = getenv("BENCH_LINES");

	snprintf(results, sizeof(results), "%s", argc > 1 ? argv[1] : ".");
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		if (asked ? strstr(asked, pieces[i].name) != NULL : pieces[i].by_default)
			pieces[i].measure();
	return 0;
}
