/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/grow.h"

#define FAIL_MAX 2048 /* longest message behind "path:line:col: " */
#define MAX_DIRECTIVES 16

struct ctx {
	yaml_parser_t parser;
	const char *text; /* what the parser reads, to find the line of a byte */
	struct bb_reader reader;
};

static void done(struct bb_yaml *node)
{
	size_t n = node->kind == BB_YAML_MAP ? 2 * node->n : node->n;

	for (size_t i = 0; i < n; i++)
		done(&node->items[i]);
	free(node->items);
	free(node->text);
}

void bb_yaml__free(struct bb_yaml *root)
{
	if (!root)
		return;
	done(root);
	free(root);
}

const struct bb_yaml *bb_yaml__get(const struct bb_yaml *map, const char *key)
{
	for (size_t i = 0; i < map->n; i++)
		if (!strcmp(map->items[2 * i].text, key))
			return &map->items[2 * i + 1];
	return NULL;
}

bool bb_yaml__is_nothing(const struct bb_yaml *node)
{
	return node->kind == BB_YAML_TEXT && !node->quoted &&
	       (!*node->text || !strcmp(node->text, "~") || !strcmp(node->text, "null"));
}

static __attribute__((format(printf, 4, 0))) int vfail_at(const struct bb_reader *r, uint32_t line,
							  uint32_t col, const char *fmt, va_list ap)
{
	char msg[FAIL_MAX];

	vsnprintf(msg, sizeof(msg), fmt, ap);
	return bb_fail(r->err, -EINVAL, "%s:%u:%u: %s", r->path, line, col, msg);
}

static __attribute__((format(printf, 3, 4))) int fail_at(const struct ctx *c, yaml_mark_t mark,
							 const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = vfail_at(&c->reader, (uint32_t)mark.line + 1, (uint32_t)mark.column + 1, fmt, ap);
	va_end(ap);
	return rc;
}

int bb_yaml__fail(const struct bb_reader *r, const struct bb_yaml *node, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = vfail_at(r, node->line, node->col, fmt, ap);
	va_end(ap);
	return rc;
}

/* Bytes of the character at `p` that must not reach a terminal as they are: C0 and C1 controls,
 * DEL. */
static size_t control_len(const unsigned char *p)
{
	if (*p < 0x20 || *p == 0x7f)
		return 1;
	return p[0] == 0xc2 && p[1] < 0xa0 ? 2 : 0;
}

static size_t char_len(const unsigned char *p)
{
	size_t len = 1;

	while ((p[len] & 0xc0) == 0x80)
		len++;
	return len;
}

struct bb_yaml_shown bb_yaml__show(const struct bb_yaml *node)
{
	static const char *const others[] =
		{[BB_YAML_LIST] = "a list", [BB_YAML_MAP] = "a mapping"};
	struct bb_yaml_shown s = {.text = "nothing"};
	const unsigned char *p = (const unsigned char *)node->text;
	size_t at = 0, room = sizeof(s.text) - sizeof("...'");

	if (node->kind != BB_YAML_TEXT)
		snprintf(s.text, sizeof(s.text), "%s", others[node->kind]);
	if (node->kind != BB_YAML_TEXT || bb_yaml__is_nothing(node))
		return s;
	s.text[at++] = '\'';
	while (*p) {
		size_t escape = control_len(p), len = char_len(p);

		if (at + (escape ? 4 * escape : len) > room) {
			memcpy(s.text + at, "...", 3);
			at += 3;
			break;
		}
		for (size_t i = 0; i < escape; i++, at += 4)
			snprintf(s.text + at, 5, "\\x%02x", p[i]);
		if (!escape) {
			memcpy(s.text + at, p, len);
			at += len;
		}
		p += len;
	}
	memcpy(s.text + at, "'", 2);
	return s;
}

/* The reader of libyaml knows only the byte where the encoding went wrong. */
static yaml_mark_t mark_of_byte(const char *text, size_t offset)
{
	yaml_mark_t m = {0};

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			m.line++;
			m.column = 0;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			m.column++;
		}
	}
	return m;
}

static int fail_syntax(const struct ctx *c)
{
	const yaml_parser_t *p = &c->parser;
	const char *problem = p->problem ? p->problem : "not YAML";
	const char *hint = "";

	if (p->error == YAML_MEMORY_ERROR)
		return bb_fail_nomem(c->reader.err);
	if (p->error == YAML_READER_ERROR)
		return fail_at(c, mark_of_byte(c->text, p->problem_offset),
			       "%s; a scenario is UTF-8 text", problem);
	if (strstr(problem, "mapping values are not allowed"))
		hint = "; check the indentation, and put quotes around a text that holds ': '";
	else if (strstr(problem, "cannot start any token"))
		hint = "; indent with spaces, and put quotes around a text that begins with a "
		       "special character";
	if (!p->context)
		return fail_at(c, p->problem_mark, "%s%s", problem, hint);
	return fail_at(c, p->problem_mark, "%s (%s that begins at %zu:%zu)%s", problem, p->context,
		       p->context_mark.line + 1, p->context_mark.column + 1, hint);
}

