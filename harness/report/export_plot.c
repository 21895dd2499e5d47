/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "report/ecdf.h"
#include "report/exporter.h"
#include "report/json_out.h"
#include "report/sample_kind.h"

/*
 * What plots/ draws, as gnuplot likes it: columns parted by tabs, blocks parted by two empty lines (`index`), comments
 * with `#`. The head of the output describes it.
 */
#define ECDF_POINTS	400	/* at most, a case */

static const char head[] =
	"# bpfbench plot data, version 1. Tabs part the columns, two empty lines the blocks (gnuplot: index).\n"
	"# A block begins with a comment line, '# ecdf' or '# cost', and what it is of, parted by tabs. NaN: none.\n"
	"# run\tid\tstarted\tkernel\tcpu\tsteal_percent\twhy_incomplete, once, before the blocks\n"
	"# ecdf\tcase\tscenario\tvariant\tdrive\tparam\tparam_value\trole\tsamples\tp50_ns\tp90_ns\tp99_ns\tsample,\n"
	"#\tone block a case; its rows:\n"
	"#\tcase\tns\tshare (of the valid samples that took at most that long; thinned, the ends are kept)\n"
	"# backlog\tcase\tscenario\tvariant\tdrive\tparam\tparam_value\trole, one block a case with a ring; its rows:\n"
	"#\tcase\tms\tbytes (what the ring held; a row of NaN parts the loads)\n"
	"# cost\tscenario\tvariant\tdrive\tparam\trole, one block each; its rows, in the order of the run:\n"
	"#\tscenario\tvariant\tdrive\tparam\tparam_value\tlatency_ns\tlo_ns\thi_ns\n"
	"# slowdown, as cost; its rows: a ratio to the floor instead of ns.\n"
	"# sample is what the time is of: \"run\", \"call\", \"command\" or \"lag\".\n"
	"# role is \"floor\" for the program that the others are measured against, else \"-\".\n";

/* A cell: control characters would break the columns. An absent one is "-". */
static void put_text(const char *text, FILE *mem)
{
	if (!text || !*text)
		putc('-', mem);
	for (; text && *text; text++)
		putc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, mem);
}

static void put_number(double value, FILE *mem)
{
	putc('\t', mem);
	if (isfinite(value))
		bb_json_fixed(mem, value);
	else
		fputs("NaN", mem);
}

/* Whether another case is measured against case i. */
static int is_floor(const struct bb_report *r, size_t i)
{
	for (size_t k = 0; k < r->n_cases; k++)
		if (k != i && r->cases[k].floor == i)
			return 1;
	return 0;
}

/* The head of a block of one case, up to and with its role. */
static void put_head(const char *block, const struct bb_report *r, size_t i, FILE *mem)
{
	const struct bb_case *c = &r->cases[i];
	const char *const cells[] = {c->name, c->scenario, c->variant, c->drive, c->param};

	fprintf(mem, "\n\n# %s", block);
	for (size_t k = 0; k < sizeof(cells) / sizeof(cells[0]); k++) {
		putc('\t', mem);
		put_text(cells[k], mem);
	}
	fprintf(mem, "\t%u\t%s", c->param_value, is_floor(r, i) ? "floor" : "-");
}

/* What the ring held over time, load after load. */
static void put_backlog(const struct bb_report *r, size_t i, FILE *mem)
{
	const struct bb_case *c = &r->cases[i];
	size_t loads = 0;

	for (size_t k = 0; k < c->n_series; k++) {
		const struct bb_flow *f = c->series[k].flow;

		if (!f || c->series[k].void_why)
			continue;
		if (!loads++) {
			put_head("backlog", r, i, mem);
			putc('\n', mem);
		} else {
			put_text(c->name, mem);
			fputs("\tNaN\tNaN\n", mem);
		}
		for (size_t p = 0; p < f->n_points; p++) {
			put_text(c->name, mem);
			put_number((double)f->points[p].at_us / 1000, mem);
			put_number((double)f->points[p].backlog_bytes, mem);
			putc('\n', mem);
		}
	}
}

