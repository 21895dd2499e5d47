/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_user_arguments.sh: programs on functions of the program `bb_greets` that nobody calls.
 * They leave early unless the arguments are such as the function's prototype says. */
#include "bb_bpf.h"
#include <linux/ptrace.h>

#include <bpf/bpf_tracing.h>

__u64 runs;

/* int greet(const char *name, double unused, int times, struct options *options) */
SEC("uprobe/bb_greets:greet")
int on_greet(struct pt_regs *ctx)
{
	char name[8] = {0};
	long times = (long)PT_REGS_PARM2(ctx);
	void *first = 0;

	if (bpf_probe_read_user_str(name, sizeof(name), (void *)PT_REGS_PARM1(ctx)) < 2)
		return 1;
	if (times <= 0 || times > 4096)
		return 2;
	if (bpf_probe_read_user(&first, sizeof(first), (void *)PT_REGS_PARM3(ctx)) || !first)
		return 3;
	runs++;
	return 0;
}

/* const char *name_of(struct options *options) */
SEC("uretprobe/bb_greets:name_of")
int on_name(struct pt_regs *ctx)
{
	char name[8] = {0};

	if (bpf_probe_read_user_str(name, sizeof(name), (void *)PT_REGS_RC(ctx)) < 2)
		return 1;
	runs++;
	return 0;
}

SEC("uprobe/bb_greets:grete")
int on_typo(void *ctx)
{
	runs++;
	return 0;
}
