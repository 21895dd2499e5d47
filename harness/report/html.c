/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart.h"
#include "report/html_charts.h"
#include "report/table_cells.h"

static const char style[] =
	"<style>\n"
	":root{--ink:#1d2021;--faint:#5f6368;--paper:#fff;--panel:#f5f6f7;--line:#d5d8db;--band:#e3e6e8;"
	"--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#b07d00;--c5:#2f8fc4;--c6:#000;--c7:#6b6b6b}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e8e6e3;--faint:#a7abaf;--paper:#17191b;--panel:#212427;--line:#3a3f44;"
	"--band:#2d3236;--c0:#56b4e9;--c1:#f0883e;--c2:#2fc79a;--c3:#e39cc4;--c4:#f0c000;--c5:#8ccaf0;--c6:#fff;--c7:#a0a0a0}}\n"
	"*{box-sizing:border-box}body{margin:0 auto;padding:1rem;max-width:62rem;color:var(--ink);background:var(--paper);"
	"font:15px/1.45 system-ui,sans-serif}h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .4rem}"
	"h3{font-size:1rem;margin:1.2rem 0 .3rem}p{margin:.3rem 0}.faint{color:var(--faint)}\n"
	".scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}"
	"th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}"
	"th:first-child,td:first-child,.text{text-align:left}th{font-weight:600;color:var(--faint)}td.wrap{white-space:normal}\n"
	".verdict{font-weight:700}.regressed{color:var(--c1)}.improved{color:var(--c2)}.bad{border-left:4px solid var(--c1);"
	"padding:.3rem .8rem;background:var(--panel)}\n"
	"figure{margin:.6rem 0;padding:.5rem;background:var(--panel);border-radius:6px;break-inside:avoid}"
	"figcaption{font-size:.85rem;color:var(--faint)}svg{display:block;width:100%;height:auto;max-width:60rem}"
	"svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg .tick,svg .axis{fill:var(--faint);font-size:11px}"
	"svg .grid{stroke:var(--line);stroke-width:1}svg .band{fill:var(--band)}svg .line{fill:none;stroke-width:1.7}"
	"svg .interval{stroke-width:4;opacity:.45}svg .far{stroke-width:1.2}\n"
	".d1 .line{stroke-dasharray:5 3}.d2 .line{stroke-dasharray:2 2}.d3 .line{stroke-dasharray:8 3 2 3}\n"
	".c0 path,.c0 circle{stroke:var(--c0)}.c0 circle{fill:var(--c0)}.c1 path,.c1 circle{stroke:var(--c1)}.c1 circle{fill:var(--c1)}"
	".c2 path,.c2 circle{stroke:var(--c2)}.c2 circle{fill:var(--c2)}.c3 path,.c3 circle{stroke:var(--c3)}.c3 circle{fill:var(--c3)}"
	".c4 path,.c4 circle{stroke:var(--c4)}.c4 circle{fill:var(--c4)}.c5 path,.c5 circle{stroke:var(--c5)}.c5 circle{fill:var(--c5)}"
	".c6 path,.c6 circle{stroke:var(--c6)}.c6 circle{fill:var(--c6)}.c7 path,.c7 circle{stroke:var(--c7)}.c7 circle{fill:var(--c7)}\n"
	"@media print{:root{--panel:#fff}body{max-width:none;font-size:11px}h2{break-after:avoid}}\n"
	"</style>\n";

static void put_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	bb_html_text(out, text && *text ? text : "–");
	fputs("</td>", out);
}

static void put_text_cell(FILE *out, const char *text)
{
	fputs("<td class=text>", out);
	bb_html_text(out, text);
	fputs("</td>", out);
}

static void put_number(FILE *out, double value, double scale)
{
	put_cell(out, bb_cell_number(value, scale).text);
}

static void put_percent(FILE *out, double ratio)
{
	if (isfinite(ratio))
		fprintf(out, "<td>%+.2f %%</td>", 100 * (ratio - 1));
	else
		put_cell(out, NULL);
}

/* --- the head ------------------------------------------------------------------------------------------------ */

