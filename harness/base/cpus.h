/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The CPUs that this process may use: online, and allowed by its cpuset and affinity. They are read
 * at the first call, which must come before the process pins itself to one of them. Returns their
 * number, at least 1; unless `ret_cpus` is NULL, *ret_cpus receives the CPUs' numbers in ascending
 * order. */
int bb_usable_cpus(const int **ret_cpus);
