// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs of tracepoints whose sections say less than the whole place: the group is missing, or
 * all of it, and the program is named after its event. Of one, nothing is known. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("tp/task_rename")
int without_group(void *ctx)
{
	return 0;
}

SEC("tp")
int task_rename(void *ctx)
{
	return 0;
}

SEC("tracepoint")
int tracepoint__task__task_rename(void *ctx)
{
	return 0;
}

SEC("tp")
int of_nothing(void *ctx)
{
	return 0;
}
