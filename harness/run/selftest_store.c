/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/selftest_store.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "store/store.h"

#define FORMAT "bpfbench-selftest"
#define FOLDER "selftest"
#define MAX_BYTES (64u << 20)

static json_t *number_or_null(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *array_of(const double *x, uint32_t n)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(a, number_or_null(x[i]));
	return a;
}

static json_t *row_json(const struct bb_selftest_row *r)
{
	json_t *verdicts = json_object();

	for (int i = 0; i < BB_N_VERDICTS; i++)
		json_object_set_new(verdicts, bb_verdict_name((enum bb_verdict)i),
				    json_integer(r->verdicts[i]));
	return json_pack("{s:s, s:s, s:f, s:i, s:i, s:i, s:f, s:o, s:o, s:o}", "program",
			 r->program, "mode", bb_selftest_mode_name(r->mode), "injected",
			 r->injected, "experiments", (int)r->n, "void", (int)r->voids, "covered",
			 (int)r->covered, "seconds", r->seconds, "verdicts", verdicts, "log_ratios",
			 array_of(r->log_ratios, r->n), "half_widths",
			 array_of(r->half_widths, r->n));
}

static json_t *fingerprint_json(const struct bb_fingerprint *fp)
{
	json_t *o = json_object();

	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		json_object_set_new(o, bb_fingerprint_fields[i].key,
				    json_string(bb_fingerprint_get(fp, i)));
	return o;
}

static const char *const class_names[BB_N_REPEAT_CLASSES] = {"calm", "wakes", "cold", "empty",
							     "empty cold"};

/* The figures of each program's runs. */
static json_t *repeat_json(const struct bb_repeat *r)
{
	json_t *programs = json_array();

	for (size_t i = 0; i < r->n_rows; i++)
		json_array_append_new(
			programs,
			json_pack("{s:s, s:s, s:o, s:o}", "program", r->rows[i].program, "class",
				  class_names[r->rows[i].class], "ln_latency",
				  array_of(r->rows[i].ln[BB_REPEAT_LATENCY].v,
					   (uint32_t)r->rows[i].ln[BB_REPEAT_LATENCY].n),
				  "ln_relative",
				  array_of(r->rows[i].ln[BB_REPEAT_RELATIVE].v,
					   (uint32_t)r->rows[i].ln[BB_REPEAT_RELATIVE].n)));
	return json_pack("{s:o}", "programs", programs);
}

int bb_selftest__write(const char *results, const struct bb_report *head,
		       const struct bb_selftest *t, const struct bb_selftest_opts *opts,
		       struct bb_err *err)
{
	json_t *rows = json_array(), *root;
	char *text, *dir = NULL, *name = NULL;
	int rc;

	for (size_t i = 0; i < t->n_rows; i++)
		json_array_append_new(rows, row_json(&t->rows[i]));
	root = json_pack("{s:s, s:i, s:s, s:s, s:s, s:f, s:f, s:o, s:o, s:o, s:o}", "format",
			 FORMAT, "version", 1, "id", head->id, "started", head->started, "command",
			 head->command, "threshold", opts->threshold, "alpha", opts->alpha,
			 "noise_floor", number_or_null(t->resolution), "fingerprint",
			 fingerprint_json(&head->fingerprint), "rows", rows, "plain_runs",
			 repeat_json(&t->repeat));
	text = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
	json_decref(root);
	if (!text || asprintf(&dir, "%s/" FOLDER, results) < 0 ||
	    asprintf(&name, "%s.json", head->id) < 0)
		rc = bb_fail_nomem(err);
	else
		rc = bb_store__write_text(dir, name, text, strlen(text), NULL, err);
	free(name);
	free(dir);
	free(text);
	return rc;
}

/* Is it of a machine like `fp`? */
static bool fits(const json_t *root, const struct bb_fingerprint *fp)
{
	const char *format = json_string_value(json_object_get(root, "format")), *key;
	json_t *fields = json_object_get(root, "fingerprint"), *value;
	struct bb_fingerprint theirs;

	if (!format || strcmp(format, FORMAT) || !json_is_object(fields))
		return false;
	bb_fingerprint_init(&theirs);
	json_object_foreach(fields, key, value)
		bb_fingerprint_set(&theirs, key,
				   json_is_string(value) ? json_string_value(value) : "");
	return bb_fingerprint_differences(fp, &theirs, NULL, 0) == 0;
}

static int take_resolution(const json_t *root, void *arg)
{
	const json_t *floor = json_object_get(root, "noise_floor");

	if (json_is_number(floor))
		*(double *)arg = json_number_value(floor);
	return json_is_number(floor);
}

