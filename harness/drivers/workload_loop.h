/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_WORKLOAD_LOOP_H
#define BB_DRIVERS_WORKLOAD_LOOP_H

#include "drivers/driver.h"
#include "drivers/workload.h"

/*
 * The workload of a drive, started again whenever it ends, and samples polled in its CPU time: the
 * common part of drives over a workload.
 */
struct bb_workload_loop {
	struct bb_drive_state common;
	struct bb_workload_spec workload_spec;
	struct bb_workload workload;
	int empty_passes; /* of the workload, one after the other */
	/* the pass in progress, in any batch and of any program */
	bool pass_had_run;
};

/* The source of runs: called at both ends of each pass of the workload, or of the part of a pass
 * that is in a batch. */
struct bb_workload_event {
	/* -ESRCH: the process has ended; NULL: nothing to do */
	int (*begin)(void *arg, const struct bb_workload *workload, struct bb_err *err);
	/* CPU time of that process with the event on, s; NULL, NAN: by the process' clock */
	double (*end)(void *arg);
	void *arg;
};

/* open() of struct bb_driver. The workload is started once and stopped: one that cannot start is
 * reported before anything is measured. */
int bb_workload_loop__open(void *loop, struct bb_err *err);
void bb_workload_loop__close(void *loop);

/* Start it if it does not run; it stands still if `paused`. */
int bb_workload_loop__start(struct bb_workload_loop *l, bool paused, struct bb_err *err);

/* A batch of struct bb_driver. Between batches the workload stands still. */
int bb_workload_loop__batch(const struct bb_drive_slot *slot, const struct bb_workload_event *event,
			    struct bb_batch *b, struct bb_err *err);

#endif
