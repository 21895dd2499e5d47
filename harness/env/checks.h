/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The checks that `bpfbench check` runs. A check changes no setting, leaves nothing loaded or open,
 * and prints nothing. Do not run checks during a measurement: they load programs, one enables
 * bpf_stats for a moment, and one keeps a CPU busy for 0.2 s. */
enum bb_check_status {
	BB_CHECK_OK,
	BB_CHECK_WARN, /* measuring works, but slower, noisier or with fewer features */
	BB_CHECK_FAIL, /* the perf_profiler scenario, the main job of bpfbench, cannot work */
	/* the answer is unknown, or a feature is missing that only some scenarios need */
	BB_CHECK_SKIP,
	BB_CHECK_N_STATUSES,
};

struct bb_check_result {
	enum bb_check_status status;
	char text[256];   /* the answer that is printed; never empty */
	char remedy[256]; /* advice for the user; never empty if `status` is WARN or FAIL */
	bool is_busy;     /* true if the CPUs are too busy for a measurement */
};

struct bb_check {
	const char *name;
	/* A function that serves several checks tells them apart by `name` or `kind`. */
	void (*run)(const struct bb_check *check, struct bb_check_result *ret_result);
	/* program type or software perf event that `run` tries, if it tries one */
	int kind;
	/* how to install the tool that the check looks for, if it looks for one */
	const char *text;
};

extern const struct bb_check bb_checks[];
extern const size_t bb_n_checks;

/* Finds another process that has enabled bpf_stats by a descriptor. ret_who receives the name and
 * the id of the process, for example "bpftop (1234)". Returns false if no such process is
 * visible. */
bool bb_find_stats_holder(char *ret_who, size_t size);

/* Returns "ok", "warn", "fail" or "skip". */
const char *bb_check_status_name(enum bb_check_status status);
