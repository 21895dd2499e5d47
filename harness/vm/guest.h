/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The first process in a guest. It mounts the kernel's file systems, loads modules, and tells the
 * host that it is ready. The host then saves the guest. When the saved guest goes on, the process
 * gets its job from QEMU, runs the job's program, tells the host the exit code, and switches the
 * guest off. */
void bb_guest_run(void) __attribute__((noreturn));

/* The guest's line to the host. bb_guest_run() writes BB_GUEST_READY. After bpfbench has written
 * its run as JSON, bb_guest_run() writes BB_GUEST_ENDED and the exit code. */
#define BB_GUEST_LINE "/dev/ttyS1"
#define BB_GUEST_READY "\nbpfbench-guest-ready\n"
#define BB_GUEST_ENDED "\nbpfbench-guest-ended "

/* The job among the files that QEMU hands to a guest (fw_cfg). It has one byte while there is no
 * job yet. */
#define BB_GUEST_JOB "opt/org.bpfbench.job"
