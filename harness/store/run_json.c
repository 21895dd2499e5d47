/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_writer.h"
#include "store/run_json_fields.h"

static void write_field(const struct bb_json_field *f, const void *base, struct bb_json *w)
{
	const void *at = (const char *)base + f->offset;

	switch (f->type) {
	case BB_JSON_NAME:
	case BB_JSON_TEXT:
		assert(*(char *const *)at);
		bb_json__add_text(w, f->key, *(char *const *)at);
		break;
	case BB_JSON_TEXT_OR_NULL: bb_json__add_text(w, f->key, *(char *const *)at); break;
	case BB_JSON_COUNT: bb_json__add_u64(w, f->key, *(const uint64_t *)at); break;
	case BB_JSON_SEED:
		fprintf(bb_json__add(w, f->key), "\"0x%" PRIx64 "\"", *(const uint64_t *)at);
		break;
	case BB_JSON_U32:
	case BB_JSON_U32_NOT_0: bb_json__add_u64(w, f->key, *(const uint32_t *)at); break;
	case BB_JSON_MOD64: fprintf(bb_json__add(w, f->key), "%d", *(const int *)at); break;
	case BB_JSON_REAL:
	case BB_JSON_POSITIVE:
	case BB_JSON_SHARE: bb_json__add_double(w, f->key, *(const double *)at); break;
	case BB_JSON_BOOL: bb_json__add_bool(w, f->key, *(const bool *)at); break;
	}
}

static void write_fields(const struct bb_json_fields *fields, const void *base, struct bb_json *w)
{
	for (size_t i = 0; i < fields->n; i++)
		write_field(&fields->v[i], base, w);
}

struct list {
	const char *key;
	const struct bb_json_fields *fields;
	const void *items;
	size_t n, size;
	/* what an item has beside the fields, or NULL */
	int (*more)(const struct bb_report *r, const void *item, struct bb_json *w);
};

#define LIST(of, array, its_fields, its_more)                                                      \
	(&(struct list){#array, &(its_fields), (of)->array, (of)->n_##array, sizeof(*(of)->array), \
			its_more})

static int write_list(const struct bb_report *r, const struct list *l, struct bb_json *w)
{
	int rc = 0;

	bb_json__break(w);
	bb_json__open(w, l->key, "[\n");
	for (size_t i = 0; !rc && i < l->n; i++) {
		const void *item = (const char *)l->items + i * l->size;

		bb_json__open(w, NULL, "{");
		write_fields(l->fields, item, w);
		rc = l->more ? l->more(r, item, w) : 0;
		bb_json__close(w);
	}
	bb_json__close(w);
	return rc;
}

/*
 * "bins": "v0:c0 v1-v0:c1 ...", a count of 1 left out: differences of the ascending values are
 * short, and one text is read four times as fast as a list of numbers.
 */
static int write_hist(const struct bb_hist *h, struct bb_json *w)
{
	struct bb_sorted sorted;
	uint64_t previous = 0;
	FILE *out;
	int rc = bb_hist_sort(h, &sorted);

	if (rc)
		return rc;
	bb_json__add_u64(w, "n", h->n);
	bb_json__add_double(w, "sum_ns", h->n ? h->sum_ns : NAN);
	if (h->n) {
		bb_json__add_u64(w, "min_ns", h->min_ns);
		bb_json__add_u64(w, "max_ns", h->max_ns);
	} else {
		bb_json__add_text(w, "min_ns", NULL);
		bb_json__add_text(w, "max_ns", NULL);
	}
	out = bb_json__add(w, "bins");
	putc('"', out);
	for (size_t i = 0; i < sorted.n_bins; i++) {
		fprintf(out, "%s%" PRIu64, i ? " " : "", sorted.bins[i].value_ns - previous);
		if (sorted.bins[i].count != 1)
			fprintf(out, ":%" PRIu64, sorted.bins[i].count);
		previous = sorted.bins[i].value_ns;
	}
	putc('"', out);
	bb_sorted_done(&sorted);
	return 0;
}

/* "backlog": "t0:b0 t1-t0:b1 ...", times in us. No such key where nothing went through a ring. */
static void write_flow(const struct bb_ring_use *f, struct bb_json *w)
{
	uint64_t previous_us = 0;
	FILE *out;

	if (!f)
		return;
	bb_json__open(w, "flow", "{");
	write_fields(&bb_flow_fields, f, w);
	out = bb_json__add(w, "backlog");
	putc('"', out);
	for (size_t i = 0; i < f->n_points; i++) {
		fprintf(out, "%s%" PRIu64 ":%" PRIu64, i ? " " : "",
			f->points[i].at_us - previous_us, f->points[i].backlog_bytes);
		previous_us = f->points[i].at_us;
	}
	putc('"', out);
	bb_json__close(w);
}

/* For other readers; left out when there is nothing to say. */
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

