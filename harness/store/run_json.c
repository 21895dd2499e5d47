/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_out.h"
#include "store/run_json_fields.h"

static void write_field(const struct bb_field *f, const void *base, FILE *out)
{
	const void *at = (const char *)base + f->offset;

	fprintf(out, "\"%s\": ", f->key);
	switch (f->type) {
	case FIELD_NAME:
	case FIELD_TEXT:
		assert(*(char *const *)at);
		bb_json_text(out, *(char *const *)at);
		break;
	case FIELD_TEXT_OR_NULL: bb_json_text(out, *(char *const *)at); break;
	case FIELD_COUNT: bb_json_u64(out, *(const uint64_t *)at); break;
	case FIELD_SEED: fprintf(out, "\"0x%" PRIx64 "\"", *(const uint64_t *)at); break;
	case FIELD_U32:
	case FIELD_U32_NOT_0: fprintf(out, "%" PRIu32, *(const uint32_t *)at); break;
	case FIELD_MOD64: fprintf(out, "%d", *(const int *)at); break;
	case FIELD_REAL:
	case FIELD_POSITIVE:
	case FIELD_SHARE: bb_json_double(out, *(const double *)at); break;
	case FIELD_BOOL: fputs(*(const bool *)at ? "true" : "false", out); break;
	}
}

static void write_fields(const struct bb_fields *fields, const void *base, const char *between,
			 FILE *out)
{
	for (size_t i = 0; i < fields->n; i++) {
		write_field(&fields->v[i], base, out);
		fputs(between, out);
	}
}

/*
 * "bins": "v0:c0 v1-v0:c1 ...", a count of 1 left out: differences of the ascending values are
 * short, and one text is read four times as fast as a list of numbers.
 */
static int write_hist(const struct bb_hist *h, FILE *out)
{
	struct bb_sorted sorted;
	uint64_t previous = 0;
	int rc = bb_hist_sort(h, &sorted);

	if (rc)
		return rc;
	fputs("\"n\": ", out);
	bb_json_u64(out, h->n);
	fputs(", \"sum_ns\": ", out);
	bb_json_double(out, h->n ? h->sum_ns : NAN);
	fputs(", \"min_ns\": ", out);
	h->n ? bb_json_u64(out, h->min_ns) : bb_json_text(out, NULL);
	fputs(", \"max_ns\": ", out);
	h->n ? bb_json_u64(out, h->max_ns) : bb_json_text(out, NULL);
	fputs(", \"bins\": \"", out);
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
static void write_flow(const struct bb_flow *f, FILE *out)
{
	uint64_t previous_us = 0;

	if (!f)
		return;
	fputs("\"flow\": {", out);
	write_fields(&bb_flow_fields, f, ", ", out);
	fputs("\"backlog\": \"", out);
	for (size_t i = 0; i < f->n_points; i++) {
		fprintf(out, "%s%" PRIu64 ":%" PRIu64, i ? " " : "",
			f->points[i].at_us - previous_us, f->points[i].backlog_bytes);
		previous_us = f->points[i].at_us;
	}
	fputs("\"}, ", out);
}

/* For other readers; left out when there is nothing to say. Returns what stands before the next
 * one. */
static const char *write_estimate(const char *between, const char *key, const struct bb_estimate *e,
				  FILE *out)
{
	if (!isfinite(e->value))
		return between;
	fprintf(out, "%s\"%s\": {\"value\": ", between, key);
	bb_json_double(out, e->value);
	fputs(", \"lo\": ", out);
	bb_json_double(out, e->lo);
	fputs(", \"hi\": ", out);
	bb_json_double(out, e->hi);
	putc('}', out);
	return ", ";
}

static void write_summary(const struct bb_summary *s, FILE *out)
{
	const char *between = "";

	fputs("\"summary\": {", out);
	for (size_t i = 0; i < bb_n_metrics; i++)
		between = write_estimate(between, bb_metrics[i].name,
					 bb_metric_of(s, &bb_metrics[i]), out);
	fputs("},\n", out);
}

static int write_case(const struct bb_report *r, const struct bb_case *c, FILE *out)
{
	fputs("  {", out);
	write_fields(&bb_case_fields, c, ", ", out);
	if (c->command) {
		fputs("\"command\": ", out);
		bb_json_text(out, c->command);
		fputs(", ", out);
	}
	if (c->n_insns)
		fprintf(out, "\"executed_insns\": %" PRIu32 ", \"insns\": %" PRIu32 ", ",
			c->executed_insns, c->n_insns);
	fputs("\"floor\": ", out);
	bb_json_text(out, c->floor < r->n_cases ? r->cases[c->floor].name : NULL);
	fputs(",\n   ", out);
	write_summary(&c->summary, out);
	fputs("   \"series\": [", out);
	for (size_t i = 0; i < c->n_series; i++) {
		int rc;

		fputs(i ? ",\n    {" : "\n    {", out);
		write_fields(&bb_series_fields, &c->series[i], ", ", out);
		write_flow(c->series[i].flow, out);
		rc = write_hist(&c->series[i].hist, out);
		if (rc)
			return rc;
		putc('}', out);
	}
	fputs(c->n_series ? "\n   ]}" : "]}", out);
	return 0;
}

static void write_fingerprint(const struct bb_fingerprint *fp, FILE *out)
{
	fputs("\"fingerprint\": {", out);
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		fprintf(out, "%s\n  \"%s\": ", i ? "," : "", bb_fingerprint_fields[i].key);
		bb_json_text(out, bb_fingerprint_get(fp, i));
	}
	fputs("\n },\n", out);
}

