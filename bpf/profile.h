/* SPDX-License-Identifier: GPL-2.0-only */
/* What profile.bpf.c and harness/profile/recording.c have in common. */
#ifndef BB_PROFILE_H
#define BB_PROFILE_H

#include <linux/types.h>

#define BB_PROFILE_FRAMES 127 /* the most that kernel.perf_event_max_stack is by default */
#define BB_PROFILE_COMM 16

/* What samples are counted by. An id is that of a stack in `stacks`, or a negative errno of
 * bpf_get_stackid(). */
struct bb_profile_key {
	__u32 pid; /* what user space calls a process: the tgid */
	__s32 kernel_id;
	__s32 user_id;
	__u32 is_off_cpu;
	char comm[BB_PROFILE_COMM];
};

/* A sample whose stacks found no room in the maps, as a whole. Addresses are innermost first. */
struct bb_profile_sample {
	struct bb_profile_key key;
	__u64 weight;
	__s64 kernel_bytes; /* filled of `kernel`, or a negative errno; likewise user_bytes */
	__s64 user_bytes;
	__u64 kernel[BB_PROFILE_FRAMES];
	__u64 user[BB_PROFILE_FRAMES];
};

/* A thread that is off its CPU: since when, and where it was. */
struct bb_profile_sleep {
	__u64 since_ns; /* CLOCK_MONOTONIC */
	struct bb_profile_key key;
};

_Static_assert(sizeof(struct bb_profile_key) == 32, "no padding: it is a key");
_Static_assert(sizeof(struct bb_profile_sample) == 32 + 3 * 8 + 2 * BB_PROFILE_FRAMES * 8, "no "
											   "paddin"
											   "g");
_Static_assert(sizeof(struct bb_profile_sleep) == 40, "no padding");

#endif
