/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_SAMPLER_H
#define BB_PROFILE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
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
	size_t n;
	uint64_t *addresses;
	size_t n_addresses, addresses_size;
};

/* Takes copies; s->first is set here. 0 or -ENOMEM. Zeroed bb_samples are empty. */
int bb_samples__add(struct bb_samples *samples, const struct bb_sampled_stack *s,
		    const uint64_t *kernel, const uint64_t *user);
void bb_samples__done(struct bb_samples *samples);

/* Samples being taken: profile.bpf.o loaded, and a perf event on each CPU that runs it. */
struct bb_sampler;

struct bb_sampler_opts {
	const char *object_dir; /* where profile.bpf.o is */
	pid_t pid;              /* this process and its children from now on; 0: all */
	uint32_t freq_hz;
	bool on_cpu, off_cpu; /* at least one */
	bool want_kernel, want_user;
};

struct bb_sampler_stats {
	uint64_t samples;     /* on-CPU */
	uint64_t lost_stacks; /* counted, but their stack is not known */
	uint64_t drops;       /* not even counted: the maps were full */
	uint32_t max_frames;  /* of the kernel's or the user's half of a stack */
	bool is_cpu_clock;    /* there are no hardware cycles: a clock */
};

/*
 * Samples are taken from the return on. Errors: no permission, no such kernel feature (-ENOTSUP), a
 * rate above kernel.perf_event_max_sample_rate.
 */
int bb_sampler__start(const struct bb_sampler_opts *opts, struct bb_sampler **ret_sampler,
		      struct bb_err *err);

/* Wait up to timeout_ms, and take the samples that found no room in the maps meanwhile. 0 (also
 * after a signal) or -errno. */
int bb_sampler__poll(struct bb_sampler *s, int timeout_ms, struct bb_err *err);

/* Take no more samples. */
void bb_sampler__stop(struct bb_sampler *s);

/* After __stop, once: everything that was sampled, threads that still sleep included. */
int bb_sampler__collect(struct bb_sampler *s, struct bb_samples *ret_samples,
			struct bb_sampler_stats *ret_stats, struct bb_err *err);

void bb_sampler__free(struct bb_sampler *s);

#endif
