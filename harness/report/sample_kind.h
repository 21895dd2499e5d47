/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_SAMPLE_KIND_H
#define BB_REPORT_SAMPLE_KIND_H

#include <stdbool.h>

#include "report/report.h"

/* What a sample is the time of: one run of a program, unless the drive is in the table. */
struct bb_sample_kind {
	const char *drive;
	const char *name;    /* "run", "call", "command", "lag": as plots are told */
	const char *heading; /* "ns per run" */
	bool is_lag;
};

const struct bb_sample_kind *bb_case__sample_kind(const struct bb_case *c);

/* The BMF measure of a metric for that case; NULL: none. */
const char *bb_case__slug(const struct bb_case *c, const struct bb_metric_def *def);

#endif
