/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_IN_VAIN_H
#define BB_RUN_IN_VAIN_H

#include <stdbool.h>

#include "bpf/target.h"
#include "drivers/exact.h"
#include "report/report.h"

/*
 * Note in the case which lookups and tail calls of the clone came to nothing in nine of ten calls
 * or more, of those since the counts were totals[n_blocks] and in_vain[n_vain]. `is_first`: these
 * are of the program's first run, which may find what it stores itself later on; then only empty
 * maps count. 0 or -ENOMEM.
 */
int bb_note_in_vain(const struct bb_target *target, const struct bb_exact *e,
		    const uint64_t *totals, const uint64_t *in_vain, bool is_first,
		    struct bb_case *c);

#endif
