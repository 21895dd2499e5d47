/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_RECORDING_H
#define BB_PROFILE_RECORDING_H

#include "base/err.h"
#include "base/std.h"
#include "profile.h"
#include "profile/spaces.h"
#include "profile/stacks.h"
#include "profile/symbolize.h"
#include "profile/symtab.h"

/* A sampled stack: addresses of the kernel's and the user's half, innermost first. */
struct bb_sampled_stack {
	uint32_t pid;
	char comm[BB_PROFILE_COMM];
	bool is_off_cpu;
	/* the half has the maximum number of frames, so there may have been more */
	bool is_kernel_cut, is_user_cut;
	bool is_lost;    /* the stack was not stored, for lack of room */
	uint64_t weight; /* on-CPU: samples; off-CPU: ns */
	size_t first;    /* offset in `addresses`: n_kernel addresses, then n_user */
	uint16_t n_kernel, n_user;
};

struct bb_samples {
	struct bb_sampled_stack *v;
	size_t n;
	uint64_t *addresses;
	size_t n_addresses, addresses_size;
};

/* Copies a sample; sets `first` of the copy. Returns 0 or -ENOMEM. A zeroed bb_samples is empty. */
int bb_samples__add(struct bb_samples *samples, const struct bb_sampled_stack *s,
		    const uint64_t *kernel, const uint64_t *user);
void bb_samples__done(struct bb_samples *samples);

struct bb_sampler_opts {
	const char *object_dir; /* folder of profile.bpf.o */
	pid_t pid;              /* sample this process and its later children; 0: all processes */
	uint32_t freq_hz;
	bool on_cpu, off_cpu; /* at least one is true */
	bool want_kernel, want_user;
};

struct bb_sampler_stats {
	uint64_t samples;     /* on-CPU */
	uint64_t lost_stacks; /* samples whose stack is unknown */
	uint64_t drops;       /* samples that were not counted, because the maps were full */
	uint32_t max_frames;  /* limit of each half of a stack */
	bool is_cpu_clock;    /* there are no hardware cycles, so a clock is used */
};

/* All samples of a recording, with what is needed to name their addresses. */
struct bb_recording {
	struct bb_samples samples;
	struct bb_spaces spaces; /* replayed already */
	struct bb_symtab kernel; /* sorted */
	struct bb_sampler_stats stats;
	uint64_t lost_task_events;
	double seconds;
	int command_status; /* as of waitpid(); set by bb_recording__take() only */
};

/* A recording in progress. It samples stacks and follows code mappings until __finish. */
struct bb_recorder;

/* Starts a recording. Errors: -ENOTSUP (a kernel feature is missing), -ESRCH (no such process),
 * no permission, a rate above kernel.perf_event_max_sample_rate. */
int bb_recorder__start(const struct bb_sampler_opts *opts, struct bb_recorder **ret_recorder,
		       struct bb_err *err);

/* Waits up to timeout_ms. Call it several times a second: files of ended processes cannot be
 * opened any more. */
int bb_recorder__poll(struct bb_recorder *r, int timeout_ms, struct bb_err *err);

/* Stops the recording. Call it once. */
int bb_recorder__finish(struct bb_recorder *r, struct bb_recording *ret_recording,
			struct bb_err *err);

void bb_recorder__free(struct bb_recorder *r); /* takes NULL */

struct bb_recording_opts {
	struct bb_sampler_opts sampler; /* for a command, its pid is set by the callee */
	char *const *argv;              /* the command, ended by NULL; NULL: no command */
	const char *const *env;         /* variables of its environment, as bb_child_rules.env */
	uid_t uid;                      /* the user it runs as */
	gid_t gid;
	double seconds; /* time limit; may be INFINITY */
};

/*
 * Samples until the command or process ends, the time is up, or a signal asks us to stop
 * (base/stop.h). Returns 0, or -errno with a message. After a signal the samples so far are
 * returned.
 */
int bb_recording__take(const struct bb_recording_opts *opts, struct bb_recording *ret_recording,
		       struct bb_err *err);

/* Reads the sorted names of /proc/kallsyms; none if the kernel hides them. */
int bb_kernel_symbols(struct bb_symtab *t, struct bb_err *err);

void bb_recording__done(struct bb_recording *r);

struct bb_profile {
	struct bb_stacks stacks; /* sorted */
	struct bb_symbolize_result symbols;
	uint64_t unknown_kernel; /* kernel frames without a name */
};

struct bb_fold_opts {
	/* weight of one on-CPU sample: 1, or the microseconds it stands for */
	double on_cpu_weight;
	const struct bb_symtab *kernel; /* sorted */
	/* the root of a stack is "comm (pid)" in place of "comm" */
	bool with_pid;
};

/* Turns samples into folded stacks with names. `spaces` must have been replayed. */
int bb_fold(const struct bb_samples *samples, const struct bb_spaces *spaces,
	    const struct bb_fold_opts *opts, struct bb_profile *ret_profile, struct bb_err *err);

void bb_profile__done(struct bb_profile *p);

#endif
