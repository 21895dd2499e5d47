/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_OBJECT_OPTIONS_H
#define BB_CLI_OBJECT_OPTIONS_H

#include "base/std.h"
#include "cli/options.h"
#include "plan/scenario.h"
#include "run/object_scenario.h"

/* The options that name BPF objects without a scenario: of run, compare and init. */
struct bb_object_args {
	struct bb_strings objects; /* FILE or NAME=FILE */
	struct bb_object_opts
		opts; /* all but the objects; `what`, `hook` and `found` by the command */
};

/* A set of struct bb_usage that goes into a struct bb_object_args. */
extern const struct bb_option bb_object_options[];

/* Is anything said of objects but which? */
bool bb_object_args__any(const struct bb_object_args *a);

/*
 * The text of the scenario for the objects, which `init` prints, and the scenario that it is.
 * `pair`: there are two, called "base" and "head" whatever their names, with one program each, and
 * the scenario is called "compare".
 */
int bb_object_args__scenario(const struct bb_object_args *a, bool pair,
			     struct bb_object_scenario *ret_text, struct bb_scenario **ret_scenario,
			     struct bb_err *err);

#endif
