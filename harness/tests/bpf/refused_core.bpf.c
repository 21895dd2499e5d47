/* SPDX-License-Identifier: GPL-2.0-only */
/* Refused by libbpf or the kernel: it reads a member that no kernel's structure has. */
#include "bb_bpf.h"

struct task_struct {
	int bb_no_such_member;
} __attribute__((preserve_access_index));

SEC("tc")
int reads_it(struct __sk_buff *skb)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	int member = 0;

	bpf_probe_read_kernel(&member, sizeof(member), &task->bb_no_such_member);
	return member;
}
