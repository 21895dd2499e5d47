/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_RUN_JSON_H
#define BB_STORE_RUN_JSON_H

#include "base/err.h"
#include "base/std.h"
#include "report/report.h"

/*
 * The stored form of a run, results/schema.json. One line a series, so that two runs can be looked
 * at with diff. The summaries are written for other readers; ours derives them anew.
 */
#define BB_RUN_FORMAT "bpfbench-run"
#define BB_RUN_VERSION 1

/* 0 or -ENOMEM; whether the bytes got out is for the caller to ask `out`. */
int bb_run_json__write(const struct bb_report *r, FILE *out);

/* The same into memory: *ret_len bytes and a NUL, to be freed. 0 or -ENOMEM. */
int bb_run_json__compose(const struct bb_report *r, char **ret_text, size_t *ret_len);

/*
 * Read one; `path` is for messages, which are "path: not a bpfbench run: PLACE: FAULT". Keys that
 * are not known are passed over (a newer bpfbench may add some); a known one that is missing,
 * mistyped or at odds with another is -EINVAL. The summaries are made.
 */
int bb_run_json__read(FILE *in, const char *path, struct bb_report **ret_report,
		      struct bb_err *err);

#endif
