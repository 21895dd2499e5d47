/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_FOUND_TRIGGERS_H
#define BB_RUN_FOUND_TRIGGERS_H

#include "base/err.h"
#include "plan/scenario.h"
#include "report/report.h"
#include "run/runner.h"

/*
 * Load the programs of the scenario and fire them until each drive has found what makes it run;
 * nothing is measured. ret_triggers[scenario->n_variants]: the names of triggers, which outlive
 * all; NULL: the variant is driven in another way, by a call of ours in the place of its event, or
 * by nothing, and the skips in the report say why.
 */
int bb_find_triggers(const struct bb_scenario *scenario, const struct bb_run_opts *opts,
		     struct bb_report *report, const char **ret_triggers, struct bb_err *err);

#endif
