/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_PROBE_H
#define BB_ENV_PROBE_H

#include "base/std.h"

/* What the kernel does when it is asked. Nothing is left behind but the descriptors returned. */

/* The smallest program, `return 0`, of that type: a descriptor to close, or -errno. */
int bb_probe__load(int prog_type, int attach_type, int btf_id);

/* A program that calls a helper as old as the charging of BPF memory to cgroups (5.11), as libbpf
 * itself probes for that. Likewise. */
int bb_probe__load_memcg_helper(void);

/* Run a program of our own without enabling anything and see whether it was counted. 1, 0 or
 * -errno. */
int bb_probe__stats_are_on(void);

/* "bpftop (1234)" of the first other process that has a BPF_ENABLE_STATS descriptor open, whose
 * link reads "anon_inode:bpf-stats"; false when none is seen. */
bool bb_probe__stats_holder(char *ret_who, size_t size);

/* Open a perf event on this thread, disabled, and close it again. 0 or -errno. */
int bb_probe__event(uint32_t type, uint64_t config, uint64_t period);

#endif
