/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "store/run_json_fields.h"

struct reader {
	const char *path;
	struct bb_err *err;
	char where[64]; /* "cases[3].series[0]", "" at the top */
};

static int complain(const struct reader *rd, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* -EINVAL with "path: not a bpfbench run: where.key: ..." on one line, whatever the file had in it.
 */
static int complain(const struct reader *rd, const char *key, const char *fmt, ...)
{
	char what[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	for (char *p = what; *p; p++)
		if (iscntrl((unsigned char)*p))
			*p = ' ';
	return bb_fail(rd->err, -EINVAL, "%s: not a bpfbench run: %s%s%s%s%s", rd->path, rd->where,
		       *rd->where && *key ? "." : "", key, *rd->where || *key ? ": " : "", what);
}

/* A count: a whole number, or a string of one where it is too large for some readers. */
static int to_u64(const json_t *v, uint64_t *ret_value)
{
	if (json_is_string(v))
		return bb_parse_u64(json_string_value(v), ret_value);
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return -EINVAL;
	*ret_value = (uint64_t)json_integer_value(v);
	return 0;
}

static int read_text(const struct reader *rd, const struct bb_json_field *f, const json_t *v,
		     char **at)
{
	if (f->type == BB_JSON_TEXT_OR_NULL && json_is_null(v))
		return 0;
	if (!json_is_string(v))
		return complain(rd, f->key, "expected a text%s",
				f->type == BB_JSON_TEXT_OR_NULL ? " or null" : "");
	if (f->type == BB_JSON_NAME && !json_string_length(v))
		return complain(rd, f->key, "is empty");
	*at = strdup(json_string_value(v));
	return *at ? 0 : bb_fail_nomem(rd->err);
}

static int read_real(const struct reader *rd, const struct bb_json_field *f, const json_t *v,
		     double *at)
{
	double max = f->type == BB_JSON_SHARE ? 1 : INFINITY,
	       value = json_is_null(v) ? NAN : json_number_value(v);

	if (!json_is_null(v) && !json_is_number(v))
		return complain(rd, f->key, "expected a number or null");
	if ((f->type != BB_JSON_REAL && value < 0) || value > max)
		return complain(rd, f->key,
				f->type == BB_JSON_SHARE ? "%g is not in 0..1" : "%g is negative",
				value);
	*at = value;
	return 0;
}

static int read_whole(const struct reader *rd, const struct bb_json_field *f, const json_t *v,
		      void *at)
{
	json_int_t i = json_integer_value(v);

	switch (f->type) {
	case BB_JSON_SEED:
		if (json_is_string(v) && !to_u64(v, at))
			return 0;
		return complain(rd, f->key, "expected a text \"0x...\"");
	case BB_JSON_U32:
		if (!json_is_integer(v) || i < 0 || i > UINT32_MAX)
			return complain(rd, f->key, "expected a whole number of 32 bits");
		*(uint32_t *)at = (uint32_t)i;
		return 0;
	case BB_JSON_U32_NOT_0:
		if (!json_is_integer(v) || i < 1 || i > UINT32_MAX)
			return complain(rd, f->key,
					"expected a whole number of 32 bits, 1 or more");
		*(uint32_t *)at = (uint32_t)i;
		return 0;
	case BB_JSON_MOD64:
		if (!json_is_integer(v) || i < -1 || i > 63)
			return complain(rd, f->key, "expected a whole number from -1 to 63");
		*(int *)at = (int)i;
		return 0;
	default:
		return to_u64(v, at) ? complain(rd, f->key,
						"expected a whole number that is not negative")
				     : 0;
	}
}

/* A run that was stored before there was such a key: the default stays, or an empty text. */
static int leave_out(const struct reader *rd, const struct bb_json_field *f, void *at)
{
	if (f->type != BB_JSON_TEXT)
		return 0;
	*(char **)at = strdup("");
	return *(char **)at ? 0 : bb_fail_nomem(rd->err);
}

static int read_field(const struct reader *rd, const struct bb_json_field *f, const json_t *obj,
		      void *base)
{
	const json_t *v = json_object_get(obj, f->key);
	void *at = (char *)base + f->offset;

	if (!v)
		return complain(rd, f->key, "is missing");
	switch (f->type) {
	case BB_JSON_NAME:
	case BB_JSON_TEXT:
	case BB_JSON_TEXT_OR_NULL: return read_text(rd, f, v, at);
	case BB_JSON_REAL:
	case BB_JSON_POSITIVE:
	case BB_JSON_SHARE: return read_real(rd, f, v, at);
	case BB_JSON_BOOL:
		if (!json_is_boolean(v))
			return complain(rd, f->key, "expected true or false");
		*(bool *)at = json_is_true(v);
		return 0;
	default: return read_whole(rd, f, v, at);
	}
}

static int read_fields(const struct reader *rd, const struct bb_json_fields *fields,
		       const json_t *obj, void *base)
{
	int rc = json_is_object(obj) ? 0 : complain(rd, "", "expected an object");
	bool is_newer = false;

	for (size_t i = 0; !rc && i < fields->n; i++) {
		const struct bb_json_field *f = &fields->v[i];

		is_newer |= fields->first_newer && !strcmp(f->key, fields->first_newer);
		rc = is_newer && !json_object_get(obj, f->key)
			     ? leave_out(rd, f, (char *)base + f->offset)
			     : read_field(rd, f, obj, base);
	}
	return rc;
}

/* obj[key], which must be an array; NULL when it is not, which has been complained of then:
 * -EINVAL. */
static const json_t *get_array(const struct reader *rd, const json_t *obj, const char *key)
{
	const json_t *v = json_object_get(obj, key);

	if (json_is_array(v))
		return v;
	complain(rd, key, v ? "expected a list" : "is missing");
	return NULL;
}

/* One "delta" or "delta:count" at *cursor, which moves to the next one or the end. 0 or -EINVAL,
 * -ERANGE. */
static int read_bin(const char **cursor, uint64_t *ret_delta, uint64_t *ret_count)
{
	int rc = bb_parse_digits(cursor, ret_delta);

	*ret_count = 1;
	if (!rc && **cursor == ':') {
		(*cursor)++;
		rc = bb_parse_digits(cursor, ret_count);
	}
	if (!rc && **cursor == ' ' && (*cursor)[1])
		(*cursor)++;
	else if (!rc && **cursor)
		rc = -EINVAL;
	return rc;
}

/* The sum of h is then that of the bins. */
static int read_bins(const struct reader *rd, const json_t *obj, struct bb_hist *h)
{
	const char *bins = json_string_value(json_object_get(obj, "bins")), *cursor = bins;
	uint64_t value = 0, delta, count;
	size_t n = 0;

	if (!bins)
		return complain(rd, "bins",
				json_object_get(obj, "bins") ? "expected a text" : "is missing");
	for (const char *c = bins; *c; c++)
		n += *c == ' ';
	if (bb_hist_reserve(h, n + 1))
		return bb_fail_nomem(rd->err);
	for (n = 0; *cursor; n++) {
		if (read_bin(&cursor, &delta, &count))
			return complain(rd, "bins",
					"[%zu]: expected VALUE or VALUE:COUNT, whole numbers", n);
		if ((n && !delta) || __builtin_add_overflow(value, delta, &value))
			return complain(rd, "bins", "[%zu]: the values do not ascend", n);
		if (!count || count > UINT64_MAX - h->n)
			return complain(rd, "bins", "[%zu]: a count of %" PRIu64, n, count);
		/* as it is kept, so that what is written of this run is a run again */
		if (bb_hist_add(h, bb_hist_kept(value), count))
			return bb_fail_nomem(rd->err);
		if (h->used != n + 1)
			return complain(rd, "bins",
					"[%zu]: %" PRIu64 " ns is finer than the histogram keeps",
					n, value);
	}
	return 0;
}

/* Whether a value that came in may stand for the bin's: equal, or within a bucket of 12 significant
 * bits. */
static bool same_bucket(uint64_t value, uint64_t bin)
{
	uint64_t distance = value > bin ? value - bin : bin - value;

	return distance <= (bin < BB_HIST_EXACT ? 0 : bin >> 11);
}

/* The bins keep what order is left of the samples; the sum and the extremes are exact and must
 * agree with them. */
static int read_hist(const struct reader *rd, const json_t *obj, struct bb_hist *h)
{
	const json_t *sum = json_object_get(obj, "sum_ns");
	uint64_t n, min_ns, max_ns;
	int rc = read_bins(rd, obj, h);

	if (rc)
		return rc;
	if (to_u64(json_object_get(obj, "n"), &n))
		return complain(rd, "n", "expected a whole number that is not negative");
	if (n != h->n)
		return complain(rd, "bins", "hold %" PRIu64 " samples, but n is %" PRIu64, h->n, n);
	if (!n)
		return 0;
	if (!json_is_number(sum))
		return complain(rd, "sum_ns", "expected a number");
	/* A bucket's middle is at most 2^-12 off. */
	if (!(fabs(json_number_value(sum) - h->sum_ns) <= h->sum_ns / 4096 + 1))
		return complain(rd, "sum_ns", "%g, but the bins add up to %g",
				json_number_value(sum), h->sum_ns);
	if (to_u64(json_object_get(obj, "min_ns"), &min_ns) ||
	    to_u64(json_object_get(obj, "max_ns"), &max_ns))
		return complain(rd, "min_ns, max_ns",
				"expected whole numbers that are not negative");
	if (min_ns > max_ns || !same_bucket(min_ns, h->min_ns) || !same_bucket(max_ns, h->max_ns))
		return complain(rd, "min_ns, max_ns",
				"%" PRIu64 " and %" PRIu64 ", but the bins go from %" PRIu64
				" to %" PRIu64,
				min_ns, max_ns, h->min_ns, h->max_ns);
	h->sum_ns = json_number_value(sum);
	h->min_ns = min_ns;
	h->max_ns = max_ns;
	return 0;
}

static int read_backlog(const struct reader *rd, const json_t *obj, struct bb_ring_use *f)
{
	const char *cursor = json_string_value(json_object_get(obj, "backlog"));
	uint64_t at_us = 0, delta_us, bytes;

	if (!cursor)
		return complain(rd, "flow.backlog",
				json_object_get(obj, "backlog") ? "expected a text" : "is missing");
	for (size_t n = 0; *cursor; n++) {
		if (n == BB_FLOW_MAX_POINTS)
			return complain(rd, "flow.backlog", "has more than %u points",
					BB_FLOW_MAX_POINTS);
		if (read_bin(&cursor, &delta_us, &bytes) ||
		    __builtin_add_overflow(at_us, delta_us, &at_us))
			return complain(rd, "flow.backlog",
					"[%zu]: expected TIME:BYTES, whole numbers", n);
		if (bytes > f->ring_bytes)
			return complain(rd, "flow.backlog",
					"[%zu]: %" PRIu64 " bytes in a ring of %" PRIu64, n, bytes,
					f->ring_bytes);
		bb_ring_use__add_point(f, at_us, bytes);
	}
	return 0;
}

static int read_flow(const struct reader *rd, const json_t *obj, struct bb_series *s)
{
	int rc;

	if (!obj)
		return 0;
	s->flow = bb_ring_use__new();
	if (!s->flow)
		return bb_fail_nomem(rd->err);
	rc = read_fields(rd, &bb_flow_fields, obj, s->flow);
	return rc ? rc : read_backlog(rd, obj, s->flow);
}

static int read_executed(const struct reader *rd, const json_t *obj, struct bb_case *c)
{
	static const struct bb_json_field fields[] = {
		{"executed_insns", BB_JSON_U32, offsetof(struct bb_case, executed_insns)},
		{"insns", BB_JSON_U32_NOT_0, offsetof(struct bb_case, n_insns)},
	};
	int rc = read_field(rd, &fields[0], obj, c);

	if (!rc)
		rc = read_field(rd, &fields[1], obj, c);
	return !rc && c->executed_insns > c->n_insns
		       ? complain(rd, "executed_insns", "is more than insns")
		       : rc;
}

static int read_case(struct reader *rd, size_t index, const json_t *obj, struct bb_report *r)
{
	struct bb_case *c = bb_report__add_case(r);
	const json_t *list = json_object_get(obj, "series");
	int rc;

	if (!c)
		return bb_fail_nomem(rd->err);
	snprintf(rd->where, sizeof(rd->where), "cases[%zu]", index);
	rc = read_fields(rd, &bb_case_fields, obj, c);
	if (!rc && json_object_get(obj, "command"))
		rc = read_text(rd, &(struct bb_json_field){"command", BB_JSON_NAME, 0},
			       json_object_get(obj, "command"), &c->command);
	if (!rc && json_object_get(obj, "fired_by"))
		rc = read_text(rd, &(struct bb_json_field){"fired_by", BB_JSON_NAME, 0},
			       json_object_get(obj, "fired_by"), &c->fired_by);
	if (!rc && json_object_get(obj, "insns"))
		rc = read_executed(rd, obj, c);
	if (!rc && bb_report__find_case(r, c->name) != c)
		rc = complain(rd, "name", "'%s' is there twice", c->name);
	if (!rc)
		rc = get_array(rd, obj, "series") ? 0 : -EINVAL;
	for (size_t i = 0; !rc && i < json_array_size(list); i++) {
		struct bb_series *s = bb_case__add_series(c);
		const json_t *item = json_array_get(list, i);

		if (!s)
			return bb_fail_nomem(rd->err);
		snprintf(rd->where, sizeof(rd->where), "cases[%zu].series[%zu]", index, i);
		rc = read_fields(rd, &bb_series_fields, item, s);
		if (!rc)
			rc = read_flow(rd, json_object_get(item, "flow"), s);
		if (!rc)
			rc = read_hist(rd, item, &s->hist);
	}
	return rc;
}

/* Once all cases are known: floors are named, and point to any of them. */
static int read_floor(struct reader *rd, size_t index, const json_t *obj, struct bb_report *r)
{
	const json_t *v = json_object_get(obj, "floor");
	const struct bb_case *floor;

	snprintf(rd->where, sizeof(rd->where), "cases[%zu]", index);
	if (json_is_null(v))
		return 0;
	if (!json_is_string(v))
		return complain(rd, "floor",
				v ? "expected the name of a case, or null" : "is missing");
	floor = bb_report__find_case(r, json_string_value(v));
	if (!floor)
		return complain(rd, "floor", "there is no case '%s'", json_string_value(v));
	r->cases[index].floor = (size_t)(floor - r->cases);
	return 0;
}

static int read_cases(struct reader *rd, const json_t *root, struct bb_report *r)
{
	const json_t *list = get_array(rd, root, "cases");
	int rc = list ? 0 : -EINVAL;

	for (size_t i = 0; !rc && i < json_array_size(list); i++)
		rc = read_case(rd, i, json_array_get(list, i), r);
	for (size_t i = 0; !rc && i < r->n_cases; i++)
		rc = read_floor(rd, i, json_array_get(list, i), r);
	return rc;
}

static int read_skips(struct reader *rd, const json_t *root, struct bb_report *r)
{
	const json_t *list = get_array(rd, root, "skips");
	int rc = list ? 0 : -EINVAL;

	for (size_t i = 0; !rc && i < json_array_size(list); i++) {
		struct bb_skip skip = {NULL, NULL};

		snprintf(rd->where, sizeof(rd->where), "skips[%zu]", i);
		rc = read_fields(rd, &bb_skip_fields, json_array_get(list, i), &skip);
		if (!rc && bb_report__add_skip(r, skip.what, skip.why))
			rc = bb_fail_nomem(rd->err);
		free(skip.what);
		free(skip.why);
	}
	rd->where[0] = '\0';
	return rc;
}

/* What a verdict is computed from must be there, and must not contradict itself. */
static int check_comparison(const struct reader *rd, const struct bb_comparison *c)
{
	if (isnan(c->threshold))
		return complain(rd, "threshold", "expected a number that is not negative");
	if (!(c->alpha > 0 && c->alpha < 1))
		return complain(rd, "alpha", "expected a number between 0 and 1");
	if (!(c->injected > -1))
		return complain(rd, "injected", "expected a number above -1");
	return 0;
}

static int read_pair(const struct reader *rd, const json_t *obj, struct bb_pair *p)
{
	int rc = read_fields(rd, &bb_pair_fields, obj, p);

	if (!rc && p->matched && p->base_mod64 != p->head_mod64)
		rc = complain(rd, "matched", "true, but the addresses are %d and %d mod 64",
			      p->base_mod64, p->head_mod64);
	return rc;
}

static int read_comparison(struct reader *rd, size_t index, const json_t *obj, struct bb_report *r)
{
	struct bb_comparison *c = bb_report__add_comparison(r);
	const json_t *list = json_object_get(obj, "pairs");
	int rc;

	if (!c)
		return bb_fail_nomem(rd->err);
	snprintf(rd->where, sizeof(rd->where), "comparisons[%zu]", index);
	rc = read_fields(rd, &bb_comparison_fields, obj, c);
	if (!rc)
		rc = check_comparison(rd, c);
	for (size_t i = 0; !rc && i < index; i++)
		if (!strcmp(r->comparisons[i].name, c->name))
			rc = complain(rd, "name", "'%s' is there twice", c->name);
	if (!rc)
		rc = get_array(rd, obj, "pairs") ? 0 : -EINVAL;
	for (size_t i = 0; !rc && i < json_array_size(list); i++) {
		struct bb_pair *p = bb_comparison__add_pair(c);

		if (!p)
			return bb_fail_nomem(rd->err);
		snprintf(rd->where, sizeof(rd->where), "comparisons[%zu].pairs[%zu]", index, i);
		rc = read_pair(rd, json_array_get(list, i), p);
	}
	return rc;
}

/* What the run's bpfbench did not know yet is absent, as is what its kernel did not say. */
static int read_static(const struct reader *rd, const json_t *obj, struct bb_prog_static *m)
{
	int rc = json_is_object(obj)
			 ? 0
			 : complain(rd, "static", obj ? "expected an object" : "is missing");

	for (size_t i = 0; !rc && i < bb_n_static_metrics; i++) {
		struct bb_json_field f = {bb_static_metrics[i].name, BB_JSON_POSITIVE,
					  bb_static_metrics[i].offset};

		if (json_object_get(obj, f.key))
			rc = read_field(rd, &f, obj, m);
	}
	return rc;
}

/* The fake driver has none, and runs of older versions have no such key. */
static int read_programs(struct reader *rd, const json_t *root, struct bb_report *r)
{
	const json_t *list = json_object_get(root, "programs");
	int rc = 0;

	if (list && !json_is_array(list))
		return complain(rd, "programs", "expected a list");
	for (size_t i = 0; !rc && i < json_array_size(list); i++) {
		const json_t *obj = json_array_get(list, i);
		struct bb_program *p = bb_report__add_program(r);

		if (!p)
			return bb_fail_nomem(rd->err);
		snprintf(rd->where, sizeof(rd->where), "programs[%zu]", i);
		rc = read_fields(rd, &bb_program_fields, obj, p);
		if (!rc && bb_report__find_program(r, p->name) != p)
			rc = complain(rd, "name", "'%s' is there twice", p->name);
		if (!rc)
			rc = read_static(rd, json_object_get(obj, "static"), &p->metrics);
	}
	rd->where[0] = '\0';
	return rc;
}

/* A plain run has none, and runs of older versions have no such key. The verdicts are made. */
static int read_comparisons(struct reader *rd, const json_t *root, struct bb_report *r)
{
	const json_t *list = json_object_get(root, "comparisons");
	int rc = 0;

	if (!list)
		return 0;
	if (!json_is_array(list))
		return complain(rd, "comparisons", "expected a list");
	for (size_t i = 0; !rc && i < json_array_size(list); i++)
		rc = read_comparison(rd, i, json_array_get(list, i), r);
	rd->where[0] = '\0';
	if (!rc && bb_comparisons_judge(r->comparisons, r->n_comparisons))
		rc = bb_fail_nomem(rd->err);
	return rc;
}

/* A list of flat structs; `add` makes room for one in what it belongs to. */
static int read_list(struct reader *rd, const json_t *obj, const char *key,
		     const struct bb_json_fields *fields, void *(*add)(void *of), void *of)
{
	const json_t *list = get_array(rd, obj, key);
	int rc = list ? 0 : -EINVAL;

	for (size_t i = 0; !rc && i < json_array_size(list); i++) {
		void *item = add(of);

		rc = item ? read_fields(rd, fields, json_array_get(list, i), item)
			  : bb_fail_nomem(rd->err);
	}
	return rc;
}

static void *add_case(void *c)
{
	return bb_counted__add_case(c);
}

static void *add_line(void *c)
{
	return bb_counted__add_line(c);
}

static void *add_call(void *c)
{
	return bb_counted__add_call(c);
}

/* Runs without the exact drive, and those of older versions, have no such key. */
static int read_counted(struct reader *rd, const json_t *root, struct bb_report *r)
{
	const json_t *list = json_object_get(root, "counted");
	int rc = 0;

	if (!list)
		return 0;
	if (!json_is_array(list))
		return complain(rd, "counted", "expected a list");
	for (size_t i = 0; !rc && i < json_array_size(list); i++) {
		struct bb_counted *c = bb_report__add_counted(r);
		const json_t *item = json_array_get(list, i);

		if (!c)
			return bb_fail_nomem(rd->err);
		snprintf(rd->where, sizeof(rd->where), "counted[%zu]", i);
		rc = read_fields(rd, &bb_counted_fields, item, c);
		rc = rc ? rc : read_list(rd, item, "cases", &bb_counted_case_fields, add_case, c);
		rc = rc ? rc : read_list(rd, item, "lines", &bb_counted_line_fields, add_line, c);
		rc = rc ? rc : read_list(rd, item, "calls", &bb_counted_call_fields, add_call, c);
	}
	rd->where[0] = '\0';
	return rc;
}

static void *add_timed_row(void *t)
{
	return bb_timed__add_row(t);
}

/* Runs without the drive `lines`, and those of older versions, have no such key. */
static int read_timed(struct reader *rd, const json_t *root, struct bb_report *r)
{
	const json_t *list = json_object_get(root, "timed");
	int rc = 0;

	if (!list)
		return 0;
	if (!json_is_array(list))
		return complain(rd, "timed", "expected a list");
	for (size_t i = 0; !rc && i < json_array_size(list); i++) {
		struct bb_timed *t = bb_report__add_timed(r);
		const json_t *item = json_array_get(list, i);

		if (!t)
			return bb_fail_nomem(rd->err);
		snprintf(rd->where, sizeof(rd->where), "timed[%zu]", i);
		rc = read_fields(rd, &bb_timed_fields, item, t);
		rc = rc ? rc : read_list(rd, item, "rows", &bb_timed_row_fields, add_timed_row, t);
	}
	rd->where[0] = '\0';
	return rc;
}

static int read_fingerprint(const struct reader *rd, json_t *root, struct bb_report *r)
{
	json_t *obj = json_object_get(root, "fingerprint"), *v;
	const char *key;

	if (!json_is_object(obj))
		return complain(rd, "fingerprint", obj ? "expected an object" : "is missing");
	json_object_foreach(obj, key, v)
	{
		if (!json_is_string(v))
			return complain(rd, "fingerprint", "%s: expected a text", key);
		/* unknown keys are newer ones */
		bb_fingerprint_set(&r->fingerprint, key, json_string_value(v));
	}
	return 0;
}

static int read_header(const struct reader *rd, const json_t *root)
{
	const json_t *format = json_object_get(root, "format"),
		     *version = json_object_get(root, "version");

	if (!json_is_string(format) || strcmp(json_string_value(format), BB_RUN_FORMAT))
		return complain(rd, "format", "expected \"" BB_RUN_FORMAT "\"");
	if (!json_is_integer(version) || json_integer_value(version) < 1)
		return complain(rd, "version", "expected a whole number");
	if (json_integer_value(version) != BB_RUN_VERSION)
		return complain(rd, "version",
				"%" JSON_INTEGER_FORMAT " is newer than this bpfbench knows (%d): "
				"read it with the one that wrote it",
				json_integer_value(version), BB_RUN_VERSION);
	return 0;
}

int bb_run_json__read(FILE *in, const char *path, struct bb_report **ret_report, struct bb_err *err)
{
	struct reader rd = {.path = path, .err = err};
	struct bb_report *r = bb_report__new();
	json_error_t at;
	json_t *root = r ? json_loadf(in, JSON_REJECT_DUPLICATES, &at) : NULL;
	int rc;

	if (!r)
		rc = bb_fail_nomem(err);
	else if (!root && ferror(in))
		rc = bb_fail(err, -EIO, "%s: cannot be read: Input/output error", path);
	else if (!root)
		rc = complain(&rd, "", "line %d, column %d: %s", at.line, at.column, at.text);
	else
		rc = json_is_object(root) ? read_header(&rd, root)
					  : complain(&rd, "", "expected an object");
	if (!rc)
		rc = read_fields(&rd, &bb_report_fields, root, r);
	if (!rc)
		rc = read_fingerprint(&rd, root, r);
	if (!rc)
		rc = read_skips(&rd, root, r);
	if (!rc)
		rc = read_programs(&rd, root, r);
	if (!rc)
		rc = read_comparisons(&rd, root, r);
	if (!rc)
		rc = read_counted(&rd, root, r);
	if (!rc)
		rc = read_timed(&rd, root, r);
	if (!rc)
		rc = read_cases(&rd, root, r);
	if (!rc && bb_report__summarise(r))
		rc = bb_fail_nomem(err);
	json_decref(root);
	if (rc)
		bb_report__free(r);
	else
		*ret_report = r;
	return rc;
}
