/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html.h"

#include "base/asset.h"
#include "base/text.h"
#include "core/drive_kind.h"
#include "export/documents.h"
#include "judge/annotated.h"

BB_ASSET(page_html, "harness/html/page.html");
BB_ASSET(page_css, "harness/html/page.css");

/* Comparisons after these are folded. */
#define OPEN_COMPARISONS 16u
/* With more tables of lines than these, all are folded. */
#define OPEN_LINES 3u
/* With more sources of programs than these, all are folded. */
#define OPEN_PROGRAMS 2u
#define HOTTEST 5u
#define NAMED_IN_TITLE 3u
#define HOT_SHARE 0.1 /* least share of all instructions of a hot line */

/* A table that is wider than the screen scrolls in this <div>. */
#define BEGIN_TABLE "<div class=scroll tabindex=0><table"
#define END_TABLE "</table></div>\n"

static void put_element(FILE *out, const char *begin, const char *text, const char *end)
{
	fputs(begin, out);
	bb_xml_text(out, text);
	fputs(end, out);
}

/* Frees the document, too. */
static void put_document(struct bb_doc *d, FILE *out)
{
	bb_doc__html(d, out);
	bb_doc__done(d);
}

static bool is_of(const struct bb_figure *f, const struct bb_case *c)
{
	return !strcmp(f->scenario, c->scenario) && !strcmp(f->drive, c->drive) &&
	       !strcmp(f->param, c->param ? c->param : "-");
}

/* Writes the figures of kinds[], kind by kind. kinds[] ends in NULL. If `c` is not NULL, writes
 * only figures of its scenario, drive and parameter. */
static void put_figures(FILE *out, const struct bb_html_page *page, size_t nth,
			const char *const *kinds, const struct bb_case *c)
{
	const struct bb_figures *f = page->figures;

	fputs("<div class=charts>\n", out);
	for (; *kinds; kinds++)
		for (size_t i = 0; f && i < f->n; i++) {
			const struct bb_figure *v = &f->v[i];
			char prefix[64];

			if (strcmp(v->kind, *kinds) || (c && !is_of(v, c)))
				continue;
			/* the prefix makes ids unique on the page */
			snprintf(prefix, sizeof(prefix), "p%zu-%zu-", nth, i);
			fputs("<figure class=plot>\n", out);
			/* writes nothing if the picture is not by gnuplot */
			bb_svg__embed(out, v->svg, prefix);
			put_element(out, "\n<figcaption><b>", v->what, "</b>. ");
			put_element(out, "", v->how ? v->how : "", "</figcaption></figure>\n");
		}
	fputs("</div>\n", out);
}

static void put_verdicts(FILE *out, const struct bb_html_page *page, size_t nth)
{
	static const char *const kinds[] = {"ab", NULL};
	struct bb_doc d = {0};

	if (!page->report->n_comparisons)
		return;
	put_figures(out, page, nth, kinds, NULL);
	bb_doc_comparisons(page->report, OPEN_COMPARISONS, BB_SHORT, &d);
	put_document(&d, out);
}

/* Writes figures and tables of the cases with one scenario, drive and parameter. `first` is the
 * index of the first of them. */
static void put_group(FILE *out, const struct bb_html_page *page, size_t nth, size_t first)
{
	/* Figures have different heights, and this order leaves the smallest holes on the page.
	 * kinds[1] is the order with a figure "layout", kinds[0] the order without one. */
	static const char *const kinds[2][11] = {
		{"net", "depth", "entries", "input", "slowdown", "quantiles", "ecdf", "backlog"},
		{"net", "depth", "entries", "input", "slowdown", "ecdf", "quantiles", "backlog",
		 "layout"},
	};
	const struct bb_figures *f = page->figures;
	const struct bb_report *r = page->report;
	const struct bb_case *c = &r->cases[first];
	struct bb_doc d = {0}, title, tables;

	if (bb_is_of_values(r, first))
		bb_doc_group_title(c, false, "", &d);
	for (size_t i = first; i < r->n_cases; i++) {
		if (!bb_same_group(&r->cases[i], c))
			continue;
		if (bb_is_first_of_table(r, i)) {
			bb_doc_table(r, i, BB_DETAILS, &d);
		} else if (bb_is_sweep_head(r, i)) {
			bb_doc_sweep(r, i, &d);
			bb_doc_in_vain(r, &r->cases[i], &d);
		}
	}
	title = tables = d;
	title.n = 1;
	tables.blocks++;
	tables.n--;
	bb_doc__html(&title, out);
	put_figures(out, page, nth,
		    kinds[f && BB_ANY(f->v, f->n, !strcmp(it->kind, "layout") && is_of(it, c))], c);
	bb_doc__html(&tables, out);
	bb_doc__done(&d);
}

