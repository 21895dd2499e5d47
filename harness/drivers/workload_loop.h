/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "drivers/command.h"

/* The workload of a drive, which is started again whenever it ends. While it runs, the program's
 * counters are polled for samples. This is the common part of drives over a workload. */
struct bb_workload_loop {
	struct bb_drive_state common;
	struct bb_command_spec workload_spec;
	struct bb_command workload;
	int empty_passes; /* successive passes of the workload without a run */
	/* the pass in progress had a run, in any batch and of any program */
	bool pass_had_run;
};

/* The source of runs. begin() and end() are called at both ends of each pass of the workload, or
 * of the part of a pass that is in a batch. */
struct bb_workload_event {
	/* Returns 0, -ESRCH if the process has ended, or another -errno. NULL: nothing to do. */
	int (*begin)(void *arg, const struct bb_command *workload, struct bb_err *err);
	/* Returns the CPU time of the workload while the event was enabled, s. NULL or NAN: the
	 * clock of the process is used. */
	double (*end)(void *arg);
	void *arg;
};

/* open() of struct bb_driver. Starts the workload once and stops it, so that a workload that cannot
 * start is reported before anything is measured. */
int bb_workload_loop__open(void *loop, struct bb_err *err);
void bb_workload_loop__close(void *loop);

/* Starts the workload if it does not run, and pauses it if `paused`. Returns 0, or -errno with a
 * message. */
int bb_workload_loop__start(struct bb_workload_loop *l, bool paused, struct bb_err *err);

/* batch() of struct bb_driver. Between batches the workload is paused. */
int bb_workload_loop__batch(const struct bb_drive_slot *slot, const struct bb_workload_event *event,
			    struct bb_batch *b, struct bb_err *err);
