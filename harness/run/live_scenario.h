/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Options --prog-id, --prog-name and --pinned, from which a scenario of live programs is made. A
 * variant has the name of its program or pin or, if another one has it, is called NAME-ID. */
struct bb_live_opts {
	uint32_t *ids;
	size_t n_ids;
	/* patterns of program names (fnmatch(3)); each must match a program */
	struct bb_strings globs;
	struct bb_strings pins; /* paths of pins */
	/* true: measure by step and, if the type allows it, by slope; false: watch */
	bool by_test_run;
	/* time for each program, s; 0: 6 s, or less if there are more than two programs */
	double seconds;
};

/* Writes the scenario to *ret_text, as YAML; free() it. Errors: those of bpf/loaded.h; -ENOENT if a
 * pattern matches nothing, with the nearest name; -EEXIST if a program is named twice. */
int bb_live_scenario__make(const struct bb_live_opts *opts, char **ret_text, struct bb_err *err);
