/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/options.h"
#include "run/object_scenario.h"

/* The options by which commands such as run and compare name BPF objects without a scenario. */
struct bb_object_args {
	struct bb_strings objects; /* FILE or NAME=FILE */
	/* The user's options set some members, and the command sets the rest. Only `objects` is not
	 * set. */
	struct bb_object_opts opts;
};

extern const struct bb_option bb_object_options[];

/* True if an option other than --object is given. */
bool bb_object_args__any(const struct bb_object_args *a);

/* Returns the path in a value of --object, [NAME=]FILE. */
const char *bb_object_args__path(const char *text);

/* Makes a scenario for the objects, as text and parsed. If `pair`, there must be two objects with
 * one program each. The variants are then named "base" and "head", and the scenario is named after
 * the program of "head". */
int bb_object_args__scenario(const struct bb_object_args *a, bool pair,
			     struct bb_object_scenario *ret_text, struct bb_scenario **ret_scenario,
			     struct bb_err *err);
