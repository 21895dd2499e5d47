/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd.h"
#include "cli/formats.h"
#include "cli/options.h"
#include "cli/output.h"

struct show_args {
	const char *run, *results, *output;
	const struct bb_exporter *format;
};

static const struct argp_option options[] = {
	{"format", 'f', "NAME", 0, "format of stdout (default table)", 0},
	{"output", 'o', "FILE", 0, "write to this file instead of stdout, whole or not at all", 0},
	BB_RESULTS_OPTION,
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show_args *a = state->input;

	switch (key) {
	case 'f': a->format = bb_option_format(state, arg); break;
	case 'o': a->output = arg; break;
	case BB_KEY_RESULTS: a->results = arg; break;
	case ARGP_KEY_ARG: bb_option_run(state, &a->run, arg); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[RUN]",
	.doc = "Print a stored run in any format, without measuring.\v" BB_RUN_DOC,
	.help_filter = bb_help_formats,
};

int bb_cmd_show(int argc, char **argv)
{
	struct show_args a = {.results = BB_RESULTS, .format = bb_exporter_find("table")};
	struct bb_report *report = NULL;
	struct bb_err err = {0};
	int rc;

	bb_parse_options(&argp, argc, argv, 0, &a);
	rc = bb_read_run(a.run, a.results, &report, &err);
	if (!rc)
		rc = bb_output(report, a.format, a.output, &err);
	bb_report__free(report);
	return rc ? bb_complain(&err) : BB_EXIT_OK;
}