static int next_event(struct ctx *c, yaml_event_t *ret_event)
{
	return yaml_parser_parse(&c->parser, ret_event) ? 0 : fail_syntax(c);
}

static int append(struct ctx *c, struct bb_yaml *parent, size_t used, const struct bb_yaml *item)
{
	if (bb_reserve(&parent->items, used + 1, &parent->capacity, sizeof(*item)))
		return bb_fail_nomem(c->reader.err);
	parent->items[used] = *item;
	return 0;
}

static int build(struct ctx *c, const yaml_event_t *event, int depth, struct bb_yaml *ret_node);

/* Builds the node that begins with the next event; *ret_end instead, and no node, where the parent
 * ends. */
static int build_next(struct ctx *c, yaml_event_type_t end, int depth, struct bb_yaml *ret_node,
		      bool *ret_end)
{
	yaml_event_t event;
	int rc = next_event(c, &event);

	if (rc)
		return rc;
	*ret_end = event.type == end;
	if (!*ret_end)
		rc = build(c, &event, depth, ret_node);
	yaml_event_delete(&event);
	return rc;
}

static int build_list(struct ctx *c, int depth, struct bb_yaml *list)
{
	for (;;) {
		struct bb_yaml item = {0};
		bool end;
		int rc = build_next(c, YAML_SEQUENCE_END_EVENT, depth + 1, &item, &end);

		if (rc || end)
			return rc;
		rc = list->n == BB_YAML_MAX_ENTRIES
			     ? bb_yaml__fail(&c->reader, &item, "a list has more than %d items",
					     BB_YAML_MAX_ENTRIES)
			     : append(c, list, list->n, &item);
		if (rc) {
			done(&item);
			return rc;
		}
		list->n++;
	}
}

static int check_key(const struct ctx *c, const struct bb_yaml *map, const struct bb_yaml *key)
{
	const struct bb_yaml *first;

	if (key->kind != BB_YAML_TEXT)
		return bb_yaml__fail(&c->reader, key, "a key must be text, not %s",
				     bb_yaml__show(key).text);
	if (map->n == BB_YAML_MAX_ENTRIES)
		return bb_yaml__fail(&c->reader, key, "a mapping has more than %d keys",
				     BB_YAML_MAX_ENTRIES);
	first = bb_yaml__get(map, key->text);
	if (first)
		return bb_yaml__fail(&c->reader, key,
				     "key %s is given twice; its first value is at %u:%u",
				     bb_yaml__show(key).text, first->line, first->col);
	return 0;
}

static int build_map(struct ctx *c, int depth, struct bb_yaml *map)
{
	for (;;) {
		struct bb_yaml key = {0}, value = {0};
		bool end;
		int rc = build_next(c, YAML_MAPPING_END_EVENT, depth + 1, &key, &end);

		if (rc || end)
			return rc;
		rc = check_key(c, map, &key);
		if (!rc)
			rc = build_next(c, YAML_NO_EVENT, depth + 1, &value, &end);
		if (!rc)
			rc = append(c, map, 2 * map->n, &key);
		if (!rc) {
			rc = append(c, map, 2 * map->n + 1, &value);
			if (!rc)
				map->n++;
		}
		if (rc) {
			done(&key);
			done(&value);
			return rc;
		}
	}
}

static int build_text(struct ctx *c, const yaml_event_t *event, struct bb_yaml *node)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;

	if (memchr(value, 0, len))
		return fail_at(c, event->start_mark, "a text must not hold a NUL character");
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->text = strndup(value, len);
	return node->text ? 0 : bb_fail_nomem(c->reader.err);
}

static int refuse_extras(const struct ctx *c, const yaml_event_t *event, const yaml_char_t *anchor,
			 const yaml_char_t *tag)
{
	if (anchor)
		return fail_at(c, event->start_mark,
			       "anchors (&name) are not supported; write the value out");
	if (tag)
		return fail_at(c, event->start_mark,
			       "tags (!name) are not supported; leave it out");
	return 0;
}

