/* SPDX-License-Identifier: GPL-2.0-only */
/* Kprobe programs whose sections name no function. Only some arguments lead them to their ends. */
#include "bb_bpf.h"
#include <linux/ptrace.h>

#include <bpf/bpf_tracing.h>

__u64 zeros, results, chains, texts;

SEC("kprobe")
int wants_zero(struct pt_regs *ctx)
{
	if (PT_REGS_PARM1(ctx))
		return 0;
	zeros++;
	return 1;
}

SEC("kretprobe")
int wants_positive(struct pt_regs *ctx)
{
	if ((int)PT_REGS_RC(ctx) <= 0)
		return 0;
	results++;
	return 1;
}

/* p->first->second->value > 0 */
SEC("kprobe")
int wants_chain(struct pt_regs *ctx)
{
	__u64 *at = (void *)PT_REGS_PARM2(ctx), *next = NULL;
	int value = 0;

	if (bpf_probe_read_user(&next, sizeof(next), at))
		return 0;
	if (!next || bpf_probe_read_user(&at, sizeof(at), next + 1))
		return 0;
	if (!at || bpf_probe_read_user(&value, sizeof(value), at) || value <= 0)
		return 0;
	chains++;
	return 1;
}

SEC("kprobe")
int wants_path(struct pt_regs *ctx)
{
	char text[8] = {0};

	if (bpf_probe_read_user_str(text, sizeof(text), (void *)PT_REGS_PARM1(ctx)) < 0 ||
	    text[0] != '/')
		return 0;
	texts++;
	return 1;
}
