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

static const void *const_member(const void *base, const struct bb_field *f)
{
	return (const char *)base + f->offset;
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
		return bb_yaml__fail(r, node, "%s must be a text, not %s", f->name,
				     bb_yaml__show(node).text);
	if (!*node->text)
		return bb_yaml__fail(r, node, "%s must not be empty", f->name);
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

static int read_name(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	if (node->kind == BB_YAML_TEXT && *node->text && !bb_yaml__is_nothing(node) &&
	    !name_is_valid(node->text))
		return bb_yaml__fail(r, node,
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
		return bb_yaml__fail(r, node, "%s must be one of: %s; not %s", f->name,
				     bb_phrase__join(f->choices, f->n_choices).text,
				     bb_yaml__show(node).text);
	return bb_yaml__fail(r, node, "unknown %s %s%s; there are: %s", f->name,
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
	return bb_yaml__fail(r, node, "%s must be from %.15g to %.15g, not %s", f->name, f->min,
			     f->max, bb_yaml__show(node).text);
}

/* A whole number within the row's range; `what` says what else the key takes. */
static int whole_number(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, const char *what, int64_t *ret_value)
{
	int64_t v = 0;
	int rc = node->kind == BB_YAML_TEXT && !node->quoted ? bb_parse_i64(node->text, &v)
							     : -EINVAL;

	if (rc == -EINVAL)
		return bb_yaml__fail(r, node, "%s must be %s, not %s%s", f->name, what,
				     node->quoted ? "the quoted text " : "",
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

static int read_int(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
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
		return bb_yaml__fail(r, node, "%s must be a list of %s, not %s", f->name, of,
				     bb_yaml__show(node).text);
	if (!node->n)
		return bb_yaml__fail(r, node, "%s must not be an empty list", f->name);
	return 0;
}

static int read_u32_list(const struct bb_reader *r, const struct bb_field *f,
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
				return bb_yaml__fail(r, item, "%s lists %u twice", f->name, v[i]);
	}
	return bb_field__set_list(r, member(base, f), v, n);
}

static int read_double(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	double *dest = member(base, f), v = 0;
	int rc = node->kind == BB_YAML_TEXT && !node->quoted ? bb_parse_double(node->text, &v)
							     : -EINVAL;

	if (rc == -EINVAL)
		return bb_yaml__fail(r, node, "%s must be a number, not %s%s", f->name,
				     node->quoted ? "the quoted text " : "",
				     bb_yaml__show(node).text);
	if (rc || v < f->min || v > f->max)
		return fail_range(r, f, node);
	*dest = v;
	return 0;
}

static int read_index(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	unsigned int *dest = member(base, f);
	size_t i = 0;
	int rc = bb_field__choose(r, f, node, &i);

	if (!rc)
		*dest = (unsigned int)i;
	return rc;
}

static int read_flag(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	bool *dest = member(base, f);
	size_t i = 0;
	int rc = bb_field__choose(r, f, node, &i);

	if (!rc)
		*dest = i;
	return rc;
}

static int read_texts(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	char ***dest = member(base, f);
	size_t *n = (size_t *)((char *)base + f->n_offset);
	int rc = bb_field__check_list(r, f, node, "texts");

	if (rc)
		return rc;
	*dest = calloc(node->n + 1, sizeof(**dest)); /* and a NULL */
	if (!*dest)
		return bb_fail_nomem(r->err);
	for (size_t i = 0; i < node->n; i++) {
		const struct bb_yaml *text = &node->items[i];

		if (text->kind != BB_YAML_TEXT || bb_yaml__is_nothing(text))
			return bb_yaml__fail(r, text, "%s must be a text, not %s", f->item,
					     bb_yaml__show(text).text);
		rc = bb_field__set_text(r, &(*dest)[*n], text->text);
		if (rc)
			return rc;
		++*n;
	}
	return 0;
}

/* --- what owns memory --- */

static int copy_text(const struct bb_field *f, const void *from, void *to)
{
	const char *text = *(char *const *)const_member(from, f);
	char **dest = member(to, f);

	*dest = text ? strdup(text) : NULL;
	return text && !*dest ? -ENOMEM : 0;
}

static void free_text(const struct bb_field *f, void *base)
{
	char **text = member(base, f);

	free(*text);
	*text = NULL;
}

static int copy_texts(const struct bb_field *f, const void *from, void *to)
{
	char *const *texts = *(char **const *)const_member(from, f);
	char ***dest = member(to, f);
	size_t n = *(const size_t *)((const char *)from + f->n_offset);

	*dest = texts ? calloc(n + 1, sizeof(**dest)) : NULL;
	for (size_t i = 0; *dest && i < n; i++) {
		(*dest)[i] = strdup(texts[i]);
		if (!(*dest)[i])
			return -ENOMEM;
	}
	return texts && !*dest ? -ENOMEM : 0;
}

static void free_texts(const struct bb_field *f, void *base)
{
	char ***texts = member(base, f);

	for (size_t i = 0; *texts && (*texts)[i]; i++)
		free((*texts)[i]);
	free(*texts);
	*texts = NULL;
}

static int copy_u32_list(const struct bb_field *f, const void *from, void *to)
{
	const struct bb_u32_list *list = const_member(from, f);
	const struct bb_reader nobody = {0};

	return list->n ? bb_field__set_list(&nobody, member(to, f), list->v, list->n) : 0;
}

static void free_u32_list(const struct bb_field *f, void *base)
{
	struct bb_u32_list *list = member(base, f);

	free(list->v);
	*list = (struct bb_u32_list){0};
}

#define OWNS_TEXT sizeof(char *), copy_text, free_text

const struct bb_type bb_type_text = {bb_field__text, OWNS_TEXT};
const struct bb_type bb_type_name = {read_name, OWNS_TEXT};
const struct bb_type bb_type_choice = {bb_field__choice, OWNS_TEXT};
const struct bb_type bb_type_texts = {read_texts, sizeof(char **), copy_texts, free_texts};
const struct bb_type bb_type_index = {.read = read_index};
const struct bb_type bb_type_flag = {.read = read_flag};
const struct bb_type bb_type_u32 = {.read = bb_field__u32};
const struct bb_type bb_type_int = {.read = read_int};
const struct bb_type bb_type_double = {.read = read_double};
const struct bb_type bb_type_u32_list = {read_u32_list, sizeof(struct bb_u32_list), copy_u32_list,
					 free_u32_list};
