/* SPDX-License-Identifier: GPL-2.0-only */
/* A program that runs at every system call, of its observer too, and counts those of others apart:
 * for harness/tests/unit/run/test_bpf_live.c. */
#include "bb_bpf.h"

const volatile __u32 observer; /* process */
__u64 runs[2];                 /* by others, by the observer */

SEC("raw_tp/sys_enter")
int at_sys_enter(void *ctx)
{
	__u32 process = bpf_get_current_pid_tgid() >> 32;

	__sync_fetch_and_add(&runs[process == observer], 1);
	return 0;
}
