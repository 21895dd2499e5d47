/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_json.h"

#include <elf.h>

#include "base/parse.h"
#include "base/record_json.h"

/* Returns NULL, with a message, if `key` is missing or its value is not of type `type`, which is a
 * string or an object. */
static json_t *find_value(const struct bb_record_reader *rd, const json_t *obj, const char *key,
			  json_type type)
{
	json_t *v = json_object_get(obj, key);

	if (v && json_typeof(v) == type)
		return v;
	bb_record__complain(rd, key, "%s",
			    !v                    ? "is missing"
			    : type == JSON_STRING ? "expected a text"
						  : "expected an object");
	return NULL;
}

/* Writes the samples of a series as the key "bins" with a text "v0:c0 v1-v0:c1 ...". It has the
 * differences of ascending values, each with its count. A count of 1 is left out. One string is
 * read four times as fast as a list of numbers. */
static void write_hist(const void *, const void *hist, struct bb_json *w)
{
	const struct bb_hist *h = hist;
	struct bb_sorted sorted;
	uint64_t previous = 0;

	bb_hist_sort(h, &sorted);
	bb_json__add_u64(w, "n", h->n);
	bb_json__add_double(w, "sum_ns", h->n ? h->sum_ns : NAN);
	if (h->n) {
		bb_json__add_u64(w, "min_ns", h->min_ns);
		bb_json__add_u64(w, "max_ns", h->max_ns);
	} else {
		bb_json__add_text(w, "min_ns", NULL);
		bb_json__add_text(w, "max_ns", NULL);
	}
	FILE *out = bb_json__add(w, "bins");
	putc('"', out);
	for (size_t i = 0; i < sorted.n_bins; i++) {
		fprintf(out, "%s%" PRIu64, i ? " " : "", sorted.bins[i].value_ns - previous);
		if (sorted.bins[i].count != 1)
			fprintf(out, ":%" PRIu64, sorted.bins[i].count);
		previous = sorted.bins[i].value_ns;
	}
	putc('"', out);
	bb_sorted_done(&sorted);
}

/* Reads "delta" or "delta:count" at `*cursor`, and moves `*cursor` to the next bin or to the end.
 * Returns 0, -EINVAL or -ERANGE. */
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

/* Rounded bins have only the middles of a histogram's buckets as values. So a value that is no such
 * middle shows that the bins are exact. */
static int read_bins(const struct bb_record_reader *rd, const json_t *obj, struct bb_hist *h)
{
	const char *bins = json_string_value(find_value(rd, obj, "bins", JSON_STRING));
	const char *cursor = bins;
	uint64_t value = 0, delta, count;
	size_t n = 0;

	if (!bins)
		return -EINVAL;
	for (const char *c = bins; *c; c++)
		n += *c == ' ';
	bb_hist_reserve(h, n + 1);
	for (n = 0; *cursor; n++) {
		if (read_bin(&cursor, &delta, &count))
			return bb_record__complain(rd, "bins",
						   "[%zu]: expected VALUE or VALUE:COUNT, whole "
						   "numbers",
						   n);
		if ((n && !delta) || __builtin_add_overflow(value, delta, &value))
			return bb_record__complain(rd, "bins", "[%zu]: the values do not ascend",
						   n);
		if (!count || count > UINT64_MAX - h->n)
			return bb_record__complain(rd, "bins", "[%zu]: a count of %" PRIu64, n,
						   count);
		h->is_exact |= value != bb_hist_kept(value);
		bb_hist_add(h, value, count);
	}
	return 0;
}

/* True if a histogram may have rounded `value` to `bin`, because they are at most a bucket
 * apart. */
static bool same_bucket(uint64_t value, uint64_t bin)
{
	uint64_t distance = value > bin ? value - bin : bin - value;

	return distance <= (bin < BB_HIST_EXACT ? 0 : bin >> 11);
}

/* The sum and the extremes in the file are exact. The bins may be rounded, so they must agree with
 * the sum and the extremes within a bucket. */
