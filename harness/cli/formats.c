/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/formats.h"

#include <string.h>

#include "html/html.h"

const struct bb_exporter bb_exporters[] = {
	{"bmf", "json", "Bencher Metric Format, for `bencher run --adapter json`", bb_export_bmf,
	 true},
	{"table", "txt", "tables for people", bb_export_table, false},
	{"json", "json", "everything, as it is stored", bb_export_json, false},
	{"html", "html", "a page to look at, self-contained", bb_export_html, false},
	{"csv", "csv", "a row a figure, for spreadsheets and data frames", bb_export_csv, false},
	{"markdown", "md", "tables for a job summary or a comment", bb_export_markdown, false},
	{"benchfmt", "txt", "Go benchmark format, for benchstat", bb_export_benchfmt, false},
	{"github-action", "json", "github-action-benchmark, customSmallerIsBetter",
	 bb_export_github_smaller, true},
	{"github-action-bigger", "json", "github-action-benchmark, customBiggerIsBetter",
	 bb_export_github_bigger, true},
	{"veristat", "csv", "static metrics as `veristat -C` reads them", bb_export_veristat,
	 false},
	{"openmetrics", "prom", "OpenMetrics text, for Prometheus' textfile collector",
	 bb_export_openmetrics, false},
	{"plot", "tsv", "distributions and costs as columns, for gnuplot", bb_export_plot, false},
	{"lcov", "info", "executed source lines (drive exact), for genhtml", bb_export_lcov, false},
};

const size_t bb_n_exporters = sizeof(bb_exporters) / sizeof(bb_exporters[0]);

const struct bb_exporter *bb_exporter_find(const char *name)
{
	for (size_t i = 0; i < bb_n_exporters; i++)
		if (!strcmp(bb_exporters[i].name, name))
			return &bb_exporters[i];
	return NULL;
}
