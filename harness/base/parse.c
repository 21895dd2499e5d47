/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parse.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_digits(const char **cursor, int base, uint64_t *ret_value)
{
	const char *c = *cursor;
	uint64_t v = 0;
	int digit;

	for (; (digit = hex_digit(*c)) >= 0 && digit < base; c++)
		if (__builtin_mul_overflow(v, (unsigned int)base, &v) ||
		    __builtin_add_overflow(v, (unsigned int)digit, &v))
			return -ERANGE;
	if (c == *cursor)
		return -EINVAL;
	*cursor = c;
	*ret_value = v;
	return 0;
}

int bb_parse_digits(const char **cursor, uint64_t *ret_value)
{
	return parse_digits(cursor, 10, ret_value);
}

int bb_parse_hex_digits(const char **cursor, uint64_t *ret_value)
{
	return parse_digits(cursor, 16, ret_value);
}

int bb_parse_u64(const char *text, uint64_t *ret_value)
{
	bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *at = is_hex ? text + 2 : text;
	uint64_t v;
	int rc = parse_digits(&at, is_hex ? 16 : 10, &v);

	if (!rc && *at)
		rc = -EINVAL;
	if (!rc)
		*ret_value = v;
	return rc;
}

int bb_parse_i64(const char *text, int64_t *ret_value)
{
	bool is_negative = text[0] == '-';
	uint64_t v;
	int rc = bb_parse_u64(text + is_negative, &v);

	if (!rc && v > (uint64_t)INT64_MAX + is_negative)
		rc = -ERANGE;
	if (!rc)
		*ret_value = (int64_t)(is_negative ? -v : v);
	return rc;
}

int bb_parse_double(const char *text, double *ret_value)
{
	char *end;

	if (!text[0] || isspace((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	double v = strtod(text, &end);
	if (*end || end == text || !isfinite(v))
		return -EINVAL;
	if (errno == ERANGE)
		return -ERANGE;
	*ret_value = v;
	return 0;
}

int bb_parse_bool(const char *text, int *ret_value)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
	const char *const *found = BB_FIND(words, BB_LEN(words), !strcmp(text, *it));

	if (!found)
		return -EINVAL;
	*ret_value = (int)(found - words) % 2;
	return 0;
}

int bb_parse_hex(const char *text, uint8_t *ret_data, size_t size, size_t *ret_len, size_t *ret_at)
{
	size_t len = 0;

	for (size_t i = 0; text[i]; i++) {
		int high, low;

		if (strchr(" \t\r\n:", text[i]))
			continue;
		high = hex_digit(text[i]);
		low = high < 0 ? -1 : hex_digit(text[i + 1]);
		if (high < 0 || low < 0) {
			*ret_at = high < 0 ? i : i + 1;
			return -EINVAL;
		}
		if (len == size)
			return -EFBIG;
		ret_data[len++] = (uint8_t)(high << 4 | low);
		i++;
	}
	*ret_len = len;
	return 0;
}

/* number of characters of a word that are compared */
#define NEAREST_MAX 63

/* Returns the optimal string alignment distance, which bb_nearest() explains in parse.h. */
static size_t distance(const char *a, const char *b)
{
	size_t d[NEAREST_MAX + 1][NEAREST_MAX + 1];
	size_t la = strnlen(a, NEAREST_MAX), lb = strnlen(b, NEAREST_MAX);

	for (size_t i = 0; i <= la; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			size_t least = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			if (d[i - 1][j] + 1 < least)
				least = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < least)
				least = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < least)
				least = d[i - 2][j - 2] + 1;
			d[i][j] = least;
		}
	}
	return d[la][lb];
}

const char *bb_nearest(const char *word, const char *const *names, size_t n)
{
	size_t len = strnlen(word, NEAREST_MAX);
	size_t limit = len / 3 > 1 ? len / 3 : 1;
	const char *best = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t other = strnlen(names[i], NEAREST_MAX), d;

		if (other > len + limit || len > other + limit)
			continue;
		d = distance(word, names[i]);
		if (d <= limit) {
			best = names[i];
			if (!d)
				break;
			limit = d - 1;
		}
	}
	return best;
}

struct bb_guess bb_did_you_mean(const char *near, const char *otherwise)
{
	bool is_near = near && *near;
	struct bb_guess guess;

	snprintf(guess.text, sizeof(guess.text), is_near ? "; did you mean '%s'?" : "%s",
		 is_near ? near : otherwise);
	return guess;
}
