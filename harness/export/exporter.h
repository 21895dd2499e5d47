/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "report/report.h"

/* A format in which a run can be written. The table in cli/output.c lists the formats. A format has
 * either `write` or `document`, which both need the summaries of the run. */
struct bb_exporter {
	const char *name; /* --format NAME */
	const char *doc;  /* description for --help */
	/* Writes the run to `out`, a stream in memory. On an error, bb_export() outputs nothing. */
	int (*write)(const struct bb_report *r, FILE *out, struct bb_err *err);
	/* a service such as Bencher reads the format, which has only figures and no notes */
	bool is_for_service;
	/* makes the document that bb_export() renders */
	void (*document)(const struct bb_report *r, struct bb_doc *d);
	bool is_markdown; /* true for Markdown, false for text */
};

/* Writes a run in a format. `look` says how text looks, and NULL means bb_doc_plain_look. Returns 0
 * once the output is flushed, or -errno with a message. */
int bb_export(const struct bb_exporter *e, const struct bb_report *r,
	      const struct bb_doc_look *look, FILE *out, struct bb_err *err);

/* Returns 0 if every planned case has a sample. Otherwise returns -ENODATA, and a message that
 * names the cases without one, because a service would not notice that a figure is missing. */
int bb_export_say_left_out(const struct bb_report *r, struct bb_err *err);

/* A figure of a run: a metric of a case, or a static metric of a program. */
struct bb_figure_row {
	const struct bb_case *c;          /* NULL for a figure of a program */
	const struct bb_program *program; /* NULL for a figure of a case */
	const char *name, *scenario, *variant;
	const struct bb_metric_def *def;
	struct bb_estimate e; /* finite value, and no interval for a program */
	size_t next;          /* only for bb_figure_row__next() */
};

/* Moves `f`, which is {0} before the first call, to the next figure of the run. The figures of
 * cases come first, then those of programs. Returns false after the last one. */
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

#define BB_OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* The labels of a sample, which name a loaded program and one of its paths. */
struct bb_openmetrics_labels {
	uint32_t id;             /* the kernel's id of the program */
	char type[32];           /* such as "xdp" */
	const char *name, *path; /* `path` is NULL for all runs of the program */
};

/* Writes the lines # HELP, # TYPE and # UNIT that begin a family of samples. `name` must end in
 * `unit`, which is NULL if the family has none. */
void bb_openmetrics_family(const char *name, const char *type, const char *unit, const char *help,
			   FILE *out);

/* Writes a sample of the family `name`, unless `value` is not finite. `quantile` is the value of
 * that label, or NULL for none. */
void bb_openmetrics_sample(const char *name, const char *suffix,
			   const struct bb_openmetrics_labels *labels, const char *quantile,
			   double value, FILE *out);

/* Writes a histogram in seconds, unless it is empty. */
void bb_openmetrics_histogram(const char *name, const struct bb_openmetrics_labels *labels,
			      const struct bb_time_buckets *b, FILE *out);
