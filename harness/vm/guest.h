/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The first process in a guest that vm/machine.c has started. It mounts the kernel's file systems,
 * loads modules, and tells the host through the second serial line that it is ready. The host then
 * saves the guest. When the guest goes on, the process gets its job from QEMU (BB_GUEST_JOB), runs
 * bpfbench with the arguments in BB_GUEST_ARGS, tells the host how it ended, and switches the guest
 * off.
 */
void bb_guest_run(void) __attribute__((noreturn));

/* The second serial line in the guest. bpfbench writes its run there as JSON. bb_guest_run() writes
 * BB_GUEST_READY before the JSON, and BB_GUEST_ENDED with the exit code after it. */
#define BB_GUEST_LINE "/dev/ttyS1"
#define BB_GUEST_READY "\nbpfbench-guest-ready\n"
#define BB_GUEST_ENDED "\nbpfbench-guest-ended "

/* The name of the job among the files that QEMU hands to a guest (fw_cfg). While a guest boots,
 * this file has one byte: there is no job yet. */
#define BB_GUEST_JOB "opt/org.bpfbench.job"
