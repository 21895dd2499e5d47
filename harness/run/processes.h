/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_PROCESSES_H
#define BB_RUN_PROCESSES_H

#include "base/err.h"
#include "run/round.h"

/*
 * The time of a line differs between processes by more than between the loads of one: the pages of
 * maps, stacks and the kernel's tables are others. So a plan that does nothing but time lines is
 * measured by several processes one after the other, some loads in each, and its intervals hold the
 * difference. The first one is this process; it keeps its maps meanwhile, so that the pages of the
 * others are others.
 */

/* The loads of the first process; plan->loads: all are its own. */
uint32_t bb_processes_first_loads(const struct bb_plan *plan, const struct bb_run_opts *opts);

/* Is there time for the others? Opening took `open_s`, the first one's loads `loads_s`. */
bool bb_processes_are_worth(const struct bb_plan *plan, double open_s, double loads_s);

/*
 * The loads from `first` on, by other processes (each calls `run`), into the report of `r`; `first`
 * divides them, but for the last process, which may have fewer. Loads that the budget leaves out,
 * and those of a process that fails, are skips. 0, -EINTR after a signal, -ENOMEM.
 */
typedef int bb_run_fn(const struct bb_plan *plan, const struct bb_run_opts *opts,
		      struct bb_report *report, struct bb_err *err);
int bb_processes__measure(struct bb_run *r, uint32_t first, bb_run_fn *run, struct bb_err *err);

#endif
