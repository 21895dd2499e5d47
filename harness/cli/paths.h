/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/* Folders of bpfbench. They are below PREFIX if bpfbench itself is in PREFIX/bin, or else in the
 * tree in which it was built. */
struct bb_paths {
	char *scenario_dir;
	char *object_dir; /* BPF objects of bpfbench itself */
	char *workload_dir;
	char *qemu_plugin; /* the file of QEMU's plugin that traces instructions */
	char *plot_dir;    /* plot.sh and its gnuplot scripts */
};

/* Returns NULL with a message if the path of bpfbench itself is unknown. */
const struct bb_paths *bb_paths(struct bb_err *err);

/* Returns the names (without .yml) of the scenarios, sorted. Free them by bb_names_free(). */
int bb_scenario_names(char ***ret_names, size_t *ret_n, struct bb_err *err);

/* Reads a scenario by its name, or by its path if `name` has a slash or ends in .yml. The outline
 * is that of bb_scenario__read(). */
int bb_scenario_find(const char *name, bool is_outline, struct bb_scenario **ret_scenario,
		     struct bb_err *err);

/* Makes a new folder "bpfbench-PURPOSE-XXXXXX" in $TMPDIR or /tmp. The caller frees *ret_dir. */
int bb_scratch__make(const char *purpose, char **ret_dir, struct bb_err *err);
