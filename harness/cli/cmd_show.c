/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/output.h"
#include "store/store.h"

struct show_args {
	const char *run, *results, *output;
	const struct bb_exporter *format;
};

enum { KEY_RESULTS = 0x100 };

static const struct argp_option options[] = {
	{"format", 'f', "NAME", 0, "format of stdout (default table)", 0},
	{"output", 'o', "FILE", 0, "write there instead of stdout, whole or not at all", 0},
	{"results", KEY_RESULTS, "DIR", 0, "where runs are stored (default results)", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show_args *a = state->input;

	switch (key) {
	case 'f': a->format = bb_option_format(state, arg); break;
	case 'o': a->output = arg; break;
	case KEY_RESULTS: a->results = arg; break;
	case ARGP_KEY_ARG:
		if (a->run)
			bb_usage_error(state, "one run at a time");
		a->run = arg;
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[RUN]",
	.doc = "Print a stored run in any format, without measuring.\v"
	       "RUN is a file, an id in the results folder, the beginning of one, or `latest` (the "
	       "default).",
	.help_filter = bb_help_formats,
};

int bb_cmd_show(int argc, char **argv)
{
	struct show_args a = {.results = "results", .format = bb_exporter_find("table")};
	struct bb_report *report = NULL;
	struct bb_err err = {0};
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	rc = bb_store__read(a.run ? a.run : "latest", a.results, &report, &err);
	if (!rc)
		rc = bb_output(report, a.format, a.output, &err);
	bb_report__free(report);
	return rc ? bb_complain(&err) : BB_EXIT_OK;
}
