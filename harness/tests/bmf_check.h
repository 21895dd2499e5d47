/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A strict reader of Bencher Metric Format v0, for tests only. bencher 0.6 parses with serde_json,
 * which accepts `{}` and unknown fields. Here they are errors, because bpfbench must not print
 * them. Names, slugs and the size of a request follow the rules of bencher's adapter. There must be
 * at least one benchmark, at least one measure in each, no key twice, and each interval must hold
 * its value.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/std.h"

#define BB_BMF_MAX_BYTES (4u << 20) /* of a request body */
#define BB_BMF_MAX_NAME 1024u       /* bytes of a benchmark's name */
#define BB_BMF_MAX_MEASURE 64u      /* bytes of a measure's name */

/* True for lower case letters, digits and single inner hyphens. bencher uses such a name as its
 * slug without a change. */
static inline bool bmf_is_slug(const char *text)
{
	size_t len = strlen(text);

	if (!len || text[0] == '-' || text[len - 1] == '-' || strstr(text, "--"))
		return false;
	return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

/* Reads a bound. If it is null or absent, *ret_bound is NAN; otherwise it must be a finite
 * number. */
static inline int bmf_check_bound(json_t *metric, const char *key, const char *where,
				  double *ret_bound, struct bb_err *err)
{
	const json_t *bound = json_object_get(metric, key);

	*ret_bound = NAN;
	if (!bound || json_is_null(bound))
		return 0;
	if (!json_is_number(bound))
		return bb_fail(err, -EINVAL, "BMF: %s: %s is neither a number nor null", where,
			       key);
	*ret_bound = json_number_value(bound);
	if (!isfinite(*ret_bound))
		return bb_fail(err, -EINVAL, "BMF: %s: %s is not finite", where, key);
	return 0;
}

static inline int bmf_check_metric(json_t *metric, const char *where, struct bb_err *err)
{
	const json_t *value = json_object_get(metric, "value");
	double v, lower, upper;
	const char *key;
	json_t *field;
	int rc;

	if (!json_is_object(metric))
		return bb_fail(err, -EINVAL, "BMF: %s is not an object", where);
	json_object_foreach(metric, key, field)
	{
		if (strcmp(key, "value") && strcmp(key, "lower_value") &&
		    strcmp(key, "upper_value"))
			return bb_fail(err, -EINVAL, "BMF: %s: unknown field \"%s\"", where, key);
	}
	if (!value)
		return bb_fail(err, -EINVAL, "BMF: %s: value is missing", where);
	if (!json_is_number(value))
		return bb_fail(err, -EINVAL, "BMF: %s: value is not a number", where);
	v = json_number_value(value);
	if (!isfinite(v))
		return bb_fail(err, -EINVAL, "BMF: %s: value is not finite", where);
	rc = bmf_check_bound(metric, "lower_value", where, &lower, err);
	if (rc)
		return rc;
	rc = bmf_check_bound(metric, "upper_value", where, &upper, err);
	if (rc)
		return rc;
	if (lower > v)
		return bb_fail(err, -EINVAL, "BMF: %s: lower_value %.17g > value %.17g", where,
			       lower, v);
	if (upper < v)
		return bb_fail(err, -EINVAL, "BMF: %s: upper_value %.17g < value %.17g", where,
			       upper, v);
	return 0;
}

static inline int bmf_check_benchmark(const char *name, json_t *measures, struct bb_err *err)
{
	char where[BB_BMF_MAX_NAME + BB_BMF_MAX_MEASURE + 8];
	const char *measure;
	json_t *metric;
	int rc;

	if (!*name)
		return bb_fail(err, -EINVAL, "BMF: a benchmark has an empty name");
	if (strlen(name) > BB_BMF_MAX_NAME)
		return bb_fail(err, -EINVAL,
			       "BMF: the name of \"%.40s...\" has %zu bytes, at most %u are taken",
			       name, strlen(name), BB_BMF_MAX_NAME);
	if (!json_is_object(measures))
		return bb_fail(err, -EINVAL, "BMF: \"%s\" is not an object of measures", name);
	if (!json_object_size(measures))
		return bb_fail(err, -EINVAL, "BMF: \"%s\" has no measure", name);
	json_object_foreach(measures, measure, metric)
	{
		if (strlen(measure) > BB_BMF_MAX_MEASURE)
			return bb_fail(err, -EINVAL,
				       "BMF: \"%s\": the measure \"%.40s...\" has %zu bytes, at "
				       "most %u are taken",
				       name, measure, strlen(measure), BB_BMF_MAX_MEASURE);
		if (!bmf_is_slug(measure))
			return bb_fail(err, -EINVAL,
				       "BMF: \"%s\": the measure \"%s\" is not a slug (a-z, 0-9, "
				       "hyphens)",
				       name, measure);
		snprintf(where, sizeof(where), "\"%s\" %s", name, measure);
		rc = bmf_check_metric(metric, where, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Checks that text[len] (no NUL needed) is one whole BMF document that bencher accepts, with at
 * least one figure. Returns 0, -EINVAL with the first error, or -EMSGSIZE if it is larger than a
 * request may be.
 */
static inline int bb_bmf_check(const char *text, size_t len, struct bb_err *err)
{
	json_error_t at;
	const char *name;
	json_t *root, *measures;
	int rc = 0;

	if (len > BB_BMF_MAX_BYTES)
		return bb_fail(err, -EMSGSIZE, "BMF: %zu bytes, a request takes at most %u", len,
			       BB_BMF_MAX_BYTES);
	/* bencher reads every number as an f64. As integers, jansson would refuse some that fit an
	 * f64. */
	root = json_loadb(text, len,
			  JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY, &at);
	if (!root)
		return bb_fail(err, -EINVAL, "BMF: %d:%d: %s", at.line, at.column, at.text);
	if (!json_is_object(root)) {
		rc = bb_fail(err, -EINVAL, "BMF: not a JSON object");
	} else if (!json_object_size(root)) {
		rc = bb_fail(err, -EINVAL,
			     "BMF: {} has no benchmark: bencher would take it for a success");
	} else {
		json_object_foreach(root, name, measures)
		{
			rc = bmf_check_benchmark(name, measures, err);
			if (rc)
				break;
		}
	}
	json_decref(root);
	return rc;
}
