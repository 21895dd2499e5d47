/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "report/report.h"

/* A format in which a run can be written. To add a format, add its function, and a row in
 * cli/output.c. The report that `write` and `document` get must have its summaries. `write` returns
 * 0, or -errno with a message if its output would be wrong. */
struct bb_exporter {
	const char *name; /* --format NAME */
	const char *doc;  /* description of the format for --help */
	/* Writes the run to `out`, which is a stream in memory. bb_export() then writes all of this
	 * to the output or, after an error, nothing. NULL: the format has `document` instead. */
	int (*write)(const struct bb_report *r, FILE *out, struct bb_err *err);
	/* true: a service such as Bencher reads the format, which has only figures and no notes */
	bool is_for_service;
	/* makes the document that is rendered; NULL: the format has `write` */
	void (*document)(const struct bb_report *r, struct bb_doc *d);
	bool is_markdown; /* true: the document is rendered as Markdown; false: as text */
};

/* Writes a run in a format. `look` says how text looks; NULL stands for bb_doc_plain_look. Returns
 * 0 once the output is flushed, or -errno with a message. */
int bb_export(const struct bb_exporter *e, const struct bb_report *r,
	      const struct bb_doc_look *look, FILE *out, struct bb_err *err);

/* Returns 0 if every planned case has a sample. Otherwise returns -ENODATA, with a message that has
 * a line for each case without a sample, because a service would not notice that a figure is
 * missing. */
int bb_export_say_left_out(const struct bb_report *r, struct bb_err *err);

/* A figure of a run: a metric of a case, or a static metric of a program. */
struct bb_figure_row {
	const struct bb_case *c;          /* NULL: a figure of a program */
	const struct bb_program *program; /* NULL: a figure of a case */
	const char *name, *scenario, *variant;
	const struct bb_metric_def *def;
	struct bb_estimate e; /* value is finite; figures of a program have no interval */
	size_t next;          /* number of the next figure; only bb_figure_row__next() uses it */
};

/* Moves `f` to the next figure of the run. `f` is {0} before the first call. The figures of the
 * cases come first, then those of the programs. Returns false after the last figure. */
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

/* media type of OpenMetrics 1.0 text */
#define BB_OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* The labels of a sample. They say which loaded program the sample is of, and which path of it. */
struct bb_openmetrics_labels {
	uint32_t id;             /* the kernel's id of the program */
	char type[32];           /* its type, such as "xdp" */
	const char *name, *path; /* path NULL: the sample is of all runs of the program */
};

/* Writes the lines # HELP, # TYPE and # UNIT that begin a family of samples. `name` ends in `unit`;
 * `unit` NULL: the family has no unit. */
void bb_openmetrics_family(const char *name, const char *type, const char *unit, const char *help,
			   FILE *out);

/* Writes a sample of the family `name`; writes nothing if `value` is not finite. If `quantile` is
 * NULL, the sample has no label `quantile`. */
void bb_openmetrics_sample(const char *name, const char *suffix,
			   const struct bb_openmetrics_labels *labels, const char *quantile,
			   double value, FILE *out);

/* Writes a histogram in seconds; writes nothing if it is empty. */
void bb_openmetrics_histogram(const char *name, const struct bb_openmetrics_labels *labels,
			      const struct bb_time_buckets *b, FILE *out);
