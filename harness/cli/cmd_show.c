/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parse.h"
#include "base/text.h"
#include "cli/diff_view.h"
#include "cli/output.h"
#include "export/documents.h"
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

/* Returns the value of an option in `command`, or `otherwise` if the option is missing or its value
 * is not in [least, most]. */
static double number_of(const char *command, const char *option, double least, double most,
			double otherwise)
{
	char *text = bb_command_value(command, option);
	double value = otherwise;

	if (text) {
		text[strcspn(text, "%")] = '\0';
		if (bb_parse_double(text, &value) || !(value >= least && value <= most))
			value = otherwise;
	}
	free(text);
	return value;
}

static bool has_variant(const struct bb_report *r, const char *name)
{
	return name && (BB_ANY(r->timed, r->n_timed, !strcmp(it->variant, name)) ||
			BB_ANY(r->counted, r->n_counted, !strcmp(it->variant, name)));
}

/* Adds what `compare --time` or `compare --exact` printed. Returns -ENODATA if neither made the
 * run. */
static int add_compared(const struct bb_report *r, struct bb_doc *d, struct bb_err *err)
{
	const char *command = r->command ? r->command : "";
	char *base = bb_command_value(command, "--base"), *head = bb_command_value(command, "--"
											    "head");
	bool objects = has_variant(r, "base") && has_variant(r, "head");
	const struct bb_compared c = {
		.run = r,
		.of = {.base = objects ? "base" : base,
		       .head = objects ? "head" : head,
		       .threshold = number_of(command, "--threshold", 0, 1000, 1) / 100,
		       .alpha = number_of(command, "--alpha", 1e-6, 0.5, BB_ALPHA)},
		.is_exact = !r->n_timed,
		.loads = number_of(command, "--loads", 1, 10000, 0),
		.budget_s = number_of(command, "--budget", 0, 86400, BB_TIME_BUDGET_S),
	};
	size_t n;
	int rc = -ENODATA;

	if (!r->n_comparisons && has_variant(r, c.of.base) && has_variant(r, c.of.head) &&
	    !strncmp(command, "bpfbench compare ", 17))
		rc = bb_compared__add(&c, (struct bb_doc_sides){r, c.of.base, c.of.head},
				      BB_VERDICT_REGRESSED, &n, d, err);
	free(base);
	free(head);
	return rc;
}

int bb_cmd_show(int argc, char **argv, struct bb_err *err)
{
	struct show_args a = {.results = BB_RESULTS, .format = bb_exporter_find("table")};
	struct bb_report *r = NULL;
	struct bb_doc d = {0};

	bb_usage__parse(&usage, argc, argv, &a);
	int rc = bb_store__read(a.run ? a.run : "latest", a.results, &r, err);
	if (!rc && (a.output || strcmp(a.format->name, "table"))) {
		rc = bb_output(r, a.format, a.output, false, err);
	} else if (!rc) {
		if (add_compared(r, &d, err)) {
			bb_doc__cut(&d, 0);
			bb_doc_short(r, &d);
		}
		bb_doc__add(&d, BB_DOC_FAINT, NULL, "run %s%s%s%s%s%s", r->id ? r->id : "(no id)",
			    r->started ? ", started " : "", r->started ? r->started : "",
			    r->command ? ", by `" : "", r->command ? r->command : "",
			    r->command ? "`" : "");
		rc = bb_output_document(&d, stdout, err);
	}
	bb_report__free(r);
	return rc;
}
