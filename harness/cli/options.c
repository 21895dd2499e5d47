/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <argp.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/parse.h"
#include "cli/cmd.h"
#include "cli/formats.h"
#include "store/store.h"

void *bb_option_append(void *v, size_t *n, size_t size)
{
	void *item = bb_append(v, n, size);

	if (item)
		return item;
	fputs("bpfbench: out of memory\n", stderr);
	exit(BB_EXIT_FAILURE);
}

void bb_strings__append(struct bb_strings *s, const char *text)
{
	const char **v = bb_option_append(&s->v, &s->n, sizeof(*v));

	*v = text;
}

void bb_read_flag(const struct bb_option *o, const char *text, void *is_given)
{
	(void)o;
	(void)text;
	*(bool *)is_given = true;
}

void bb_read_text(const struct bb_option *o, const char *text, void *ret_text)
{
	(void)o;
	*(const char **)ret_text = text;
}

void bb_read_once(const struct bb_option *o, const char *text, void *ret_text)
{
	if (*(const char **)ret_text)
		bb_usage_error("one %s at a time", o->name);
	*(const char **)ret_text = text;
}

void bb_read_strings(const struct bb_option *o, const char *text, void *strings)
{
	(void)o;
	bb_strings__append(strings, text);
}

void bb_read_env(const struct bb_option *o, const char *text, void *env_names)
{
	struct bb_env_names *names = env_names;

	(void)o;
	if (!*text || strchr(text, '='))
		bb_usage_error("--env takes the name of a variable, not '%s'", text);
	if (names->n == BB_ENV_NAMES_MAX)
		bb_usage_error("more than %d times --env", BB_ENV_NAMES_MAX);
	names->v[names->n++] = text;
}

void bb_read_u64(const struct bb_option *o, const char *text, void *ret_u64)
{
	if (bb_parse_u64(text, ret_u64))
		bb_usage_error("--%s takes a whole number, not '%s'", o->name, text);
}

void bb_read_u32(const struct bb_option *o, const char *text, void *ret_u32)
{
	uint64_t v;

	if (bb_parse_u64(text, &v) || (double)v < o->least || (double)v > o->most)
		bb_usage_error("--%s takes a whole number from %.0f to %.0f, not '%s'", o->name,
			       o->least, o->most, text);
	*(uint32_t *)ret_u32 = (uint32_t)v;
}

static void read_number(const struct bb_option *o, const char *text, double least, double most,
			double *ret)
{
	if (bb_parse_double(text, ret) || *ret < least || *ret > most)
		bb_usage_error("--%s takes a number from %g to %g, not '%s'", o->name, least, most,
			       text);
}

void bb_read_double(const struct bb_option *o, const char *text, void *ret_double)
{
	read_number(o, text, o->least, o->most, ret_double);
}

void bb_read_percent(const struct bb_option *o, const char *text, void *ret_double)
{
	size_t len = strlen(text);
	char number[32];

	if (len && text[len - 1] == '%' && len < sizeof(number)) {
		memcpy(number, text, len - 1);
		number[len - 1] = '\0';
		text = number;
	}
	read_number(o, text, 0.001, 1000, ret_double);
	*(double *)ret_double /= 100;
}

void bb_read_format(const struct bb_option *o, const char *text, void *ret_exporter)
{
	const struct bb_exporter *e = bb_exporter_find(text);
	const char *names[32], *near;
	char list[512] = "";
	size_t used = 0;

	(void)o;
	for (size_t i = 0; i < bb_n_exporters; i++) {
		names[i] = bb_exporters[i].name;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 names[i]);
	}
	near = e ? NULL : bb_nearest(text, names, bb_n_exporters);
	if (near)
		bb_usage_error("no format '%s'; did you mean '%s'?", text, near);
	if (!e)
		bb_usage_error("no format '%s'; there are: %s", text, list);
	*(const struct bb_exporter **)ret_exporter = e;
}

int bb_read_run(const char *run, const char *results, struct bb_report **ret_report,
		struct bb_err *err)
{
	return bb_store__read(run ? run : "latest", results, ret_report, err);
}

/* --- a command's table, as argp and getopt take it --- */

#define MOST_OPTIONS 64
#define FIRST_KEY 0x100 /* above all letters */

struct parser {
	const struct bb_usage *usage;
	char *args; /* the command's */
	struct {
		const struct bb_option *row;
		size_t at; /* of its set */
	} known[MOST_OPTIONS];
	size_t n;
};

/* ARGP rows, with a row for each title: `ret_options` has room for all. */
static void fill_options(struct parser *p, struct argp_option *ret_options)
{
	const struct bb_usage *u = p->usage;

	for (int s = 0; s < BB_OPTION_SETS_MAX && u->sets[s].options; s++) {
		if (u->sets[s].title)
			*ret_options++ = (struct argp_option){.doc = u->sets[s].title,
							      .group = s + 1};
		for (const struct bb_option *o = u->sets[s].options; o->name; o++) {
			*ret_options++ = (struct argp_option){
				.name = o->name,
				.key = o->letter ? o->letter : FIRST_KEY + (int)p->n,
				.arg = o->value,
				.flags = (o->optional ? OPTION_ARG_OPTIONAL : 0) |
					 (o->doc ? 0 : OPTION_HIDDEN),
				.doc = o->doc,
				.group = s + 1,
			};
			p->known[p->n].row = o;
			p->known[p->n++].at = u->sets[s].at;
		}
	}
	*ret_options = (struct argp_option){0};
}

