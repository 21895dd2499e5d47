/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A writer of JSON of any size, as a stream. The writer adds commas, line breaks and closing
 * brackets. Initialise it as {.out, .indent}; it owns nothing. Misuse, such as a key in an array,
 * fails an assertion. The caller checks ferror() at the end. */
#define BB_JSON_MAX_DEPTH 8

struct bb_json {
	FILE *out;
	unsigned int indent, depth; /* indent: spaces per level; depth: number of open levels */
	bool broken;                /* the next item begins on a new line */
	struct {
		char closing;
		bool lines, any; /* lines: each item has its own line; any: at least one item was
				    written */
	} open[BB_JSON_MAX_DEPTH];
};

/* Opens an object or array. `opening` is "{" or "[", or "{\n" or "[\n" to give each item its own
 * line. `key` is its name in the object around it; NULL in an array and at the top. */
void bb_json__open(struct bb_json *w, const char *key, const char *opening);
void bb_json__close(struct bb_json *w);
/* Closes all open levels, and the line. */
void bb_json__end(struct bb_json *w);

/* Begins a new line before the next item, in an object or array whose items share lines. */
void bb_json__break(struct bb_json *w);

/* Begins a value and returns the stream. The caller writes the value to it, as JSON. */
FILE *bb_json__add(struct bb_json *w, const char *key);

/* Writes a quoted string, or null for NULL. Bytes that are not UTF-8 become U+FFFD. */
void bb_json__add_text(struct bb_json *w, const char *key, const char *text);

void bb_json__add_bool(struct bb_json *w, const char *key, bool value);

/* Numbers up to 2^53 are exact in every reader. Larger ones are written as a string "0x...". */
#define BB_JSON_EXACT (1ULL << 53)
void bb_json__add_u64(struct bb_json *w, const char *key, uint64_t value);

/* Write a value of the given type with its key. bb_json__add_fixed() writes nothing if the value
 * is not finite. */
void bb_json__add_double(struct bb_json *w, const char *key, double value);
void bb_json__add_fixed(struct bb_json *w, const char *key, double value);

/* Numbers that are written without a struct bb_json, for other formats too. */

/* Writes the shortest decimal that reads back as the same double; null if not finite. */
void bb_json_double(FILE *out, double value);

/* Writes a finite value with at most 3 decimals, without trailing zeros or exponent. */
void bb_json_fixed(FILE *out, double value);
