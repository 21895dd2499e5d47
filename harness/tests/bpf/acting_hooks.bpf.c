/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs on hooks where a program could forbid something to every process of the machine.
 * test_kernel_hooks.sh loads them in virtual machines only. Those that do forbid or kill act on
 * processes called bpfbench alone.
 */
#include "counts_runs.h"

static __always_inline int is_bpfbench(void)
{
	static const char ours[16] = "bpfbench";
	char name[16] = "";

	bpf_get_current_comm(name, sizeof(name));
	for (int i = 0; i < 9; i++)
		if (name[i] != ours[i])
			return 0;
	return 1;
}

PROGRAM(allows, "lsm/inode_mkdir", 0)
PROGRAM(allows_sleepable, "lsm.s/file_open", 0)
PROGRAM(allows_return, "fmod_ret/security_inode_mkdir", 0)
PROGRAM(denies, "lsm/inode_mkdir", is_bpfbench() ? -1 : 0) /* EPERM */
PROGRAM(denies_return, "fmod_ret/security_inode_mkdir", is_bpfbench() ? -1 : 0)

/* On a function of the kernel: every kernel with kprobes has this hook. */
SEC("kprobe/vfs_mkdir")
int kills(void *ctx)
{
	if (is_bpfbench())
		bpf_send_signal(9);
	return 0;
}
