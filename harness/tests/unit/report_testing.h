/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions that the tests of report/ share: they make reports that are the same at every call.
 * Include after cmocka.h. */

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "report/report.h"
#include "store/run_json.h"

/* The tolerance is relative if `want` is above 1. NAN is near nothing. */
#define assert_near_by(got, want, tolerance)                                                       \
	do {                                                                                       \
		double got_ = (got), want_ = (want);                                               \
		if (!(fabs(got_ - want_) <= (tolerance)*fmax(1, fabs(want_))))                     \
			fail_msg("%s is %.17g, want %.17g", #got, got_, want_);                    \
	} while (0)
#define assert_near(got, want) assert_near_by(got, want, 1e-12)
#define assert_nan(got) assert_true(isnan(got))

static inline void set_text(char **at, const char *text)
{
	free(*at);
	*at = strdup(text);
	assert_non_null(*at);
}

static inline struct bb_report *make_report(const char *id)
{
	struct bb_report *r = bb_report__new();

	assert_non_null(r);
	set_text(&r->id, id);
	set_text(&r->started, "2026-11-21T13:17:00Z");
	set_text(&r->command, "./bpfbench --scenario \"perf_profiler\"");
	r->seed = 0xfedcba9876543210; /* above 2^63, so it does not fit a JSON integer */
	r->elapsed_s = 18.25;
	r->steal = 0.34;
	assert_int_equal(bb_fingerprint_set(&r->fingerprint, "kernel_release", "6.1.0-27-amd64"),
			 0);
	assert_int_equal(bb_fingerprint_set(&r->fingerprint, "cpu_model",
					    "AMD EPYC 7763 64-Core Processor"),
			 0);
	return r;
}

/* Adds a case "scenario/variant/drive/param=value"; `param` may be NULL. Returns its index. */
static inline size_t make_case(struct bb_report *r, const char *variant, const char *drive,
			       const char *param, uint32_t param_value)
{
	struct bb_case *c = BB_ADD(bb_case_record, r, cases);
	char name[2048];

	assert_non_null(c);
	if (param)
		snprintf(name, sizeof(name), "perf_profiler/%s/%s/%s=%u", variant, drive, param,
			 param_value);
	else
		snprintf(name, sizeof(name), "perf_profiler/%s/%s", variant, drive);
	set_text(&c->name, name);
	set_text(&c->scenario, "perf_profiler");
	set_text(&c->variant, variant);
	set_text(&c->drive, drive);
	if (param) {
		set_text(&c->param, param);
		set_text(&c->param_text, strrchr(name, '=') + 1);
	}
	c->param_value = param_value;
	return r->n_cases - 1;
}

static inline void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

/* Stores the report, reads it, and stores it again. Both texts must be equal. */
static inline struct bb_report *store_and_read(const struct bb_report *r)
{
	struct bb_report *again;
	struct bb_err err = {0};
	char *text, *second;
	size_t len;
	FILE *in;

	bb_run_json__compose(r, &text, &len);
	in = fmemopen(text, len, "r");
	if (bb_run_json__read(in, "run.json", &again, &err))
		fail_msg("%s", err.msg);
	fclose(in);
	bb_run_json__compose(again, &second, &len);
	assert_string_equal(text, second);
	free(text);
	free(second);
	return again;
}

/* Adds a program of a variant whose figures are unknown. The pointer is valid until the next
 * call. */
static inline struct bb_program *make_program(struct bb_report *r, const char *variant,
					      const char *program)
{
	struct bb_program *p = BB_ADD(bb_program_record, r, programs);
	char name[2048];

	assert_non_null(p);
	snprintf(name, sizeof(name), "perf_profiler/%s", variant);
	set_text(&p->name, name);
	set_text(&p->scenario, "perf_profiler");
	set_text(&p->variant, variant);
	set_text(&p->program, program);
	set_text(&p->object, "perf_profiler.bpf.o");
	set_text(&p->type, "perf_event");
	set_text(&p->tag, "59f4a931744dcdc6");
	return p;
}

static inline void add_samples(struct bb_series *s, uint64_t ns, uint64_t count)
{
	bb_hist_add(&s->hist, ns, count);
	s->run_cnt += count;
	s->run_time_ns += ns * count;
}

static inline struct bb_series *make_series(struct bb_report *r, size_t i, uint32_t load)
{
	struct bb_series *s = BB_ADD(bb_series_record, &r->cases[i], series);

	assert_non_null(s);
	s->load = load;
	s->jit_mod64 = (int)(load * 16 % 64);
	s->elapsed_s = 0.5;
	s->steal = 0.25;
	return s;
}

/*
 * Adds `loads` series of `n` samples around `centre`, from a clock of 10 ns. The first sample of
 * each is an outlier of 300 us. All are whole numbers, so that they are the same on every machine.
 */
static inline void make_loads(struct bb_report *r, size_t i, uint32_t loads, uint32_t n,
			      uint64_t centre)
{
	struct bb_rng rng;

	bb_rng_seed(&rng, centre);
	for (uint32_t load = 0; load < loads; load++) {
		struct bb_series *s = make_series(r, i, load);
		uint64_t shift = 10 * bb_rng_below(&rng, 4);

		s->warmup = 100;
		s->fired = n;
		add_samples(s, 300007, 1);
		for (uint32_t k = 1; k < n; k++)
			add_samples(s,
				    centre + shift +
					    10 * (bb_rng_below(&rng, 5) + bb_rng_below(&rng, 5)),
				    1);
	}
}

/* Makes a report with one of everything: drives, floors, a net cost below zero, void series of two
 * kinds, drops, misses, a skip, programs. */
static inline struct bb_report *make_sample_report(void)
{
	struct bb_report *r = make_report("20261121T131700Z-perf_profiler-1a2b3c4d");
	size_t empty = make_case(r, "empty", "step", "stack_depth", 8);
	size_t ringbuf = make_case(r, "ringbuf_nowakeup", "step", "stack_depth", 8);
	size_t filter = make_case(r, "pid_filter", "step", "stack_depth", 8);
	size_t empty_100, ringbuf_100;

	make_loads(r, empty, 8, 130, 60);
	make_loads(r, ringbuf, 8, 130, 700);
	make_loads(r, filter, 8, 20, 50);
	empty_100 = make_case(r, "empty", "in-situ", "freq_hz", 100);
	ringbuf_100 = make_case(r, "ringbuf_nowakeup", "in-situ", "freq_hz", 100);
	make_loads(r, empty_100, 3, 25, 190);
	make_loads(r, ringbuf_100, 3, 25, 12900);
	for (size_t i = ringbuf; i <= filter; i++)
		r->cases[i].floor = empty;
	r->cases[ringbuf_100].floor = empty_100;
	r->cases[empty].is_anchor = true;
	for (size_t i = empty_100; i <= ringbuf_100; i++) {
		for (size_t k = 0; k < 3; k++) {
			r->cases[i].series[k].fired = 0;
			r->cases[i].series[k].target_cpu_s = 0.26;
			r->cases[i].series[k].multi = 1 + k;
		}
	}
	set_text(&r->cases[ringbuf].series[3].void_why, "run_cnt is 131, but 130 events were "
							"fired");
	set_text(&r->cases[ringbuf].series[6].void_why, "run_cnt is 131, but 130 events were "
							"fired");
	make_series(r, filter, 8);
	r->cases[ringbuf].series[0].drops = 12;
	r->cases[filter].series[1].misses = 2;
	bb_report__add_skip(r, "perf_profiler/slope",
			    "this kernel has no BPF_PROG_TEST_RUN for "
			    "perf_event programs");
	make_program(r, "empty", "empty")->metrics = (struct bb_prog_static){2,    16, 20,  0,
									     8192, 0,  8000};
	make_program(r, "ringbuf_nowakeup", "ringbuf_nowakeup")->metrics =
		(struct bb_prog_static){38, 304, 180, 0, 16871752, 3, 62000};
	/* As on Linux 5.1 without a JIT. */
	make_program(r, "pid_filter", "ringbuf")->metrics =
		(struct bb_prog_static){NAN, 368, NAN, NAN, 16871752, NAN, NAN};
	bb_report__summarise(r);
	return r;
}

/* Returns a whole file as text, or NULL if it cannot be read. The caller frees it. */
static inline char *slurp(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t len;

	if (!in)
		return NULL;
	len = getdelim(&text, &size, '\0', in);
	fclose(in);
	if (len < 0) {
		free(text);
		return strdup("");
	}
	return text;
}

static inline void spill(const char *path, const char *text, size_t len)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
}

