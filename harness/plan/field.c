/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/field.h"

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

int bb_field__text(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	if (node->kind != BB_YAML_TEXT || bb_yaml__is_nothing(node))
		return bb_yaml__fail(r, node, "%s must be a text, not %s", f->name,
				     bb_yaml__show(node).text);
	if (!*node->text)
		return bb_yaml__fail(r, node, "%s must not be empty", f->name);
	*(char **)bb_field__member(f, base) = node->text;
	return 0;
}

static const char name_characters[] = "-._"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz01234567"
				      "89";

void bb_name_from(const char *text, size_t len, char *ret_name)
{
	size_t n = 0;

	/* A name is not empty, and begins neither as an option ('-') nor as a hidden file ('.'). */
	if (!len || strchr("-.", text[0]))
		ret_name[n++] = 'x';
	for (size_t i = 0; i < len && n < BB_NAME_MAX_BYTES; i++)
		ret_name[n++] = text[i] && strchr(name_characters, text[i]) ? text[i] : '_';
	ret_name[n] = '\0';
}

static int read_name(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	const char *name = node->kind == BB_YAML_TEXT ? node->text : "";
	size_t len = strspn(name, name_characters);

	if (*name && !bb_yaml__is_nothing(node) &&
	    (name[len] || strchr("-.", *name) || len > BB_NAME_MAX_BYTES))
		return bb_yaml__fail(r, node,
				     "%s %s must be letters, digits, '_', '-' and '.', begin with "
				     "a letter, digit or '_', and be at most %d long",
				     f->name, bb_yaml__show(node).text, BB_NAME_MAX_BYTES);
	return bb_field__text(r, f, node, base);
}

#define MAX_CHOICES 32

int bb_field__choose(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, size_t *ret_index)
{
	const char *word = node->kind == BB_YAML_TEXT ? node->text : "";
	const char *listed[MAX_CHOICES], *const *choices = f->choice ? listed : f->choices;
	size_t n = f->choice ? 0 : f->n_choices;

	for (; f->choice && f->choice(n); n++) {
		assert(n < MAX_CHOICES);
		listed[n] = f->choice(n);
	}
	for (*ret_index = 0; *ret_index < n; ++*ret_index)
		if (!strcmp(word, choices[*ret_index]))
			return 0;
	if (!*word)
		return bb_yaml__fail(r, node, "%s must be one of: %s; not %s", f->name,
				     bb_phrase__join(choices, n).text, bb_yaml__show(node).text);
	return bb_yaml__fail(r, node, "unknown %s %s%s; there are: %s", f->name,
			     bb_yaml__show(node).text, bb_phrase__suggest(word, choices, n).text,
			     bb_phrase__join(choices, n).text);
}

int bb_field__choice(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	size_t i;
	int rc = bb_field__choose(r, f, node, &i);

	if (!rc)
		*(char **)bb_field__member(f, base) = node->text;
	return rc;
}

