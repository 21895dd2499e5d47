/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_JSON_OUT_H
#define BB_BASE_JSON_OUT_H

#include <stdint.h>
#include <stdio.h>

/*
 * JSON values written as text, so that runs of any size stream and line breaks fall where people
 * want them. Errors stick to the FILE: the caller looks at ferror() at the end.
 */

/* A quoted string; bytes that are not UTF-8 become U+FFFD. NULL gives null. */
void bb_json_text(FILE *out, const char *text);

/* The shortest decimal that reads back as the same double. null when not finite. */
void bb_json_double(FILE *out, double value);

/* `value` (finite) with at most 3 decimals, no zeros at the end, never an exponent. */
void bb_json_fixed(FILE *out, double value);

/* A number up to 2^53, which every reader keeps exactly; a string "0x..." above. */
#define BB_JSON_EXACT (1ULL << 53)
void bb_json_u64(FILE *out, uint64_t value);

#endif
