/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <argp.h>

#include "base/parse.h"
#include "base/text.h"
#include "cli/output.h"

static const char *command_name = "bpfbench";

int bb_complain(const struct bb_err *err)
{
	bb_say(err->msg);
	return err->code == -ENOTSUP ? BB_EXIT_UNSUPPORTED : BB_EXIT_FAILURE;
}

/* Wraps the message on a terminal, unless it contains a log. Never wraps it elsewhere, because a
 * program may read stderr line by line. */
static void put_message(const char *name, const char *line)
{
	struct bb_doc_look look = bb_output_look(stderr);
	struct bb_doc d = {0};
	char *text = NULL;
	size_t size;
	FILE *out = bb_open_memstream(&text, &size);

	look.wrap = isatty(STDERR_FILENO) && !strchr(line, '\n');
	if (look.wrap) {
		bb_doc__add(&d, BB_DOC_PARAGRAPH, name, "%s", line);
		bb_doc__text(&d, &look, out);
		bb_doc__done(&d);
	} else {
		fprintf(out, "%s: %s\n", name, line);
	}
	bb_close_memstream(out);
	/* One call writes all of it, because other processes write to stderr, too. */
	fputs(text, stderr);
	free(text);
}

void bb_say(const char *line)
{
	put_message("bpfbench", line);
}

void bb_tell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *line = bb_vasprintf(fmt, ap);
	va_end(ap);
	bb_say(line);
	free(line);
}

void bb_usage_error(const char *fmt, ...)
{
	va_list ap;
	char *what, *line;

	va_start(ap, fmt);
	what = bb_vasprintf(fmt, ap);
	va_end(ap);
	line = bb_asprintf("%s; see `%s --help`", what, command_name);
	put_message(command_name, line);
	free(line);
	free(what);
	exit(BB_EXIT_USAGE);
}

void bb_refuse(const char *text, bool is_wrong)
{
	if (is_wrong)
		bb_usage_error("%s", text);
}

void bb_strings__append(struct bb_strings *s, const char *text)
{
	const char **v = bb_append(&s->v, &s->n, sizeof(*v));

	*v = text;
}

void bb_read_flag(const struct bb_option *, const char *, void *is_given)
{
	*(bool *)is_given = true;
}

void bb_read_text(const struct bb_option *, const char *text, void *ret_text)
{
	*(const char **)ret_text = text;
}

void bb_read_once(const struct bb_option *o, const char *text, void *ret_text)
{
	if (*(const char **)ret_text)
		bb_usage_error("one %s at a time", o->name);
	*(const char **)ret_text = text;
}

void bb_read_strings(const struct bb_option *, const char *text, void *strings)
{
	bb_strings__append(strings, text);
}