static void put_cases(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;
	const struct bb_drive_kind *kind = r->n_cases ? bb_drive_kind_named(r->cases[0].drive)
						      : NULL;
	struct bb_doc d = {0};

	if (kind && bb_counts_instructions(r))
		fputs("<p class=bad>" BB_COUNTS_INSTRUCTIONS "</p>\n", out);
	if (kind && !kind->sample.is_lag)
		fprintf(out, "<p class=faint>Latency: %s.</p>\n",
			kind->fills & BB_FILLS_MEAN
				? "the mean time of all runs"
				: "the time of a run with its 95 % interval, as the mean without "
				  "outliers over all addresses modulo 64 at which the JIT may put "
				  "the program, or, where these are not known, as the median over "
				  "its loads");
	for (size_t i = 0; i < r->n_cases; i++)
		if (bb_is_first_of_group(r, i))
			put_group(out, page, nth, i);
	bb_doc_classes(r, &d);
	put_document(&d, out);
	if (!r->n_cases)
		fputs("<p>Nothing was timed.</p>\n", out);
}

static void put_all_lines(FILE *out, const struct bb_html_page *page, size_t)
{
	const struct bb_report *r = page->report;

	if (!r->n_timed)
		return;
	fputs("<p class=faint>Nanoseconds of one run, by source line and call: the differences "
	      "between runs that end at one point and at the next. Less than 3 ns cannot be told "
	      "from nothing.</p>\n",
	      out);
	for (size_t i = 0; i < r->n_timed; i++) {
		const struct bb_timed *t = &r->timed[i];
		const char *value = t->param ? strrchr(t->name, '/') : NULL;
		struct bb_by_line b;
		struct bb_doc d = {0};
		char sentence[1000];

		bb_by_line__make(r, t, &b);
		bb_by_line__sentence(&b, sentence, sizeof(sentence));
		fprintf(out, "<details%s><summary><b>", r->n_timed <= OPEN_LINES ? " open" : "");
		/* "ringbuf, stack_depth=8": the heading of the page has the scenario */
		bb_xml_text(out, t->variant);
		if (value)
			put_element(out, ", ", value + 1, "");
		if (bb_timed__is_cold(t))
			fputs(", cold caches", out);
		fprintf(out, "</b>: %s ns per run; ", bb_table_cell_value(b.program.value).text);
		put_element(out, "", sentence, "</summary>\n");
		bb_by_line__cold_sentence(&b, sentence, sizeof(sentence));
		if (sentence[0])
			put_element(out, "<p>", sentence, "</p>\n");
		if (page->line_flames && page->line_flames[i])
			fputs(page->line_flames[i], out);
		bb_doc_by_line_table(&b, false, true, &d);
		put_document(&d, out);
		fputs("</details>\n", out);
		bb_by_line__done(&b);
	}
}

/* A program with its number in the run (`nth`) and the run's number on the page (`page`). They make
 * the ids of its lines unique. */
struct program {
	const struct bb_counted *counted;
	size_t page, nth;
};

static double per_run(const struct program *p, uint64_t n)
{
	return (double)n / (double)p->counted->runs;
}

static double share_of(const struct program *p, const struct bb_counted_line *l)
{
	return (double)l->instructions / (double)p->counted->instructions;
}

static void put_line_name(FILE *out, const struct program *p, const struct bb_counted_line *l)
{
	fprintf(out, "l%zu-%zu-%td", p->page, p->nth, l - p->counted->lines);
}