/* A list of figures; *ret_n of them, and room for as many as there are. NULL: out of memory. */
static double *list_of(const json_t *a, size_t *ret_n)
{
	double *x = calloc(json_array_size(a) + 1, sizeof(*x));

	*ret_n = 0;
	for (size_t i = 0; x && i < json_array_size(a); i++)
		if (json_is_number(json_array_get(a, i)))
			x[(*ret_n)++] = json_number_value(json_array_get(a, i));
	return x;
}

/* One program's runs. */
static int take_program(const json_t *o, struct bb_selftest_pool *pool)
{
	static const char *const keys[BB_N_REPEATS] = {"ln_latency", "ln_relative"};
	const char *program = json_string_value(json_object_get(o, "program")),
		   *name = json_string_value(json_object_get(o, "class"));
	int rc = 0, class = 0;

	while (name && class < BB_N_REPEAT_CLASSES && strcmp(name, class_names[class]))
		class ++;
	if (!program || !name || class == BB_N_REPEAT_CLASSES)
		return 0;
	for (int of = 0; !rc && of < BB_N_REPEATS; of++) {
		size_t n;
		double *ln = list_of(json_object_get(o, keys[of]), &n);

		rc = ln ? bb_selftest_pool__add(pool, program, (enum bb_repeat_class) class,
						(enum bb_repeat_of)of, ln, n)
			: -ENOMEM;
		free(ln);
	}
	return rc;
}

/* 1: taken; 0: it has no plain runs; -ENOMEM. */
static int take_plain_runs(const json_t *root, void *arg)
{
	const json_t *programs = json_object_get(json_object_get(root, "plain_runs"), "programs");
	int rc = 0;

	for (size_t i = 0; !rc && i < json_array_size(programs); i++)
		rc = take_program(json_array_get(programs, i), arg);
	return rc ? rc : json_array_size(programs) > 0;
}

/* NULL: it cannot be read, which is as if it were none. */
static json_t *read_json(const char *dir, const char *id)
{
	char *path = NULL, *text = NULL;
	json_t *root = NULL;
	size_t len;

	if (asprintf(&path, "%s/%s.json", dir, id) >= 0 &&
	    !bb_read_own_file(path, MAX_BYTES, &text, &len, NULL))
		root = json_loadb(text, len, 0, NULL);
	free(text);
	free(path);
	return root;
}

/*
 * The newest self-tests of such a machine that `take` takes something from (1; 0: nothing,
 * -errno), `most` of them. *ret_id (NULL: not wanted) is the newest one's. 0, or -ENOENT without a
 * message: there is none.
 */
static int read_newest(const char *results, const struct bb_fingerprint *fp, size_t most,
		       int (*take)(const json_t *root, void *arg), void *arg, char **ret_id,
		       struct bb_err *err)
{
	char *dir = NULL, **ids = NULL;
	size_t n = 0, taken = 0;
	int rc;

	if (asprintf(&dir, "%s/" FOLDER, results) < 0)
		return bb_fail_nomem(err);
	rc = bb_store__list(dir, &ids, &n, err);
	for (size_t i = n; !rc && taken < most && i-- > 0;) {
		json_t *root = read_json(dir, ids[i]);
		int took = root && fits(root, fp) ? take(root, arg) : 0;

		json_decref(root);
		if (took > 0 && !taken++ && ret_id && !(*ret_id = strdup(ids[i])))
			took = -ENOMEM;
		if (took < 0)
			rc = bb_fail_nomem(err);
	}
	bb_store__list_free(ids, n);
	free(dir);
	return rc ? rc : taken ? 0 : -ENOENT;
}

int bb_selftest__read_resolution(const char *results, const struct bb_fingerprint *fp,
				 double *ret_floor, char **ret_id, struct bb_err *err)
{
	return read_newest(results, fp, 1, take_resolution, ret_floor, ret_id, err);
}

int bb_selftest__read_between(const char *results, const struct bb_fingerprint *fp,
			      const struct bb_repeat *now, struct bb_between *ret_between,
			      struct bb_err *err)
{
	struct bb_selftest_pool pool = {0};
	int rc = now && bb_selftest_pool__add_repeat(&pool, now) ? bb_fail_nomem(err) : 0;

	if (!rc)
		rc = read_newest(results, fp, BB_SELFTESTS_POOLED - (now != NULL), take_plain_runs,
				 &pool, NULL, err);
	if (rc == -ENOENT && pool.n)
		rc = 0;
	if (!rc)
		*ret_between = bb_selftest_pool__between(&pool);
	bb_selftest_pool__done(&pool);
	return rc;
}
