/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_PARSE_H
#define BB_BASE_PARSE_H

#include "base/std.h"

/*
 * The only place where text becomes numbers. Trailing junk, an empty string, overflow and (for the
 * unsigned) a minus sign are all -EINVAL or -ERANGE. Decimal or 0x hexadecimal for integers.
 */
int bb_parse_u64(const char *text, uint64_t *ret_value);
int bb_parse_i64(const char *text, int64_t *ret_value);
int bb_parse_double(const char *text, double *ret_value); /* finite only */
int bb_parse_bool(const char *text, int *ret_value);      /* true/false, yes/no, on/off */

/* The decimal digits at *cursor, which moves past them. -EINVAL when there are none, -ERANGE on
 * overflow. */
int bb_parse_digits(const char **cursor, uint64_t *ret_value);
/* hexadecimal ones, without 0x */
int bb_parse_hex_digits(const char **cursor, uint64_t *ret_value);

/*
 * Bytes of two hexadecimal digits each, with blanks, line breaks and ':' between them: "08 00
 * 4500". -EINVAL for anything else, and then *ret_at is the offset of the wrong character; -EFBIG
 * when there are more than `size`.
 */
int bb_parse_hex(const char *text, uint8_t *ret_data, size_t size, size_t *ret_len, size_t *ret_at);

/*
 * Of names[n] the one nearest to `word` by Damerau-Levenshtein distance, for "did you mean"; NULL
 * when none is near enough to be a likely slip (more than a third of the word's length, at least 1,
 * away).
 */
const char *bb_nearest(const char *word, const char *const *names, size_t n);

#endif
