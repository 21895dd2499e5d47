/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/figures.h"
#include "cli/options.h"
#include "cli/output.h"
#include "html/html.h"
#include "cli/lines_flame.h"
#include "profile/flame.h"
#include "profile/stacks.h"

#define FLAME_BYTES 1200000u /* of frames, on the page */

struct report_args {
	struct bb_strings runs;
	const char *results, *output, *folded;
};

enum { KEY_FOLDED = 0x100 };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0,
	 "write to this file, whole or not at all (default report.html; - is stdout)", 0},
	{"folded", KEY_FOLDED, "FILE", 0,
	 "folded stacks for the flame graph of the first run (default: RUN.folded beside it, if "
	 "there is one)",
	 0},
	BB_RESULTS_OPTION,
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;

	switch (key) {
	case 'o': a->output = strcmp(arg, "-") ? arg : NULL; break;
	case KEY_FOLDED: a->folded = arg; break;
	case BB_KEY_RESULTS: a->results = arg; break;
	case ARGP_KEY_ARG: bb_strings_add(&a->runs, arg, state); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[RUN...]",
	.doc = "Write one HTML page about stored runs that needs no other file: verdicts, "
	       "distributions, history, flame graph, source with the executions of each line, the "
	       "machine. Measures nothing.\v" BB_RUN_DOC,
};

/* What the page is made of. */
struct page {
	struct bb_html_page *v;     /* v[n] */
	struct bb_report **reports; /* reports[n], of v */
	char **flames;              /* flames[n], of v */
	char ***line_flames;        /* line_flames[n][of the times by line] */
	struct bb_figures *figures; /* figures[n], of v */
	size_t n;
	struct bb_timeline history;
};

static void page_done(struct page *p)
{
	for (size_t i = 0; p->reports && p->flames && p->line_flames && p->figures && i < p->n;
	     i++) {
		for (size_t k = 0; p->line_flames[i] && k < p->reports[i]->n_timed; k++)
			free(p->line_flames[i][k]);
		free(p->line_flames[i]);
		bb_report__free(p->reports[i]);
		free(p->flames[i]);
		bb_figures__done(&p->figures[i]);
	}
	free(p->figures);
	free(p->reports);
	free(p->flames);
	free(p->line_flames);
	free(p->v);
	bb_timeline__done(&p->history);
}

/* `profile --off-cpu` writes microseconds; what else has folded stacks counts samples. */
static const char *unit_of(const struct bb_stacks *s)
{
	for (size_t i = 0; i < s->n_frames; i++)
		if (s->frames[i].kind == BB_FRAME_OFF_CPU)
			return "us";
	return "samples";
}

/* The flame graph of folded stacks, as HTML. */
static int draw_flame(const char *path, char **ret_html, struct bb_err *err)
{
	const char *slash = strrchr(path, '/');
	struct bb_flame_opts opts = {.max_bytes = FLAME_BYTES, .title = slash ? slash + 1 : path};
	struct bb_stacks stacks;
	char *html = NULL;
	size_t len;
	FILE *mem;
	int failed, rc = bb_folded__read(path, &stacks, err);

	if (rc)
		return rc;
	opts.unit = unit_of(&stacks);
	mem = open_memstream(&html, &len);
	rc = mem ? bb_flame__write_html(&stacks, &opts, mem) : -ENOMEM;
	if (mem) {
		failed = ferror(mem);
		rc = fclose(mem) || failed ? -ENOMEM : rc;
	}
	bb_stacks__done(&stacks);
	if (rc) {
		free(html);
		return bb_fail_nomem(err);
	}
	*ret_html = html;
	return 0;
}

/* A run stores its stacks as ID.folded, beside its ID.json. */
static int find_flame(const struct report_args *a, const char *which, const struct bb_report *r,
		      char **ret_html, struct bb_err *err)
{
	const char *slash = which ? strrchr(which, '/') : NULL;
	char *path;
	int rc = 0;

	if ((slash ? asprintf(&path, "%.*s/%s.folded", (int)(slash - which), which, r->id)
		   : asprintf(&path, "%s/%s.folded", a->results, r->id)) < 0)
		return bb_fail_nomem(err);
	if (!access(path, F_OK))
		rc = draw_flame(path, ret_html, err);
	free(path);
	return rc;
}

