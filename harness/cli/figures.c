/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/figures.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/process.h"
#include "cli/history_print.h"
#include "cli/paths.h"
#include "export/exporter.h"

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
	return bb_history_print_tsv(d->history, d->report, out) ? bb_fail_nomem(err) : 0;
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

static int draw(const struct drawing *d, struct bb_figures *figures, struct bb_err *err)
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

int bb_figures__draw(const struct bb_report *r, const struct bb_timeline *history,
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
		rc = draw(&d, &figures, &why);
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
