/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A strict reader of OpenMetrics 1.0 text, for tests only. It knows what bpfbench writes: families
 * that begin with HELP, TYPE and at most one UNIT, of the types counter, gauge, summary and
 * histogram; samples with labels and a number, without time stamps. Names, suffixes and units must
 * fit the family, no sample may occur twice, and `# EOF` is the end.
 * (https://github.com/OpenObservability/OpenMetrics, specification/OpenMetrics.md)
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/std.h"
#include "base/parse.h"

#define OM_MAX_LINES 32768

struct om_reader {
	char *lines[OM_MAX_LINES];
	size_t n;
	char family[128], type[32]; /* the current family */
	size_t n_families;
	bool bucket; /* the line before was a bucket of a histogram, and more buckets follow */
	double bucket_count;
	struct bb_err *err;
};

static inline size_t om_name_len(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");

	return n && (*text < '0' || *text > '9') ? n : 0;
}

/* Returns the text after `word`, or NULL for another line: "# HELP name text" gives "name text". */
static inline const char *om_after(const char *line, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(line, word, n) && line[n] == ' ' ? line + n + 1 : NULL;
}

/* Reads the lines that begin a family, at *i, and moves *i behind them. */
static inline int om_head(struct om_reader *r, size_t *i)
{
	const char *help = om_after(r->lines[*i], "# HELP"), *type, *unit;
	size_t n = help ? om_name_len(help) : 0;

	if (!n || help[n] != ' ' || n >= sizeof(r->family))
		return bb_fail(r->err, -EINVAL, "line %zu: expected # HELP name text: %s", *i + 1,
			       r->lines[*i]);
	snprintf(r->family, sizeof(r->family), "%.*s", (int)n, help);
	for (size_t k = 0; k < *i; k++) {
		const char *before = om_after(r->lines[k], "# HELP");

		if (before && !strncmp(before, help, n + 1))
			return bb_fail(r->err, -EINVAL, "line %zu: family %s is there twice",
				       *i + 1, r->family);
	}
	type = ++*i < r->n ? om_after(r->lines[*i], "# TYPE") : NULL;
	if (!type || strncmp(type, help, n + 1))
		return bb_fail(r->err, -EINVAL, "line %zu: expected # TYPE %s", *i + 1, r->family);
	snprintf(r->type, sizeof(r->type), "%s", type + n + 1);
	if (strcmp(r->type, "counter") && strcmp(r->type, "gauge") && strcmp(r->type, "summary") &&
	    strcmp(r->type, "histogram"))
		return bb_fail(r->err, -EINVAL, "line %zu: type %s", *i + 1, r->type);
	unit = ++*i < r->n ? om_after(r->lines[*i], "# UNIT") : NULL;
	r->n_families++;
	if (!unit)
		return 0;
	if (strncmp(unit, help, n + 1) || strlen(unit + n + 1) >= n ||
	    strcmp(r->family + n - strlen(unit + n + 1), unit + n + 1) ||
	    r->family[n - strlen(unit + n + 1) - 1] != '_')
		return bb_fail(r->err, -EINVAL, "line %zu: the unit is not the end of the name: %s",
			       *i + 1, unit);
	++*i;
	return 0;
}

/* Reads {name="value",...} at *at, and moves *at behind it. `*ret_own`: a label is "quantile" or
 * "le". */
static inline bool om_labels(const char **at, bool *ret_own)
{
	const char *c = *at;

	*ret_own = false;
	if (*c++ != '{')
		return false;
	for (;;) {
		size_t n = om_name_len(c);

		*ret_own |= (n == 8 && !strncmp(c, "quantile", 8)) ||
			    (n == 2 && !strncmp(c, "le", 2));
		if (!n || strncmp(c + n, "=\"", 2))
			return false;
		for (c += n + 2; *c && *c != '"'; c++)
			if (*c == '\\' && !strchr("\\\"n", *++c))
				return false;
		if (*c++ != '"')
			return false;
		if (*c != ',')
			break;
		c++;
	}
	*at = c + 1;
	return *c == '}';
}

static inline bool om_suffix_fits(const char *type, const char *suffix, size_t len, bool own)
{
	bool is_sum = (len == 6 && !strncmp(suffix, "_count", 6)) ||
		      (len == 4 && !strncmp(suffix, "_sum", 4));

	if (!strcmp(type, "counter"))
		return len == 6 && !strncmp(suffix, "_total", 6) && !own;
	if (!strcmp(type, "summary"))
		return own ? !len : is_sum;
	if (!strcmp(type, "histogram"))
		return own ? len == 7 && !strncmp(suffix, "_bucket", 7) : is_sum;
	return !len && !own;
}

/* The counts of consecutive buckets must not fall, and +Inf must be the last. */
static inline bool om_bucket_fits(struct om_reader *r, const char *labels, double value)
{
	const char *le = strstr(labels, "le=\"");
	bool fits = !r->bucket || value >= r->bucket_count;

	if (strcmp(r->type, "histogram") || !le)
		return !r->bucket;
	r->bucket = strncmp(le, "le=\"+Inf\"", 9) != 0;
	r->bucket_count = value;
	return fits;
}

static inline int om_sample(struct om_reader *r, size_t i)
{
	const char *line = r->lines[i], *at = line + om_name_len(line);
	size_t family = strlen(r->family), key;
	bool own;
	double value;

	if (strncmp(line, r->family, family))
		return bb_fail(r->err, -EINVAL, "line %zu: not of family %s: %s", i + 1, r->family,
			       line);
	key = (size_t)(at - line);
	if (!om_labels(&at, &own) || !om_suffix_fits(r->type, line + family, key - family, own))
		return bb_fail(r->err, -EINVAL, "line %zu: labels or suffix do not fit a %s: %s",
			       i + 1, r->type, line);
	key = (size_t)(at - line);
	if (*at != ' ' || bb_parse_double(at + 1, &value) ||
	    (strcmp(r->type, "gauge") && value < 0))
		return bb_fail(r->err, -EINVAL, "line %zu: the value: %s", i + 1, line);
	if (!om_bucket_fits(r, line + family, value))
		return bb_fail(r->err, -EINVAL, "line %zu: the buckets: %s", i + 1, line);
	for (size_t k = 0; k < i; k++)
		if (!strncmp(r->lines[k], line, key + 1))
			return bb_fail(r->err, -EINVAL, "line %zu: is there twice: %s", i + 1,
				       line);
	return 0;
}

/* Returns 0, or -EINVAL with the line and its error. Modifies *text. */
static inline int bb_openmetrics_check(char *text, struct bb_err *err)
{
	struct om_reader *r = calloc(1, sizeof(*r));
	size_t len = strlen(text);
	int rc = 0;

	if (!r)
		return -ENOMEM;
	r->err = err;
	if (!len || text[len - 1] != '\n')
		rc = bb_fail(err, -EINVAL, "the last line does not end");
	for (char *line = strtok(text, "\n"); !rc && line; line = strtok(NULL, "\n")) {
		if (r->n == OM_MAX_LINES)
			rc = bb_fail(err, -EINVAL, "more than %d lines", OM_MAX_LINES);
		else
			r->lines[r->n++] = line;
	}
	if (!rc && strcmp(r->lines[r->n - 1], "# EOF"))
		rc = bb_fail(err, -EINVAL, "it does not end in # EOF");
	for (size_t i = 0; !rc && i + 1 < r->n;) {
		if (r->lines[i][0] == '#')
			rc = om_head(r, &i);
		else if (!(rc = om_sample(r, i)))
			i++;
	}
	if (!rc && !r->n_families)
		rc = bb_fail(err, -EINVAL, "there is nothing in it");
	free(r);
	return rc;
}
