/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <getopt.h>
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

/* --- which option was meant --- */

#define MOST_OPTIONS 256

struct known {
	struct option longs[MOST_OPTIONS + 1]; /* the last one has no name */
	const char *names[MOST_OPTIONS];
	char shorts[2 * MOST_OPTIONS + 2];
	size_t n;
};

static void add_known(struct known *k, const char *name, int key, bool has_value)
{
	size_t len = strlen(k->shorts);

	if (name && k->n < MOST_OPTIONS) {
		k->longs[k->n] = (struct option){name, has_value, NULL, 0};
		k->names[k->n++] = name;
	}
	if (key > ' ' && key < 0x7f && len + 2 < sizeof(k->shorts)) {
		k->shorts[len] = (char)key;
		k->shorts[len + 1] = has_value ? ':' : '\0';
	}
}

static void add_all_known(struct known *k, const struct argp *argp)
{
	const struct argp_child *child = argp->children;
	const struct argp_option *o = argp->options;

	for (; o && (o->name || o->key || o->doc); o++)
		add_known(k, o->name, o->key, o->arg && !(o->flags & OPTION_ARG_OPTIONAL));
	for (; child && child->argp; child++)
		add_all_known(k, child->argp);
}

/* Of a long option that there is not, nor the beginning of one; NULL: none is near. */
static const char *meant(const struct known *k, const char *word)
{
	size_t len = strcspn(word, "=");
	char name[64];

	for (size_t i = 0; i < k->n; i++)
		if (!strncmp(k->names[i], word, len))
			return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	return bb_nearest(name, k->names, k->n);
}

void bb_parse_options(const struct argp *argp, int argc, char **argv, unsigned int flags,
		      void *input)
{
	char **words = calloc((size_t)argc + 1, sizeof(*words)); /* getopt changes their order */
	struct known k = {.shorts = {flags & ARGP_IN_ORDER ? '+' : '\0'}};
	int found = 0;

	add_all_known(&k, argp);
	add_known(&k, "help", '?', false);
	add_known(&k, "usage", 0, false);
	opterr = optind = 0;
	if (words)
		memcpy(words, argv, (size_t)argc * sizeof(*words));
	while (words && found >= 0) {
		const char *word, *near;

		found = getopt_long(argc, words, k.shorts, k.longs, NULL);
		word = found == '?' && !optopt ? words[optind - 1] : "";
		near = !strncmp(word, "--", 2) ? meant(&k, word + 2) : NULL;
		if (!near)
			continue;
		fprintf(stderr, "%s: unrecognized option '%s'; did you mean '--%s'?\n", argv[0],
			word, near);
		exit(BB_EXIT_USAGE);
	}
	free(words);
	argp_parse(argp, argc, argv, flags, NULL, input);
}
