/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that are attached to a network namespace, or to tracepoints of memory reclaim. */
#include "counts_runs.h"

PROGRAM(on_packet, "netfilter", 1)
PROGRAM(discards, "netfilter", 0)
PROGRAM(on_lookup, "sk_lookup", 1)
PROGRAM(refuses, "sk_lookup", 0)
PROGRAM(dissects, "flow_dissector", 0)
PROGRAM(on_pageout, "tp/vmscan/mm_vmscan_reclaim_pages", 0)
PROGRAM(on_reclaim, "tp/vmscan/mm_vmscan_memcg_reclaim_begin", 0)
