/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_PMU_H
#define BB_DRIVERS_PMU_H

#include "base/std.h"

/* Hardware counters of this thread while it is in the kernel, as `bpftool prog profile` has them
 * around a program. */
enum bb_pmu_counter { BB_PMU_CYCLES, BB_PMU_INSTRUCTIONS, BB_PMU_LLC_MISSES, BB_PMU_COUNTERS };

struct bb_pmu_event {
	uint32_t type; /* PERF_TYPE_* */
	uint64_t config;
};

extern const struct bb_pmu_event bb_pmu_events[BB_PMU_COUNTERS];

struct bb_pmu {
	int fds[BB_PMU_COUNTERS]; /* -1: there is no such counter */
};

/* Counters that this machine lacks are left out; in a VM without a PMU those are all. */
void bb_pmu__open(const struct bb_pmu_event events[BB_PMU_COUNTERS], struct bb_pmu *ret_pmu);
void bb_pmu__close(struct bb_pmu *p);

/* Counts since they were opened; NAN: not counted, or not all of the time (others used the counter
 * too). */
void bb_pmu__read(const struct bb_pmu *p, double ret_counts[BB_PMU_COUNTERS]);

#endif
