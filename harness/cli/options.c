/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/parse.h"
#include "cli/cmd.h"
#include "cli/formats.h"
#include "store/store.h"

void bb_strings_add(struct bb_strings *s, const char *text, const struct argp_state *state)
{
	const char **v = bb_append(&s->v, &s->n, sizeof(*v));

	if (!v)
		argp_failure(state, BB_EXIT_FAILURE, 0, "out of memory");
	*v = text;
}

void bb_option_env(const struct argp_state *state, struct bb_env_names *names, const char *text)
{
	if (!*text || strchr(text, '='))
		bb_usage_error(state, "--env takes the name of a variable, not '%s'", text);
	if (names->n == BB_ENV_NAMES_MAX)
		bb_usage_error(state, "more than %d times --env", BB_ENV_NAMES_MAX);
	names->v[names->n++] = text;
}

void bb_option_run(const struct argp_state *state, const char **run, const char *text)
{
	if (*run)
		bb_usage_error(state, "one run at a time");
	*run = text;
}

int bb_read_run(const char *run, const char *results, struct bb_report **ret_report,
		struct bb_err *err)
{
	return bb_store__read(run ? run : "latest", results, ret_report, err);
}

uint64_t bb_option_u64(const struct argp_state *state, const char *option, const char *text)
{
	uint64_t v;

	if (bb_parse_u64(text, &v))
		bb_usage_error(state, "--%s takes a whole number, not '%s'", option, text);
	return v;
}

uint32_t bb_option_u32(const struct argp_state *state, const char *option, const char *text,
		       uint32_t min, uint32_t max)
{
	uint64_t v;

	if (bb_parse_u64(text, &v) || v < min || v > max)
		bb_usage_error(state, "--%s takes a whole number from %u to %u, not '%s'", option,
			       min, max, text);
	return (uint32_t)v;
}

double bb_option_double(const struct argp_state *state, const char *option, const char *text,
			double min, double max)
{
	double v;

	if (bb_parse_double(text, &v) || v < min || v > max)
		bb_usage_error(state, "--%s takes a number from %g to %g, not '%s'", option, min,
			       max, text);
	return v;
}

double bb_option_percent(const struct argp_state *state, const char *option, const char *text)
{
	size_t len = strlen(text);
	char number[32];

	if (len && text[len - 1] == '%' && len < sizeof(number)) {
		memcpy(number, text, len - 1);
		number[len - 1] = '\0';
		text = number;
	}
	return bb_option_double(state, option, text, 0.001, 1000) / 100;
}

const struct bb_exporter *bb_option_format(const struct argp_state *state, const char *text)
{
	const struct bb_exporter *e = bb_exporter_find(text);
	const char *names[32], *near;
	char list[512] = "";
	size_t used = 0;

	if (e)
		return e;
	for (size_t i = 0; i < bb_n_exporters; i++) {
		names[i] = bb_exporters[i].name;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 names[i]);
	}
	near = bb_nearest(text, names, bb_n_exporters);
	if (near)
		bb_usage_error(state, "no format '%s'; did you mean '%s'?", text, near);
	bb_usage_error(state, "no format '%s'; there are: %s", text, list);
}

char *bb_help_formats(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t size = 0;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	out = open_memstream(&help, &size);
	if (!out)
		return NULL;
	fputs("Formats:\n", out);
	for (size_t i = 0; i < bb_n_exporters; i++)
		fprintf(out, "  %-20s %s\n", bb_exporters[i].name, bb_exporters[i].doc);
	if (text)
		fprintf(out, "\n%s", text);
	return fclose(out) ? NULL : help;
}