void bb_read_env(const struct bb_option *, const char *text, void *strings)
{
	struct bb_strings *s = strings;

	if (!*text || strchr(text, '='))
		bb_usage_error("--env takes the name of a variable, not '%s'", text);
	bb_strings__append(s, text);
	bb_strings__append(s, NULL); /* the next append overwrites this NULL */
	s->n--;
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

const void *bb_option_choose(const char *what, const char *name, const void *rows, size_t n,
			     size_t size)
{
	const char *names[32], *near;
	char list[512] = "";

	for (size_t i = 0; i < n; i++) {
		const char *const *row = (const void *)((const char *)rows + i * size);

		if (!strcmp(*row, name))
			return row;
		names[i] = *row;
		bb_list_words(list, sizeof(list), ", ", "%s", *row);
	}
	near = bb_nearest(name, names, n);
	if (near)
		bb_usage_error("no %s '%s'; did you mean '%s'?", what, name, near);
	bb_usage_error("no %s '%s'; there are: %s", what, name, list);
}

void bb_read_row(const struct bb_option *o, const char *text, void *ret_row)
{
	*(const void **)ret_row = bb_option_choose(o->name, text, o->rows, o->n_rows, o->row_size);
}

void bb_read_index(const struct bb_option *o, const char *text, void *ret_index)
{
	const char *row = bb_option_choose(o->name, text, o->rows, o->n_rows, o->row_size);

	*(int *)ret_index = (int)((size_t)(row - (const char *)o->rows) / o->row_size);
}

#define MOST_OPTIONS 64
/* argp's keys from here on are for options without a letter */
#define FIRST_KEY 0x100

struct parser {
	const struct bb_usage *usage;
	char *args; /* the struct of the command's arguments */
	struct {
		const struct bb_option *row;
		size_t at; /* offset in `args` of the struct that the option sets */
	} known[MOST_OPTIONS];
	size_t n;
};

static error_t parse_one(int key, char *text, struct argp_state *state)
{
	struct parser *p = state->input;
	const struct bb_usage *u = p->usage;
	bool is_command = u->command &&
			  (u->options_first || (state->quoted && state->next > state->quoted));

	if (key == ARGP_KEY_ARG && is_command) {
		*(char ***)(p->args + u->command) = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	}
	if (key == ARGP_KEY_ARG) {
		if (!u->argument.read)
			bb_usage_error("'%s' is no option%s", text,
				       u->argument.doc ? u->argument.doc : "");
		u->argument.read(&u->argument, text, p->args + u->argument.at);
		return 0;
	}
	if (key == ARGP_KEY_END && u->check)
		u->check(p->args);
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

/* Suggests the nearest option for an unknown long option and exits, because argp suggests
 * nothing. */
static void refuse_unknown(const struct parser *p, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const char *word = argv[i], *names[MOST_OPTIONS], *near;
		bool is_long = !strncmp(word, "--", 2);
		size_t len = is_long ? strcspn(word + 2, "=") : 1;
		const struct bb_option *o = NULL;
		char name[64];

		if (word[0] != '-' && p->usage->options_first)
			return;
		if (word[0] != '-' || !strcmp(word, "--help") || !strcmp(word, "--usage"))
			continue;
		for (size_t k = 0; k < p->n; k++) {
			const struct bb_option *row = p->known[k].row;

			names[k] = row->name;
			if (is_long ? !strncmp(row->name, word + 2, len) : row->letter == word[1])
				o = row;
		}
		if (o && o->value && !o->optional && !word[is_long ? 2 + len : 2])
			i++; /* the next word is the option's value */
		if (o || !is_long)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)len, word + 2);
		near = bb_nearest(name, names, p->n);
		if (!near)
			continue;
		fprintf(stderr, "%s: unrecognized option '%s'; did you mean '--%s'?\n", argv[0],
			word, near);
		exit(BB_EXIT_USAGE);
	}
}

void bb_usage__parse(const struct bb_usage *u, int argc, char **argv, void *args)
{
	struct argp_option options[MOST_OPTIONS + BB_OPTION_SETS_MAX + 1], *row = options;
	struct parser p = {.usage = u, .args = args};
	struct argp argp = {.options = options, .parser = parse_one, .args_doc = u->arguments};
	char *doc = NULL;
	size_t size = 0;
	FILE *out = bb_open_memstream(&doc, &size);

	command_name = argv[0];
	for (int s = 0; s < BB_OPTION_SETS_MAX && u->sets[s].options; s++) {
		if (u->sets[s].title)
			*row++ = (struct argp_option){.doc = u->sets[s].title, .group = s + 1};
		for (const struct bb_option *o = u->sets[s].options; o->name; o++) {
			*row++ = (struct argp_option){
				.name = o->name,
				.key = o->letter ? o->letter : FIRST_KEY + (int)p.n,
				.arg = o->value,
				.flags = (o->optional ? OPTION_ARG_OPTIONAL : 0) |
					 (o->doc ? 0 : OPTION_HIDDEN),
				.doc = o->doc,
				.group = s + 1,
			};
			p.known[p.n].row = o;
			p.known[p.n++].at = u->sets[s].at;
		}
	}
	*row = (struct argp_option){0};
	if (!p.n)
		argp.options = NULL; /* glibc leaks memory for a table without options */
	refuse_unknown(&p, argc, argv);
	fprintf(out, "%s\n\nExamples:\n%s\v%s", u->doc, u->example, u->more ? u->more : "");
	if (u->lists_formats)
		fprintf(out, "%sFormats:\n", u->more ? "\n\n" : "");
	for (size_t i = 0; u->lists_formats && i < BB_N_EXPORTERS; i++)
		fprintf(out, "  %-20s %s\n", bb_exporters[i].name, bb_exporters[i].doc);
	if (fclose(out))
		bb_out_of_memory();
	argp.doc = doc;
	argp_parse(&argp, argc, argv, u->options_first ? ARGP_IN_ORDER : 0, NULL, &p);
	free(doc);
}
