/* SPDX-License-Identifier: GPL-2.0-only */
/* A program of a type that many kernels lack or refuse (it needs BTF, trampolines and no lockdown).
 * On these kernels bpfbench must skip it by name. */
#include "bb_bpf.h"

SEC("fentry/bpf_fentry_test1")
int fentry(void *ctx)
{
	return 0;
}
