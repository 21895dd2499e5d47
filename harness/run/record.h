/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "plan/plan.h"
#include "report/report.h"

/* Stores measurements in a report. */

/* Adds the case `planned` to the report, without its floor. `variant` is the variant's name in the
 * report, or NULL for its name in the plan. *ret_index is the case's index in the report. */
void bb_record__case(struct bb_report *report, const struct bb_plan *plan,
		     const struct bb_plan_case *planned, const char *variant, size_t *ret_index);

/* Stores a text in the case that says what makes the program run. Call it after the drives were
 * opened, because it is unknown before. */
void bb_record__fired_by(struct bb_case *c, const struct bb_driver *driver,
			 const struct bb_plan_case *planned, const struct bb_test_prog *prog);

/* Adds a program to the report, from the kernel's facts. The caller sets `program` and `object`. */
struct bb_program *bb_record__facts(struct bb_report *report, const char *scenario,
				    const char *variant, const struct bb_prog_facts *facts);

int bb_record__program(struct bb_report *report, const struct bb_scenario *scenario,
		       const struct bb_test_prog *prog, struct bb_err *err);

/* Adds a series for round `load`. `jit_mod64` is the JIT address modulo 64, or -1 if unknown. */
struct bb_series *bb_record__series(struct bb_case *c, uint32_t load, int jit_mod64);

/* Marks the series as not counted. Keeps only the first reason. */
void bb_record__void(struct bb_series *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns true if the program ran `fired` times or, if it is live, at least as often. */
bool bb_record__all_ran(const struct bb_test_prog *prog, uint64_t ran, uint64_t fired);

/* Attaches a program that is to be measured (bb_driver__attach()), and stores the kernel's counters
 * in the slot. *ret_slot must be NULL. Detach the slot also after an error, if *ret_slot is not
 * NULL then. */
int bb_record__attach(struct bb_drive_state *state, struct bb_test_prog *prog,
		      struct bb_drive_slot **ret_slot, struct bb_err *err);

/* Compares the kernel's counters with those when the program was attached. If the driver fires, the
 * program must have run once for each event since. With bpf_stats off, the counters must not have
 * changed. Missed runs are wrong unless the program is live or others run it, too. Writes what is
 * wrong into ret_why, or "". */
void bb_record__check(const struct bb_drive_slot *slot, uint64_t *ret_misses, char *ret_why,
		      size_t size);

/* Measures one batch, and adds its samples and drops to `s`, and its events to the slot for
 * bb_record__check(). The samples also stay in the batch. */
int bb_record__measure(struct bb_drive_slot *slot, uint32_t param, struct bb_batch *b,
		       struct bb_series *s, struct bb_err *err);

/* Adds a skip to the report. `fmt` names what was not measured. */
void bb_record__skip(struct bb_report *report, const char *why, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Stores in the report and in `err` that the run ended early with the error `rc`. The report keeps
 * only the first reason. Returns `rc`. */
int bb_record__incomplete(struct bb_report *report, int rc, struct bb_err *err);