static char *draw_lines(const struct bb_report *r, const struct bb_timed *t)
{
	struct bb_by_line lines;
	char *html = NULL;
	size_t len;
	FILE *mem;
	int rc;

	if (bb_by_line__make(r, t, &lines))
		return NULL;
	mem = open_memstream(&html, &len);
	rc = mem ? bb_lines_flame__write(&lines, true, mem) : -ENOMEM;
	if (mem && fclose(mem))
		rc = -ENOMEM;
	bb_by_line__done(&lines);
	if (rc) {
		free(html);
		return NULL;
	}
	return html;
}

/* One run of each program whose lines were timed, as flame graphs. */
static int draw_all_lines(const struct bb_report *r, char ***ret_flames, struct bb_err *err)
{
	char **flames = calloc(r->n_timed + 1, sizeof(*flames));

	*ret_flames = flames;
	for (size_t i = 0; flames && i < r->n_timed; i++) {
		flames[i] = draw_lines(r, &r->timed[i]);
		if (!flames[i])
			return bb_fail_nomem(err);
	}
	return flames ? 0 : bb_fail_nomem(err);
}

static int read_run(const struct report_args *a, size_t i, struct page *page, struct bb_err *err)
{
	const char *which = i < a->runs.n ? a->runs.v[i] : NULL;
	int rc = bb_read_run(which, a->results, &page->reports[i], err);

	if (rc)
		return rc;
	rc = a->folded && !i ? draw_flame(a->folded, &page->flames[i], err)
			     : find_flame(a, which, page->reports[i], &page->flames[i], err);
	if (!rc)
		rc = draw_all_lines(page->reports[i], &page->line_flames[i], err);
	page->v[i] = (struct bb_html_page){.report = page->reports[i],
					   .history = &page->history,
					   .flame = page->flames[i],
					   .line_flames = page->line_flames[i],
					   .figures = &page->figures[i]};
	return rc;
}

static int read_page(const struct report_args *a, struct page *page, struct bb_err *err)
{
	const struct bb_timeline_opts opts = {.rule = bb_history_default_rule};
	int rc = 0;

	page->n = a->runs.n ? a->runs.n : 1;
	page->v = calloc(page->n, sizeof(*page->v));
	page->reports = calloc(page->n, sizeof(*page->reports));
	page->flames = calloc(page->n, sizeof(*page->flames));
	page->line_flames = calloc(page->n, sizeof(*page->line_flames));
	page->figures = calloc(page->n, sizeof(*page->figures));
	if (!page->v || !page->reports || !page->flames || !page->line_flames || !page->figures)
		return bb_fail_nomem(err);
	for (size_t i = 0; !rc && i < page->n; i++)
		rc = read_run(a, i, page, err);
	if (!rc)
		rc = bb_timeline__read(a->results, &opts, &page->history, err);
	for (size_t i = 0; !rc && i < page->n; i++)
		rc = bb_figures__draw(page->reports[i], &page->history, &page->figures[i], err);
	return rc;
}

static int write_page(void *arg, FILE *out, struct bb_err *err)
{
	const struct page *page = arg;

	return bb_html__write(page->v, page->n, out) ? bb_fail_nomem(err) : 0;
}

static void say_written(const char *path)
{
	struct stat st;

	if (path && !stat(path, &st) && S_ISREG(st.st_mode))
		fprintf(stderr, "bpfbench: the page is %s (%.0f kB)\n", path,
			(double)st.st_size / 1000);
}

int bb_cmd_report(int argc, char **argv)
{
	struct report_args a = {.results = BB_RESULTS, .output = "report.html"};
	struct page page = {0};
	struct bb_err err = {0};
	int rc;

	bb_parse_options(&argp, argc, argv, 0, &a);
	rc = bb_output_check(a.output, &err);
	if (!rc)
		rc = read_page(&a, &page, &err);
	if (!rc)
		rc = bb_output_of(write_page, &page, a.output, &err);
	if (!rc)
		say_written(a.output);
	page_done(&page);
	free(a.runs.v);
	return rc ? bb_complain(&err) : BB_EXIT_OK;
}
