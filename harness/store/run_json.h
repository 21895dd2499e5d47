/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/* A run as JSON (results/schema.json). Each series has a line of its own, so that diff(1) can
 * compare two runs. Summaries are for other programs: bpfbench computes them again from the
 * series. */
#define BB_RUN_FORMAT "bpfbench-run"
#define BB_RUN_VERSION 1

/* The caller checks `out` for errors. */
void bb_run_json__write(const struct bb_report *r, FILE *out);

/* Writes a run into memory. `*ret_text` receives `*ret_len` bytes and a NUL. Free it. */
void bb_run_json__compose(const struct bb_report *r, char **ret_text, size_t *ret_len);

/* Reads a run and computes its summaries. `path` names the file in messages. Unknown keys are
 * ignored, because a newer bpfbench may add some. Returns -EINVAL if a known key is missing, has
 * the wrong type or contradicts another. */
int bb_run_json__read(FILE *in, const char *path, struct bb_report **ret_report,
		      struct bb_err *err);
