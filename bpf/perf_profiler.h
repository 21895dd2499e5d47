/* SPDX-License-Identifier: GPL-2.0-only */
/* A sample as perf_profiler.bpf.c delivers it, shared by the programs and user space. */
#ifndef BB_PERF_PROFILER_H
#define BB_PERF_PROFILER_H

#include <linux/types.h>

#define BB_STACK_BYTES 4096

struct bb_sample_header {
	__u64 ktime_ns; /* CLOCK_MONOTONIC when the event fired */
	__u32 pid;      /* process id as in user space (the kernel's tgid) */
	__u32 tid;
	__u64 stack_len; /* filled bytes of `stack` */
};

struct bb_sample {
	struct bb_sample_header header;
	__u64 stack[BB_STACK_BYTES / sizeof(__u64)]; /* return addresses, innermost first */
};

_Static_assert(sizeof(struct bb_sample_header) == 24, "the header is part of the format");
_Static_assert(sizeof(struct bb_sample) == 24 + BB_STACK_BYTES, "no padding");

#endif
