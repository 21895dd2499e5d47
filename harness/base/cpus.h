/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Returns the number of CPUs that this process may use, at least 1: the CPUs that are online and
 * in the process's cpuset and affinity mask. Unless `ret_cpus` is NULL, `*ret_cpus` receives the
 * numbers of these CPUs in ascending order, in static memory. The first call asks the kernel, so
 * it must come before the process pins itself to one CPU. */
int bb_usable_cpus(const int **ret_cpus);
