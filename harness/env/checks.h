/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_CHECKS_H
#define BB_ENV_CHECKS_H

#include "base/std.h"

/*
 * The abilities of this machine, for `bpfbench check`: one row a question. Checks only look: they
 * change no setting, leave no program, map or descriptor behind, print nothing, and work without
 * root, where they name the question that stays open, and why. Run them while nothing of ours is
 * being measured: they load programs, one turns bpf_stats on for a moment, one keeps a CPU busy for
 * 0.2 s.
 */
enum bb_check_status {
	BB_CHECK_OK,
	BB_CHECK_WARN, /* works, but slower, noisier or with less */
	BB_CHECK_FAIL, /* the main job, the perf_profiler scenario, cannot work */
	/* not known here, or a feature that only some scenarios need is missing */
	BB_CHECK_SKIP,
	BB_CHECK_N_STATUSES,
};

struct bb_check_result {
	enum bb_check_status status;
	char text[256];   /* the answer; never empty */
	char remedy[256]; /* the remedy for the user; never empty after warn and fail */
};

struct bb_check {
	const char *name;
	const char *doc;
	void (*run)(struct bb_check_result *ret_result);
	/* in place of `run`: a function for several checks, told apart by kind, name and text */
	void (*run_as)(const struct bb_check *check, struct bb_check_result *ret_result);
	int kind;
	const char *text;
};

extern const struct bb_check bb_checks[];
extern const size_t bb_n_checks;

void bb_check__run(const struct bb_check *check, struct bb_check_result *ret_result);

/* "ok", "warn", "fail" or "skip". */
const char *bb_check_status_name(enum bb_check_status status);

#endif
