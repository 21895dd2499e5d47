/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/selftest_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "env/sysfile.h"
#include "stats/quantile.h"
#include "stats/special.h"

#define ALPHA 0.05

static const char *const class_words[BB_N_REPEAT_CLASSES] = {
	[BB_REPEAT_CALM] = "programs that wake nobody",
	[BB_REPEAT_WAKES] = "programs that wake a reader",
	[BB_REPEAT_COLD] = "with emptied caches",
	[BB_REPEAT_EMPTY] = "the empty program",
	[BB_REPEAT_EMPTY_COLD] = "the empty program with emptied caches",
};

/* The mean of a list, or the difference of those of two, with its 95 % interval. */
static void print_effect(FILE *out, const char *what, const struct bb_repeat_list *a,
			 const struct bb_repeat_list *b)
{
	double mean[2] = {0}, var[2] = {0}, n[2] = {(double)a->n, b ? (double)b->n : 0}, half;
	const struct bb_repeat_list *of[2] = {a, b};

	if (a->n < BB_REPEAT_LEAST || (b && b->n < BB_REPEAT_LEAST))
		return;
	for (int k = 0; k < 2 && of[k]; k++) {
		for (size_t i = 0; i < of[k]->n; i++)
			mean[k] += of[k]->v[i] / n[k];
		for (size_t i = 0; i < of[k]->n; i++)
			var[k] += (of[k]->v[i] - mean[k]) * (of[k]->v[i] - mean[k]) / (n[k] - 1);
	}
	half = bb_student_critical(ALPHA, fmin(n[0], b ? n[1] : n[0]) - 1) *
	       sqrt(var[0] / n[0] + (b ? var[1] / n[1] : 0));
	fprintf(out, "  %-42s %+7.2f %% +- %.2f%s\n", what, 100 * expm1(mean[0] - mean[1]),
		100 * half, fabs(mean[0] - mean[1]) > half ? "  <- an effect" : "");
}

/* p95 / p5 of a list. */
static double range_of(const struct bb_repeat_list *f)
{
	double *x = calloc(f->n + 1, sizeof(*x)), range = NAN;

	if (x && f->n >= BB_REPEAT_LEAST) {
		memcpy(x, f->v, f->n * sizeof(*x));
		bb_sort_doubles(x, f->n);
		range = bb_quantile_sorted(x, f->n, 0.95) / bb_quantile_sorted(x, f->n, 0.05);
	}
	free(x);
	return range;
}

static void print_range(FILE *out, const char *what, double range, const char *note)
{
	if (!isnan(range))
		fprintf(out, "  %-42s %7.2f %%%s\n", what, 100 * (range - 1), note);
}

static void print_causes(FILE *out, const struct bb_repeat *r)
{
	char thp[128] = "", note[200];

	fputs("Looked for, over those runs:\n", out);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct bb_repeat_row *row = &r->rows[i];
		char what[100];

		snprintf(what, sizeof(what), "%.40s%s, second half against first", row->program,
			 row->class == BB_REPEAT_COLD ? ", cold" : "");
		print_effect(out, what, &row->halves, NULL);
		snprintf(what, sizeof(what), "%.40s, among others against alone", row->program);
		print_effect(out, what, &row->ln[BB_REPEAT_LATENCY], &row->alone);
	}
	print_range(out, "clock: instructions, p95 / p5 of all rounds", range_of(&r->clock), "");
	bb_sysfile__read("", "/sys/kernel/mm/transparent_hugepage/enabled", thp, sizeof(thp));
	snprintf(note, sizeof(note), "%s%.100s", *thp ? "; transparent huge pages: " : "", thp);
	print_range(out, "memory: a chain of loads, p95 / p5 of runs", range_of(&r->memory), note);
}

void bb_selftest_print_repeat(FILE *out, const struct bb_repeat *r, const struct bb_between *b)
{
	size_t n = 0;

	for (int class = 0; class < BB_N_REPEAT_CLASSES; class ++) {
		const struct bb_pooled_spread *of = b->of[class];

		if (isnan(of[BB_REPEAT_LATENCY].half_width))
			continue;
		fprintf(out,
			"%sA plain run repeats within %.2f %% on this machine (%s; relative to the "
			"reference %.2f %%).\n",
			n ? "" : "\n", 100 * expm1(of[BB_REPEAT_LATENCY].half_width),
			class_words[class], 100 * expm1(of[BB_REPEAT_RELATIVE].half_width));
		n++;
	}
	if (!n)
		return;
	fprintf(out,
		"95 %% of such runs are so close to their mean, by %zu self-test%s of this "
		"machine. "
		"Plain runs have it in their intervals from now on.\n",
		b->n_selftests, b->n_selftests == 1 ? "" : "s");
	if (r->n_rows)
		print_causes(out, r);
}
