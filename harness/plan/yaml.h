/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/arena.h"

/* A YAML text as a tree of nodes that know their positions. Only what scenarios need is accepted:
 * one document of texts, lists, and mappings with distinct text keys, without anchors, aliases and
 * tags. The limits are there so that no input makes the reader slow or large. */
#define BB_YAML_MAX_BYTES ((size_t)1 << 20)
#define BB_YAML_MAX_DEPTH 16
#define BB_YAML_MAX_ENTRIES 1024

enum bb_yaml_kind {
	BB_YAML_TEXT,
	BB_YAML_LIST,
	BB_YAML_MAP,
};

struct bb_yaml {
	enum bb_yaml_kind kind;
	uint32_t line, col; /* position of the node's beginning, from 1; columns count characters */
	bool quoted; /* the text is in quotes or a block, so it is neither a number nor null */
	bool flow;   /* the list or mapping is written with brackets or braces */
	char *text;  /* UTF-8; NULL for a list or mapping */
	/* items of a list, or keys (items[2i]) and values (items[2i + 1]) of a mapping */
	struct bb_yaml *items;
	size_t n;
	size_t n_items; /* number of nodes in `items`, n or 2n; only yaml.c uses it */
};

/* Writes `text` as a YAML text that may also stand inside braces, in double quotes if needed. */
void bb_yaml__write(FILE *out, const char *text);

/* Returns NULL if the mapping has no such key. */
const struct bb_yaml *bb_yaml__get(const struct bb_yaml *map, const char *key);

/* True if the node is a text without quotes: empty (as after `description:`), "~" or "null". */
bool bb_yaml__is_nothing(const struct bb_yaml *node);

/* bb_yaml__fail() sets the message "path:line:col: ..." with the position of `node`, a struct
 * bb_yaml or bb_where, and returns -EINVAL. */
struct bb_reader {
	const char *path;
	struct bb_err *err;
	bool is_outline;        /* see bb_scenario__read() */
	struct bb_arena *arena; /* of all that is read */
};
#define bb_yaml__fail(r, node, fmt, ...)                                                           \
	bb_fail((r)->err, -EINVAL, "%s:%u:%u: " fmt, (r)->path, (node)->line, (node)->col,         \
		##__VA_ARGS__)

/* Parses text[len]. Returns 0, -EINVAL for a text that is not accepted, or -EFBIG if it is too
 * large. */
int bb_yaml__parse(const struct bb_reader *r, const char *text, size_t len,
		   struct bb_yaml *ret_root);

/* Words for a message: the node's text in single quotes, shortened and with control characters
 * escaped, or "a list", "a mapping" or "nothing". */
struct bb_yaml_shown {
	char text[128];
};
struct bb_yaml_shown bb_yaml__show(const struct bb_yaml *node);
