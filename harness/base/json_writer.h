/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A writer of JSON documents of any size. The writer adds commas, line breaks and closing brackets.
 * Initialise it as {.out, .indent}; it owns nothing. Misuse, such as a key in an array, fails an
 * assertion. The caller checks ferror() at the end. */
#define BB_JSON_MAX_DEPTH 8

struct bb_json {
	FILE *out;
	/* indent: blanks for each level of nesting; depth: number of open objects and arrays */
	unsigned int indent, depth;
	bool broken; /* true: the next item begins on a new line */
	struct {
		char closing;
		/* lines: true if each item has its own line; any: true if an item was written */
		bool lines, any;
	} open[BB_JSON_MAX_DEPTH];
};

/* Opens an object or array. `opening` is "{" or "[". With "{\n" or "[\n", each item has its own
 * line. Here and below, `key` is the key of the new value in the object around it; `key` is NULL
 * in an array and for the outermost value. */
void bb_json__open(struct bb_json *w, const char *key, const char *opening);
void bb_json__close(struct bb_json *w);
/* Closes all open objects and arrays, and ends the line. */
void bb_json__end(struct bb_json *w);

/* Begins a new line before the next item, in an object or array whose items share lines. */
void bb_json__break(struct bb_json *w);

/* Begins a value and returns the stream, to which the caller writes the value as JSON. */
FILE *bb_json__add(struct bb_json *w, const char *key);

/* Writes a quoted string, or null for NULL. Bytes that are not UTF-8 become U+FFFD. */
void bb_json__add_text(struct bb_json *w, const char *key, const char *text);

void bb_json__add_bool(struct bb_json *w, const char *key, bool value);

/* Every JSON reader keeps whole numbers up to 2^53 exactly. Larger numbers are written as a string
 * "0x...". */
#define BB_JSON_EXACT (1ULL << 53)
void bb_json__add_u64(struct bb_json *w, const char *key, uint64_t value);

/* Write a number as bb_json_double() and bb_json_fixed() do. bb_json__add_fixed() writes neither
 * key nor value if the value is not finite. */
void bb_json__add_double(struct bb_json *w, const char *key, double value);
void bb_json__add_fixed(struct bb_json *w, const char *key, double value);

/* Writes the shortest decimal that reads back as the same double; null if not finite. */
void bb_json_double(FILE *out, double value);

/* Writes a finite value with at most 3 decimals, without trailing zeros or exponent. */
void bb_json_fixed(FILE *out, double value);
