/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/yaml.h"

#include <yaml.h>

#include "base/text.h"

#define MAX_DIRECTIVES 16

struct ctx {
	yaml_parser_t parser;
	const char *text; /* the whole text, in which node_at_byte() finds the line of a byte */
	const struct bb_reader *reader;
};

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
	for (size_t len; *p; p += len) {
		/* control characters (C0, C1 and DEL) could control the user's terminal */
		bool is_control = *p < 0x20 || *p == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);

		len = bb_utf8_len((const char *)p); /* libyaml has checked that the text is UTF-8 */
		if (at + (is_control ? 4 * len : len) > room) {
			memcpy(s.text + at, "...", 3);
			at += 3;
			break;
		}
		if (!is_control)
			memcpy(s.text + at, p, len);
		for (size_t i = 0; is_control && i < len; i++)
			snprintf(s.text + at + 4 * i, 5, "\\x%02x", p[i]);
		at += is_control ? 4 * len : len;
	}
	memcpy(s.text + at, "'", 2);
	return s;
}

/* Returns a node that has only a position, for messages. */
static struct bb_yaml node_at(yaml_mark_t mark)
{
	return (struct bb_yaml){.line = (uint32_t)mark.line + 1, .col = (uint32_t)mark.column + 1};
}

/* Finds a byte's line and column for messages. libyaml gives only the offset of a byte that is not
 * UTF-8. */
static struct bb_yaml node_at_byte(const char *text, size_t offset)
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
	return node_at(m);
}

static int next_event(struct ctx *c, yaml_event_t *ret_event)
{
	const yaml_parser_t *p = &c->parser;
	const char *problem, *hint = "";
	struct bb_yaml at, began;

	if (yaml_parser_parse(&c->parser, ret_event))
		return 0;
	problem = p->problem ? p->problem : "not YAML";
	at = node_at(p->problem_mark);
	began = node_at(p->context_mark);
	if (p->error == YAML_MEMORY_ERROR)
		bb_out_of_memory();
	if (p->error == YAML_READER_ERROR) {
		at = node_at_byte(c->text, p->problem_offset);
		return bb_yaml__fail(c->reader, &at, "%s; a scenario is UTF-8 text", problem);
	}
	if (strstr(problem, "mapping values are not allowed"))
		hint = "; check the indentation, and put quotes around a text that holds ': '";
	else if (strstr(problem, "cannot start any token"))
		hint = "; indent with spaces, and put quotes around a text that begins with a "
		       "special character";
	if (!p->context)
		return bb_yaml__fail(c->reader, &at, "%s%s", problem, hint);
	return bb_yaml__fail(c->reader, &at, "%s (%s that begins at %u:%u)%s", problem, p->context,
			     began.line, began.col, hint);
}

static int check_key(const struct ctx *c, const struct bb_yaml *map, const struct bb_yaml *key)
{
	if (key->kind != BB_YAML_TEXT)
		return bb_yaml__fail(c->reader, key, "a key must be text, not %s",
				     bb_yaml__show(key).text);
	if (map->n == BB_YAML_MAX_ENTRIES)
		return bb_yaml__fail(c->reader, key, "a mapping has more than %d keys",
				     BB_YAML_MAX_ENTRIES);
	const struct bb_yaml *first = bb_yaml__get(map, key->text);
	if (first)
		return bb_yaml__fail(c->reader, key,
				     "key %s is given twice; its first value is at %u:%u",
				     bb_yaml__show(key).text, first->line, first->col);
	return 0;
}

static int build_node(struct ctx *c, const yaml_event_t *event, int depth, struct bb_yaml *node);

/* Builds the items of a list, or the keys and values of a mapping, up to the event `end`. */
static int build_items(struct ctx *c, yaml_event_type_t end, int depth, struct bb_yaml *parent)
{
	bool is_map = parent->kind == BB_YAML_MAP, is_key = is_map, has_ended;

	for (;; is_key = is_map && !is_key) {
		struct bb_yaml item = {0};
		yaml_event_t event;
		int rc = next_event(c, &event);

		if (rc)
			return rc;
		has_ended = event.type == end;
		if (!has_ended)
			rc = build_node(c, &event, depth + 1, &item);
		yaml_event_delete(&event);
		if (has_ended)
			return 0;
		if (!rc && is_key)
			rc = check_key(c, parent, &item);
		else if (!rc && !is_map && parent->n == BB_YAML_MAX_ENTRIES)
			rc = bb_yaml__fail(c->reader, &item, "a list has more than %d items",
					   BB_YAML_MAX_ENTRIES);
		if (rc)
			return rc;
		BB_PUSH(parent->items, parent->n_items, item);
		parent->n += !is_key;
	}
}

