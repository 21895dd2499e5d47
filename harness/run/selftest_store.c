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

static const char *const repeat_keys[BB_N_REPEAT_CLASSES][BB_N_REPEATS] = {
	[BB_REPEAT_CALM] = {"between_latency", "between_relative"},
	[BB_REPEAT_WAKES] = {"between_latency_wakes", "between_relative_wakes"},
	[BB_REPEAT_COLD] = {"between_latency_cold", "between_relative_cold"},
	[BB_REPEAT_EMPTY] = {"between_latency_empty", "between_relative_empty"},
	[BB_REPEAT_EMPTY_COLD] = {"between_latency_empty_cold", "between_relative_empty_cold"},
};

static const char *const class_names[BB_N_REPEAT_CLASSES] = {"calm", "wakes", "cold", "empty",
							     "empty cold"};

/* By class of programs, and what each program's runs gave. */
static json_t *repeat_json(const struct bb_repeat *r)
{
	json_t *o = json_object(), *programs = json_array();
	size_t runs = 0, of_class;

	for (int class = 0; class < BB_N_REPEAT_CLASSES; class ++)
		for (int of = 0; of < BB_N_REPEATS; of++) {
			double within = bb_repeat__class(r, (enum bb_repeat_class) class,
							 (enum bb_repeat_of)of, &of_class);

			json_object_set_new(o, repeat_keys[class][of], number_or_null(within));
			if (of_class && (!runs || of_class < runs))
				runs = of_class;
		}
	json_object_set_new(o, "runs", json_integer((json_int_t)runs));
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
	json_object_set_new(o, "programs", programs);
	return o;
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

static bool take_resolution(const json_t *root, void *arg)
{
	const json_t *floor = json_object_get(root, "noise_floor");

	if (json_is_number(floor))
		*(double *)arg = json_number_value(floor);
	return json_is_number(floor);
}

static bool take_between(const json_t *root, void *arg)
{
	const json_t *plain = json_object_get(root, "plain_runs");
	const json_t *runs = json_object_get(plain, "runs");
	struct bb_between *between = arg;
	bool any = false;

	between->runs = json_integer_value(runs) > BB_REPEAT_LEAST &&
					json_integer_value(runs) < UINT32_MAX
				? (uint32_t)json_integer_value(runs)
				: BB_REPEAT_LEAST;

	for (int class = 0; class < BB_N_REPEAT_CLASSES; class ++)
		for (int of = 0; of < BB_N_REPEATS; of++) {
			const json_t *v = json_object_get(plain, repeat_keys[class][of]);

			between->of[class][of] = json_number_value(v) >= 0 && json_is_number(v)
							 ? json_number_value(v)
							 : (double)NAN;
			any |= !isnan(between->of[class][of]);
		}
	return any;
}

/* The newest one of such a machine that `take` takes something from. */
static int read_newest(const char *results, const struct bb_fingerprint *fp,
		       bool (*take)(const json_t *root, void *arg), void *arg, char **ret_id,
		       struct bb_err *err)
{
	char *dir = NULL, **ids = NULL;
	size_t n = 0;
	int rc;

	if (asprintf(&dir, "%s/" FOLDER, results) < 0)
		return bb_fail_nomem(err);
	rc = bb_store__list(dir, &ids, &n, err);
	if (!rc)
		rc = -ENOENT;
	for (size_t i = n; rc == -ENOENT && i-- > 0;) {
		char *path = NULL, *text = NULL;
		json_t *root = NULL;
		size_t len;

		/* What cannot be read is no self-test of this machine; the next older one may be.
		 */
		if (asprintf(&path, "%s/%s.json", dir, ids[i]) >= 0 &&
		    !bb_read_own_file(path, MAX_BYTES, &text, &len, NULL))
			root = json_loadb(text, len, 0, NULL);
		if (root && fits(root, fp) && take(root, arg)) {
			*ret_id = strdup(ids[i]);
			rc = *ret_id ? 0 : -ENOMEM;
		}
		json_decref(root);
		free(text);
		free(path);
	}
	bb_store__list_free(ids, n);
	free(dir);
	return rc;
}

int bb_selftest__read_resolution(const char *results, const struct bb_fingerprint *fp,
				 double *ret_floor, char **ret_id, struct bb_err *err)
{
	return read_newest(results, fp, take_resolution, ret_floor, ret_id, err);
}

int bb_selftest__read_between(const char *results, const struct bb_fingerprint *fp,
			      struct bb_between *ret_between, char **ret_id, struct bb_err *err)
{
	return read_newest(results, fp, take_between, ret_between, ret_id, err);
}
