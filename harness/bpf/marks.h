/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Marks in a guest of --vm, between which a plugin of QEMU traces the instructions (vm/plugin/).
 * With them, the guest writes text for the host to an I/O port, line by line:
 *
 *     program NAME             the next lines are about it
 *     object PATH              of the file that it is from
 *     function ADDRESS BYTES NAME
 *     line ADDRESS NUMBER TEXT  from this address on, the machine code is of this line
 *     run NS                   it took as long between the two latest marks; 0: no single run
 *     symbols                  the rest is /proc/kallsyms
 */
#define BB_MARKS_OPTION "mark-runs" /* the guest's bpfbench gets it */
#define BB_MARKS_PORT 0x402         /* of QEMU's isa-debugcon */
#define BB_MARKS_RUNS 8u            /* limit: runs of a program that are traced */

/* Switches the marks on for this process and those that it forks. Returns 0 or -errno. */
int bb_marks__enable(void);
bool bb_marks__are_enabled(void);

/* Writes the addresses of a program's functions and lines. */
void bb_marks__describe(int prog_fd, const char *name, const char *object);

void bb_marks__begin(void);
void bb_marks__end(void);
void bb_marks__write_run(uint64_t ns);

/* Writes the symbols of the kernel, in the guest's first process. */
void bb_marks__write_symbols(void);
