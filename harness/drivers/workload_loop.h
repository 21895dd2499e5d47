/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "drivers/command.h"

/* A workload that is started again whenever it ends. While it runs, the program's counters are
 * polled for samples. One execution of the workload is a pass. */
struct bb_workload_loop {
	struct bb_drive_state common;
	struct bb_command_spec workload_spec;
	struct bb_command workload;
	/* passes in a row in which the program did not run */
	int empty_passes;
	/* true if some program has run in the present pass, in this batch or an earlier one */
	bool pass_had_run;
};

/* What causes the program's runs, such as a clock. begin() and end() are called at the start and at
 * the end of each pass, or of the part of a pass that is in a batch. */
struct bb_workload_event {
	/* Returns 0, -ESRCH if the workload's process ends, or another -errno. May be NULL. */
	int (*begin)(void *arg, const struct bb_command *workload, struct bb_err *err);
	/* Returns the CPU time that the workload used between begin() and end(), s. If `end` is
	 * NULL or returns NAN, the CPU clock of the process is used. */
	double (*end)(void *arg);
	void *arg;
};

/* open() and close() of struct bb_driver. open() starts the workload once and ends it, so that a
 * workload that cannot start is reported before anything is measured. */
int bb_workload_loop__open(void *loop, struct bb_err *err);
void bb_workload_loop__close(void *loop);

/* Starts the workload if it does not run, and leaves it paused if `paused`. Returns 0 or -errno. */
int bb_workload_loop__start(struct bb_workload_loop *l, bool paused, struct bb_err *err);

/* batch() of struct bb_driver. Leaves the workload paused. */
int bb_workload_loop__batch(const struct bb_drive_slot *slot, const struct bb_workload_event *event,
			    struct bb_batch *b, struct bb_err *err);