static int read_index(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	void *dest = bb_field__member(f, base);
	size_t i;
	int rc = bb_field__choose(r, f, node, &i);

	if (!rc && f->type == &bb_type_flag)
		*(bool *)dest = i;
	else if (!rc)
		*(unsigned int *)dest = (unsigned int)i;
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

static int read_names(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	bool is_empty = node->kind == BB_YAML_LIST && !node->n;
	int rc = is_empty ? 0 : bb_field__check_list(r, f, node, "names");
	uint32_t bits = 0;
	size_t i = 0;

	for (size_t k = 0; !rc && k < node->n; k++) {
		rc = bb_field__choose(r, f, &node->items[k], &i);
		bits |= BB_BIT(i);
	}
	if (!rc)
		*(uint32_t *)bb_field__member(f, base) = bits;
	return rc;
}

/* Fails if `rc`, the result of parsing, is negative, or if `value` is out of the row's range.
 * `what` says in messages which values the key takes. */
static int check_number(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, const char *what, int rc, double value)
{
	if (rc == -EINVAL)
		return bb_yaml__fail(r, node, "%s must be %s, not %s%s", f->name, what,
				     node->quoted ? "the quoted text " : "",
				     bb_yaml__show(node).text);
	if (rc || value < f->min || value > f->max)
		return bb_yaml__fail(r, node, "%s must be from %.15g to %.15g, not %s", f->name,
				     f->min, f->max, bb_yaml__show(node).text);
	return 0;
}

static int whole_number(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, const char *what, uint32_t *ret_value)
{
	int64_t v = 0;
	int rc = node->kind == BB_YAML_TEXT && !node->quoted ? bb_parse_i64(node->text, &v)
							     : -EINVAL;

	rc = check_number(r, f, node, what, rc, (double)v);
	if (!rc)
		*ret_value = (uint32_t)v;
	return rc;
}

int bb_field__u32(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base)
{
	return whole_number(r, f, node, "a whole number", bb_field__member(f, base));
}

static int read_double(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	double *dest = bb_field__member(f, base), v = 0;
	int rc = node->kind == BB_YAML_TEXT && !node->quoted ? bb_parse_double(node->text, &v)
							     : -EINVAL;

	rc = check_number(r, f, node, "a number", rc, v);
	if (!rc)
		*dest = v;
	return rc;
}

static int read_u32_list(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, void *base)
{
	uint32_t v[BB_YAML_MAX_ENTRIES], **dest = bb_field__member(f, base);
	bool one = node->kind != BB_YAML_LIST;
	size_t n = one ? 1 : node->n;
	int rc = one ? 0 : bb_field__check_list(r, f, node, "whole numbers");

	for (size_t i = 0; !rc && i < n; i++) {
		const struct bb_yaml *item = one ? node : &node->items[i];

		rc = whole_number(r, f, item, "a whole number or a list of whole numbers", &v[i]);
		for (size_t j = 0; !rc && !f->may_repeat && j < i; j++)
			if (v[j] == v[i])
				rc = bb_yaml__fail(r, item, "%s lists %u twice", f->name, v[i]);
	}
	if (rc)
		return rc;
	*dest = bb_arena__own(r->arena, bb_memdup(v, n * sizeof(**dest)));
	*(size_t *)bb_field__number(f, base) = n;
	return 0;
}

static int read_texts(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	char ***dest = bb_field__member(f, base);
	size_t *n = bb_field__number(f, base);
	int rc = bb_field__check_list(r, f, node, "texts");

	if (rc)
		return rc;
	*dest = bb_arena__own(r->arena, bb_calloc(node->n + 1, sizeof(**dest)));
	for (size_t i = 0; i < node->n; i++) {
		const struct bb_yaml *text = &node->items[i];

		if (text->kind != BB_YAML_TEXT || bb_yaml__is_nothing(text))
			return bb_yaml__fail(r, text, "%s must be a text, not %s", f->item,
					     bb_yaml__show(text).text);
		(*dest)[(*n)++] = text->text;
	}
	return 0;
}

static bool belongs(const struct bb_field *f, unsigned int mode)
{
	return !f->with || (f->with & mode);
}

/* Fails with a message that the mapping `map` in the mode `mode` may not have the key `key`. `f` is
 * the row of the key if another mode has it, NULL if the key is unknown. */
static int fail_key(const struct bb_reader *r, const struct bb_kind *kind, const struct bb_field *f,
		    const struct bb_yaml *map, const struct bb_yaml *key, unsigned int mode)
{
	const char *keys[BB_KIND_MAX_KEYS], *owners[BB_KIND_MAX_KEYS], *label = "", *name = "";
	size_t n = 0, n_owners = 0;

	for (size_t i = 0; i < kind->n_fields; i++)
		if (belongs(&kind->fields[i], mode))
			keys[n++] = kind->fields[i].name;
	if (!f) {
		/* YAML reads {description: reserve, then submit} as two keys, the second without a
		 * value. */
		bool is_comma = map->flow && bb_yaml__is_nothing(key + 1) && !*key[1].text;

		return bb_yaml__fail(r, key, "unknown key %s%s; %s takes: %s%s",
				     bb_yaml__show(key).text,
				     bb_phrase__suggest(key->text, keys, n).text, kind->what,
				     bb_phrase__join(keys, n).text,
				     is_comma ? "; inside { } a text that holds a comma must be "
						"quoted"
					      : "");
	}
	for (size_t i = 0; i < kind->n_modes; i++) {
		if (f->with & BB_BIT(i))
			owners[n_owners++] = kind->modes[i].name;
		if (mode & BB_BIT(i)) {
			label = kind->modes[i].label;
			name = kind->modes[i].name;
		}
	}
	return bb_yaml__fail(r, key, "key '%s' does not belong to '%s' but to %s; %s takes: %s",
			     f->name, label, bb_phrase__join(owners, n_owners).text, name,
			     bb_phrase__join(keys, n).text);
}

int bb_kind__read(const struct bb_reader *r, const struct bb_kind *kind, const struct bb_yaml *node,
		  unsigned int mode, void *base)
{
	int rc = 0;

	assert(kind->n_fields <= BB_KIND_MAX_KEYS && kind->n_modes <= BB_KIND_MAX_KEYS);
	if (node->kind != BB_YAML_MAP)
		return bb_yaml__fail(r, node, "%s must be a mapping such as %s, not %s", kind->what,
				     kind->example, bb_yaml__show(node).text);
	for (size_t i = 0; !rc && i < node->n; i++) {
		const struct bb_yaml *key = &node->items[2 * i];
		const struct bb_field *f = BB_FIND(kind->fields, kind->n_fields,
						   !strcmp(it->name, key->text));
		bb_read_value *read = NULL;

		if (!f || !belongs(f, mode))
			rc = fail_key(r, kind, f, node, key, mode);
		else
			read = f->read ? f->read : f->type->read;
		if (read)
			rc = read(r, f, key + 1, base);
	}
	for (size_t i = 0; !rc && i < kind->n_fields; i++) {
		const struct bb_field *f = &kind->fields[i];

		if (f->required && belongs(f, mode) && !bb_yaml__get(node, f->name))
			rc = bb_yaml__fail(r, node, "%s needs the key '%s'", kind->what, f->name);
	}
	return rc;
}

/* Appends an item to the list that `f` describes, and reads it from the node `at`. `copy` is its
 * index among the items of this node (bb_kind.copies). */
static int read_item(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *at,
		     uint32_t copy, void *base)
{
	const struct bb_kind *kind = f->of;
	char **items = bb_field__member(f, base),
	     *item = bb_append(items, bb_field__number(f, base), kind->size);
	struct bb_where where = {.line = at->line, .col = at->col};

	if (kind->where_offset)
		*(struct bb_where *)(void *)(item + kind->where_offset) = where;
	if (kind->copies)
		*(uint32_t *)(void *)(item + kind->copy_offset) = copy;
	int rc = kind->read ? kind->read(r, at, item) : bb_kind__read(r, kind, at, 0, item);
	for (char *k = *items; !rc && kind->noun && k < item; k += kind->size) {
		const struct bb_where *first = (void *)(k + kind->where_offset);
		const char *name = *(char **)(void *)item;

		if (!strcmp(*(char **)(void *)k, name))
			rc = bb_yaml__fail(r, bb_yaml__get(at, "name"),
					   "%s '%s' is given twice; the first is at %u:%u",
					   kind->noun, name, first->line, first->col);
	}
	return rc;
}

static int read_list(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	const size_t *n = bb_field__number(f, base);
	int rc = bb_field__check_list(r, f, node, f->item);

	for (size_t i = 0; !rc && i < node->n; i++) {
		const struct bb_yaml *at = &node->items[i];
		uint32_t copies = 1;

		if (f->of->copies)
			rc = f->of->copies(r, at, &copies);
		if (!rc && *n + copies > BB_YAML_MAX_ENTRIES)
			rc = bb_yaml__fail(r, at,
					   "%s has more than %d items, with one for each "
					   "combination of values",
					   f->name, BB_YAML_MAX_ENTRIES);
		for (uint32_t c = 0; !rc && c < copies; c++)
			rc = read_item(r, f, at, c, base);
	}
	bb_arena__own(r->arena, *(void **)bb_field__member(f, base));
	return rc;
}

static int read_part(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	return bb_kind__read(r, f->of, node, 0, bb_field__member(f, base));
}

#define WHOLE "{\"type\": \"integer\"}"
#define NAME                                                                                       \
	"{\"type\": [\"string\", \"number\", \"boolean\"], "                                       \
	"\"pattern\": \"^[A-Za-z0-9_][A-Za-z0-9_.-]*$\", \"maxLength\": 128}"
#define TEXTS "{\"type\": \"array\", \"minItems\": 1, \"items\": " BB_SCHEMA_TEXT "}"

const struct bb_type bb_type_text = {bb_field__text, BB_SCHEMA_TEXT};
const struct bb_type bb_type_name = {read_name, NAME};
const struct bb_type bb_type_choice = {.read = bb_field__choice};
const struct bb_type bb_type_texts = {read_texts, TEXTS};
const struct bb_type bb_type_index = {.read = read_index};
const struct bb_type bb_type_flag = {.read = read_index};
const struct bb_type bb_type_names = {.read = read_names};
const struct bb_type bb_type_u32 = {bb_field__u32, WHOLE};
const struct bb_type bb_type_double = {read_double, "{\"type\": \"number\"}"};
const struct bb_type bb_type_u32_list = {read_u32_list, WHOLE};
const struct bb_type bb_type_part = {.read = read_part};
const struct bb_type bb_type_list = {.read = read_list};
const struct bb_type bb_type_bytes = {.schema = BB_SCHEMA_TEXT};
