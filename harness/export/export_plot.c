/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/json_writer.h"
#include "export/documents.h"
#include "export/exporter.h"
#include "core/drive_kind.h"

/* Writes the data that the scripts in plots/ draw with gnuplot. `head` explains the format. */
#define ECDF_POINTS 400 /* about how many points of a case's distribution are written */
#define LINE_PARTS 20u  /* at most this many lines and calls of a case are written */

static const char head[] =
	"# bpfbench plot data, version 4. Tabs part the columns, two empty lines the blocks "
	"(gnuplot: index).\n"
	"# A block begins with a comment line, its name and what it is of, parted by tabs. NaN: "
	"none.\n"
	"# run\tid\tstarted\tkernel\tcpu\tsteal_percent\twhy_incomplete\tbpfbench\tclocksource, "
	"once, before the blocks;\n"
	"#\tclocksource \"instructions\": ns are machine instructions\n"
	"# "
	"ecdf\tcase\tscenario\tvariant\tdrive\tparam\tparam_value\trole\tsample\tsamples\tp50_"
	"ns\tp90_ns\tp99_ns,\n"
	"#\tone block a case; its rows:\n"
	"#\tcase\tns\tshare (of the valid samples that took at most that long; thinned, the ends "
	"are kept)\n"
	"# backlog\tcase\tscenario\tvariant\tdrive\tparam\tparam_value\trole\tsample, one block a "
	"case with a ring; its rows:\n"
	"#\tcase\tms\tbytes (in the ring; a row of NaN parts the loads)\n"
	"# loads\t(as backlog), one block a case that was loaded anew; its rows, one a load that "
	"counts:\n"
	"#\tcase\tload\tjit_address_mod_64\tns (its mean without outliers)\n"
	"# net\t(as backlog), one block a case; its row:\n"
	"#\tcase\tlatency_ns\tlo_ns\thi_ns\tfloor_ns\tnet_ns\tnet_lo_ns\tnet_hi_ns\n"
	"# cost\tscenario\tvariant\tdrive\tparam\trole, one block each; its rows, in the order of "
	"the run:\n"
	"#\tscenario\tvariant\tdrive\tparam\tparam_value\tlatency_ns\tlo_ns\thi_ns\tvalue_name\t"
	"map_bytes\n"
	"# slowdown, as cost; its rows: percent above the floor instead of ns.\n"
	"# ab\tname\tbase\thead\tthreshold_percent\tconfidence_percent\tverdict, one block a "
	"comparison; its rows:\n"
	"#\tname\twhat\tpercent\tlo\thi (of head above base; what: matched, unmatched, net, or "
	"pair, unmatched-pair: of one)\n"
	"# lines\t(as backlog, the scenario with its program, the variant a part of it), one block "
	"a line\n"
	"#\tor call of one run that takes 3 ns or more, 20 at most, the longest first; its row:\n"
	"#\tcase\tns\tlo_ns\thi_ns\tcold_ns\n"
	"# sample: the time is that of a \"run\", \"call\", \"command\" or \"lag\".\n"
	"# role is \"floor\" for the program that the others are measured against, else \"-\".\n";

/* Writes a text, or "-". Blanks replace control characters, which would break the columns. */
static void put_text(const char *text, FILE *mem)
{
	if (!text || !*text)
		putc('-', mem);
	for (; text && *text; text++)
		putc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, mem);
}

static void put_columns(const char *const *texts, size_t n, FILE *mem)
{
	for (size_t i = 0; i < n; i++) {
		putc('\t', mem);
		put_text(texts[i], mem);
	}
}

#define put_texts(mem, ...)                                                                        \
	put_columns((const char *const[]){__VA_ARGS__},                                            \
		    BB_LEN(((const char *const[]){__VA_ARGS__})), mem)

static void put_number(double value, FILE *mem)
{
	putc('\t', mem);
	if (isfinite(value))
		bb_json_fixed(mem, value);
	else
		fputs("NaN", mem);
}

static void put_estimate(struct bb_estimate e, FILE *mem)
{
	put_number(e.value, mem);
	put_number(e.lo, mem);
	put_number(e.hi, mem);
}

