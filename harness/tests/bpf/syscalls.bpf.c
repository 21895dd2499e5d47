/* SPDX-License-Identifier: GPL-2.0-only */
/* For harness/tests/unit/run/test_bpf_live.c: runs at every system call. It counts those of the
 * process that watches it apart from those of others. */
#include "bb_bpf.h"

const volatile __u32 observer; /* process id */
__u64 runs[2];                 /* by others, by the observer */

SEC("raw_tp/sys_enter")
int at_sys_enter(void *ctx)
{
	__u32 process = bpf_get_current_pid_tgid() >> 32;

	__sync_fetch_and_add(&runs[process == observer], 1);
	return 0;
}
