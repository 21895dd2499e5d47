/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Returns the number of CPUs that are online and allowed by this process's cpuset and affinity
 * mask, at least 1. `*ret_cpus` (`ret_cpus` may be NULL) receives their numbers in ascending order,
 * in static memory. The first call must come before the process pins itself to one CPU. */
int bb_usable_cpus(const int **ret_cpus);
