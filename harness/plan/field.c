/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/field.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

struct bb_phrase bb_phrase__join(const char *const *names, size_t n)
{
	struct bb_phrase s = {.text = ""};
	size_t at = 0;

	for (size_t i = 0; i < n && at < sizeof(s.text); i++)
		at += (size_t)snprintf(s.text + at, sizeof(s.text) - at, "%s%s", i ? ", " : "",
				       names[i]);
	if (at >= sizeof(s.text))
		memcpy(s.text + sizeof(s.text) - sizeof("..."), "...", sizeof("..."));
	return s;
}

struct bb_phrase bb_phrase__suggest(const char *word, const char *const *names, size_t n)
{
	const char *nearest = bb_nearest(word, names, n);
	struct bb_phrase s = {.text = ""};

	if (nearest)
		snprintf(s.text, sizeof(s.text), " (did you mean '%s'?)", nearest);
	return s;
}

static void *member(void *base, const struct bb_field *f)
{
	return (char *)base + f->offset;
}

int bb_field__set_text(const struct bb_reader *r, char **dest, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return bb_fail_nomem(r->err);
	free(*dest);
	*dest = copy;
	return 0;
}

int bb_field__set_list(const struct bb_reader *r, struct bb_u32_list *dest, const uint32_t *v,
		       size_t n)
{
	uint32_t *copy = malloc(n * sizeof(*copy));

	if (!copy)
		return bb_fail_nomem(r->err);
	memcpy(copy, v, n * sizeof(*copy));
	free(dest->v);
	*dest = (struct bb_u32_list){.v = copy, .n = n};
	return 0;
}

int bb_field__text(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	if (node->kind != BB_YAML_TEXT || bb_yaml__is_nothing(node))
		return bb_yaml__fail(r->path, node, r->err, "%s must be a text, not %s", f->name,
				     bb_yaml__show(node).text);
	if (!*node->text)
		return bb_yaml__fail(r->path, node, r->err, "%s must not be empty", f->name);
	return bb_field__set_text(r, member(base, f), node->text);
}

static bool name_takes(char c)
{
	return c && strchr("-._ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", c);
}

static bool name_is_valid(const char *name)
{
	size_t len = 0;

	while (name_takes(name[len]))
		len++;
	return !name[len] && !strchr("-.", *name) && len <= BB_NAME_MAX_BYTES;
}

void bb_name_from(const char *text, size_t len, char *ret_name)
{
	size_t n = 0;

	if (!len || strchr("-.", text[0]))
		ret_name[n++] = 'x'; /* it begins neither as an option nor as a hidden file */
	for (size_t i = 0; i < len && n < BB_NAME_MAX_BYTES; i++)
		ret_name[n++] = name_takes(text[i]) ? text[i] : '_';
	ret_name[n] = '\0';
}

int bb_field__name(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	if (node->kind == BB_YAML_TEXT && *node->text && !bb_yaml__is_nothing(node) &&
	    !name_is_valid(node->text))
		return bb_yaml__fail(r->path, node, r->err,
				     "%s %s must be letters, digits, '_', '-' and '.', begin with "
				     "a letter, digit or '_', and be at most %d long",
				     f->name, bb_yaml__show(node).text, BB_NAME_MAX_BYTES);
	return bb_field__text(r, f, node, base);
}

int bb_field__choose(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, size_t *ret_index)
{
	const char *word = node->kind == BB_YAML_TEXT ? node->text : "";

	for (size_t i = 0; i < f->n_choices; i++) {
		if (!strcmp(word, f->choices[i])) {
			*ret_index = i;
			return 0;
		}
	}
	if (!*word)
		return bb_yaml__fail(r->path, node, r->err, "%s must be one of: %s; not %s",
				     f->name, bb_phrase__join(f->choices, f->n_choices).text,
				     bb_yaml__show(node).text);
	return bb_yaml__fail(r->path, node, r->err, "unknown %s %s%s; there are: %s", f->name,
			     bb_yaml__show(node).text,
			     bb_phrase__suggest(word, f->choices, f->n_choices).text,
			     bb_phrase__join(f->choices, f->n_choices).text);
}

int bb_field__choice(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	size_t i = 0;
	int rc = bb_field__choose(r, f, node, &i);

	return rc ? rc : bb_field__set_text(r, member(base, f), f->choices[i]);
}

static int fail_range(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node)
{
	return bb_yaml__fail(r->path, node, r->err, "%s must be from %.15g to %.15g, not %s",
			     f->name, f->min, f->max, bb_yaml__show(node).text);
}

/* A whole number within the row's range; `what` says what else the key takes. */
static int whole_number(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, const char *what, int64_t *ret_value)
{
	int64_t v = 0;
	int rc = node->kind == BB_YAML_TEXT && !node->quoted ? bb_parse_i64(node->text, &v)
							     : -EINVAL;

	if (rc == -EINVAL)
		return bb_yaml__fail(r->path, node, r->err, "%s must be %s, not %s%s", f->name,
				     what, node->quoted ? "the quoted text " : "",
				     bb_yaml__show(node).text);
	if (rc || (double)v < f->min || (double)v > f->max)
		return fail_range(r, f, node);
	*ret_value = v;
	return 0;
}

int bb_field__u32(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base)
{
	uint32_t *dest = member(base, f);
	int64_t v = 0;
	int rc = whole_number(r, f, node, "a whole number", &v);

	if (!rc)
		*dest = (uint32_t)v;
	return rc;
}

int bb_field__int(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base)
{
	int *dest = member(base, f);
	int64_t v = 0;
	int rc = whole_number(r, f, node, "a whole number", &v);

	if (!rc)
		*dest = (int)v;
	return rc;
}

int bb_field__check_list(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, const char *of)
{
	if (node->kind != BB_YAML_LIST)
		return bb_yaml__fail(r->path, node, r->err, "%s must be a list of %s, not %s",
				     f->name, of, bb_yaml__show(node).text);
	if (!node->n)
		return bb_yaml__fail(r->path, node, r->err, "%s must not be an empty list",
				     f->name);
	return 0;
}

int bb_field__u32_list(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	uint32_t v[BB_YAML_MAX_ENTRIES];
	bool one = node->kind != BB_YAML_LIST;
	size_t n = one ? 1 : node->n;
	int rc = one ? 0 : bb_field__check_list(r, f, node, "whole numbers");

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct bb_yaml *item = one ? node : &node->items[i];
		int64_t value = 0;

		rc = whole_number(r, f, item, "a whole number or a list of whole numbers", &value);
		if (rc)
			return rc;
		v[i] = (uint32_t)value;
		for (size_t j = 0; j < i; j++)
			if (v[j] == v[i])
				return bb_yaml__fail(r->path, item, r->err, "%s lists %u twice",
						     f->name, v[i]);
	}
	return bb_field__set_list(r, member(base, f), v, n);
}

int bb_field__double(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	double *dest = member(base, f), v = 0;
	int rc = node->kind == BB_YAML_TEXT && !node->quoted ? bb_parse_double(node->text, &v)
							     : -EINVAL;

	if (rc == -EINVAL)
		return bb_yaml__fail(r->path, node, r->err, "%s must be a number, not %s%s",
				     f->name, node->quoted ? "the quoted text " : "",
				     bb_yaml__show(node).text);
	if (rc || v < f->min || v > f->max)
		return fail_range(r, f, node);
	*dest = v;
	return 0;
}
