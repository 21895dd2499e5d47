/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"
#include "cli/output.h"
#include "store/store.h"

struct show_args {
	const char *run, *results, *output;
	const struct bb_exporter *format;
};

static void read_details(const struct bb_option *, const char *, void *ret_format)
{
	*(const struct bb_exporter **)ret_format = bb_exporter_find("details");
}

#define ARGS struct show_args

static const struct bb_option options[] = {
	{"format", 'f', "NAME", bb_read_row, BB_ARG(format), "format of stdout (default table)",
	 BB_CHOICES(bb_exporters)},
	{"details", 0, NULL, read_details, BB_ARG(format),
	 "all that was measured: samples, loads, layout, references, programs, and what the "
	 "columns mean"},
	{"output", 'o', "FILE", bb_read_text, BB_ARG(output), BB_OUTPUT_DOC},
	{"results", 0, "DIR", bb_read_text, BB_ARG(results), BB_RESULTS_DOC},
	{0},
};

static const struct bb_usage usage = {
	.arguments = "[RUN]",
	.doc = "Print a stored run in any format, without measuring.",
	.more = BB_RUN_DOC,
	.example = "  bpfbench show latest --format markdown\n",
	.lists_formats = true,
	.sets = {{NULL, options, 0}},
	.argument = {.name = "run", .read = bb_read_once, .at = BB_ARG_AT(run)},
};

int bb_cmd_show(int argc, char **argv, struct bb_err *err)
{
	struct show_args a = {.results = BB_RESULTS, .format = bb_exporter_find("table")};
	struct bb_report *report = NULL;
	int rc;

	bb_usage__parse(&usage, argc, argv, &a);
	rc = bb_store__read(a.run ? a.run : "latest", a.results, &report, err);
	if (!rc)
		rc = bb_output(report, a.format, a.output, false, err);
	bb_report__free(report);
	return rc;
}