static void put_head(FILE *out, const struct bb_report *r)
{
	fputs("<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
	      "content='width=device-width,initial-scale=1'><title>bpfbench: ", out);
	bb_html_text(out, r->id);
	fputs("</title>\n", out);
	fputs(style, out);
	fputs("</head><body>\n<h1>bpfbench</h1>\n<p class=faint>", out);
	bb_html_text(out, r->id);
	fputs(" · ", out);
	bb_html_text(out, r->started ? r->started : "time unknown");
	fputs(" · kernel ", out);
	bb_html_text(out, r->fingerprint.kernel_release);
	fputs(" · ", out);
	bb_html_text(out, r->fingerprint.cpu_model);
	if (isfinite(r->elapsed_s))
		fprintf(out, " · took %.1f s", r->elapsed_s);
	if (isfinite(r->steal))
		fprintf(out, " · %.0f %% steal", 100 * r->steal);
	fputs("</p>\n", out);
	if (r->incomplete) {
		fputs("<p class=bad><b>Incomplete:</b> ", out);
		bb_html_text(out, r->incomplete);
		fputs("; the page shows what was measured until then.</p>\n", out);
	}
}

/* --- verdicts ------------------------------------------------------------------------------------------------ */

static void put_comparison(FILE *out, const struct bb_comparison *c)
{
	fputs("<tr>", out);
	put_text_cell(out, c->name);
	put_number(out, c->base_ns, c->base_ns);
	put_number(out, c->head_ns, c->base_ns);
	put_percent(out, c->ratio.value);
	put_percent(out, c->ratio.lo);
	put_percent(out, c->ratio.hi);
	fprintf(out, "<td class='text verdict %s'>%s</td></tr>\n", bb_verdict_name(c->verdict), bb_verdict_name(c->verdict));
}

static int put_comparisons(FILE *out, const struct bb_report *r)
{
	const struct bb_comparison *c = r->comparisons;

	if (!r->n_comparisons)
		return 0;
	fputs("<h2>", out);
	bb_html_text(out, c->base);
	fputs(" against ", out);
	bb_html_text(out, c->head);
	fprintf(out, "</h2>\n<p class=faint>Beyond %g %% counts (the grey band); %g is the chance of a false verdict.</p>\n",
		100 * c->threshold, c->alpha);
	fputs("<div class=scroll><table><tr><th>case<th>base, ns<th>head, ns<th>difference<th>from<th>to<th class=text>verdict</tr>\n",
	      out);
	for (size_t i = 0; i < r->n_comparisons; i++)
		put_comparison(out, &r->comparisons[i]);
	fputs("</table></div>\n", out);
	return bb_html_verdict_chart(out, r);
}

/* --- cases --------------------------------------------------------------------------------------------------- */

static void put_case_row(FILE *out, const struct bb_case *c)
{
	const struct bb_summary *s = &c->summary;

	fputs("<tr>", out);
	put_text_cell(out, c->variant);
	put_number(out, s->latency.value, s->latency.value);
	put_number(out, s->latency.lo, s->latency.value);
	put_number(out, s->latency.hi, s->latency.value);
	put_number(out, s->p50.value, s->p50.value);
	put_number(out, s->p90.value, s->p90.value);
	put_number(out, s->p99.value, s->p99.value);
	put_number(out, s->net.value, s->latency.value);
	fprintf(out, "<td>%u</td><td>%llu</td></tr>\n", s->loads, (unsigned long long)s->samples);
}

static void put_group_title(FILE *out, const struct bb_case *c)
{
	fputs("<h3>", out);
	bb_html_text(out, c->scenario);
	fputs(", ", out);
	bb_html_text(out, c->drive);
	if (c->param) {
		fputs(", ", out);
		bb_html_text(out, c->param);
		fprintf(out, " = %u", c->param_value);
	}
	fputs("</h3>\n", out);
}

/* All cases of one table: figures, where they lie, and how the samples are distributed. */
static int put_group(FILE *out, const struct bb_report *r, size_t first)
{
	int rc;

	put_group_title(out, &r->cases[first]);
	fputs("<div class=scroll><table><tr><th>variant<th>latency, ns<th>from<th>to<th>p50<th>p90<th>p99<th>net of floor<th>loads"
	      "<th>samples</tr>\n", out);
	for (size_t i = first; i < r->n_cases; i++)
		if (bb_same_table(&r->cases[i], &r->cases[first]))
			put_case_row(out, &r->cases[i]);
	fputs("</table></div>\n", out);
	rc = bb_html_latency_chart(out, r, first);
	return rc ? rc : bb_html_ecdf_chart(out, r, first);
}