static int read_hist(struct bb_record_reader *rd, const json_t *obj, void *hist)
{
	struct bb_hist *h = hist;
	const json_t *sum = json_object_get(obj, "sum_ns");
	uint64_t n, min_ns, max_ns;
	int rc = read_bins(rd, obj, h);

	if (rc)
		return rc;
	if (bb_record__to_u64(json_object_get(obj, "n"), &n))
		return bb_record__complain(rd, "n", "expected a whole number that is not negative");
	if (n != h->n)
		return bb_record__complain(rd, "bins",
					   "hold %" PRIu64 " samples, but n is %" PRIu64, h->n, n);
	if (!n)
		return 0;
	if (!json_is_number(sum))
		return bb_record__complain(rd, "sum_ns", "expected a number");
	/* The middle of a bucket differs from its values by at most 2^-12 of the value. */
	if (!(fabs(json_number_value(sum) - h->sum_ns) <= h->sum_ns / 4096 + 1))
		return bb_record__complain(rd, "sum_ns", "%g, but the bins add up to %g",
					   json_number_value(sum), h->sum_ns);
	if (bb_record__to_u64(json_object_get(obj, "min_ns"), &min_ns) ||
	    bb_record__to_u64(json_object_get(obj, "max_ns"), &max_ns))
		return bb_record__complain(rd, "min_ns, max_ns",
					   "expected whole numbers that are not negative");
	if (min_ns > max_ns || !same_bucket(min_ns, h->min_ns) || !same_bucket(max_ns, h->max_ns))
		return bb_record__complain(rd, "min_ns, max_ns",
					   "%" PRIu64 " and %" PRIu64 ", but the bins go from "
					   "%" PRIu64 " to %" PRIu64,
					   min_ns, max_ns, h->min_ns, h->max_ns);
	h->sum_ns = json_number_value(sum);
	h->min_ns = min_ns;
	h->max_ns = max_ns;
	return 0;
}

/* Writes the bytes that wait in a ring buffer over time, as a text "t0:b0 t1-t0:b1 ...". Times are
 * in us. */
static void write_backlog(const void *, const void *flow, struct bb_json *w)
{
	const struct bb_ring_use *f = flow;
	FILE *out = bb_json__add(w, "backlog");
	uint64_t previous_us = 0;

	putc('"', out);
	for (size_t i = 0; i < f->n_points; i++) {
		fprintf(out, "%s%" PRIu64 ":%" PRIu64, i ? " " : "",
			f->points[i].at_us - previous_us, f->points[i].backlog_bytes);
		previous_us = f->points[i].at_us;
	}
	putc('"', out);
}

static int read_backlog(struct bb_record_reader *rd, const json_t *obj, void *flow)
{
	struct bb_ring_use *f = flow;
	const char *cursor = json_string_value(find_value(rd, obj, "backlog", JSON_STRING));
	uint64_t at_us = 0, delta_us, bytes;

	if (!cursor)
		return -EINVAL;
	for (size_t n = 0; *cursor; n++) {
		if (n == BB_FLOW_MAX_POINTS)
			return bb_record__complain(rd, "backlog", "has more than %u points",
						   BB_FLOW_MAX_POINTS);
		if (read_bin(&cursor, &delta_us, &bytes) ||
		    __builtin_add_overflow(at_us, delta_us, &at_us))
			return bb_record__complain(rd, "backlog",
						   "[%zu]: expected TIME:BYTES, whole numbers", n);
		if (bytes > f->ring_bytes)
			return bb_record__complain(rd, "backlog",
						   "[%zu]: %" PRIu64 " bytes in a ring of %" PRIu64,
						   n, bytes, f->ring_bytes);
		bb_ring_use__add_point(f, at_us, bytes);
	}
	return 0;
}