static int put_distribution(const struct bb_report *r, size_t i, FILE *mem)
{
	const struct bb_case *c = &r->cases[i];
	struct bb_ecdf e;
	int rc = bb_ecdf__make(c, ECDF_POINTS, &e);

	if (rc)
		return rc;
	if (e.n) {
		put_head("ecdf", r, i, mem);
		fprintf(mem, "\t%llu", (unsigned long long)e.samples);
		put_number(c->summary.p50.value, mem);
		put_number(c->summary.p90.value, mem);
		put_number(c->summary.p99.value, mem);
		fprintf(mem, "\t%s\n", bb_case__sample_kind(c)->name);
		for (size_t k = 0; k < e.n; k++) {
			put_text(c->name, mem);
			put_number(e.ns[k], mem);
			fprintf(mem, "\t%.6f\n", e.share[k]);
		}
	}
	bb_ecdf__done(&e);
	return 0;
}

/* Whether two cases are points of one curve. */
static int same_curve(const struct bb_case *a, const struct bb_case *b)
{
	return bb_same_text(a->scenario, b->scenario) && bb_same_text(a->variant, b->variant) &&
	       bb_same_text(a->drive, b->drive) && bb_same_text(a->param, b->param);
}

static void put_key(const struct bb_case *c, FILE *mem)
{
	const char *const cells[] = {c->scenario, c->variant, c->drive, c->param};

	for (size_t i = 0; i < 4; i++) {
		if (i)
			putc('\t', mem);
		put_text(cells[i], mem);
	}
}

static struct bb_estimate latency(const struct bb_case *c)
{
	return c->summary.latency;
}

static struct bb_estimate slowdown(const struct bb_case *c)
{
	return c->summary.slowdown;
}

/* The curve that begins with case i, unless that has been drawn with an earlier one. */
static void put_curve(const char *block, struct bb_estimate (*of)(const struct bb_case *), const struct bb_report *r,
		      size_t i, FILE *mem)
{
	for (size_t k = 0; k < i; k++)
		if (same_curve(&r->cases[k], &r->cases[i]))
			return;
	fprintf(mem, "\n\n# %s\t", block);
	put_key(&r->cases[i], mem);
	fputs(is_floor(r, i) ? "\tfloor\n" : "\t-\n", mem);
	for (size_t k = i; k < r->n_cases; k++) {
		const struct bb_case *c = &r->cases[k];

		if (!same_curve(c, &r->cases[i]))
			continue;
		put_key(c, mem);
		fprintf(mem, "\t%u", c->param_value);
		put_number(of(c).value, mem);
		put_number(of(c).lo, mem);
		put_number(of(c).hi, mem);
		putc('\n', mem);
	}
}

static int compose(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	fputs(head, mem);
	fputs("# run\t", mem);
	put_text(r->id, mem);
	putc('\t', mem);
	put_text(r->started, mem);
	putc('\t', mem);
	put_text(r->fingerprint.kernel_release, mem);
	putc('\t', mem);
	put_text(r->fingerprint.cpu_model, mem);
	put_number(100 * r->steal, mem);
	putc('\t', mem);
	put_text(r->incomplete, mem);
	putc('\n', mem);
	for (size_t i = 0; i < r->n_cases; i++)
		if (put_distribution(r, i, mem))
			return bb_fail_nomem(err);
	for (size_t i = 0; i < r->n_cases; i++)
		put_backlog(r, i, mem);
	for (size_t i = 0; i < r->n_cases; i++)
		put_curve("cost", latency, r, i, mem);
	for (size_t i = 0; i < r->n_cases; i++)
		if (isfinite(r->cases[i].summary.slowdown.value))
			put_curve("slowdown", slowdown, r, i, mem);
	return 0;
}

int bb_export_plot(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose, err);
}