static error_t take_argument(struct parser *p, char *text, struct argp_state *state)
{
	const struct bb_usage *u = p->usage;

	if (u->command && (u->options_first || (state->quoted && state->next > state->quoted))) {
		*(char ***)(p->args + u->command) = &state->argv[state->next - 1];
		state->next = state->argc;
	} else if (u->argument.read) {
		u->argument.read(&u->argument, text, p->args + u->argument.at);
	} else {
		bb_usage_error("'%s' is no option", text);
	}
	return 0;
}

static error_t parse_one(int key, char *text, struct argp_state *state)
{
	struct parser *p = state->input;

	if (key == ARGP_KEY_ARG)
		return take_argument(p, text, state);
	if (key == ARGP_KEY_END && p->usage->check)
		p->usage->check(p->args);
	for (size_t i = 0; i < p->n; i++) {
		const struct bb_option *o = p->known[i].row;
		char *base = p->args + p->known[i].at;

		if (key != (o->letter ? o->letter : FIRST_KEY + (int)i))
			continue;
		o->read(o, text, base + o->at);
		if (o->given)
			*(bool *)(base + o->given) = true;
		return 0;
	}
	return key == ARGP_KEY_INIT || key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

/* The text around the options; free() it. */
static char *make_doc(const struct bb_usage *u)
{
	char *doc = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&doc, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s\v", u->doc);
	if (u->lists_formats)
		fputs("Formats:\n", out);
	for (size_t i = 0; u->lists_formats && i < bb_n_exporters; i++)
		fprintf(out, "  %-20s %s\n", bb_exporters[i].name, bb_exporters[i].doc);
	fprintf(out, "%s%s%s%s%s", u->lists_formats && u->more ? "\n" : "", u->more ? u->more : "",
		u->lists_formats || u->more ? "\n\n" : "", "Examples:\n", u->example);
	return fclose(out) ? NULL : doc;
}

/* --- a long option that there is not --- */

/* Nearest to the word; NULL: none is near, or the word is the beginning of one. */
static const char *nearest_option(const struct parser *p, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *names[MOST_OPTIONS];
	char name[64];

	for (size_t i = 0; i < p->n; i++) {
		names[i] = p->known[i].row->name;
		if (!strncmp(names[i], word, len))
			return NULL;
	}
	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	return bb_nearest(name, names, p->n);
}

/* argp does not say which option was meant: getopt goes through the words first. */
static void refuse_unknown(const struct parser *p, int argc, char **argv)
{
	char **words = calloc((size_t)argc + 1, sizeof(*words)); /* getopt changes their order */
	struct option longs[MOST_OPTIONS + 3] = {{"help", 0, NULL, 0}, {"usage", 0, NULL, 0}};
	char shorts[2 * MOST_OPTIONS + 3] = "?";
	int found = 0;

	if (p->usage->options_first)
		strcpy(shorts, "+?");
	for (size_t i = 0; i < p->n; i++) {
		const struct bb_option *o = p->known[i].row;
		bool has_value = o->value && !o->optional;

		longs[i + 2] = (struct option){o->name, has_value, NULL, 0};
		if (o->letter)
			sprintf(shorts + strlen(shorts), "%c%s", o->letter, has_value ? ":" : "");
	}
	opterr = optind = 0;
	if (words)
		memcpy(words, argv, (size_t)argc * sizeof(*words));
	while (words && found >= 0) {
		const char *word, *near;

		found = getopt_long(argc, words, shorts, longs, NULL);
		word = found == '?' && !optopt ? words[optind - 1] : "";
		near = !strncmp(word, "--", 2) ? nearest_option(p, word + 2) : NULL;
		if (!near)
			continue;
		fprintf(stderr, "%s: unrecognized option '%s'; did you mean '--%s'?\n", argv[0],
			word, near);
		exit(BB_EXIT_USAGE);
	}
	free(words);
}

void bb_usage__parse(const struct bb_usage *usage, int argc, char **argv, void *args)
{
	struct argp_option options[MOST_OPTIONS + BB_OPTION_SETS_MAX + 1];
	struct parser p = {.usage = usage, .args = args};
	char *doc = make_doc(usage);
	const struct argp argp = {.options = options,
				  .parser = parse_one,
				  .args_doc = usage->arguments,
				  .doc = doc};

	fill_options(&p, options);
	refuse_unknown(&p, argc, argv);
	argp_parse(&argp, argc, argv, usage->options_first ? ARGP_IN_ORDER : 0, NULL, &p);
	free(doc);
}