/* The floor is the case of an empty program. find_floors() reads its name after all cases. */
static void write_floor(const void *run, const void *item, struct bb_json *w)
{
	const struct bb_report *r = run;
	const struct bb_case *c = item;

	bb_json__add_text(w, "floor", c->floor < r->n_cases ? r->cases[c->floor].name : NULL);
}

static int find_floors(struct bb_record_reader *rd, const json_t *root, void *run)
{
	const json_t *list = json_object_get(root, "cases");
	struct bb_report *r = run;

	for (size_t i = 0; i < r->n_cases; i++) {
		const json_t *v = json_object_get(json_array_get(list, i), "floor");

		if (json_is_null(v))
			continue;
		snprintf(rd->where, sizeof(rd->where), "cases[%zu]", i);
		if (!json_is_string(v))
			return bb_record__complain(rd, "floor",
						   v ? "expected the name of a case, or null"
						     : "is missing");
		const struct bb_case *floor = bb_report__find_case(r, json_string_value(v));
		if (!floor)
			return bb_record__complain(rd, "floor", "there is no case '%s'",
						   json_string_value(v));
		r->cases[i].floor = (size_t)(floor - r->cases);
	}
	return 0;
}

static void write_estimate(const char *key, const struct bb_estimate *e, struct bb_json *w)
{
	if (!isfinite(e->value))
		return;
	bb_json__open(w, key, "{");
	bb_json__add_double(w, "value", e->value);
	bb_json__add_double(w, "lo", e->lo);
	bb_json__add_double(w, "hi", e->hi);
	bb_json__close(w);
}

static void write_case_summary(const void *, const void *item, struct bb_json *w)
{
	const struct bb_case *c = item;

	bb_json__break(w);
	bb_json__open(w, "summary", "{");
	for (size_t i = 0; i < bb_n_metrics; i++)
		write_estimate(bb_metrics[i].name, bb_metric_of(&c->summary, &bb_metrics[i]), w);
	bb_json__close(w);
}

static void write_verdict(const void *, const void *item, struct bb_json *w)
{
	const struct bb_comparison *c = item;

	bb_json__open(w, "summary", "{");
	bb_json__add_text(w, "verdict", bb_verdict_name(c->verdict));
	write_estimate("ratio", &c->ratio, w);
	write_estimate("ratio_unmatched", &c->ratio_unmatched, w);
	write_estimate("ratio_net", &c->ratio_net, w);
	write_estimate("shift_ns", &c->shift_ns, w);
	bb_json__close(w);
}

static void write_static(const void *, const void *metrics, struct bb_json *w)
{
	bb_json__open(w, "static", "{");
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		bb_json__add_double(w, bb_static_metrics[i].name,
				    bb_static_of(metrics, &bb_static_metrics[i]));
	bb_json__close(w);
}

/* A metric is absent if the kernel did not report it, or if an older bpfbench wrote the run. */
static int read_static(struct bb_record_reader *rd, const json_t *obj, void *metrics)
{
	const json_t *values = find_value(rd, obj, "static", JSON_OBJECT);

	if (!values)
		return -EINVAL;
	for (size_t i = 0; i < bb_n_static_metrics; i++) {
		const struct bb_member member = {.key = bb_static_metrics[i].name,
						 .type = BB_POSITIVE,
						 .offset = bb_static_metrics[i].offset};
		const json_t *v = json_object_get(values, member.key);

		if (v && bb_record__read_value(rd, &member, v, metrics))
			return -EINVAL;
	}
	return 0;
}

static void write_fingerprint(const void *run, const void *, struct bb_json *w)
{
	const struct bb_fingerprint *fp = &((const struct bb_report *)run)->fingerprint;

	bb_json__open(w, "fingerprint", "{\n");
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		bb_json__add_text(w, bb_fingerprint_fields[i].key, bb_fingerprint_get(fp, i));
	bb_json__close(w);
}

