/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A writer of JSON documents of any size, which adds commas, line breaks and closing brackets.
 * Initialise it as {.out, .indent}. Misuse, such as a key in an array, fails an assertion. The
 * caller checks ferror() at the end. */
#define BB_JSON_MAX_DEPTH 8

struct bb_json {
	FILE *out;
	/* indent: blanks per level; depth: number of open objects and arrays */
	unsigned int indent, depth;
	bool broken; /* the next item begins on a new line */
	struct {
		char closing;
		/* lines: each item has its own line; any: an item was written */
		bool lines, any;
	} open[BB_JSON_MAX_DEPTH];
};

/* Opens an object or array. `opening` is "{" or "[", or "{\n" or "[\n" to give each item its own
 * line. In all functions, `key` is the key of the new value. It is NULL in an array and for the
 * outermost value. */
void bb_json__open(struct bb_json *w, const char *key, const char *opening);
void bb_json__close(struct bb_json *w);
/* Closes all open objects and arrays, and ends the line. */
void bb_json__end(struct bb_json *w);

/* Puts the next item on a new line, in an object or array whose items share lines. */
void bb_json__break(struct bb_json *w);

/* Begins a value, which the caller writes to the returned stream as JSON. */
FILE *bb_json__add(struct bb_json *w, const char *key);

/* Writes a quoted string, or null for NULL. Bytes that are not UTF-8 become U+FFFD. */
void bb_json__add_text(struct bb_json *w, const char *key, const char *text);

void bb_json__add_bool(struct bb_json *w, const char *key, bool value);

/* Every JSON reader keeps whole numbers up to 2^53 exactly. Larger ones become a string "0x...". */
#define BB_JSON_EXACT (1ULL << 53)
void bb_json__add_u64(struct bb_json *w, const char *key, uint64_t value);

/* bb_json__add_fixed() writes nothing, not even the key, if the value is not finite. */
void bb_json__add_double(struct bb_json *w, const char *key, double value);
void bb_json__add_fixed(struct bb_json *w, const char *key, double value);

/* Writes the shortest decimal that reads back as the same double; null if not finite. */
void bb_json_double(FILE *out, double value);

/* Writes a finite value with at most 3 decimals, without trailing zeros or exponent. */
void bb_json_fixed(FILE *out, double value);
