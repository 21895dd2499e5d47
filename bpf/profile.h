/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by profile.bpf.c and harness/profile/recording.c. */
#ifndef BB_PROFILE_H
#define BB_PROFILE_H

#include <linux/types.h>

#define BB_PROFILE_FRAMES 127 /* default of kernel.perf_event_max_stack */
#define BB_PROFILE_COMM 16

/* Samples are counted by this key. kernel_id and user_id are ids of stacks in `stacks`, or a
 * negative errno of bpf_get_stackid(); -ENOENT also means that this stack is not recorded. */
struct bb_profile_key {
	__u32 pid; /* process id as in user space (the kernel's tgid) */
	__s32 kernel_id;
	__s32 user_id;
	__u32 is_off_cpu;
	char comm[BB_PROFILE_COMM];
};

/* A whole sample for whose stacks the maps had no room. Addresses are innermost first. */
struct bb_profile_sample {
	struct bb_profile_key key;
	__u64 weight;
	__s64 kernel_bytes; /* filled bytes of `kernel` and `user`, or a negative errno */
	__s64 user_bytes;
	__u64 kernel[BB_PROFILE_FRAMES];
	__u64 user[BB_PROFILE_FRAMES];
};

/* A thread that is off its CPU: the time when it left, and its stacks. */
struct bb_profile_sleep {
	__u64 since_ns; /* CLOCK_MONOTONIC */
	struct bb_profile_key key;
};

_Static_assert(sizeof(struct bb_profile_key) == 32, "no padding: it is a key");
_Static_assert(sizeof(struct bb_profile_sample) == 56 + 16 * BB_PROFILE_FRAMES, "no padding");
_Static_assert(sizeof(struct bb_profile_sleep) == 40, "no padding");

#endif
