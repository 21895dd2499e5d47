/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_PATHS_H
#define BB_CLI_PATHS_H

#include "base/err.h"
#include "base/std.h"
#include "plan/scenario.h"

/* Where things are, from where the program is: in the tree that it was built in, or installed in
 * PREFIX/bin. */
struct bb_paths {
	char *scenario_dir;
	char *object_dir; /* our own BPF objects */
	char *workload_dir;
	char *plot_dir; /* plot.sh and its gnuplot scripts */
};

/* They are looked for once. NULL, with a message: not found. */
const struct bb_paths *bb_paths(struct bb_err *err);

/* Names (without .yml) of the scenarios, sorted; free with bb_names_free(). */
int bb_scenario_names(char ***ret_names, size_t *ret_n, struct bb_err *err);

/* Read a scenario by name, or by path when it has a slash or ends in .yml. Unknown names get the
 * nearest one. */
int bb_scenario_find(const char *name, struct bb_scenario **ret_scenario, struct bb_err *err);

/* A new folder "bpfbench-PURPOSE-XXXXXX" in $TMPDIR or /tmp; its path goes to *ret_dir, to be
 * freed. */
int bb_scratch__make(const char *purpose, char **ret_dir, struct bb_err *err);

#endif
