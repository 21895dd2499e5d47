/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ftw.h>

#include "base/caller.h"
#include "base/process.h"
#include "cli/options.h"
#include "cli/lines_flame.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "export/documents.h"
#include "html/html.h"
#include "store/store.h"

#define TIME_LIMIT "60" /* longest time for all pictures of a run, s */
#define TIMED_OUT 124   /* exit code of timeout(1) if the time was over */
#define SCRIPT "plot.sh: "

/* Writes the input of plots/plot.sh. Names are data in these files, never part of a command. */
static int write_inputs(const char *dir, const struct bb_report *r,
			const struct bb_timeline *history, struct bb_err *err)
{
	static const char *const names[] = {"data", "history", "id"};
	int rc = 0;

	for (int i = 0; !rc && i < 3; i++) {
		char *path = bb_asprintf("%s/%s", dir, names[i]);
		FILE *out = fopen(path, "wxe");

		if (!out)
			rc = bb_fail(err, -errno, "%s: %m", path);
		else if (i == 0)
			rc = bb_export_plot(r, out, err);
		else if (i == 1)
			bb_history_print_tsv(history, r, out);
		else
			fputs(r->id, out);
		bool failed = out && ferror(out);
		if (out && (fclose(out) || failed) && !rc)
			rc = bb_fail(err, -EIO, "%s: cannot be written", path);
		free(path);
	}
	return rc;
}

/* If plot.sh fails or takes too long, figures->why gets the reason, which is the last line of its
 * output or "gnuplot was still drawing". */
static int draw_by_script(const char *dir, const struct bb_paths *paths, struct bb_figures *figures,
			  struct bb_err *err)
{
	char *script = bb_asprintf("%s/plot.sh", paths->plot_dir), *line;
	struct bb_process_end ended;
	struct bb_process p = {0};

	bb_caller(&p.uid, &p.gid);
	p.argv = (const char *const[]){"timeout", "-k",     "2", TIME_LIMIT, "bash",
				       script,    "--page", dir, NULL};
	int rc = bb_process__run(&p, &ended, err);
	free(script);
	if (rc)
		return rc;
	if (!ended.status) {
		rc = bb_figures__read(dir, figures, err);
	} else if (ended.status == TIMED_OUT) {
		figures->why = bb_strdup("gnuplot was still drawing after " TIME_LIMIT " s");
	} else {
		while ((line = strrchr(ended.log, '\n')) && !line[1])
			*line = '\0';
		line = line ? line + 1 : ended.log;
		if (!strncmp(line, SCRIPT, strlen(SCRIPT)))
			line += strlen(SCRIPT);
		figures->why = bb_strdup(line);
	}
	bb_process_end__done(&ended);
	return rc;
}

static int remove_one(const char *path, const struct stat *, int, struct FTW *)
{
	return remove(path);
}

/* Draws the pictures by gnuplot (plots/plot.sh), as the calling user. If nothing is drawn,
 * ret_figures->why has the reason, such as a package to install. Returns 0, or -EINTR after a
 * signal. */
static int draw_figures(const struct bb_report *r, const struct bb_timeline *history,
			struct bb_figures *ret_figures, struct bb_err *err)
{
	const struct bb_paths *paths = bb_paths(err);
	struct bb_figures figures = {0};
	char *dir; /* a temporary folder for data and pictures */
	int rc = paths ? bb_scratch__make("figures", &dir, err) : err->code;

	if (!rc) {
		rc = write_inputs(dir, r, history, err);
		if (!rc)
			rc = draw_by_script(dir, paths, &figures, err);
		nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
		free(dir);
	}
	if (rc == -EINTR)
		return rc;
	if (rc)
		figures.why = bb_strdup(err->msg);
	*ret_figures = figures;
	return 0;
}

#define FLAME_BYTES 1200000u /* most bytes of a flame graph's frames on the page */

struct report_args {
	struct bb_strings runs;
	const char *results, *output, *folded;
};

#define ARGS struct report_args

static const struct bb_option options[] = {
	{"output", 'o', "FILE", bb_read_text, BB_ARG(output),
	 "write to this file, whole or not at all (default report.html; - is stdout)"},
	{"folded", 0, "FILE", bb_read_text, BB_ARG(folded),
	 "folded stacks for the flame graph of the first run (default: RUN.folded beside it, if "
	 "there is one)"},
	{"results", 0, "DIR", bb_read_text, BB_ARG(results), BB_RESULTS_DOC},
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
	.argument = {.read = bb_read_strings, .at = BB_ARG_AT(runs)},
};

struct part {
	struct bb_report *report;
	char *flame;
	char **line_flames; /* line_flames[report->n_timed] */
	struct bb_figures figures;
};

struct page {
	struct part *parts;     /* parts[n] */
	struct bb_html_page *v; /* v[n]; v[i] points to data that parts[i] owns */
	size_t n;
	struct bb_timeline history;
};

