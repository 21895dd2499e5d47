/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdarg.h>
#include <time.h>

#include "bench.h"
#include "report/report.h"

/* Made-up runs of any size, for the benches of the steps after measuring. Only the samples are not
 * real. */
struct made_run {
	uint32_t n; /* number of the run: run 0 is of 2020-09-13, each next one six hours later */
	/* the run has variants * params cases; variant 0 is the floor */
	uint32_t variants, params;
	uint32_t loads, samples; /* loads of a case; samples of a load */
	uint32_t slower_from;    /* variant 1 costs 5 % more from this run on */
};

static inline char *made_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline char *made_text(const char *format, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		exit(1);
	return text;
}

static inline void made_case(struct bb_report *r, const struct made_run *m, uint32_t variant,
			     uint32_t param, struct bb_rng *rng)
{
	struct bb_case *c = BB_ADD(bb_case_record, r, cases);
	uint64_t ns = 100 + 900 * variant + param;

	ns += variant == 1 && m->n >= m->slower_from ? ns / 20 : 0;
	c->scenario = made_text("bench");
	c->variant = made_text("variant_%u", variant);
	c->drive = made_text("step");
	c->param = made_text("stack_depth");
	c->param_value = param + 1;
	c->param_text = made_text("%u", param + 1);
	c->name = made_text("bench/variant_%u/step/stack_depth=%u", variant, param + 1);
	c->is_anchor = variant == 0;
	c->floor = variant ? r->n_cases - 1 - variant : BB_NO_FLOOR;
	for (uint32_t load = 0; load < m->loads; load++) {
		struct bb_series *s = BB_ADD(bb_series_record, c, series);

		s->load = load;
		s->jit_mod64 = (int)(4 * bb_rng_below(rng, 16));
		s->fired = s->run_cnt = m->samples;
		s->elapsed_s = 0.25;
		for (uint32_t i = 0; i < m->samples; i++) {
			uint64_t value = ns + bb_rng_below(rng, 1 + ns / 50);

			s->run_time_ns += value;
			bb_hist_add(&s->hist, value, 1);
		}
	}
}

/* Makes a run and its statistics. The caller frees it with bb_report__free(). */
static inline struct bb_report *made_run(const struct made_run *m, const struct bb_fingerprint *fp,
					 struct bb_rng *rng)
{
	time_t at = 1600000000 + (time_t)m->n * 6 * 3600;
	struct bb_report *r = bb_report__new();
	char id[64], started[64];
	struct tm tm;

	gmtime_r(&at, &tm);
	strftime(id, sizeof(id), "%Y%m%dT%H%M%SZ", &tm);
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &tm);
	r->id = made_text("%s-bench-%08x", id, m->n);
	r->started = made_text("%s", started);
	r->command = made_text("bpfbench --scenario bench");
	r->seed = m->n;
	r->fingerprint = *fp;
	for (uint32_t param = 0; param < m->params; param++)
		for (uint32_t variant = 0; variant < m->variants; variant++)
			made_case(r, m, variant, param, rng);
	bb_report__summarise(r);
	return r;
}
