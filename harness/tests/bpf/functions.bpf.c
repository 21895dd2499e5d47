/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs of functions in user space, which see who calls them and with which arguments. */
#include "bb_bpf.h"
#include <linux/ptrace.h>

#include <bpf/bpf_tracing.h>

__u64 runs, wrong, by_root, root_calls;

/* All of it is executed if it is called as in test_functions.sh, and never by root. */
SEC("uprobe")
int on_call(struct pt_regs *ctx)
{
	char text[8] = {0};

	bpf_probe_read_user_str(text, sizeof(text), (void *)PT_REGS_PARM2(ctx));
	if (PT_REGS_PARM1(ctx) != 64 || text[0] != 'h' || !(__u32)bpf_get_current_uid_gid()) {
		wrong++;
		return 1;
	}
	runs++;
	return 0;
}

/* 64, and "hello" has five bytes. */
SEC("uretprobe")
int on_return(struct pt_regs *ctx)
{
	if (PT_REGS_RC(ctx) != 69) {
		wrong++;
		return 1;
	}
	runs++;
	return 0;
}

SEC("uprobe")
int on_work(void *ctx)
{
	runs++;
	return 0;
}

/* It could write into whoever calls the function. */
SEC("uprobe")
int acts(struct pt_regs *ctx)
{
	if (!bpf_get_current_pid_tgid())
		bpf_send_signal(9);
	return 0;
}
