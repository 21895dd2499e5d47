/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * A YAML text as a tree that remembers positions. It accepts only what scenarios need: one document
 * of texts, lists, and mappings with distinct text keys. It refuses anchors, aliases and tags.
 * Size, nesting and number of entries are bounded, so no input makes the reader slow or large.
 */
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
	uint32_t line, col; /* position of its beginning, from 1; columns count characters */
	/* the text is in quotes or a block, so it is not taken as a number or as null */
	bool quoted;
	bool flow;  /* the list or mapping is written with brackets or braces */
	char *text; /* UTF-8 without NUL */
	/* list: n items. Mapping: n pairs, items[2i] is the key and items[2i + 1] its value */
	struct bb_yaml *items;
	size_t n;
	size_t n_items; /* number of nodes in `items`; private */
};

/* Parses a YAML text. Returns 0, -EINVAL or -EFBIG. `path` is only for messages. Free
 * the root with bb_yaml__free(). */
int bb_yaml__parse(const char *text, size_t len, const char *path, struct bb_yaml **ret_root,
		   struct bb_err *err);
void bb_yaml__free(struct bb_yaml *root);

/* Writes a text so that YAML reads the same text, also inside braces. Adds double quotes if
 * necessary. */
void bb_yaml__write(FILE *out, const char *text);

/* Returns the value of `key`, or NULL. `map` must be a mapping. */
const struct bb_yaml *bb_yaml__get(const struct bb_yaml *map, const char *key);

/* True for a text without quotes that is empty (`description:`), ~ or null. */
bool bb_yaml__is_nothing(const struct bb_yaml *node);

/* Where messages about nodes go. bb_yaml__fail() writes "path:line:col: " and a message into
 * `err`, and returns -EINVAL. */
struct bb_reader {
	const char *path;
	struct bb_err *err;
};
#define bb_yaml__fail(r, node, fmt, ...)                                                           \
	bb_fail((r)->err, -EINVAL, "%s:%u:%u: " fmt, (r)->path, (node)->line, (node)->col,         \
		##__VA_ARGS__)

/* A node for messages: its text in single quotes, shortened, with control characters escaped; or
 * "a list", "a mapping", "nothing". */
struct bb_yaml_shown {
	char text[128];
};
struct bb_yaml_shown bb_yaml__show(const struct bb_yaml *node);
