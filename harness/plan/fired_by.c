/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

#define BUFFER_MOST_BYTES (1 << 30)

static int read_buffer(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	struct bb_argument *a = base;
	uint32_t bytes = 0;
	struct bb_field own = *f;
	int rc;

	own.offset = 0;
	rc = bb_field__u32(r, &own, node, &bytes);
	a->kind = BB_ARGUMENT_BUFFER;
	a->number = bytes;
	return rc;
}

static const struct bb_field buffer_fields[] = {
	{"buffer", &bb_type_u32, .read = read_buffer, .required = true, .min = 1,
	 .max = BUFFER_MOST_BYTES},
};

static const struct bb_kind buffer_kind = {BB_KIND("a buffer", "{buffer: 4096}", buffer_fields)};

static const struct bb_field argument_rows[] = {{NULL, &bb_type_text, BB_AT(bb_argument, text)}};
static const struct bb_kind argument_kind = {BB_ROWS(bb_argument, argument_rows)};

static int read_argument(const struct bb_reader *r, const struct bb_yaml *node,
			 struct bb_argument *a)
{
	int rc;

	if (node->kind == BB_YAML_MAP)
		return bb_kind__read(r, &buffer_kind, node, 0, a);
	if (node->kind == BB_YAML_TEXT && node->quoted) {
		a->kind = BB_ARGUMENT_TEXT;
		return bb_field__set_text(r, &a->text, node->text);
	}
	rc = node->kind == BB_YAML_TEXT ? bb_parse_i64(node->text, &a->number) : -EINVAL;
	if (rc == -EINVAL && node->kind == BB_YAML_TEXT) {
		rc = bb_parse_double(node->text, &a->real);
		a->kind = BB_ARGUMENT_REAL;
	}
	if (rc)
		return bb_yaml__fail(r, node,
				     "an argument is a number, a text in quotes or {buffer: "
				     "BYTES}, not %s",
				     bb_yaml__show(node).text);
	return 0;
}

static int read_arguments(const struct bb_reader *r, const struct bb_field *f,
			  const struct bb_yaml *node, void *base)
{
	struct bb_fired_by *by = base;
	int rc = bb_field__check_list(r, f, node, "arguments such as 64 or \"text\"");

	if (!rc && node->n > BB_ARGUMENTS_MOST)
		rc = bb_yaml__fail(r, node, "%s: a call has at most %u of them", f->name,
				   BB_ARGUMENTS_MOST);
	if (rc)
		return rc;
	by->arguments = calloc(node->n, sizeof(*by->arguments));
	if (!by->arguments)
		return bb_fail_nomem(r->err);
	for (size_t i = 0; !rc && i < node->n; i++)
		rc = read_argument(r, &node->items[i], &by->arguments[by->n_arguments++]);
	return rc;
}

static const struct bb_field fields[] = {
	{NULL, &bb_type_text, BB_AT(bb_fired_by, trigger)},
	{"call", &bb_type_text, BB_AT(bb_fired_by, call)},
	{"arguments", &bb_type_list, BB_LIST_AT(bb_fired_by, arguments, n_arguments),
	 .read = read_arguments, .of = &argument_kind},
	{"run", &bb_type_texts, BB_LIST_AT(bb_fired_by, run, n_run),
	 .item = "a part of the command"},
};

const struct bb_kind bb_fired_by_kind = {BB_KIND("fired_by", "{call: malloc, arguments: [64]}",
						 fields),
					 .size = sizeof(struct bb_fired_by)};

int bb_field__fired_by(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	struct bb_fired_by *by = (struct bb_fired_by *)(void *)((char *)base + f->offset);
	int rc;

	if (node->kind == BB_YAML_TEXT) {
		struct bb_field own = *f;

		own.offset += offsetof(struct bb_fired_by, trigger);
		return bb_field__text(r, &own, node, base);
	}
	rc = bb_kind__read(r, &bb_fired_by_kind, node, 0, by);
	if (!rc && !by->call == !by->run)
		rc = bb_yaml__fail(r, node,
				   "fired_by needs either the key 'call', a function of the "
				   "library, or the key 'run', a command");
	if (!rc && by->run && by->arguments)
		rc = bb_yaml__fail(r, bb_yaml__get(node, "arguments"),
				   "key 'arguments' is for 'call'; those of a command stand in "
				   "'run'");
	return rc;
}