/* Build the node that begins with `event`. On failure nothing is left in *ret_node. */
static int build(struct ctx *c, const yaml_event_t *event, int depth, struct bb_yaml *ret_node)
{
	struct bb_yaml node = {
		.line = (uint32_t)event->start_mark.line + 1,
		.col = (uint32_t)event->start_mark.column + 1,
	};
	int rc;

	if (depth > BB_YAML_MAX_DEPTH)
		return fail_at(c, event->start_mark, "nested more than %d levels deep",
			       BB_YAML_MAX_DEPTH);
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		rc = refuse_extras(c, event, event->data.scalar.anchor, event->data.scalar.tag);
		if (!rc)
			rc = build_text(c, event, &node);
		break;
	case YAML_SEQUENCE_START_EVENT:
		node.kind = BB_YAML_LIST;
		node.flow = event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
		rc = refuse_extras(c, event, event->data.sequence_start.anchor,
				   event->data.sequence_start.tag);
		if (!rc)
			rc = build_list(c, depth, &node);
		break;
	case YAML_MAPPING_START_EVENT:
		node.kind = BB_YAML_MAP;
		node.flow = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
		rc = refuse_extras(c, event, event->data.mapping_start.anchor,
				   event->data.mapping_start.tag);
		if (!rc)
			rc = build_map(c, depth, &node);
		break;
	case YAML_ALIAS_EVENT:
		rc = fail_at(c, event->start_mark,
			     "aliases (*name) are not supported; write the value out");
		break;
	default: rc = fail_at(c, event->start_mark, "not a text, a list or a mapping"); break;
	}
	if (rc)
		done(&node);
	else
		*ret_node = node;
	return rc;
}

/* The events around the root: stream start, document start, root, document end, stream end. */
static int build_document(struct ctx *c, struct bb_yaml *ret_root)
{
	yaml_event_t event;
	bool end;
	int rc = next_event(c, &event);

	if (rc)
		return rc;
	yaml_event_delete(&event);
	rc = next_event(c, &event);
	if (rc)
		return rc;
	end = event.type == YAML_STREAM_END_EVENT;
	yaml_event_delete(&event);
	if (end)
		return fail_at(c, (yaml_mark_t){0},
			       "the file is empty; a scenario needs at least name, variants and "
			       "drive");
	rc = build_next(c, YAML_NO_EVENT, 1, ret_root, &end);
	if (rc)
		return rc;
	for (end = false; !rc && !end;) {
		rc = next_event(c, &event);
		if (rc)
			break;
		end = event.type == YAML_STREAM_END_EVENT;
		if (event.type == YAML_DOCUMENT_START_EVENT)
			rc = fail_at(c, event.start_mark,
				     "a second document begins here; only one is allowed");
		yaml_event_delete(&event);
	}
	if (rc)
		done(ret_root);
	return rc;
}

/* libyaml compares each %TAG line with all before it. No scenario needs a single one. */
static int check_directives(const struct ctx *c, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (c->text[i] == '%' && (!i || c->text[i - 1] == '\n' || c->text[i - 1] == '\r') &&
		    ++n > MAX_DIRECTIVES)
			return fail_at(c, mark_of_byte(c->text, i),
				       "more than %d lines begin with %%", MAX_DIRECTIVES);
	return 0;
}

int bb_yaml__parse(const char *text, size_t len, const char *path, struct bb_yaml **ret_root,
		   struct bb_err *err)
{
	struct ctx c = {.reader = {path, err}};
	struct bb_yaml *root;
	size_t bom = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	int rc;

	if (len > BB_YAML_MAX_BYTES)
		return bb_fail(err, -EFBIG, "%s: larger than %zu KiB, the limit for a scenario",
			       path, BB_YAML_MAX_BYTES >> 10);
	c.text = text + bom;
	rc = check_directives(&c, len - bom);
	if (rc)
		return rc;
	root = calloc(1, sizeof(*root));
	if (!root)
		return bb_fail_nomem(err);
	if (!yaml_parser_initialize(&c.parser)) {
		free(root);
		return bb_fail_nomem(err);
	}
	yaml_parser_set_input_string(&c.parser, (const unsigned char *)c.text, len - bom);
	yaml_parser_set_encoding(&c.parser, YAML_UTF8_ENCODING);
	rc = build_document(&c, root);
	yaml_parser_delete(&c.parser);
	if (rc)
		free(root);
	else
		*ret_root = root;
	return rc;
}

/* Words and paths that nothing but a text can be. */
static bool is_plain(const char *text)
{
	static const char first[] = "_/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	static const char rest[] = "_/"
				   "-."
				   "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	const struct bb_yaml as_read = {.kind = BB_YAML_TEXT, .text = (char *)(uintptr_t)text};

	return *text && strchr(first, *text) && strspn(text, rest) == strlen(text) &&
	       !bb_yaml__is_nothing(&as_read);
}

void bb_yaml__write(FILE *out, const char *text)
{
	if (is_plain(text)) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if ((unsigned char)*c < ' ' || *c == 0x7f)
			fprintf(out, "\\x%02x", (unsigned int)*c);
		else
			fputc(*c, out);
	}
	fputc('"', out);
}