static void put_file(FILE *out, const struct program *p, const struct bb_counted_line *lines,
		     size_t n)
{
	struct bb_annotated file = bb_annotated__make(lines, n);

	put_element(out, "<p><b>", file.path, "</b>");
	fprintf(out,
		"%s</p>\n" BEGIN_TABLE " class=code><thead><tr><th>insns/run<th>%%<th>execs/"
		"run<th>line<th class=text>source</tr></thead>\n",
		bb_source_note(file.state));
	for (size_t i = 0; i < file.n; i++) {
		const struct bb_annotated_row *row = &file.rows[i];
		const struct bb_counted_line *l = row->counted;
		double share = l ? share_of(p, l) : 0;

		if (!l && !row->text) {
			fputs("<tr><td><td><td><td>…<td></tr>\n", out);
			continue;
		}
		fputs(l ? "<tr id=" : "<tr><td><td><td>", out);
		if (l)
			put_line_name(out, p, l);
		if (l && l->executions)
			fprintf(out,
				"%s><td>%.2f<td class=share style='--share:%.0f%%'>%.1f<td>%.2f",
				share >= HOT_SHARE ? " class=hot" : "", per_run(p, l->instructions),
				100 * share, 100 * share, per_run(p, l->executions));
		else if (l)
			fputs(" class=never><td>0<td class=share>0<td>#####", out);
		fprintf(out, "<td>%u<td class=src>", row->line);
		put_element(out, "", row->text, "</tr>\n");
	}
	fputs(END_TABLE, out);
	bb_annotated__done(&file);
}

/* Returns how many decimals a mean number of instructions or calls gets. */
static int decimals(double mean)
{
	return mean == round(mean) ? 0 : 2;
}

static void put_program(FILE *out, const struct program *p, bool open)
{
	const struct bb_counted *c = p->counted;
	double mean = c->runs ? per_run(p, c->instructions) : 0;

	fprintf(out, "<details%s><summary><b>", open ? " open" : "");
	put_element(out, "", c->name, "</b>: ");
	if (c->runs)
		fprintf(out, "%.*f instructions per run over %" PRIu64 " runs; ", decimals(mean),
			mean, c->runs);
	fprintf(out, "%u in the program, %u block%s, %" PRIu64 " path%s</summary>\n", c->n_insns,
		c->n_blocks, bb_plural(c->n_blocks), c->paths, bb_plural(c->paths));
	for (size_t i = 0; i < c->n_calls && c->runs; i++) {
		double calls = per_run(p, c->calls[i].calls);

		fprintf(out, "%s%.*f", i ? ", " : "<p>Calls per run: ", decimals(calls), calls);
		put_element(out, " <code>", c->calls[i].name, "</code>");
	}
	if (c->n_calls && c->runs)
		fputs(".</p>\n", out);
	if (!c->runs)
		fputs("<p>Nothing ran.</p>\n", out);
	else if (!c->n_lines)
		fputs("<p>No line information: the object was built without -g, or stripped of "
		      "its .BTF.ext.</p>\n",
		      out);
	else {
		const struct bb_counted_line **order = bb_counted__hottest(c);

		fputs("<p>Hottest lines:", out);
		for (size_t i = 0; i < c->n_lines && i < HOTTEST && order[i]->instructions; i++) {
			fprintf(out, "%s <a href='#", i ? "," : "");
			put_line_name(out, p, order[i]);
			put_element(out, "'>", basename(order[i]->file), "");
			fprintf(out, ":%u</a> %.1f %%", order[i]->line,
				100 * share_of(p, order[i]));
		}
		fputs(".</p>\n", out);
		free(order);
	}
	for (size_t i = 0, n; c->runs && i < c->n_lines; i += n) {
		n = bb_counted__lines_of_file(c, i);
		put_file(out, p, &c->lines[i], n);
	}
	fputs("</details>\n", out);
}

static void put_source(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;
	struct bb_doc d = {0};

	if (!r->n_counted)
		return;
	fputs("<p class=faint>Instructions of a run: exact counts, the same in every run of a "
	      "case; what helpers execute themselves is not in them. ##### marks lines that were "
	      "never executed.</p>\n",
	      out);
	bb_doc_counted(r, BB_DETAILS, &d);
	put_document(&d, out);
	for (size_t i = 0; i < r->n_counted; i++)
		put_program(out, &(struct program){&r->counted[i], nth, i},
			    r->n_counted <= OPEN_PROGRAMS);
}

