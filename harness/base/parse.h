/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Convert a whole text to a value. Return 0, -EINVAL if the text has another form, or -ERANGE if
 * the number is too large. Integers are decimal, or hexadecimal after 0x. */
int bb_parse_u64(const char *text, uint64_t *ret_value);
int bb_parse_i64(const char *text, int64_t *ret_value);
/* -EINVAL also if the number is not finite */
int bb_parse_double(const char *text, double *ret_value);
/* 1 for "true", "yes" and "on"; 0 for "false", "no" and "off" */
int bb_parse_bool(const char *text, int *ret_value);

/* Reads decimal digits, and moves `*cursor` behind them. Returns 0, -EINVAL if there are no digits,
 * or -ERANGE if the number is too large. */
int bb_parse_digits(const char **cursor, uint64_t *ret_value);
/* Does the same as bb_parse_digits() for hexadecimal digits without 0x. */
int bb_parse_hex_digits(const char **cursor, uint64_t *ret_value);

/* Reads bytes of two hexadecimal digits each, with blanks, line breaks and ':' between bytes: "08
 * 00 4500". Returns 0; -EINVAL at any other character, with its offset in `*ret_at`; or -EFBIG for
 * more than `size` bytes. */
int bb_parse_hex(const char *text, uint8_t *ret_data, size_t size, size_t *ret_len, size_t *ret_at);

/* Returns the name in names[n] that is nearest to `word`, for "did you mean". The distance of two
 * words is the least number of insertions, deletions, substitutions and swaps of neighbours that
 * turn one into the other. Returns NULL if every distance is above 1 and above a third of the
 * word's length. */
const char *bb_nearest(const char *word, const char *const *names, size_t n);

/* Returns "; did you mean 'NEAR'?", or `otherwise` if `near` is NULL or "". */
struct bb_guess {
	char text[256];
} bb_did_you_mean(const char *near, const char *otherwise);
