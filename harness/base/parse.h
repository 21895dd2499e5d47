/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Convert a text to a number. Trailing characters, an empty string, overflow and, for unsigned
 * numbers, a minus sign give -EINVAL or -ERANGE. Integers are decimal, or hexadecimal after 0x. */
int bb_parse_u64(const char *text, uint64_t *ret_value);
int bb_parse_i64(const char *text, int64_t *ret_value);
int bb_parse_double(const char *text, double *ret_value); /* -EINVAL if not finite */
int bb_parse_bool(const char *text,
		  int *ret_value); /* 1: "true", "yes", "on"; 0: "false", "no", "off" */

/* Reads decimal digits at `*cursor` and moves it past them. Returns -EINVAL if there are none,
 * -ERANGE on overflow. */
int bb_parse_digits(const char **cursor, uint64_t *ret_value);
/* Reads hexadecimal digits, without 0x, in the same way as bb_parse_digits(). */
int bb_parse_hex_digits(const char **cursor, uint64_t *ret_value);

/*
 * Reads bytes of two hexadecimal digits each. Blanks, line breaks and ':' may stand between bytes:
 * "08 00 4500". Returns -EINVAL for anything else, with the offset of the wrong character in
 * `*ret_at`; -EFBIG for more than `size` bytes.
 */
int bb_parse_hex(const char *text, uint8_t *ret_data, size_t size, size_t *ret_len, size_t *ret_at);

/* Returns the name in names[n] that is nearest to `word`, for "did you mean". The distance is that
 * of Damerau and Levenshtein. NULL if the distance of every name is above 1 and above a third of
 * the word's length. */
const char *bb_nearest(const char *word, const char *const *names, size_t n);

/* Returns "; did you mean 'NEAR'?" for the end of a message; `otherwise` if `near` is NULL or "".
 */
struct bb_guess {
	char text[256];
} bb_did_you_mean(const char *near, const char *otherwise);
