/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Options for the text of a scenario of live programs, from --prog-id, --prog-name and --pinned.
 * A variant has the name of its program (or of its pin), or NAME-ID if that is ambiguous. */
struct bb_live_opts {
	uint32_t *ids;
	size_t n_ids;
	struct bb_strings
		globs;          /* patterns of names, as in fnmatch(3); each must match a program */
	struct bb_strings pins; /* paths of pins */
	bool by_test_run; /* use step and, if the type allows it, slope, in place of polling */
	double seconds;   /* seconds per program; 0: 6 s, or less for more than two programs */
};

/* Returns YAML; free it. Errors: those of bpf/loaded.h; -ENOENT if a pattern matches nothing,
 * with the nearest name; -EEXIST if a program is named twice. */
int bb_live_scenario__make(const struct bb_live_opts *opts, char **ret_text, struct bb_err *err);
