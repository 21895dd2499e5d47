/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "plan/plan.h"
#include "report/report.h"

/* Stores measurements in a report. */

/* Adds a case to the report for the case `planned` of the plan. `variant` is the variant's name in
 * the report; NULL: its name in the plan. The caller sets the floor. `*ret_index` is the index of
 * the new case in the report. */
void bb_record__case(struct bb_report *report, const struct bb_plan *plan,
		     const struct bb_plan_case *planned, const char *variant, size_t *ret_index);

/* Writes into the case, in words, what makes the program run. Call this after the drives are open:
 * it is not known before. */
void bb_record__fired_by(struct bb_case *c, const struct bb_driver *driver,
			 const struct bb_plan_case *planned, const struct bb_test_prog *prog);

/* Adds a program to the report, from the kernel's facts. The caller sets `program` and `object`. */
struct bb_program *bb_record__facts(struct bb_report *report, const char *scenario,
				    const char *variant, const struct bb_prog_facts *facts);

/* Adds a loaded program and its static metrics to the report. */
int bb_record__program(struct bb_report *report, const struct bb_scenario *scenario,
		       const struct bb_test_prog *prog, struct bb_err *err);

/* Adds a series to a case, for round `load`. `jit_mod64`: JIT address modulo 64; -1: unknown. */
struct bb_series *bb_record__series(struct bb_case *c, uint32_t load, int jit_mod64);

/* Makes the series void; only the first reason is kept. */
void bb_record__void(struct bb_series *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* True if the program ran as often as it was fired, or, of a live program, at least as often. */
bool bb_record__all_ran(const struct bb_test_prog *prog, uint64_t ran, uint64_t fired);

/*
 * Compares the kernel's counters of a program with `before`, the counters at an earlier time. For a
 * driver that fires, the difference must be `fired`, the number of events since then, warm-up
 * included. With bpf_stats off, the counters must not have changed. Writes what is wrong into
 * ret_why[size]; "": nothing is wrong, or the program is fake. `*ret_misses` is the number of
 * missed runs. Missed runs are wrong unless the program is live or others make it run, too.
 */
void bb_record__check(const struct bb_driver *driver, const struct bb_test_prog *prog,
		      const struct bb_prog_stats *before, uint64_t fired, uint64_t *ret_misses,
		      char *ret_why, size_t size);

/* Measures one batch with the drive of a slot, and adds its samples and drops to `s`. The samples
 * stay in the batch, too. Returns 0, or -errno with a message. */
int bb_record__measure(struct bb_drive_slot *slot, uint32_t param, struct bb_batch *b,
		       struct bb_series *s, struct bb_err *err);

/* Adds a skip to the report: `fmt` names what was not measured, `why` is the reason. */
void bb_record__skip(struct bb_report *report, const char *why, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Says in the report and in `err` that a run ended early, with the error `rc`. The report keeps
 * only the first such reason. Returns `rc`. */
int bb_record__incomplete(struct bb_report *report, int rc, struct bb_err *err);
