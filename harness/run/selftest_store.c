/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/selftest_store.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "store/store.h"

/* --- several self-tests together --- */

#define ALPHA 0.05

/* NULL: out of memory. */
static struct bb_pooled_program *find_or_add(struct bb_selftest_pool *p, const char *program,
					     enum bb_repeat_class class)
{
	struct bb_pooled_program *row;

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].class == class && !strcmp(p->v[i].program, program))
			return &p->v[i];
	row = bb_append(&p->v, &p->n, sizeof(*row));
	if (!row)
		return NULL;
	*row = (struct bb_pooled_program){.program = strdup(program), .class = class};
	if (row->program)
		return row;
	p->n--;
	return NULL;
}

static int add_offsets(struct bb_repeat_list *l, const double *ln, size_t n)
{
	double *more = realloc(l->v, (l->n + n) * sizeof(*more));
	int rc = more ? bb_offsets_of(ln, n, more + l->n) : -ENOMEM;

	if (more)
		l->v = more;
	if (!rc)
		l->n += n;
	return rc;
}

int bb_selftest_pool__add(struct bb_selftest_pool *p, const char *program,
			  enum bb_repeat_class class, enum bb_repeat_of of, const double *ln,
			  size_t n)
{
	struct bb_pooled_program *row;
	struct bb_spread *s;

	if (n < BB_REPEAT_LEAST)
		return 0;
	row = find_or_add(p, program, class);
	s = row ? bb_append(&row->spreads[of], &row->n[of], sizeof(*s)) : NULL;
	if (!s)
		return -ENOMEM;
	*s = bb_spread_of(ln, n);
	return add_offsets(&row->offsets[of], ln, n);
}

int bb_selftest_pool__add_repeat(struct bb_selftest_pool *p, const struct bb_repeat *r)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->n_rows; i++)
		for (int of = 0; !rc && of < BB_N_REPEATS; of++)
			rc = bb_selftest_pool__add(p, r->rows[i].program, r->rows[i].class,
						   (enum bb_repeat_of)of, r->rows[i].ln[of].v,
						   r->rows[i].ln[of].n);
	return rc;
}

struct bb_between bb_selftest_pool__between(const struct bb_selftest_pool *p)
{
	struct bb_between b = {.n_selftests = 0};

	for (int class = 0; class < BB_N_REPEAT_CLASSES; class ++)
		for (int of = 0; of < BB_N_REPEATS; of++)
			b.of[class][of] = (struct bb_pooled_spread){NAN, NAN};
	for (size_t i = 0; i < p->n; i++)
		for (int of = 0; of < BB_N_REPEATS; of++) {
			const struct bb_pooled_program *row = &p->v[i];
			struct bb_pooled_spread s = bb_pool_spreads(row->spreads[of], row->n[of],
								    row->offsets[of].v,
								    row->offsets[of].n, ALPHA);

			b.n_selftests = row->n[of] > b.n_selftests ? row->n[of] : b.n_selftests;
			if (!isnan(s.half_width) &&
			    !(s.half_width <= b.of[row->class][of].half_width))
				b.of[row->class][of] = s;
		}
	return b;
}

void bb_selftest_pool__done(struct bb_selftest_pool *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].program);
		for (int of = 0; of < BB_N_REPEATS; of++) {
			free(p->v[i].spreads[of]);
			free(p->v[i].offsets[of].v);
		}
	}
	free(p->v);
	*p = (struct bb_selftest_pool){0};
}

#define FORMAT "bpfbench-selftest"
#define FOLDER "selftest"
#define MAX_BYTES (64u << 20)

static const char *const class_names[BB_N_REPEAT_CLASSES] = {"calm", "wakes", "cold", "empty",
							     "empty cold"};

static void add_list(struct bb_json *w, const char *key, const double *x, size_t n)
{
	bb_json__open(w, key, "[");
	for (size_t i = 0; i < n; i++)
		bb_json__add_double(w, NULL, x[i]);
	bb_json__close(w);
}

static void add_row(struct bb_json *w, const struct bb_selftest_row *r)
{
	bb_json__open(w, NULL, "{");
	bb_json__add_text(w, "program", r->program);
	bb_json__add_text(w, "mode", bb_selftest_mode_name(r->mode));
	bb_json__add_double(w, "injected", r->injected);
	bb_json__add_u64(w, "experiments", r->n);
	bb_json__add_u64(w, "void", r->voids);
	bb_json__add_u64(w, "covered", r->covered);
	bb_json__add_double(w, "seconds", r->seconds);
	bb_json__open(w, "verdicts", "{");
	for (int i = 0; i < BB_N_VERDICTS; i++)
		bb_json__add_u64(w, bb_verdict_name((enum bb_verdict)i), r->verdicts[i]);
	bb_json__close(w);
	add_list(w, "log_ratios", r->log_ratios, r->n);
	add_list(w, "half_widths", r->half_widths, r->n);
	bb_json__close(w);
}

/* The figures of a program's runs. */
static void add_repeat(struct bb_json *w, const struct bb_repeat_row *r)
{
	bb_json__open(w, NULL, "{");
	bb_json__add_text(w, "program", r->program);
	bb_json__add_text(w, "class", class_names[r->class]);
	add_list(w, "ln_latency", r->ln[BB_REPEAT_LATENCY].v, r->ln[BB_REPEAT_LATENCY].n);
	add_list(w, "ln_relative", r->ln[BB_REPEAT_RELATIVE].v, r->ln[BB_REPEAT_RELATIVE].n);
	bb_json__close(w);
}

static void write_selftest(FILE *out, const struct bb_report *head, const struct bb_selftest *t,
			   const struct bb_selftest_opts *opts)
{
	struct bb_json w = {.out = out, .indent = 1};

	bb_json__open(&w, NULL, "{\n");
	bb_json__add_text(&w, "format", FORMAT);
	bb_json__add_u64(&w, "version", 1);
	bb_json__add_text(&w, "id", head->id);
	bb_json__add_text(&w, "started", head->started);
	bb_json__add_text(&w, "command", head->command);
	bb_json__add_double(&w, "threshold", opts->threshold);
	bb_json__add_double(&w, "alpha", opts->alpha);
	bb_json__add_double(&w, "noise_floor", t->resolution);
	bb_json__open(&w, "fingerprint", "{\n");
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		bb_json__add_text(&w, bb_fingerprint_fields[i].key,
				  bb_fingerprint_get(&head->fingerprint, i));
	bb_json__close(&w);
	bb_json__open(&w, "rows", "[\n");
	for (size_t i = 0; i < t->n_rows; i++)
		add_row(&w, &t->rows[i]);
	bb_json__close(&w);
	bb_json__open(&w, "plain_runs", "{\n");
	bb_json__open(&w, "programs", "[\n");
	for (size_t i = 0; i < t->repeat.n_rows; i++)
		add_repeat(&w, &t->repeat.rows[i]);
	bb_json__end(&w);
}

int bb_selftest__write(const char *results, const struct bb_report *head,
		       const struct bb_selftest *t, const struct bb_selftest_opts *opts,
		       struct bb_err *err)
{
	char *text = NULL, *dir = NULL, *name = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (out)
		write_selftest(out, head, t, opts);
	if (!out || fclose(out) || asprintf(&dir, "%s/" FOLDER, results) < 0 ||
	    asprintf(&name, "%s.json", head->id) < 0)
		rc = bb_fail_nomem(err);
	else
		rc = bb_store__write_text(dir, name, text, len, NULL, err);
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
