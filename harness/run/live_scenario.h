/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_LIVE_SCENARIO_H
#define BB_RUN_LIVE_SCENARIO_H

#include "base/err.h"
#include "base/grow.h"
#include "base/std.h"

/*
 * The text of a scenario for live programs, as --prog-id, --prog-name and --pinned name them. A
 * variant is called by its program's name (by its pin's file name), and NAME-ID where that alone
 * would be ambiguous.
 */
struct bb_live_opts {
	uint32_t *ids;
	size_t n_ids;
	struct bb_strings globs; /* of names, as of fnmatch(3): each must match a program */
	struct bb_strings pins;  /* paths */
	bool by_test_run;        /* step and, where the type takes it, slope; instead of polling */
	double seconds;          /* for each program; 0: 6, less for more than two */
};

/*
 * YAML, to be freed. Errors: bpf/loaded.h; -ENOENT for a glob that matches nothing, with the
 * nearest name; -EEXIST when a program is named twice.
 */
int bb_live_scenario__make(const struct bb_live_opts *opts, char **ret_text, struct bb_err *err);

#endif
