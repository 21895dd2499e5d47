/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_SAMPLES_H
#define BB_PROFILE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

/* A stack as it was sampled: addresses, innermost first, kernel's and user's. */
struct bb_sampled_stack {
	uint32_t pid;
	char comm[BB_PROFILE_COMM];
	bool is_off_cpu;
	/* it has as many frames as are kept: there may have been more */
	bool is_kernel_cut, is_user_cut;
	bool is_lost;    /* there was one, but it found no room */
	uint64_t weight; /* on-CPU: samples; off-CPU: ns */
	size_t first;    /* of n_kernel, then n_user, in `addresses` */
	uint16_t n_kernel, n_user;
};

struct bb_samples {
	struct bb_sampled_stack *v;
	size_t n, size;
	uint64_t *addresses;
	size_t n_addresses, addresses_size;
};

/* Takes copies; s->first is set here. 0 or -ENOMEM. Zeroed bb_samples are empty. */
int bb_samples__add(struct bb_samples *samples, const struct bb_sampled_stack *s,
		    const uint64_t *kernel, const uint64_t *user);
void bb_samples__done(struct bb_samples *samples);

#endif
