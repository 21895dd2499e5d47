/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "inside/figures.h"
#include "inside/supervise.h"
#include "profile/stacks.h"
#include "report/report.h"

/* The name of a path in tables and stored runs. It changes only if the program's code changes.
 * "rest" stands for runs whose paths did not fit into the table of paths. */
struct bb_inside_path_name {
	char text[16];
};
struct bb_inside_path_name bb_inside_path_name(const struct bb_inside_path *p);

/* Adds a case for each program that ran: "SCENARIO/PROGRAM/inside". If a program took two or more
 * paths, also adds a case for each of its `n_paths` most frequent paths:
 * "SCENARIO/PROGRAM.PATH/inside". figures[i] are of program i, read at `ended_ns`. */
void bb_inside__report(const struct bb_inside *in, const struct bb_inside_figures *figures,
		       uint64_t ended_ns, const char *scenario, size_t n_paths,
		       struct bb_report *report);

/*
 * Adds the paths of each program to `stacks` as a tree, below a frame with the name of the
 * program's case. At a branch where paths part, each of the two sides becomes a frame. Its name is
 * the first source line (without BTF, the first instruction) that all paths of this side execute
 * and no path of the other side does. If there is none, the name is the line that this side skips.
 * Weights are numbers of runs.
 */
void bb_inside__tree(const struct bb_inside *in, const struct bb_inside_figures *figures,
		     struct bb_stacks *stacks);
