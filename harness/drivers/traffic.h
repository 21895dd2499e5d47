/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The parts of traffic.c that need no network, public for tests. */

/* Returns the time at which the next of evenly spaced events is due, ns. The previous event was due
 * at `due_ns` and done at `now_ns`. A sender that is late by less than a period catches up. If it
 * is later, the next event is due now, and the schedule begins anew. So a rate that cannot be held
 * shows as a lower rate, and never as a burst. */
static inline uint64_t bb_pace_next(uint64_t due_ns, uint64_t now_ns, uint64_t period_ns)
{
	uint64_t next_ns = due_ns + period_ns;

	return now_ns > next_ns + period_ns ? now_ns : next_ns;
}

/* True if the answer begins with a status line of HTTP/1 with the status 200. */
bool bb_http_is_ok(const char *answer, size_t len);

/* True if the request is complete: it contains an empty line. */
bool bb_http_is_whole(const char *request, size_t len);
