/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_IRQ_WORKS_H
#define BB_ENV_IRQ_WORKS_H

#include <stdint.h>

#include "base/err.h"

/*
 * How many interrupts the CPU has sent to itself for work that an interrupt may not do at once
 * (kernel/irq_work.c), since boot: how a BPF program wakes the reader of its ring. From
 * /proc/interrupts; -ENOENT where it has no such line. The other reads below `root` ("": the
 * machine's).
 */
int bb_irq_works__read(int cpu, uint64_t *ret_count, struct bb_err *err);
int bb_irq_works__read_from(const char *root, int cpu, uint64_t *ret_count, struct bb_err *err);

#endif
