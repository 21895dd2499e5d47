/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_EXPORTER_H
#define BB_EXPORT_EXPORTER_H

#include "base/err.h"
#include "base/std.h"
#include "export/document.h"
#include "report/report.h"

/*
 * A format that a run can be written in. A new one is a writer and a row in
 * cli/output.c. `write` and `document` want a summarised report; `write` returns 0, or -errno with
 * a message when its output would be wrong.
 */
struct bb_exporter {
	const char *name; /* --format NAME */
	const char *ext;  /* of file names, without the dot */
	const char *doc;  /* for --help */
	/* `out` is memory: bb_export() writes all of it, or nothing after an error */
	int (*write)(const struct bb_report *r, FILE *out, struct bb_err *err);
	bool is_for_service; /* it holds figures alone */
	/* instead of `write`: the format is a document, which is made by this */
	void (*document)(const struct bb_report *r, struct bb_doc *d);
	bool is_markdown; /* the document is Markdown, else text */
};

/* A run in a format; look NULL: as in a file. 0 when all has been flushed, or -errno with a
 * message. */
int bb_export(const struct bb_exporter *e, const struct bb_report *r,
	      const struct bb_doc_look *look, FILE *out, struct bb_err *err);

/* A service does not miss a figure that is not there: 0, or -ENODATA with a line for each case that
 * was to be measured and has no sample. */
int bb_export_say_left_out(const struct bb_report *r, struct bb_err *err);

/* A figure of a run: a metric of a case, or a static metric of a program. */
struct bb_figure_row {
	const struct bb_case *c;          /* NULL: it is of a program */
	const struct bb_program *program; /* NULL: of a case */
	const char *name, *scenario, *variant;
	const struct bb_metric_def *def;
	struct bb_estimate e; /* finite; a program's has no interval */
	size_t next;          /* bb_figure_row__next()'s own */
};

/* The figure after `f`, which begins as {0}: those of the cases, then those of the programs. False:
 * there is none. */
bool bb_figure_row__next(struct bb_figure_row *f, const struct bb_report *r);

int bb_export_bmf(const struct bb_report *r, FILE *out, struct bb_err *err);
int bb_export_json(const struct bb_report *r, FILE *out, struct bb_err *err);
int bb_export_csv(const struct bb_report *r, FILE *out, struct bb_err *err);
int bb_export_benchfmt(const struct bb_report *r, FILE *out, struct bb_err *err);
int bb_export_github_smaller(const struct bb_report *r, FILE *out, struct bb_err *err);
int bb_export_github_bigger(const struct bb_report *r, FILE *out, struct bb_err *err);
int bb_export_veristat(const struct bb_report *r, FILE *out, struct bb_err *err);
int bb_export_openmetrics(const struct bb_report *r, FILE *out, struct bb_err *err);
int bb_export_plot(const struct bb_report *r, FILE *out, struct bb_err *err);
int bb_export_lcov(const struct bb_report *r, FILE *out, struct bb_err *err);

/* BEFORE NAME="VALUE", escaped as OpenMetrics wants it; NULL is an empty value. */
void bb_openmetrics_label(const char *name, const char *value, const char *before, FILE *mem);

#endif
