/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "drivers/command.h"

/* A workload that is started again whenever it ends. While it runs, the program's counters are
 * polled for samples. All drives that run a workload share this code. */
struct bb_workload_loop {
	struct bb_drive_state common;
	struct bb_command_spec workload_spec;
	struct bb_command workload;
	/* number of successive passes of the workload in which the program did not run */
	int empty_passes;
	/* true: some program has run in the present pass, in this batch or in an earlier one */
	bool pass_had_run;
};

/* What causes the program's runs, such as a clock. begin() is called at the start of each pass of
 * the workload, and end() at its end. If only a part of a pass is in a batch, they are called at
 * the start and at the end of that part. */
struct bb_workload_event {
	/* Returns 0, -ESRCH if the workload's process ends or has ended, or another -errno. NULL:
	 * there is nothing to begin. */
	int (*begin)(void *arg, const struct bb_command *workload, struct bb_err *err);
	/* Returns the CPU time that the workload used between begin() and end(), s. If `end` is
	 * NULL or returns NAN, the CPU clock of the process gives that time. */
	double (*end)(void *arg);
	void *arg;
};

/* open() and close() of struct bb_driver, for a struct bb_workload_loop. open() starts the workload
 * once and ends it, so that a workload that cannot start is reported before anything is
 * measured. */
int bb_workload_loop__open(void *loop, struct bb_err *err);
void bb_workload_loop__close(void *loop);

/* Starts the workload if it does not run. If `paused`, leaves it paused. Returns 0, or -errno with
 * a message. */
int bb_workload_loop__start(struct bb_workload_loop *l, bool paused, struct bb_err *err);

/* batch() of struct bb_driver, for a slot whose state is a struct bb_workload_loop. Between batches
 * the workload is paused. */
int bb_workload_loop__batch(const struct bb_drive_slot *slot, const struct bb_workload_event *event,
			    struct bb_batch *b, struct bb_err *err);
