/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/sample_kind.h"

#include <string.h>

static const struct bb_sample_kind run = {NULL, "run", "ns per run", false};

static const struct bb_sample_kind kinds[] = {
	{"call", "call", "ns per call", false},
	{"slowdown", "command", "ns per run of the command", false},
	{"pipeline", "lag", "lag of a sample until its line is logged, ns", true},
};

const struct bb_sample_kind *bb_case__sample_kind(const struct bb_case *c)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (bb_same_text(c->drive, kinds[i].drive))
			return &kinds[i];
	return &run;
}

const char *bb_case__slug(const struct bb_case *c, const struct bb_metric_def *def)
{
	/* A lag is no latency of a program: Bencher's thresholds are by measure. */
	static const struct {
		const char *metric, *slug;
	} of_lags[] = {
		{"latency", "lag"}, {"p50", "lag-p50"}, {"p90", "lag-p90"},
		{"p99", "lag-p99"}, {"drops", "drops"},
	};

	for (size_t i = 0;
	     bb_case__sample_kind(c)->is_lag && i < sizeof(of_lags) / sizeof(of_lags[0]); i++)
		if (!strcmp(def->name, of_lags[i].metric))
			return of_lags[i].slug;
	return def->slug;
}