static void write_skips(const struct bb_report *r, FILE *out)
{
	fputs(" \"skips\": [", out);
	for (size_t i = 0; i < r->n_skips; i++) {
		fputs(i ? ",\n  {" : "\n  {", out);
		write_field(&bb_skip_fields.v[0], &r->skips[i], out);
		fputs(", ", out);
		write_field(&bb_skip_fields.v[1], &r->skips[i], out);
		putc('}', out);
	}
	fputs(r->n_skips ? "\n ],\n" : "],\n", out);
}

static void write_verdict(const struct bb_comparison *c, FILE *out)
{
	fprintf(out, "\"summary\": {\"verdict\": \"%s\"", bb_verdict_name(c->verdict));
	write_estimate(", ", "ratio", &c->ratio, out);
	write_estimate(", ", "ratio_unmatched", &c->ratio_unmatched, out);
	write_estimate(", ", "ratio_net", &c->ratio_net, out);
	write_estimate(", ", "shift_ns", &c->shift_ns, out);
	fputs("},\n", out);
}

/* The fake driver has none, and then there is no such key. */
static void write_programs(const struct bb_report *r, FILE *out)
{
	if (!r->n_programs)
		return;
	fputs(" \"programs\": [", out);
	for (size_t i = 0; i < r->n_programs; i++) {
		fputs(i ? ",\n  {" : "\n  {", out);
		write_fields(&bb_program_fields, &r->programs[i], ", ", out);
		fputs("\"static\": {", out);
		for (size_t k = 0; k < bb_n_static_metrics; k++) {
			fprintf(out, "%s\"%s\": ", k ? ", " : "", bb_static_metrics[k].name);
			bb_json_double(out, bb_static_of(&r->programs[i].metrics,
							 &bb_static_metrics[k]));
		}
		fputs("}}", out);
	}
	fputs("\n ],\n", out);
}

/* A plain run has no such key: it is what it was before there were comparisons. */
static void write_comparisons(const struct bb_report *r, FILE *out)
{
	fputs(r->n_comparisons ? " \"comparisons\": [\n" : "", out);
	for (size_t i = 0; i < r->n_comparisons; i++) {
		const struct bb_comparison *c = &r->comparisons[i];

		fputs("  {", out);
		write_fields(&bb_comparison_fields, c, ", ", out);
		write_verdict(c, out);
		fputs("   \"pairs\": [", out);
		for (size_t k = 0; k < c->n_pairs; k++) {
			fputs(k ? ",\n    {" : "\n    {", out);
			for (size_t f = 0; f < bb_pair_fields.n; f++) {
				fputs(f ? ", " : "", out);
				write_field(&bb_pair_fields.v[f], &c->pairs[k], out);
			}
			putc('}', out);
		}
		fputs(c->n_pairs ? "\n   ]}" : "]}", out);
		fputs(i + 1 < r->n_comparisons ? ",\n" : "\n ],\n", out);
	}
}

/* A list of flat structs, one a line. */
static void write_list(const char *key, const struct bb_fields *fields, const void *items, size_t n,
		       size_t size, FILE *out)
{
	fprintf(out, ",\n   \"%s\": [", key);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n    {" : "\n    {", out);
		for (size_t f = 0; f < fields->n; f++) {
			fputs(f ? ", " : "", out);
			write_field(&fields->v[f], (const char *)items + i * size, out);
		}
		putc('}', out);
	}
	fputs(n ? "\n   ]" : "]", out);
}

/* Without the exact drive a run has no such key. */
static void write_counted(const struct bb_report *r, FILE *out)
{
	fputs(r->n_counted ? " \"counted\": [\n" : "", out);
	for (size_t i = 0; i < r->n_counted; i++) {
		const struct bb_counted *c = &r->counted[i];

		fputs("  {", out);
		for (size_t f = 0; f < bb_counted_fields.n; f++) {
			fputs(f ? ", " : "", out);
			write_field(&bb_counted_fields.v[f], c, out);
		}
		write_list("cases", &bb_counted_case_fields, c->cases, c->n_cases,
			   sizeof(*c->cases), out);
		write_list("lines", &bb_counted_line_fields, c->lines, c->n_lines,
			   sizeof(*c->lines), out);
		write_list("calls", &bb_counted_call_fields, c->calls, c->n_calls,
			   sizeof(*c->calls), out);
		write_list("groups", &bb_counted_group_fields, c->groups, c->n_groups,
			   sizeof(*c->groups), out);
		fputs(i + 1 < r->n_counted ? "},\n" : "}\n ],\n", out);
	}
}

int bb_run_json__write(const struct bb_report *r, FILE *out)
{
	fprintf(out, "{\n \"format\": \"%s\",\n \"version\": %d,\n ", BB_RUN_FORMAT,
		BB_RUN_VERSION);
	write_fields(&bb_report_fields, r, ",\n ", out);
	write_fingerprint(&r->fingerprint, out);
	write_skips(r, out);
	write_programs(r, out);
	write_comparisons(r, out);
	write_counted(r, out);
	fputs(" \"cases\": [", out);
	for (size_t i = 0; i < r->n_cases; i++) {
		int rc;

		fputs(i ? ",\n" : "\n", out);
		rc = write_case(r, &r->cases[i], out);
		if (rc)
			return rc;
	}
	fputs(r->n_cases ? "\n ]\n}\n" : "]\n}\n", out);
	return 0;
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
