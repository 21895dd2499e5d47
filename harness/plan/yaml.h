/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_YAML_H
#define BB_PLAN_YAML_H

#include "base/err.h"
#include "base/std.h"

/*
 * A YAML text as a tree that remembers where everything stood. It knows only the part of YAML that
 * a scenario needs: one document of texts, lists and mappings with distinct text keys. Anchors,
 * aliases and tags are refused, and size, nesting and number of entries are bounded, so that no
 * input can make the reader slow or large.
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
	uint32_t line, col; /* where it begins, 1-based; columns count characters */
	bool quoted;        /* text: in quotes or a block, so never a number or nothing */
	bool flow;          /* list, map: written with brackets or braces */
	char *text;         /* text: UTF-8 without NUL */
	/* list: n items; map: n pairs, items[2i] the key and items[2i + 1] its value */
	struct bb_yaml *items;
	size_t n;
	size_t n_items; /* private */
};

/* 0, or -EINVAL, -EFBIG or -ENOMEM. `path` is only for the message. The root is freed with
 * bb_yaml__free(). */
int bb_yaml__parse(const char *text, size_t len, const char *path, struct bb_yaml **ret_root,
		   struct bb_err *err);
void bb_yaml__free(struct bb_yaml *root);

/* Write a text so that it is read as it is, inside braces or not: in double quotes if need be. */
void bb_yaml__write(FILE *out, const char *text);

/* The value of `key`, or NULL. `map` must be a mapping. */
const struct bb_yaml *bb_yaml__get(const struct bb_yaml *map, const char *key);

/* `description:` with nothing behind it, or a bare ~ or null. */
bool bb_yaml__is_nothing(const struct bb_yaml *node);

/* Say "path:line:col: " and the message; returns -EINVAL. */
struct bb_reader {
	const char *path;
	struct bb_err *err;
};
int bb_yaml__fail(const struct bb_reader *r, const struct bb_yaml *node, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * For messages: the text in single quotes, shortened, with line breaks and other control characters
 * escaped; or "a list", "a mapping", "nothing".
 */
struct bb_yaml_shown {
	char text[128];
};
struct bb_yaml_shown bb_yaml__show(const struct bb_yaml *node);

#endif