static int read_fingerprint(struct bb_record_reader *rd, const json_t *root, void *run)
{
	struct bb_report *r = run;
	json_t *obj = find_value(rd, root, "fingerprint", JSON_OBJECT), *v;
	const char *key;

	if (!obj)
		return -EINVAL;
	json_object_foreach(obj, key, v)
	{
		if (!json_is_string(v))
			return bb_record__complain(rd, "fingerprint", "%s: expected a text", key);
		/* this fails for a key that only a newer bpfbench knows, which is ignored */
		bb_fingerprint_set(&r->fingerprint, key, json_string_value(v));
	}
	return 0;
}

static int complain_twice(const struct bb_record_reader *rd, const char *name)
{
	return bb_record__complain(rd, "name", "'%s' is there twice", name);
}

/* In an older run, the text of a case's parameter stands only at the end of the case's name, behind
 * '='. */
static void find_param_text(const char *name, const char *param, char **param_text)
{
	const char *slash = strrchr(name, '/'), *equals = strchr(slash ? slash : name, '=');

	if (param && !*param_text)
		*param_text = bb_strdup(equals ? equals + 1 : "");
}

static int check_counted_case(struct bb_record_reader *, const json_t *, void *item)
{
	struct bb_counted_case *c = item;

	find_param_text(c->name, c->param, &c->param_text);
	return 0;
}

static int check_case(struct bb_record_reader *rd, const json_t *obj, void *item)
{
	struct bb_case *c = item;

	if (c->n_insns && !json_object_get(obj, "executed_insns"))
		return bb_record__complain(rd, "executed_insns", "is missing");
	if (c->executed_insns > c->n_insns)
		return bb_record__complain(rd, "executed_insns", "is more than insns");
	if (bb_report__find_case(rd->whole, c->name) != c)
		return complain_twice(rd, c->name);
	find_param_text(c->name, c->param, &c->param_text);
	return 0;
}

static int check_in_vain(struct bb_record_reader *rd, const json_t *, void *item)
{
	const struct bb_in_vain *v = item;

	return v->calls && v->in_vain <= v->calls
		       ? 0
		       : bb_record__complain(rd, "in_vain", "is no share of calls");
}

static int check_program(struct bb_record_reader *rd, const json_t *, void *item)
{
	const struct bb_program *p = item;

	return bb_report__find_program(rd->whole, p->name) == p ? 0 : complain_twice(rd, p->name);
}

static int check_pair(struct bb_record_reader *rd, const json_t *, void *item)
{
	const struct bb_pair *p = item;

	if (!p->matched || p->base_mod64 == p->head_mod64)
		return 0;
	return bb_record__complain(rd, "matched", "true, but the addresses are %d and %d mod 64",
				   p->base_mod64, p->head_mod64);
}

static int check_comparison(struct bb_record_reader *rd, const json_t *, void *item)
{
	const struct bb_report *r = rd->whole;
	const struct bb_comparison *c = item;

	if (isnan(c->threshold))
		return bb_record__complain(rd, "threshold",
					   "expected a number that is not negative");
	if (!(c->alpha > 0 && c->alpha < 1))
		return bb_record__complain(rd, "alpha", "expected a number between 0 and 1");
	if (!(c->injected > -1))
		return bb_record__complain(rd, "injected", "expected a number above -1");
	if (BB_ANY(r->comparisons, (size_t)(c - r->comparisons), !strcmp(it->name, c->name)))
		return complain_twice(rd, c->name);
	return 0;
}

/* In an older run, the calls that lead to a row are one text: "97 parse();45 inner()". */
static int read_older_from(struct bb_record_reader *, const json_t *object, void *item)
{
	const char *text = json_string_value(json_object_get(object, "from"));

	if (text)
		bb_timed_row__set_from(item, text);
	return 0;
}

