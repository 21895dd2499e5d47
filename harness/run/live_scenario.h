/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Options --prog-id, --prog-name and --pinned, which choose loaded programs for a scenario. A
 * variant is named after its program or pin, or NAME-ID if that name is taken. */
struct bb_live_opts {
	uint32_t *ids;
	size_t n_ids;
	/* patterns of program names (fnmatch(3)), each of which must match */
	struct bb_strings globs;
	struct bb_strings pins;
	/* true to test-run the programs (drives step and slope); false to watch them */
	bool by_test_run;
	/* time for each program, s (0 means 6 s, or less for more than two programs) */
	double seconds;
};

/* Makes the scenario, as YAML. The caller frees it. Returns the errors of bpf/loaded.h, -ENOENT if
 * a pattern matches nothing, or -EEXIST if a program is named twice. */
int bb_live_scenario__make(const struct bb_live_opts *opts, char **ret_text, struct bb_err *err);
