/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/formats.h"

#include <string.h>

#include "html/html.h"

const struct bb_exporter bb_exporters[] = {
	{"bmf", "json", "Bencher Metric Format, for `bencher run --adapter json`",
	 .write = bb_export_bmf, .is_for_service = true},
	{"table", "txt", "the answer for people", .document = bb_doc_table_format},
	{"details", "txt", "all that was measured, and what the columns mean (--details)",
	 .document = bb_doc_details_format},
	{"json", "json", "everything, as it is stored", .write = bb_export_json},
	{"html", "html", "a page to look at, self-contained", .write = bb_export_html},
	{"csv", "csv", "a row a figure, for spreadsheets and data frames", .write = bb_export_csv},
	{"markdown", "md", "tables for a job summary or a comment",
	 .document = bb_doc_markdown_format, .is_markdown = true},
	{"benchfmt", "txt", "Go benchmark format, for benchstat", .write = bb_export_benchfmt},
	{"github-action", "json", "github-action-benchmark, customSmallerIsBetter",
	 .write = bb_export_github_smaller, .is_for_service = true},
	{"github-action-bigger", "json", "github-action-benchmark, customBiggerIsBetter",
	 .write = bb_export_github_bigger, .is_for_service = true},
	{"veristat", "csv", "static metrics as `veristat -C` reads them",
	 .write = bb_export_veristat},
	{"openmetrics", "prom", "OpenMetrics text, for Prometheus' textfile collector",
	 .write = bb_export_openmetrics},
	{"plot", "tsv", "distributions and costs as columns, for gnuplot", .write = bb_export_plot},
	{"lcov", "info", "executed source lines (drive exact), for genhtml",
	 .write = bb_export_lcov},
};

const size_t bb_n_exporters = sizeof(bb_exporters) / sizeof(bb_exporters[0]);

const struct bb_exporter *bb_exporter_find(const char *name)
{
	for (size_t i = 0; i < bb_n_exporters; i++)
		if (!strcmp(bb_exporters[i].name, name))
			return &bb_exporters[i];
	return NULL;
}