/*
 * Adds a counted program "perf_profiler/VARIANT/exact" with two cases of 10 runs. Each run executes
 * `instructions` on one path: two lines and a call. A third line is never executed.
 */
static inline struct bb_counted *make_counted(struct bb_report *r, const char *variant,
					      uint64_t instructions)
{
	static const char *const lines[] = {"\tint x = 1;", "\treturn x;", "\treturn -1;"};
	struct bb_counted *c = BB_ADD(bb_counted_record, r, counted);
	char name[256];

	assert_non_null(c);
	snprintf(name, sizeof(name), "perf_profiler/%s/exact", variant);
	set_text(&c->name, name);
	set_text(&c->scenario, "perf_profiler");
	set_text(&c->variant, variant);
	c->n_insns = 12;
	c->n_blocks = 3;
	c->clone_insns = 24;
	c->runs = 20;
	c->instructions = 20 * instructions;
	c->paths = 1;
	for (uint32_t i = 0; i < 2; i++) {
		struct bb_counted_case *k = BB_ADD(bb_counted_case_record, c, cases);

		assert_non_null(k);
		snprintf(name, sizeof(name), "perf_profiler/%s/exact/input=%u", variant, i);
		set_text(&k->name, name);
		set_text(&k->param, "input");
		set_text(&k->param_text, strrchr(name, '=') + 1);
		k->param_value = i;
		k->runs = 10;
		k->least = k->most = instructions;
		k->instructions = 10 * instructions;
		k->paths = 1;
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct bb_counted_line *l = BB_ADD(bb_counted_line_record, c, lines);

		assert_non_null(l);
		set_text(&l->file, "/nowhere/prog.bpf.c");
		set_text(&l->text, lines[i]);
		l->line = 10 + 2 * i;
		l->n_insns = 4;
		l->executions = i == 2 ? 0 : 20;
		l->instructions = i == 2 ? 0 : i ? 20 : 20 * (instructions - 1);
	}
	set_text(&BB_ADD(bb_counted_call_record, c, calls)->name, "map_lookup_elem");
	c->calls[0].calls = 20;
	return c;
}

