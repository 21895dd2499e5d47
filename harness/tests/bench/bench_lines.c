/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time by line against what is known: lines of 64, 128 and 256 multiplications, the sum of the
 * parts against the program itself, two tables of one program, `compare --time` of a program with
 * itself and with one helper more. BENCH_LINES_TIMES (4): comparisons of each kind.
 */
#include <errno.h>

#include "base/parse.h"
#include "bench.h"
#include "judge/by_line.h"
#include "store/store.h"

#define PROFILER "bpf/perf_profiler.bpf.o"
#define LINES "tests/bpf/lines.bpf.o"
#define FIRST_NS 8.0 /* of the first line, which hides that much behind the end of the run */
#define NEAR_NS 3.0

static char results[4096];

static const char *built(const char *name)
{
	static char path[8192];
	const char *o = getenv("O");

	snprintf(path, sizeof(path), "%s/%s", o ? o : BB_BUILD_DIR, name);
	return path;
}

/* One table; its wall time, s. */
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
	struct bb_err err = {0};

	if (!bb_by_line__make(r, &r->timed[0], ret_lines))
		return;
	bb_fail_nomem(&err);
	bench_die("lines", &err);
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

/* What one multiplication takes, the two long lines say: 256 less 128. */
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

/* The largest difference of a row above 10 ns, as a share of what is allowed. */
static double disagreement(const struct bb_by_line *a, const struct bb_by_line *b, char *ret_text,
			   size_t size)
{
	double worst = 0;

	for (size_t i = 0; i < a->n_parts && i < b->n_parts; i++) {
		const struct bb_line_part *x = &a->parts[i], *y = &b->parts[i];
		double off = fabs(x->ns.value - y->ns.value),
		       allowed = fmax(NEAR_NS, 0.02 * x->ns.value);

		if (x->ns.value < 10 || off / allowed < worst)
			continue;
		worst = off / allowed;
		snprintf(ret_text, size, "%.1f and %.1f ns, line %u", x->ns.value, y->ns.value,
			 x->row->line);
	}
	return worst;
}

static void two_tables(void)
{
	struct bb_report *r[2];
	struct bb_by_line b[2];
	char measured[64] = "-";
	double wall_s = 0, worst;

	for (int i = 0; i < 2; i++) {
		wall_s = fmax(wall_s, make_table(PROFILER, "ringbuf", &r[i]));
		lines_of(r[i], &b[i]);
	}
	worst = disagreement(&b[0], &b[1], measured, sizeof(measured));
	bench_judge("lines: two tables of ringbuf, the row furthest apart", "<= 3 ns or 2 %",
		    measured, worst <= 1);
	judge_sum("lines: the parts of ringbuf", &b[0]);
	snprintf(measured, sizeof(measured), "%.1f s", wall_s);
	bench_judge("lines: a table of ringbuf", "<= 10 s", measured, wall_s <= 10);
	for (int i = 0; i < 2; i++) {
		bb_by_line__done(&b[i]);
		bb_report__free(r[i]);
	}
}

/* The count before `word` in "19 lines: 5 same, 1 regressed, ...". */
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

/* `compare --time` of `known` with `head`: its lines, and those with a verdict. */
static void compare(const char *head, uint64_t *lines, uint64_t *regressed, uint64_t *improved)
{
	char command[16384], line[4096];
	FILE *out;

	snprintf(command, sizeof(command),
		 "./bpfbench compare --time --no-store --quiet --scenario '%s/pair.yml' --base "
		 "known "
		 "--head %s",
		 results, head);
	out = popen(command, "r");
	while (out && fgets(line, sizeof(line), out)) {
		if (!strstr(line, " inconclusive\n") || !strstr(line, " lines: "))
			continue;
		*lines += count_before(line, " lines: ");
		*regressed += count_before(line, " regressed");
		*improved += count_before(line, " improved");
	}
	if (!out || pclose(out)) {
		struct bb_err err = {0};

		bb_fail(&err, -EPROTO, "%s: failed", command);
		bench_die("lines", &err);
	}
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
	const char *text = getenv("BENCH_LINES_TIMES");
	uint64_t times = 4, lines = 0, wrong = 0, better = 0, found = 0;
	char measured[64], bound[64];

	if (text && bb_parse_u64(text, &times))
		exit(1);
	write_pair();
	for (uint64_t i = 0; i < times; i++)
		compare("again", &lines, &wrong, &better);
	snprintf(measured, sizeof(measured), "%llu of %llu", (unsigned long long)(wrong + better),
		 (unsigned long long)lines);
	bench_judge("lines: compare --time of a program with itself, wrong lines", "0", measured,
		    !(wrong + better) && lines);
	for (uint64_t i = 0; i < times; i++) {
		uint64_t n = 0, regressed = 0, improved = 0;

		compare("one_more", &n, &regressed, &improved);
		found += regressed == 1; /* the line behind it hides less and may read shorter */
	}
	snprintf(measured, sizeof(measured), "%llu", (unsigned long long)found);
	snprintf(bound, sizeof(bound), "%llu", (unsigned long long)times);
	bench_judge("lines: one more bpf_ktime_get_ns is found, and nothing else slower", bound,
		    measured, found == times);
}

int main(int argc, char **argv)
{
	snprintf(results, sizeof(results), "%s", argc > 1 ? argv[1] : ".");
	known_costs();
	two_tables();
	comparisons();
	return 0;
}
