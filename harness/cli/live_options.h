/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_LIVE_OPTIONS_H
#define BB_CLI_LIVE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "plan/scenario.h"

/* The options of `run` that name live programs. */
struct bb_live_args {
	uint32_t *ids;
	size_t n_ids;
	struct bb_strings globs, pins;
	double seconds; /* 0: not said */
};

/* As an argp child whose input is a struct bb_live_args. */
extern const struct argp bb_live_argp;

bool bb_live_args__any(const struct bb_live_args *a); /* is a program named? */
void bb_live_args__done(struct bb_live_args *a);

/* The scenario of those programs; `by_test_run`: instead of watching them. */
int bb_live_args__scenario(const struct bb_live_args *a, bool by_test_run,
			   struct bb_scenario **ret_scenario, struct bb_err *err);

#endif
