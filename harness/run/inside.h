/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "inside/figures.h"
#include "inside/supervise.h"
#include "profile/stacks.h"
#include "report/report.h"

/* The name of a path (a run's sequence of basic blocks). It changes only if the code changes.
 * "rest" stands for runs whose paths did not fit into the table. */
struct bb_inside_path_name {
	char text[16];
};
struct bb_inside_path_name bb_inside_path_name(const struct bb_inside_path *p);

/* Adds a case "SCENARIO/PROGRAM/inside" for each program that ran. If a program took several paths,
 * also adds a case "SCENARIO/PROGRAM.PATH/inside" for each of the `n_paths` most frequent ones.
 * figures[i] are of program i, read at `ended_ns`. */
void bb_inside__report(const struct bb_inside *in, const struct bb_inside_figures *figures,
		       uint64_t ended_ns, const char *scenario, size_t n_paths,
		       struct bb_report *report);

/* Adds the paths of each program to `stacks`, as a tree below a frame with its name. Each side of a
 * branch becomes a frame, named after the first source line that all paths of this side and none of
 * the other execute. If there is none, it is named after a line that the side skips. Without BTF,
 * it is named after an instruction. Weights are numbers of runs. */
void bb_inside__tree(const struct bb_inside *in, const struct bb_inside_figures *figures,
		     struct bb_stacks *stacks);
