/* SPDX-License-Identifier: GPL-2.0-only */
/* A type that many kernels lack or refuse (it needs BTF, trampolines and no lockdown): to be
 * skipped by name there. */
#include "bb_bpf.h"

SEC("fentry/bpf_fentry_test1")
int fentry(void *ctx)
{
	return 0;
}
