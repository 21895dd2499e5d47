/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_PERF_RECORD_H
#define BB_DRIVERS_PERF_RECORD_H

#include <stdint.h>

#include "base/err.h"
#include "drivers/workload.h"

/*
 * `perf record -e cpu-clock -F FREQ -g` on a process and its children, as a sampler to compare
 * with. Its recording goes to /dev/null. Returns when its events are on. 0 or -errno with a
 * message.
 */
int bb_perf_record__start(pid_t pid, uint32_t freq_hz, const struct bb_child_place *place,
			  struct bb_workload *ret_w, struct bb_err *err);

#endif