/* Fills `node` from `event`, the event with which the node begins, and builds all nodes in it. */
static int build_node(struct ctx *c, const yaml_event_t *event, int depth, struct bb_yaml *node)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;
	yaml_event_type_t end = YAML_NO_EVENT;
	int rc;

	*node = node_at(event->start_mark);
	if (depth > BB_YAML_MAX_DEPTH)
		return bb_yaml__fail(c->reader, node, "nested more than %d levels deep",
				     BB_YAML_MAX_DEPTH);
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		node->kind = BB_YAML_LIST;
		node->flow = event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		end = YAML_SEQUENCE_END_EVENT;
		break;
	case YAML_MAPPING_START_EVENT:
		node->kind = BB_YAML_MAP;
		node->flow = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		end = YAML_MAPPING_END_EVENT;
		break;
	case YAML_ALIAS_EVENT:
		return bb_yaml__fail(c->reader, node,
				     "aliases (*name) are not supported; write the value out");
	default: return bb_yaml__fail(c->reader, node, "not a text, a list or a mapping");
	}
	if (anchor)
		return bb_yaml__fail(c->reader, node,
				     "anchors (&name) are not supported; write the value out");
	if (tag)
		return bb_yaml__fail(c->reader, node,
				     "tags (!name) are not supported; leave it out");
	if (end != YAML_NO_EVENT) {
		rc = build_items(c, end, depth, node);
		bb_arena__own(c->reader->arena, node->items);
		return rc;
	}
	if (memchr(event->data.scalar.value, 0, event->data.scalar.length))
		return bb_yaml__fail(c->reader, node, "a text must not hold a NUL character");
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->text = bb_arena__own(c->reader->arena,
				   bb_strndup((const char *)event->data.scalar.value,
					      event->data.scalar.length));
	return 0;
}

/* Checks that the text has no second document. libyaml gives these events: stream start, document
 * start, the events of the root, document end, stream end. */
static int build_document(struct ctx *c, struct bb_yaml *ret_root)
{
	const struct bb_yaml start = {.line = 1, .col = 1};
	yaml_event_type_t type = YAML_NO_EVENT;
	bool has_root = false;
	yaml_event_t event;
	int rc;

	while (type != YAML_STREAM_END_EVENT) {
		rc = next_event(c, &event);
		if (rc)
			return rc;
		type = event.type;
		if (type == YAML_DOCUMENT_START_EVENT && has_root) {
			const struct bb_yaml second = node_at(event.start_mark);

			rc = bb_yaml__fail(c->reader, &second,
					   "a second document begins here; only one is allowed");
		} else if (type >= YAML_ALIAS_EVENT) {
			/* the events of nodes come last in the enum */
			rc = build_node(c, &event, 1, ret_root);
			has_root = true;
		}
		yaml_event_delete(&event);
		if (rc)
			return rc;
	}
	return has_root ? 0
			: bb_yaml__fail(c->reader, &start,
					"the file is empty; a scenario needs at least name, "
					"variants and drive");
}

int bb_yaml__parse(const struct bb_reader *r, const char *text, size_t len,
		   struct bb_yaml *ret_root)
{
	struct ctx c = {.reader = r};
	size_t bom = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0, n_directives = 0;

	if (len > BB_YAML_MAX_BYTES)
		return bb_fail(r->err, -EFBIG, "%s: larger than %zu KiB, the limit for a scenario",
			       r->path, BB_YAML_MAX_BYTES >> 10);
	c.text = text + bom;
	/* A line that begins with % is a directive. libyaml compares each %TAG directive with all
	 * earlier ones, so many of them would take long. No scenario needs one. */
	for (size_t i = 0; i < len - bom; i++) {
		bool begins_line = !i || c.text[i - 1] == '\n' || c.text[i - 1] == '\r';

		if (c.text[i] == '%' && begins_line && ++n_directives > MAX_DIRECTIVES) {
			const struct bb_yaml at = node_at_byte(c.text, i);

			return bb_yaml__fail(r, &at, "more than %d lines begin with %%",
					     MAX_DIRECTIVES);
		}
	}
	if (!yaml_parser_initialize(&c.parser))
		bb_out_of_memory();
	yaml_parser_set_input_string(&c.parser, (const unsigned char *)c.text, len - bom);
	yaml_parser_set_encoding(&c.parser, YAML_UTF8_ENCODING);
	int rc = build_document(&c, ret_root);
	yaml_parser_delete(&c.parser);
	return rc;
}

void bb_yaml__write(FILE *out, const char *text)
{
	static const char first[] = "_/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	static const char rest[] = "_/"
				   "-."
				   "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	/* Our reader takes a word or path of these characters for a text, without quotes. Other
	 * YAML readers may not, as with `true`. */
	if (*text && strchr(first, *text) && strspn(text, rest) == strlen(text) &&
	    strcmp(text, "null")) {
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