static int write_series(const struct bb_report *r, const void *item, struct bb_json *w)
{
	const struct bb_series *s = item;

	(void)r;
	write_flow(s->flow, w);
	return write_hist(&s->hist, w);
}

static int write_case(const struct bb_report *r, const void *item, struct bb_json *w)
{
	const struct bb_case *c = item;

	if (c->command)
		bb_json__add_text(w, "command", c->command);
	if (c->fired_by)
		bb_json__add_text(w, "fired_by", c->fired_by);
	if (c->n_insns) {
		bb_json__add_u64(w, "executed_insns", c->executed_insns);
		bb_json__add_u64(w, "insns", c->n_insns);
	}
	bb_json__add_text(w, "floor", c->floor < r->n_cases ? r->cases[c->floor].name : NULL);
	bb_json__break(w);
	bb_json__open(w, "summary", "{");
	for (size_t i = 0; i < bb_n_metrics; i++)
		write_estimate(bb_metrics[i].name, bb_metric_of(&c->summary, &bb_metrics[i]), w);
	bb_json__close(w);
	return write_list(r, LIST(c, series, bb_series_fields, write_series), w);
}

static int write_program(const struct bb_report *r, const void *item, struct bb_json *w)
{
	const struct bb_program *p = item;

	(void)r;
	bb_json__open(w, "static", "{");
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		bb_json__add_double(w, bb_static_metrics[i].name,
				    bb_static_of(&p->metrics, &bb_static_metrics[i]));
	bb_json__close(w);
	return 0;
}

static int write_comparison(const struct bb_report *r, const void *item, struct bb_json *w)
{
	const struct bb_comparison *c = item;

	bb_json__open(w, "summary", "{");
	bb_json__add_text(w, "verdict", bb_verdict_name(c->verdict));
	write_estimate("ratio", &c->ratio, w);
	write_estimate("ratio_unmatched", &c->ratio_unmatched, w);
	write_estimate("ratio_net", &c->ratio_net, w);
	write_estimate("shift_ns", &c->shift_ns, w);
	bb_json__close(w);
	return write_list(r, LIST(c, pairs, bb_pair_fields, NULL), w);
}

static int write_counted(const struct bb_report *r, const void *item, struct bb_json *w)
{
	const struct bb_counted *c = item;

	write_list(r, LIST(c, cases, bb_counted_case_fields, NULL), w);
	write_list(r, LIST(c, lines, bb_counted_line_fields, NULL), w);
	return write_list(r, LIST(c, calls, bb_counted_call_fields, NULL), w);
}

static int write_timed(const struct bb_report *r, const void *item, struct bb_json *w)
{
	const struct bb_timed *t = item;

	return write_list(r, LIST(t, rows, bb_timed_row_fields, NULL), w);
}

static void write_fingerprint(const struct bb_fingerprint *fp, struct bb_json *w)
{
	bb_json__open(w, "fingerprint", "{\n");
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		bb_json__add_text(w, bb_fingerprint_fields[i].key, bb_fingerprint_get(fp, i));
	bb_json__close(w);
}

/* A run that has no programs, comparisons, counts or times by line has no such key. */
int bb_run_json__write(const struct bb_report *r, FILE *out)
{
	struct bb_json w = {.out = out, .indent = 1};
	int rc;

	bb_json__open(&w, NULL, "{\n");
	bb_json__add_text(&w, "format", BB_RUN_FORMAT);
	bb_json__add_u64(&w, "version", BB_RUN_VERSION);
	write_fields(&bb_report_fields, r, &w);
	write_fingerprint(&r->fingerprint, &w);
	rc = write_list(r, LIST(r, skips, bb_skip_fields, NULL), &w);
	if (!rc && r->n_programs)
		rc = write_list(r, LIST(r, programs, bb_program_fields, write_program), &w);
	if (!rc && r->n_comparisons)
		rc = write_list(r, LIST(r, comparisons, bb_comparison_fields, write_comparison),
				&w);
	if (!rc && r->n_counted)
		rc = write_list(r, LIST(r, counted, bb_counted_fields, write_counted), &w);
	if (!rc && r->n_timed)
		rc = write_list(r, LIST(r, timed, bb_timed_fields, write_timed), &w);
	if (!rc)
		rc = write_list(r, LIST(r, cases, bb_case_fields, write_case), &w);
	bb_json__end(&w);
	return rc;
}

int bb_run_json__compose(const struct bb_report *r, char **ret_text, size_t *ret_len)
{
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);
	int rc, failed;

	if (!mem)
		return -ENOMEM;
	rc = bb_run_json__write(r, mem);
	failed = ferror(mem);
	if (fclose(mem) || failed)
		rc = -ENOMEM;
	if (rc) {
		free(text);
		return rc;
	}
	*ret_text = text;
	*ret_len = len;
	return 0;
}
