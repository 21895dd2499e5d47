/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_JSON_WRITER_H
#define BB_BASE_JSON_WRITER_H

#include "base/std.h"

/*
 * JSON as a stream of any size: commas, line breaks and closing brackets are the writer's. It
 * starts as {.out, .indent} and owns nothing. Misuse (a key in an array, none in an object) is an
 * assertion. Errors stick to the FILE: the caller looks at ferror() at the end.
 */
#define BB_JSON_MAX_DEPTH 8

struct bb_json {
	FILE *out;
	unsigned int indent, depth; /* spaces a level; levels that are open */
	bool broken;                /* the next item begins a line */
	struct {
		char closing;
		bool lines, any; /* each item has a line; there is one */
	} open[BB_JSON_MAX_DEPTH];
};

/*
 * `opening` is "{" or "[", or "{\n" or "[\n" where each item has a line of its own. `key` is the
 * item's name in the object around it; NULL in an array, and for the whole.
 */
void bb_json__open(struct bb_json *w, const char *key, const char *opening);
void bb_json__close(struct bb_json *w);
/* Close all that is open, and the line. */
void bb_json__end(struct bb_json *w);

/* Let the next item begin a line, where items have none of their own. */
void bb_json__break(struct bb_json *w);

/* The place of a value that the caller writes: JSON that needs no escapes. */
FILE *bb_json__add(struct bb_json *w, const char *key);

/* A quoted string; bytes that are not UTF-8 become U+FFFD. NULL gives null. */
void bb_json__add_text(struct bb_json *w, const char *key, const char *text);

void bb_json__add_bool(struct bb_json *w, const char *key, bool value);

/* A number up to 2^53, which every reader keeps exactly; a string "0x..." above. */
#define BB_JSON_EXACT (1ULL << 53)
void bb_json__add_u64(struct bb_json *w, const char *key, uint64_t value);

/* As the two functions below write it; bb_json__add_fixed() leaves out a value that is not finite.
 * */
void bb_json__add_double(struct bb_json *w, const char *key, double value);
void bb_json__add_fixed(struct bb_json *w, const char *key, double value);

/* Numbers alone, for other formats too. */

/* The shortest decimal that reads back as the same double. null when not finite. */
void bb_json_double(FILE *out, double value);

/* `value` (finite) with at most 3 decimals, no zeros at the end, never an exponent. */
void bb_json_fixed(FILE *out, double value);

#endif
