/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/stacks.h"
#include "run/inside.h"

/*
 * Adds the paths of a program to `stacks` as a tree. Below the program, each frame is one side of a
 * branch at which its paths part, named by the first source line of that side; weights are runs.
 * `btf` is the BTF of the program; NULL: sides are named by numbers of instructions.
 */
void bb_inside_tree(const struct bb_inside_program *p, const struct bb_inside_figures *figures,
		    const struct btf *btf, struct bb_stacks *stacks);