/* Writes the comment line that begins a block of a case, up to the field `sample`. */
static void put_head(const char *block, const struct bb_report *r, const struct bb_case *c,
		     FILE *mem)
{
	fprintf(mem, "\n\n# %s", block);
	put_texts(mem, c->name, c->scenario, c->variant, c->drive, c->param);
	fprintf(mem, "\t%u\t%s\t%s", c->param_value, bb_is_floor(r, c) ? "floor" : "-",
		bb_drive_kind_named(c->drive)->sample.noun);
}

static void put_backlog(const struct bb_report *r, const struct bb_case *c, FILE *mem)
{
	size_t loads = 0;

	for (size_t k = 0; k < c->n_series; k++) {
		const struct bb_ring_use *f = c->series[k].flow;

		if (!f || c->series[k].void_why)
			continue;
		if (!loads++) {
			put_head("backlog", r, c, mem);
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

/* Writes the distribution of a case's valid samples, thinned to about ECDF_POINTS points. Leaves
 * out a point that is near the last written one on both axes, the share and the logarithm of time.
 * So about half of the points may lie in the tail, although few samples do. */
static void put_points(const struct bb_case *c, const struct bb_sorted *s, FILE *mem)
{
	double first = log((double)s->bins[0].value_ns + 1),
	       last = log((double)s->bins[s->n_bins - 1].value_ns + 1);
	double steps = (double)ECDF_POINTS / 2 - 1, drawn_share = -1, drawn_log = first, below = 0;

	for (size_t i = 0; i < s->n_bins; i++) {
		double share, at = log((double)s->bins[i].value_ns + 1);

		below += (double)s->bins[i].count;
		share = below / (double)s->n;
		if (i && i + 1 < s->n_bins && share - drawn_share < 1 / steps &&
		    at - drawn_log < (last - first) / steps)
			continue;
		put_text(c->name, mem);
		put_number(bb_case__ns(c, (double)s->bins[i].value_ns), mem);
		fprintf(mem, "\t%.6f\n", share);
		drawn_share = share;
		drawn_log = at;
	}
}

static void put_distribution(const struct bb_report *r, const struct bb_case *c, FILE *mem)
{
	struct bb_sorted sorted;

	bb_case__sort(c, &sorted);
	if (sorted.n) {
		put_head("ecdf", r, c, mem);
		fprintf(mem, "\t%" PRIu64, sorted.n);
		put_number(c->summary.p50.value, mem);
		put_number(c->summary.p90.value, mem);
		put_number(c->summary.p99.value, mem);
		putc('\n', mem);
		put_points(c, &sorted, mem);
	}
	bb_sorted_done(&sorted);
}

static void put_loads(const struct bb_report *r, const struct bb_case *c, FILE *mem)
{
	double *ns = bb_calloc(c->n_series, sizeof(*ns));

	bb_case__locations(c, ns);
	put_head("loads", r, c, mem);
	putc('\n', mem);
	for (size_t k = 0; k < c->n_series; k++) {
		const struct bb_series *s = &c->series[k];

		if (isnan(ns[k]))
			continue;
		put_text(c->name, mem);
		fprintf(mem, "\t%u", s->load);
		put_number(s->jit_mod64 < 0 ? (double)NAN : s->jit_mod64, mem);
		put_number(ns[k], mem);
		putc('\n', mem);
	}
	free(ns);
}

static void put_net(const struct bb_report *r, const struct bb_case *c, FILE *mem)
{
	put_head("net", r, c, mem);
	putc('\n', mem);
	put_text(c->name, mem);
	put_estimate(c->summary.latency, mem);
	put_number(c->summary.floor.value, mem);
	put_estimate(c->summary.net, mem);
	putc('\n', mem);
}

static struct bb_estimate above_percent(struct bb_estimate ratio)
{
	return (struct bb_estimate){100 * (ratio.value - 1), 100 * (ratio.lo - 1),
				    100 * (ratio.hi - 1)};
}

static void put_ratio(const struct bb_comparison *c, const char *what, struct bb_estimate ratio,
		      FILE *mem)
{
	put_text(c->name, mem);
	fprintf(mem, "\t%s", what);
	put_estimate(above_percent(ratio), mem);
	putc('\n', mem);
}

static void put_comparison(const struct bb_comparison *c, FILE *mem)
{
	fputs("\n\n# ab", mem);
	put_texts(mem, c->name, c->base, c->head);
	put_number(100 * c->threshold, mem);
	put_number(100 * (1 - c->alpha), mem);
	fprintf(mem, "\t%s\n", bb_verdict_name(c->verdict));
	put_ratio(c, "matched", c->ratio, mem);
	put_ratio(c, "unmatched", c->ratio_unmatched, mem);
	put_ratio(c, "net", c->ratio_net, mem);
	for (size_t i = 0; i < c->n_pairs; i++)
		if (!c->pairs[i].void_why)
			put_ratio(c, c->pairs[i].matched ? "pair" : "unmatched-pair",
				  (struct bb_estimate){exp(c->pairs[i].d), NAN, NAN}, mem);
}

/* Writes the curve of latencies or, with `slowdown`, of slowdowns that begins with case `i`. Writes
 * nothing if an earlier case is on the same curve. */
static void put_curve(const struct bb_report *r, size_t i, bool slowdown, FILE *mem)
{
	const struct bb_case *first = &r->cases[i];

	if (BB_ANY(r->cases, i, bb_same_curve(it, first)))
		return;
	fputs(slowdown ? "\n\n# slowdown\t" : "\n\n# cost\t", mem);
	put_text(first->scenario, mem);
	put_texts(mem, first->variant, first->drive, first->param);
	fputs(bb_is_floor(r, first) ? "\tfloor\n" : "\t-\n", mem);
	for (size_t k = i; k < r->n_cases; k++) {
		const struct bb_case *c = &r->cases[k];

		if (!bb_same_curve(c, first))
			continue;
		put_text(c->scenario, mem);
		put_texts(mem, c->variant, c->drive, c->param);
		fprintf(mem, "\t%u", c->param_value);
		put_estimate(slowdown ? above_percent(c->summary.slowdown.ratio)
				      : c->summary.latency,
			     mem);
		put_texts(mem, c->param_text);
		put_number(c->summary.map_bytes.value, mem);
		putc('\n', mem);
	}
}

static void put_lines(const struct bb_report *r, const struct bb_timed *t, FILE *mem)
{
	struct bb_by_line b;

	bb_by_line__make(r, t, &b);
	for (size_t i = 0; i < b.n_parts && i < LINE_PARTS; i++) {
		const struct bb_line_part *p = b.top[i];
		char program[400], label[200];

		if (!(p->ns.value >= b.least))
			break;
		snprintf(program, sizeof(program), "%s/%s", t->scenario, t->variant);
		snprintf(label, sizeof(label), "%u %.120s",
			 p->row->line ? p->row->line : p->row->insn,
			 p->row->call[0] ? p->row->call : p->row->text);
		fputs("\n\n# lines", mem);
		put_texts(mem, t->name, program, label, t->drive, t->param);
		fprintf(mem, "\t%u\t-\trun\n", t->param_value);
		put_text(t->name, mem);
		put_estimate(p->ns, mem);
		put_number(p->cold.value, mem);
		putc('\n', mem);
	}
	bb_by_line__done(&b);
}

int bb_export_plot(const struct bb_report *r, FILE *mem, struct bb_err *)
{
	const struct bb_fingerprint *f = &r->fingerprint;

	fputs(head, mem);
	fputs("# run", mem);
	put_texts(mem, r->id, r->started, f->kernel_release, f->cpu_model);
	put_number(100 * r->steal, mem);
	put_texts(mem, r->incomplete, f->bpfbench,
		  bb_counts_instructions(r) ? "instructions" : f->clocksource);
	putc('\n', mem);
	for (size_t i = 0; i < r->n_cases; i++)
		put_distribution(r, &r->cases[i], mem);
	for (size_t i = 0; i < r->n_cases; i++)
		put_backlog(r, &r->cases[i], mem);
	for (size_t i = 0; i < r->n_cases; i++)
		if (!r->cases[i].is_live)
			put_loads(r, &r->cases[i], mem);
	for (size_t i = 0; i < r->n_cases; i++)
		put_net(r, &r->cases[i], mem);
	for (size_t i = 0; i < r->n_cases; i++)
		put_curve(r, i, false, mem);
	for (size_t i = 0; i < r->n_cases; i++)
		if (isfinite(r->cases[i].summary.slowdown.ratio.value))
			put_curve(r, i, true, mem);
	for (size_t i = 0; i < r->n_timed; i++)
		put_lines(r, &r->timed[i], mem);
	for (size_t i = 0; i < r->n_comparisons; i++)
		put_comparison(&r->comparisons[i], mem);
	return 0;
}

static const char history_head[] =
	"# bpfbench history, version 1. Tabs part the columns, two empty lines the blocks "
	"(gnuplot: index). NaN: none\n"
	"# machine\tbpfbench\tkernel\tcpu\tclocksource, once, before the blocks: our version, the "
	"rest of the newest run\n"
	"# A block begins with:\n"
	"# history\tcase\tscenario\tvariant\tdrive\tparam\tparam_value\trole\tjudged_by\n"
	"# role is \"anchor\" for the case that the others are divided by, else \"-\"; judged_by "
	"is \"ratio\", \"latency\" or \"relative\".\n"
	"# Its rows, in the order of time:\n"
	"# "
	"run\tstarted\tepoch_s\tid\tcommit\tlatency_ns\tlo_ns\thi_ns\tratio\tratio_lo\tratio_"
	"hi\tse\tbaseline\tlimit_lo\tlimit_hi\tmark\tchange\tnote\trelative\trelative_lo\trelative_"
	"hi\tjudged\n"
	"# run counts all runs from 1; se is relative; judged is the figure that judged_by names, "
	"and baseline\n"
	"# and limits are in its unit; mark is \"-\" for runs that are not judged, note says why; "
	"change is +1\n"
	"# (slower) or -1 (faster) at a change point, else 0.\n";

/* Writes a number with 9 significant digits, because ratios need so many. */
static void put_exact(double value, FILE *out)
{
	fprintf(out, isfinite(value) ? "\t%.9g" : "\tNaN", value);
}

static void put_exact_interval(const struct bb_estimate *e, FILE *out)
{
	put_exact(e->value, out);
	put_exact(e->lo, out);
	put_exact(e->hi, out);
}

void bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out)
{
	fputs(history_head, out);
	if (t->n_runs) {
		const struct bb_fingerprint *fp =
			&t->index.machines[t->runs[t->n_runs - 1].of->machine];

		/* Write the version of this bpfbench, because it judges all runs. */
		fputs("# machine", out);
		put_texts(out, BB_VERSION, fp->kernel_release, fp->cpu_model, fp->clocksource);
		putc('\n', out);
	}
	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];

		if (only && !bb_report__find_case(only, c->of->name))
			continue;
		fputs("\n\n# history", out);
		put_texts(out, c->of->name, c->of->scenario, c->of->variant, c->of->drive,
			  c->of->param);
		fprintf(out, "\t%u\t%s\t%s\n", c->of->param_value, c->is_anchor ? "anchor" : "-",
			bb_predictor_name(c->by));
		for (size_t k = 0; k < c->n_points; k++) {
			const struct bb_timeline_point *p = &c->points[k];
			const struct bb_timeline_run *run = &t->runs[p->run];
			const struct bb_history_point *j = &p->judged;

			fprintf(out, "%zu\t", p->run + 1);
			put_text(run->of->started, out);
			/* not by put_exact(): 9 digits are too few for seconds since 1970 */
			fprintf(out, isfinite(run->epoch_s) ? "\t%.0f" : "\tNaN", run->epoch_s);
			put_texts(out, run->of->id, run->of->commit);
			for (int by = 0; by < BB_BY_RELATIVE; by++)
				put_exact_interval(&p->of->figure[by], out);
			put_exact(p->of->se[c->by], out);
			put_exact(exp(j->baseline), out);
			put_exact(exp(j->baseline - j->limit), out);
			put_exact(exp(j->baseline + j->limit), out);
			fprintf(out, "\t%s\t%d\t", bb_history_mark_text(t, p), j->change);
			put_text(p->differs ? p->differs : run->of->incomplete, out);
			put_exact_interval(&p->of->figure[BB_BY_RELATIVE], out);
			put_exact(p->of->figure[c->by].value, out);
			putc('\n', out);
		}
	}
}