static int put_cases(FILE *out, const struct bb_report *r)
{
	int rc = 0;

	fputs("<h2>Cost of a run</h2>\n<p class=faint>Latency: median over program loads of the mean without outliers, with its "
	      "95 % interval. The thin line goes to p99.</p>\n", out);
	for (size_t i = 0; !rc && i < r->n_cases; i++)
		if (bb_is_first_of_curves(r, i))
			rc = bb_html_curve_chart(out, r, i);
	for (size_t i = 0; !rc && i < r->n_cases; i++)
		if (bb_is_first_of_table(r, i))
			rc = put_group(out, r, i);
	if (!r->n_cases)
		fputs("<p>Nothing was measured.</p>\n", out);
	return rc;
}

/* --- the rest ------------------------------------------------------------------------------------------------ */

static void put_programs(FILE *out, const struct bb_report *r)
{
	if (!r->n_programs)
		return;
	fputs("<h2>Programs</h2>\n<div class=scroll><table><tr><th>variant<th class=text>program<th class=text>type", out);
	for (size_t k = 0; k < bb_n_static_metrics; k++) {
		fputs("<th title='", out);
		bb_html_text(out, bb_static_metrics[k].doc);
		fprintf(out, "'>%s, %s", bb_static_metrics[k].slug, bb_static_metrics[k].unit);
	}
	fputs("</tr>\n", out);
	for (size_t i = 0; i < r->n_programs; i++) {
		const struct bb_program *p = &r->programs[i];

		fputs("<tr>", out);
		put_text_cell(out, p->variant);
		put_text_cell(out, p->program);
		put_text_cell(out, p->type);
		for (size_t k = 0; k < bb_n_static_metrics; k++)
			put_number(out, bb_static_of(&p->metrics, &bb_static_metrics[k]), BB_WHOLE);
		fputs("</tr>\n", out);
	}
	fputs("</table></div>\n", out);
}

static void put_notes(FILE *out, const struct bb_report *r)
{
	size_t n = r->n_skips;

	for (size_t i = 0; i < r->n_cases; i++)
		n += r->cases[i].summary.voids > 0;
	if (!n)
		return;
	fputs("<h2>What does not count</h2>\n<ul>\n", out);
	for (size_t i = 0; i < r->n_skips; i++) {
		fputs("<li>skipped: ", out);
		bb_html_text(out, r->skips[i].what);
		fputs(": ", out);
		bb_html_text(out, r->skips[i].why);
		fputs("</li>\n", out);
	}
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		const char *why = NULL;

		for (size_t k = 0; !why && k < c->n_series; k++)
			why = c->series[k].void_why;
		if (!c->summary.voids)
			continue;
		fputs("<li>void: ", out);
		bb_html_text(out, c->name);
		fprintf(out, ": %u of %zu series (", c->summary.voids, c->n_series);
		bb_html_text(out, why);
		fputs(")</li>\n", out);
	}
	fputs("</ul>\n", out);
}

static void put_machine(FILE *out, const struct bb_report *r)
{
	fputs("<h2>Machine</h2>\n<div class=scroll><table>\n", out);
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		fputs("<tr><th title='", out);
		bb_html_text(out, bb_fingerprint_fields[i].doc);
		fputs("'>", out);
		bb_html_text(out, bb_fingerprint_fields[i].key);
		fputs("</th><td class='text wrap'>", out);
		bb_html_text(out, bb_fingerprint_get(&r->fingerprint, i));
		fputs("</td></tr>\n", out);
	}
	fputs("<tr><th>command</th><td class='text wrap'>", out);
	bb_html_text(out, r->command);
	fprintf(out, "</td></tr>\n<tr><th>seed</th><td class=text>0x%llx</td></tr>\n</table></div>\n", (unsigned long long)r->seed);
}

int bb_html__write(const struct bb_report *r, FILE *out)
{
	int rc;

	put_head(out, r);
	rc = put_comparisons(out, r);
	if (!rc)
		rc = put_cases(out, r);
	if (rc)
		return rc;
	put_programs(out, r);
	put_notes(out, r);
	put_machine(out, r);
	fputs("</body></html>\n", out);
	return 0;
}