/* Writes what changed in the newest run, figures over all stored runs, and a table of the cases. */
static void put_history(FILE *out, const struct bb_html_page *page, size_t nth)
{
	static const char *const kinds[] = {"history", NULL};
	const struct bb_report *r = page->report;
	size_t n = page->history ? bb_history_n_runs(page->history, r) : 0;
	struct bb_doc d = {0};

	if (!n)
		return;
	if (n == 1) {
		fputs("<p>One run is stored: history begins with the second.</p>\n", out);
		return;
	}
	bb_doc_history_news(page->history, r, &d);
	put_document(&d, out);
	put_figures(out, page, nth, kinds, NULL);
	bb_doc__add(&d, BB_DOC_FAINT, NULL,
		    "Each case is judged by one of three figures, the one that its runs predict "
		    "best: the ratio to the anchor program of the same run, the latency in pieces "
		    "of the reference, or the latency in ns. Within the limit it is steady; a run "
		    "on another machine than now, or an incomplete one, is not judged. The first "
		    "%zu are learnt from.",
		    bb_history_default_rule.window_min);
	bb_doc_history(page->history, r, "", &d);
	put_document(&d, out);
}

static void put_flame(FILE *out, const struct bb_html_page *page, size_t)
{
	fputs(page->flame ? page->flame : "", out);
}

static void put_programs(FILE *out, const struct bb_html_page *page, size_t)
{
	struct bb_doc d = {0};

	bb_doc_programs(page->report, &d);
	put_document(&d, out);
}

static void put_notes(FILE *out, const struct bb_html_page *page, size_t)
{
	struct bb_doc d = {0};

	bb_doc_notes(page->report, BB_SHORT, &d);
	put_document(&d, out);
}

static void put_machine(FILE *out, const struct bb_html_page *page, size_t)
{
	const struct bb_report *r = page->report;

	put_element(out, BEGIN_TABLE " class=pairs>\n<tr><th>run</th><td class=text>", r->id,
		    "</td></tr>\n");
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		put_element(out, "<tr><th title='", bb_fingerprint_fields[i].doc, "'>");
		put_element(out, "", bb_fingerprint_fields[i].key, "</th><td class=text>");
		put_element(out, "", bb_fingerprint_get(&r->fingerprint, i), "</td></tr>\n");
	}
	put_element(out, "<tr><th>command</th><td class=text>", r->command, "</td></tr>\n");
	fprintf(out, "<tr><th>seed</th><td class=text>0x%" PRIx64 "</td></tr>\n" END_TABLE,
		r->seed);
}

static const struct section {
	const char *slug, *title;
	/* writes nothing if the page does not have this section */
	void (*put)(FILE *out, const struct bb_html_page *page, size_t nth);
} sections[] = {
	{"verdicts", "Verdicts", put_verdicts},
	{"cost", "Cost of a run", put_cases},
	{"history", "History", put_history},
	{"lines", "Time by line", put_all_lines},
	{"source", "Instructions and source", put_source},
	{"flame", "Flame graph", put_flame},
	{"programs", "Programs", put_programs},
	{"notes", "Notes", put_notes},
	{"machine", "Run and machine", put_machine},
};

/* Writes `before`, then the first NAMED_IN_TITLE distinct texts of the report's cases, then how
 * many more there are. Writes nothing without texts. */
static void put_distinct(FILE *out, const char *before, const struct bb_report *r,
			 const char *(*text_of)(const struct bb_report *, size_t))
{
	size_t n = 0;

	for (size_t i = 0, k; i < r->n_cases; i++) {
		const char *text = text_of(r, i);

		for (k = 0; text && k < i && !bb_same_text(text, text_of(r, k));)
			k++;
		if (!text || k < i)
			continue;
		if (n < NAMED_IN_TITLE)
			put_element(out, n ? ", " : before, text, "");
		n++;
	}
	if (n > NAMED_IN_TITLE)
		fprintf(out, " and %zu more", n - NAMED_IN_TITLE);
}

static const char *scenario_of(const struct bb_report *r, size_t i)
{
	return r->cases[i].scenario;
}

/* NULL for the empty program, or one path of a program */
static const char *program_of(const struct bb_report *r, size_t i)
{
	const struct bb_case *c = &r->cases[i];
	bool is_path = c->is_live && isfinite(c->path_share);

	return bb_is_floor(r, c) || is_path ? NULL : c->variant;
}

/* Returns the trigger or event that makes the program run in case i. If it is not known, returns
 * the name of the drive, or NULL if the scenario has the same name. */
static const char *run_by(const struct bb_report *r, size_t i)
{
	const struct bb_case *c = &r->cases[i];

	if (c->fired_by)
		return c->fired_by;
	return strcmp(c->drive, c->scenario) ? c->drive : NULL;
}

