/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_PARSE_H
#define BB_BASE_PARSE_H

#include "base/std.h"

/*
 * All conversions of text to numbers. Trailing characters, an empty string, overflow and, for
 * unsigned numbers, a minus sign are -EINVAL or -ERANGE. Integers are decimal, or hexadecimal after
 * 0x.
 */
int bb_parse_u64(const char *text, uint64_t *ret_value);
int bb_parse_i64(const char *text, int64_t *ret_value);
int bb_parse_double(const char *text, double *ret_value); /* finite only */
int bb_parse_bool(const char *text, int *ret_value);      /* true/false, yes/no, on/off */

/* Reads decimal digits at `*cursor` and moves it past them. Returns -EINVAL if there are none,
 * -ERANGE on overflow. */
int bb_parse_digits(const char **cursor, uint64_t *ret_value);
/* hexadecimal digits, without 0x */
int bb_parse_hex_digits(const char **cursor, uint64_t *ret_value);

/*
 * Reads bytes of two hexadecimal digits each, with blanks, line breaks and ':' between them: "08 00
 * 4500". Returns -EINVAL for anything else, with `*ret_at` the offset of the wrong character;
 * -EFBIG for more than `size` bytes.
 */
int bb_parse_hex(const char *text, uint8_t *ret_data, size_t size, size_t *ret_len, size_t *ret_at);

/* Returns the name in names[n] nearest to `word` by Damerau-Levenshtein distance, for "did you
 * mean". NULL if none is near: at most a third of the word's length, or 1. */
const char *bb_nearest(const char *word, const char *const *names, size_t n);

#endif
