/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/err.h"
#include "base/process.h"
#include "cli/cmd.h"
#include "cli/history_print.h"
#include "cli/lines_flame.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "export/exporter.h"
#include "html/figures.h"
#include "html/html.h"
#include "judge/timeline.h"
#include "profile/flame.h"
#include "profile/stacks.h"
#include "report/report.h"

#define TIME_LIMIT "60" /* s, for all pictures of a run */
#define TIMED_OUT 124   /* exit code of timeout(1) */
#define SCRIPT "plot.sh: "

struct drawing {
	const struct bb_report *report;
	const struct bb_timeline *history;
	char *dir; /* a folder of our own for data and pictures */
};

/* --- what there is to draw, as plots/ reads it: names are data in files, never a command --- */

static int put_data(const struct drawing *d, FILE *out, struct bb_err *err)
{
	return bb_export_plot(d->report, out, err);
}

static int put_history(const struct drawing *d, FILE *out, struct bb_err *err)
{
	(void)err;
	bb_history_print_tsv(d->history, d->report, out);
	return 0;
}

static int put_id(const struct drawing *d, FILE *out, struct bb_err *err)
{
	(void)err;
	fputs(d->report->id, out);
	return 0;
}

static int write_input(const struct drawing *d, const char *name,
		       int (*put)(const struct drawing *d, FILE *out, struct bb_err *err),
		       struct bb_err *err)
{
	char *path;
	FILE *out;
	int rc;

	if (asprintf(&path, "%s/%s", d->dir, name) < 0)
		return bb_fail_nomem(err);
	out = fopen(path, "wxe");
	if (!out) {
		rc = -errno;
		bb_fail(err, rc, "%s: %s", path, strerror(-rc));
	} else {
		rc = put(d, out, err);
		if ((ferror(out) | fclose(out)) && !rc)
			rc = bb_fail(err, -EIO, "%s: cannot be written", path);
	}
	free(path);
	return rc;
}

static int write_inputs(const struct drawing *d, struct bb_err *err)
{
	int rc = write_input(d, "data", put_data, err);

	if (!rc)
		rc = write_input(d, "history", put_history, err);
	return rc ? rc : write_input(d, "id", put_id, err);
}

/* --- drawing --- */

/* The last line that the script said, without its name. */
static char *last_words(const char *log)
{
	size_t len = strlen(log), from;

	while (len && log[len - 1] == '\n')
		len--;
	for (from = len; from && log[from - 1] != '\n';)
		from--;
	if (!strncmp(log + from, SCRIPT, strlen(SCRIPT)))
		from += strlen(SCRIPT);
	return strndup(log + from, len - from);
}

static int run_script(const struct drawing *d, const char *script, char **ret_why,
		      struct bb_err *err)
{
	const char *const argv[] = {"timeout", "-k",     "2",    TIME_LIMIT, "bash",
				    script,    "--page", d->dir, NULL};
	struct bb_process p = {.argv = argv};
	struct bb_process_end end;
	int rc;

	bb_caller(&p.uid, &p.gid);
	rc = bb_process__run(&p, &end, err);
	if (rc)
		return rc;
	if (end.status == TIMED_OUT)
		*ret_why = strdup("gnuplot was still drawing after " TIME_LIMIT " s");
	else if (end.status)
		*ret_why = last_words(end.log);
	if (end.status && !*ret_why)
		rc = bb_fail_nomem(err);
	bb_process_end__done(&end);
	return rc;
}

static int draw_by_script(const struct drawing *d, struct bb_figures *figures, struct bb_err *err)
{
	struct bb_paths paths;
	char *script = NULL, *why = NULL;
	int rc = write_inputs(d, err);

	if (!rc)
		rc = bb_paths__find(&paths, err);
	if (rc)
		return rc;
	if (asprintf(&script, "%s/plot.sh", paths.plot_dir) < 0)
		rc = bb_fail_nomem(err);
	if (!rc)
		rc = run_script(d, script, &why, err);
	if (!rc && !why)
		rc = bb_figures__read(d->dir, figures, err);
	if (!rc)
		figures->why = why;
	free(script);
	bb_paths__done(&paths);
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

/*
 * The pictures of a run and of its history, drawn by gnuplot (plots/plot.sh): as the calling user,
 * for a minute at the most. Where it draws nothing, ret_figures->why has the reason and the package
 * to install. 0; -EINTR after a signal to us, -ENOMEM.
 */
static int draw_figures(const struct bb_report *r, const struct bb_timeline *history,
			struct bb_figures *ret_figures, struct bb_err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct drawing d = {.report = r, .history = history};
	struct bb_figures figures = {0};
	struct bb_err why = {0};
	int rc;

	if (asprintf(&d.dir, "%s/bpfbench-figures-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		return bb_fail_nomem(err);
	if (!mkdtemp(d.dir)) {
		rc = -errno;
		bb_fail(&why, rc, "%s: no folder can be made there: %s", tmp && *tmp ? tmp : "/tmp",
			strerror(-rc));
	} else {
		rc = draw_by_script(&d, &figures, &why);
		nftw(d.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	}
	free(d.dir);
	if (rc == -EINTR || rc == -ENOMEM) {
		*err = why;
		return rc;
	}
	if (rc)
		figures.why = strdup(why.msg);
	*ret_figures = figures;
	return 0;
}

#define FLAME_BYTES 1200000u /* of frames, on the page */

struct report_args {
	struct bb_strings runs;
	const char *results, *output, *folded;
};

#define AT(member) offsetof(struct report_args, member)
#define TO(member) .at = AT(member)

static const struct bb_option options[] = {
	{"output", 'o', "FILE",
	 "write to this file, whole or not at all (default report.html; - is stdout)", bb_read_text,
	 TO(output)},
	{"folded", 0, "FILE",
	 "folded stacks for the flame graph of the first run (default: RUN.folded beside it, if "
	 "there is one)",
	 bb_read_text, TO(folded)},
	BB_RESULTS_OPTION(AT(results)),
	{0},
};

static const struct bb_usage usage = {
	.arguments = "[RUN...]",
	.doc = "Write one HTML page about stored runs that needs no other file: verdicts, "
	       "distributions, history, flame graph, source with the executions of each line, the "
	       "machine. Measures nothing.",
	.more = BB_RUN_DOC,
	.example = "  bpfbench report latest -o report.html\n",
	.sets = {{NULL, options, 0}},
	.argument = {.read = bb_read_strings, .at = AT(runs)},
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
	struct bb_flame_opts opts = {.max_bytes = FLAME_BYTES, .title = basename(path)};
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
		rc = draw_figures(page->reports[i], &page->history, &page->figures[i], err);
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

	bb_usage__parse(&usage, argc, argv, &a);
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
