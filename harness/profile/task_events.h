/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_TASK_EVENTS_H
#define BB_PROFILE_TASK_EVENTS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "profile/spaces.h"

/* Forks, execs and code mappings of all processes, as the kernel reports them in a ring buffer a
 * CPU: they are logged in `spaces`. */
struct bb_task_events {
	struct bb_spaces *spaces;
	uint64_t lost; /* records that found a ring full: a space may lack a mapping */
	struct perf_buffer *rings;
	int map_fd; /* of the rings */
	int rc;     /* -ENOMEM: a record could not be logged */
};

/* Records come from now on. `ret_events` stays where it is until __close. */
int bb_task_events__open(struct bb_spaces *spaces, struct bb_task_events *ret_events,
			 struct bb_err *err);

/* Log the records that have come. Call it often: else rings overflow, and files are gone before
 * they are opened. 0 or -errno. */
int bb_task_events__drain(struct bb_task_events *e);

/* Log one record, whose last 8 bytes are its time. A record of an unknown kind is passed over. 0 or
 * -ENOMEM. */
int bb_task_events__log(struct bb_task_events *e, const struct perf_event_header *h);

/* Takes zeroed ones, too. */
void bb_task_events__close(struct bb_task_events *e);

#endif
