/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * In a guest of --vm, a plugin of QEMU traces the instructions between two marks (vm/plugin/). The
 * guest also writes lines of text for the host to an I/O port:
 *
 *     program NAME              the next lines describe this program
 *     object PATH               the program's object file
 *     function ADDRESS BYTES NAME
 *     line ADDRESS NUMBER TEXT  source line of the machine code from this address on
 *     run NS                    time of the run between the last two marks, ns;
 *                               0 unless there was exactly one run
 *     symbols                   all lines after this one are /proc/kallsyms
 */
#define BB_MARKS_OPTION "mark-runs" /* option of bpfbench in the guest that switches marks on */
#define BB_MARKS_PORT 0x402         /* port of QEMU's isa-debugcon */
#define BB_MARKS_RUNS 8u            /* most runs of a program that are traced */

/* Switches the marks on for this process and those that it forks, by getting access to the I/O
 * port. Returns 0 or -errno. */
int bb_marks__enable(void);
bool bb_marks__are_enabled(void);

void bb_marks__describe(int prog_fd, const char *name, const char *object);

/* Mark the start and the end of the instructions to trace. */
void bb_marks__begin(void);
void bb_marks__end(void);
/* `ns` is the time of the run between the last two marks. */
void bb_marks__write_run(uint64_t ns);

/* Writes the symbols of the kernel. The guest's first process calls this. */
void bb_marks__write_symbols(void);
