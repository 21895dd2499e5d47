/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/pmu.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>

const struct bb_pmu_event bb_pmu_events[BB_PMU_COUNTERS] = {
	[BB_PMU_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	[BB_PMU_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	[BB_PMU_LLC_MISSES] = {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL |
							   PERF_COUNT_HW_CACHE_OP_READ << 8 |
							   PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
};

void bb_pmu__open(const struct bb_pmu_event events[BB_PMU_COUNTERS], struct bb_pmu *ret_pmu)
{
	for (size_t i = 0; i < BB_PMU_COUNTERS; i++) {
		struct perf_event_attr attr = {
			.type = events[i].type,
			.size = sizeof(attr),
			.config = events[i].config,
			.exclude_user = 1,
			.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
				       PERF_FORMAT_TOTAL_TIME_RUNNING,
		};

		ret_pmu->fds[i] = (int)syscall(__NR_perf_event_open, &attr, 0, -1, -1,
					       PERF_FLAG_FD_CLOEXEC);
	}
}

void bb_pmu__close(struct bb_pmu *p)
{
	for (size_t i = 0; i < BB_PMU_COUNTERS; i++) {
		if (p->fds[i] >= 0)
			close(p->fds[i]);
		p->fds[i] = -1;
	}
}

void bb_pmu__read(const struct bb_pmu *p, double ret_counts[BB_PMU_COUNTERS])
{
	for (size_t i = 0; i < BB_PMU_COUNTERS; i++) {
		uint64_t v[3]; /* count, time enabled, time running */

		ret_counts[i] = NAN;
		if (p->fds[i] >= 0 && read(p->fds[i], v, sizeof(v)) == sizeof(v) && v[1] == v[2])
			ret_counts[i] = (double)v[0];
	}
}
