/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_MACHINE_H
#define BB_CLI_MACHINE_H

#include "base/err.h"

/*
 * Which CPU programs run on and which one polls: `wanted` (-1: the last CPU we may use) and the first other one; the
 * same twice when there is only one. -EINVAL when `wanted` is none of ours.
 */
int bb_machine_cpus(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_err *err);

#endif