/* Replaces the numbers of the list. */
static inline void set_numbers(struct bb_numbers *list, const double *x, size_t n)
{
	list->n = 0;
	bb_numbers__append(list, x, n);
}

/*
 * Adds times by line of variant "ringbuf" over 8 loads: an empty program of 50 ns, and two lines of
 * /nowhere/prog.bpf.c with a call each and 1 ns of code. The whole takes 7400 ns, and 1 ns more in
 * each further load.
 */
static inline struct bb_timed *make_timed(struct bb_report *r, double submit_ns)
{
	static const struct {
		const char *call;
		uint32_t line;
		double ns;
	} rows[] = {{"bpf_get_stack", 77, 2500}, {"", 77, 1}, {"bpf_ringbuf_submit", 83, 0}};
	struct bb_timed *t = BB_ADD(bb_timed_record, r, timed);
	double x[8], sum[8];

	assert_non_null(t);
	set_text(&t->name, "perf_profiler/ringbuf/lines/stack_depth=32");
	set_text(&t->scenario, "perf_profiler");
	set_text(&t->variant, "ringbuf");
	set_text(&t->drive, "lines");
	set_text(&t->param, "stack_depth");
	t->param_value = 32;
	t->cuts = 12;
	t->passed = 6;
	t->runs = 1000;
	t->check_ns = 0.25;
	for (int l = 0; l < 8; l++)
		x[l] = sum[l] = 50;
	set_numbers(&t->empty_ns, x, 8);
	for (size_t i = 0; i < 3; i++) {
		struct bb_timed_row *row = BB_ADD(bb_timed_row_record, t, rows);

		assert_non_null(row);
		set_text(&row->file, "/nowhere/prog.bpf.c");
		set_text(&row->text, i < 2 ? "len = get();" : "submit();");
		set_text(&row->call, rows[i].call);
		row->line = row->last_line = rows[i].line;
		row->turns = 1;
		for (int l = 0; l < 8; l++) {
			x[l] = (rows[i].ns ? rows[i].ns : submit_ns) + (i == 2 ? l : 0);
			sum[l] += x[l];
		}
		set_numbers(&row->ns, x, 8);
		set_numbers(&row->first_ns, x, 8);
	}
	set_numbers(&t->program_ns, sum, 8);
	for (int l = 0; l < 8; l++)
		x[l] = 0;
	set_numbers(&t->hidden_ns, x, 8);
	set_numbers(&t->rest_ns, x, 8);
	return t;
}