/* Writes "perf_profiler: ringbuf, stackid and 4 more, by step, in-situ". If all comparisons have
 * one base and one head, writes "perf_profiler: A: ringbuf, B: stackid, by step". */
static void put_heading(FILE *out, const struct bb_report *r)
{
	const struct bb_comparison *c = r->comparisons;

	/* NULL unless all comparisons have one base and one head */
	if (BB_ANY(c, r->n_comparisons,
		   !bb_same_text(it->base, c->base) || !bb_same_text(it->head, c->head)))
		c = NULL;

	if (!r->n_cases && !c)
		bb_xml_text(out, r->n_counted ? r->counted[0].scenario : r->id);
	put_distinct(out, "", r, scenario_of);
	if (c) {
		put_element(out, r->n_cases ? ": A: " : "A: ", c->base, ", B: ");
		bb_xml_text(out, c->head);
	} else {
		put_distinct(out, ": ", r, program_of);
	}
	put_distinct(out, ", by ", r, run_by);
}

static void put_run(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;
	char *text, *all_text;
	size_t len, all_len;
	FILE *mem, *all = bb_open_memstream(&all_text, &all_len);

	fputs("<article>\n<h1>", out);
	put_heading(out, r);
	fputs("</h1>\n<p class=faint>", out);
	bb_xml_text(out, r->started ? r->started : "time unknown");
	put_element(out, " · kernel ", r->fingerprint.kernel_release, " · ");
	bb_xml_text(out, r->fingerprint.cpu_model);
	if (isfinite(r->elapsed_s))
		fprintf(out, " · took %.1f s", r->elapsed_s);
	if (isfinite(r->steal))
		fprintf(out, " · %.0f %% steal", 100 * r->steal);
	fputs("</p>\n", out);
	if (r->incomplete)
		put_element(out, "<p class=bad><b>Incomplete:</b> ", r->incomplete,
			    "; the page shows the samples taken until then.</p>\n");
	if (!page->figures || !page->figures->n)
		put_element(out, "<p class=faint>No pictures: ",
			    page->figures && page->figures->why ? page->figures->why
								: "bpfbench report draws them, "
								  "with gnuplot",
			    ".</p>\n");
	fputs("<nav>", out);
	for (size_t i = 0; i < BB_LEN(sections); i++) {
		const struct section *s = &sections[i];
		/* the flame graph of `inside` shows paths and not stacks */
		bool is_paths = s->put == put_flame && bb_has_drive(r, BB_DRIVE_INSIDE);
		const char *title = is_paths ? "Paths" : s->title;
		/* "history" in the first run of the page, "history-2" in the second */
		struct bb_table_cell id = nth ? bb_table_cell_of("%s-%zu", s->slug, nth + 1)
					      : bb_table_cell_of("%s", s->slug);

		mem = bb_open_memstream(&text, &len);
		s->put(mem, page, nth);
		bb_close_memstream(mem);
		if (len) {
			fprintf(out, "<a href='#%s'>%s</a>\n", id.text, title);
			fprintf(all, "<section id=%s>\n<h2>%s</h2>\n%s</section>\n", id.text, title,
				text);
		}
		free(text);
	}
	bb_close_memstream(all);
	fputs("</nav>\n", out);
	fputs(all_text, out);
	fputs("</article>\n", out);
	free(all_text);
}

/* Writes the template from `at` up to the word `until`. Returns the text after that word. */
static const char *put_until(FILE *out, const char *at, const char *until)
{
	const char *blank = strstr(at, until);

	fwrite(at, 1, (size_t)(blank - at), out);
	return blank + strlen(until);
}

void bb_html__write(const struct bb_html_page *pages, size_t n, FILE *out)
{
	const char *at = put_until(out, page_html, "@TITLE@");

	for (size_t i = 0; i < n; i++) {
		fputs(i ? "; " : "", out);
		put_heading(out, pages[i].report);
	}
	at = put_until(out, at, "@STYLE@");
	fputs(page_css, out);
	at = put_until(out, at, "@RUNS@");
	for (size_t i = 0; i < n; i++)
		put_run(out, &pages[i], i);
	fputs(at, out);
}

int bb_export_html(const struct bb_report *r, FILE *out, struct bb_err *)
{
	bb_html__write(&(struct bb_html_page){.report = r}, 1, out);
	return 0;
}
