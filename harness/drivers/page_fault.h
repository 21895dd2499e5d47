/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_PAGE_FAULT_H
#define BB_DRIVERS_PAGE_FAULT_H

#include <stdint.h>

#include "drivers/driver.h"

/*
 * The common part of the drivers by page fault: one run of a perf_event program after the other.
 *
 * The event is a page-fault software event of period 1 on this thread; the trigger is one read of a
 * page that is not there. Pages are dropped 512 at a time, and read faults get the shared zero
 * page, so that a trigger costs a third of madvise-and-write (0.85 against 2.6 us here). It fires
 * from the innermost loop of the amicable-pairs search, on a stack of its own whose depth in frames
 * is the parameter.
 */
int bb_page_fault__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
			void **ret_state, struct bb_err *err);
void bb_page_fault__close(void *state);

/* An event of this thread for the program, still disabled; closing it detaches the program. */
int bb_page_fault__attach(int prog_fd, int *ret_event_fd, struct bb_err *err);

/* A batch's beginning: pinned to the CPU, the stack `depth` frames deep, every page there that is
 * not to be an event. */
/* Of a drive that empties caches, into a batch that begins (driver.h). */
void bb_page_fault__look_cold(void *state, struct bb_batch *b);

int bb_page_fault__aim(void *state, uint32_t depth, struct bb_err *err);

/*
 * Fire again and again, the target's maps reset before each run that wants it, and call `after`
 * behind each: the pages that it touches are there already (or were events of their own). `after`
 * returns 0 to go on, 1 to end, or -errno. 0 or -errno.
 */
int bb_page_fault__run(void *state, struct bb_target *target, int event_fd, int (*after)(void *arg),
		       void *arg);

/* The keys of every drive by page faults. */
extern const struct bb_drive_key bb_page_fault_keys[];

#endif
