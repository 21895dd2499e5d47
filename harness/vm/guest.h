/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The first process in a guest that vm/machine.c has started: mounts the kernel's file systems,
 * loads modules, runs bpfbench with the arguments in BB_GUEST_ARGS, tells the host by the second
 * serial line how it ended, and switches the guest off.
 */
void bb_guest_run(void) __attribute__((noreturn));

/* The second serial line in the guest. bpfbench writes the run there as JSON. bb_guest_run() then
 * writes one more line: BB_GUEST_ENDED and the exit code. */
#define BB_GUEST_LINE "/dev/ttyS1"
#define BB_GUEST_ENDED "\nbpfbench-guest-ended "