static const struct bb_record_part parts[] = {
	{&bb_report_record, "fingerprint", write_fingerprint, read_fingerprint},
	{&bb_report_record, NULL, NULL, find_floors},
	{&bb_case_record, "floor", write_floor, NULL},
	{&bb_case_record, "summary", write_case_summary, NULL},
	{&bb_case_record, NULL, NULL, check_case},
	{&bb_counted_case_record, NULL, NULL, check_counted_case},
	{&bb_in_vain_record, NULL, NULL, check_in_vain},
	{&bb_series_record, "hist", write_hist, read_hist},
	{&bb_class_record, "hist", write_hist, read_hist},
	{&bb_ring_use_record, "backlog", write_backlog, read_backlog},
	{&bb_program_record, "static", write_static, read_static},
	{&bb_program_record, NULL, NULL, check_program},
	{&bb_comparison_record, "summary", write_verdict, NULL},
	{&bb_comparison_record, NULL, NULL, check_comparison},
	{&bb_pair_record, NULL, NULL, check_pair},
	{&bb_timed_row_record, NULL, NULL, read_older_from},
};
static const struct bb_record_format run_format = {.name = "a bpfbench run",
						   .parts = parts,
						   .n_parts = BB_LEN(parts)};

void bb_run_json__write(const struct bb_report *r, FILE *out)
{
	struct bb_json w = {.out = out, .indent = 1};

	bb_json__open(&w, NULL, "{\n");
	bb_json__add_text(&w, "format", BB_RUN_FORMAT);
	bb_json__add_u64(&w, "version", BB_RUN_VERSION);
	bb_record__write(&run_format, &bb_report_record, r, r, &w);
	bb_json__end(&w);
}

void bb_run_json__compose(const struct bb_report *r, char **ret_text, size_t *ret_len)
{
	FILE *mem = bb_open_memstream(ret_text, ret_len);

	bb_run_json__write(r, mem);
	bb_close_memstream(mem);
}

static int read_run(struct bb_record_reader *rd, const json_t *root, struct bb_report *r)
{
	const json_t *format = json_object_get(root, "format"),
		     *version = json_object_get(root, "version");

	if (!json_is_object(root))
		return bb_record__complain(rd, "", "expected an object");
	if (!json_is_string(format) || strcmp(json_string_value(format), BB_RUN_FORMAT))
		return bb_record__complain(rd, "format", "expected \"" BB_RUN_FORMAT "\"");
	if (!json_is_integer(version) || json_integer_value(version) < 1)
		return bb_record__complain(rd, "version", "expected a whole number");
	if (json_integer_value(version) != BB_RUN_VERSION)
		return bb_record__complain(rd, "version",
					   "%" JSON_INTEGER_FORMAT " is newer than this bpfbench "
					   "knows (%d): read it with the one that wrote it",
					   json_integer_value(version), BB_RUN_VERSION);
	int rc = bb_record__read(rd, &bb_report_record, root, r);
	if (rc)
		return rc;
	bb_comparisons_judge(r->comparisons, r->n_comparisons);
	bb_report__summarise(r);
	return 0;
}

int bb_run_json__read(FILE *in, const char *path, struct bb_report **ret_report, struct bb_err *err)
{
	struct bb_report *r = bb_report__new();
	struct bb_record_reader rd = {.format = &run_format, .path = path, .whole = r, .err = err};
	json_error_t at;
	json_t *root = NULL;
	int rc, first = getc(in);

	ungetc(first, in);
	if (first != ELFMAG0)
		root = json_loadf(in, JSON_REJECT_DUPLICATES, &at);
	if (first == ELFMAG0)
		rc = bb_fail(err, -EINVAL,
			     "%s: not a bpfbench run but an object; measure it first: `sudo "
			     "bpfbench --object %s`",
			     path, path);
	else if (root)
		rc = read_run(&rd, root, r);
	else if (ferror(in))
		rc = bb_fail(err, -EIO, "%s: cannot be read: Input/output error", path);
	else
		rc = bb_record__complain(&rd, "", "line %d, column %d: %s", at.line, at.column,
					 at.text);
	json_decref(root);
	if (rc)
		bb_report__free(r);
	else
		*ret_report = r;
	return rc;
}