/* `bpfbench inside` stores paths as folded stacks. In them, the frame kinds of a profile have these
 * meanings. */
static const char *const legend_of_paths[BB_N_FRAME_KINDS] =
	{[BB_FRAME_COMM] = "program", [BB_FRAME_USER] = "line"};

static int draw_flame(const char *path, bool is_inside, char **ret_html, struct bb_err *err)
{
	struct bb_flame_opts opts = {.max_bytes = FLAME_BYTES,
				     .title = basename(path),
				     .unit = "samples"};
	struct bb_stacks stacks;
	size_t len;
	int rc = bb_folded__read(path, &stacks, err);

	if (rc)
		return rc;
	if (is_inside) {
		opts.title = "Paths by their share of the runs: a row is a branch at which they "
			     "part";
		opts.unit = "runs";
		opts.legend = legend_of_paths;
	}
	/* `profile --off-cpu` writes microseconds */
	if (BB_ANY(stacks.frames, stacks.n_frames, it->kind == BB_FRAME_OFF_CPU))
		opts.unit = "us";
	FILE *mem = bb_open_memstream(ret_html, &len);
	bb_flame__write_html(&stacks, &opts, mem);
	bb_close_memstream(mem);
	bb_stacks__done(&stacks);
	return 0;
}

static int read_page(const struct report_args *a, struct page *page, struct bb_err *err)
{
	const struct bb_timeline_opts opts = {.rule = bb_history_default_rule};
	int rc = 0;

	page->n = a->runs.n ? a->runs.n : 1;
	page->v = bb_calloc(page->n, sizeof(*page->v));
	page->parts = bb_calloc(page->n, sizeof(*page->parts));
	for (size_t i = 0; !rc && i < page->n; i++) {
		const char *which = a->runs.n ? a->runs.v[i] : "latest";
		struct part *p = &page->parts[i];

		rc = bb_store__read(which, a->results, &p->report, err);
		if (!rc && a->folded && !i) {
			rc = draw_flame(a->folded, false, &p->flame, err);
		} else if (!rc) {
			/* ID.folded beside ID.json has the stacks of a run, if they are stored */
			const char *slash = strrchr(which, '/');
			char *path = slash ? bb_asprintf("%.*s/%s.folded", (int)(slash - which),
							 which, p->report->id)
					   : bb_asprintf("%s/%s.folded", a->results, p->report->id);

			if (!access(path, F_OK))
				rc = draw_flame(path, bb_has_drive(p->report, BB_DRIVE_INSIDE),
						&p->flame, err);
			free(path);
		}
		if (!rc)
			p->line_flames = bb_calloc(p->report->n_timed, sizeof(*p->line_flames));
		for (size_t k = 0; !rc && k < p->report->n_timed; k++) {
			struct bb_lines_flame flame;
			struct bb_by_line lines;
			size_t len;

			bb_by_line__make(p->report, &p->report->timed[k], &lines);
			FILE *mem = bb_open_memstream(&p->line_flames[k], &len);
			bb_lines_flame__make(&lines, &flame);
			bb_flame__write_html(&flame.stacks, &flame.opts, mem);
			bb_stacks__done(&flame.stacks);
			bb_close_memstream(mem);
			bb_by_line__done(&lines);
		}
		page->v[i] = (struct bb_html_page){p->report, &page->history, p->flame,
						   p->line_flames, &p->figures};
	}
	if (!rc)
		rc = bb_timeline__read(a->results, &opts, &page->history, err);
	for (size_t i = 0; !rc && i < page->n; i++)
		rc = draw_figures(page->parts[i].report, &page->history, &page->parts[i].figures,
				  err);
	return rc;
}

static int write_page(void *arg, FILE *out, struct bb_err *)
{
	const struct page *page = arg;

	bb_html__write(page->v, page->n, out);
	return 0;
}

int bb_cmd_report(int argc, char **argv, struct bb_err *err)
{
	static struct report_args a = {.results = BB_RESULTS, .output = "report.html"};
	struct page page = {0};
	struct stat st;

	bb_usage__parse(&usage, argc, argv, &a);
	int rc = bb_output_check(a.output, err);
	if (!rc)
		rc = read_page(&a, &page, err);
	if (!rc)
		rc = bb_output_of(write_page, &page, a.output, err);
	if (!rc && !stat(a.output, &st) && S_ISREG(st.st_mode))
		bb_tell("the page is %s (%.0f kB)", a.output, (double)st.st_size / 1000);
	for (size_t i = 0; page.parts && i < page.n; i++) {
		struct part *p = &page.parts[i];

		for (size_t k = 0; p->line_flames && k < p->report->n_timed; k++)
			free(p->line_flames[k]);
		free(p->line_flames);
		bb_report__free(p->report);
		free(p->flame);
		bb_figures__done(&p->figures);
	}
	free(page.parts);
	free(page.v);
	bb_timeline__done(&page.history);
	return rc;
}
