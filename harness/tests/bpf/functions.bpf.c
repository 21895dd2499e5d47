/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs on functions in user space. They check who calls and with which arguments. */
#include "bb_bpf.h"
#include <linux/ptrace.h>

#include <bpf/bpf_tracing.h>

__u64 runs, wrong, by_root, root_calls;

/* Executes all but the error branch if another user than root calls as in test_functions.sh. */
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

/* The function returns 64 plus the length of "hello". */
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

/* By its code it could kill whoever calls the function, but the condition never holds. */
SEC("uprobe")
int acts(struct pt_regs *ctx)
{
	if (!bpf_get_current_pid_tgid())
		bpf_send_signal(9);
	return 0;
}
