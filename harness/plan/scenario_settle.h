/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_SCENARIO_SETTLE_H
#define BB_PLAN_SCENARIO_SETTLE_H

#include "plan/field.h"

/*
 * The keys of a scenario, each read by itself, have to fit together: check that, and hand down to
 * variants and drives what stands at the top for all of them. `root` is the text that s was read
 * from. 0 or -errno with a message that names the line.
 */
int bb_scenario__settle(const struct bb_reader *r, const struct bb_yaml *root,
			struct bb_scenario *s);

#endif
