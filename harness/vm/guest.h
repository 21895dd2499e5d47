/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The first process in a guest that vm/machine.c has started. It mounts the kernel's file systems,
 * loads modules, and tells the host through the second serial line that it is ready. The host then
 * saves the guest. When the saved guest goes on, the process gets its job from QEMU (BB_GUEST_JOB),
 * runs the program that BB_GUEST_ARGS names, tells the host the program's exit code, and switches
 * the guest off.
 */
void bb_guest_run(void) __attribute__((noreturn));

/* The second serial line in the guest, by which the guest sends text to the host: bb_guest_run()
 * writes BB_GUEST_READY, then bpfbench writes its run as JSON, then bb_guest_run() writes
 * BB_GUEST_ENDED and the exit code. */
#define BB_GUEST_LINE "/dev/ttyS1"
#define BB_GUEST_READY "\nbpfbench-guest-ready\n"
#define BB_GUEST_ENDED "\nbpfbench-guest-ended "

/* The name of the job among the files that QEMU hands to a guest (fw_cfg). While a guest boots and
 * has no job yet, this file has one byte. */
#define BB_GUEST_JOB "opt/org.bpfbench.job"
