/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"
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

/* True for a run of `compare --time`: it has the times by line of a base and a head. */
static bool compares_lines(const struct bb_report *r)
{
	bool has[2] = {0};

	for (size_t i = 0; i < r->n_programs; i++) {
		has[0] |= bb_same_text(r->programs[i].variant, "base");
		has[1] |= bb_same_text(r->programs[i].variant, "head");
	}
	return r->n_timed && !r->n_comparisons && has[0] && has[1];
}

/* Adds what `compare --time` printed about the run. Returns -ENODATA if that cannot be made. */
static int add_lines(const struct bb_report *r, struct bb_doc *d, struct bb_err *err)
{
	/* alpha as `compare --time` had it: with a budget, it judges the lines twice */
	bool looked_once = r->command && strstr(r->command, "--loads");
	const struct bb_time_diff_opts opts = {.base = "base",
					       .head = "head",
					       .threshold = 0.01,
					       .alpha = looked_once ? BB_ALPHA : BB_ALPHA / 2};
	struct bb_time_diff lines = {0};
	int rc = bb_time_diff__make(r, &opts, &lines, err);

	if (rc)
		return rc;
	bb_doc_time_diff(&lines, (struct bb_doc_sides){r, opts.base, opts.head}, false, d);
	bb_doc__add(d, BB_DOC_CLOSING, NULL, "Interval: 95 %% interval; kernel %s, %s",
		    r->fingerprint.kernel_release, r->fingerprint.cpu_model);
	bb_doc__add(d, BB_DOC_FAINT, "more", "`bpfbench show --details` (all figures)");
	bb_doc__add(d, BB_DOC_FAINT, "next",
		    "`sudo bpfbench compare OLD.o NEW.o` (a verdict on the "
		    "program "
		    "as a whole)");
	bb_time_diff__done(&lines);
	return 0;
}

static int print_short(const struct bb_report *r, struct bb_err *err)
{
	struct bb_doc d = {0};

	if (!compares_lines(r) || add_lines(r, &d, err)) {
		bb_doc__cut(&d, 0);
		bb_doc_short(r, &d);
	}
	bb_doc__add(&d, BB_DOC_FAINT, NULL, "run %s%s%s%s%s%s", r->id ? r->id : "(no id)",
		    r->started ? ", started " : "", r->started ? r->started : "",
		    r->command ? ", by `" : "", r->command ? r->command : "",
		    r->command ? "`" : "");
	return bb_output_document(&d, stdout, err);
}

int bb_cmd_show(int argc, char **argv, struct bb_err *err)
{
	struct show_args a = {.results = BB_RESULTS, .format = bb_exporter_find("table")};
	struct bb_report *report = NULL;
	int rc;

	bb_usage__parse(&usage, argc, argv, &a);
	rc = bb_store__read(a.run ? a.run : "latest", a.results, &report, err);
	if (!rc)
		rc = a.output || strcmp(a.format->name, "table")
			     ? bb_output(report, a.format, a.output, false, err)
			     : print_short(report, err);
	bb_report__free(report);
	return rc;
}
