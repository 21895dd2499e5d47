/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile.h"
#include "profile/stacks.h"
#include "profile/symbolize.h"

/* A sampled stack: the addresses of its half in the kernel and of its half in user space, each
 * innermost first. */
struct bb_sampled_stack {
	uint32_t pid;
	char comm[BB_PROFILE_COMM];
	bool is_off_cpu;
	/* the half has the maximum number of frames, so there may have been more */
	bool is_kernel_cut, is_user_cut;
	bool is_lost;    /* the stack was not stored, for lack of room */
	uint64_t weight; /* on-CPU: number of samples; off-CPU: ns */
	/* index in bb_samples.addresses of the first of n_kernel addresses; n_user addresses
	 * follow */
	size_t first;
	uint16_t n_kernel, n_user;
};

struct bb_samples {
	struct bb_sampled_stack *v;
	size_t n;
	uint64_t *addresses;
	size_t n_addresses, addresses_size;
};

/* Copies a sample and its addresses, and sets `first` of the copy. A zeroed bb_samples is empty. */
void bb_samples__add(struct bb_samples *samples, const struct bb_sampled_stack *s,
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
	uint64_t samples;     /* number of on-CPU samples */
	uint64_t lost_stacks; /* samples whose stack is unknown */
	uint64_t drops;       /* samples that were not counted, because the maps were full */
	uint32_t max_frames;  /* limit: frames of each half of a stack */
	bool is_cpu_clock;    /* the CPU has no counter of cycles, so a clock causes the samples */
};

/* All samples of a recording, and what is needed to name their addresses. */
struct bb_recording {
	struct bb_samples samples;
	struct bb_spaces spaces; /* after bb_spaces__replay() */
	struct bb_symtab kernel; /* sorted */
	struct bb_sampler_stats stats;
	uint64_t lost_task_events;
	double seconds;
	int command_status; /* as waitpid() gives it; only bb_recording__take() sets it */
};

/* A recording in progress. It samples stacks and follows code mappings until
 * bb_recorder__finish(). */
struct bb_recorder;

/*
 * Starts a recording. Returns 0, or -errno with a message: -ENOTSUP if the kernel lacks a feature,
 * -ESRCH if there is no such process; other errors if permissions are missing or the rate is above
 * kernel.perf_event_max_sample_rate.
 */
int bb_recorder__start(const struct bb_sampler_opts *opts, struct bb_recorder **ret_recorder,
		       struct bb_err *err);

/* Waits for up to `timeout_ms`, and empties the ring buffers. Opens the files that processes have
 * mapped since the last call. Call it several times a second: when a process has ended, its files
 * cannot be opened any more, and a ring buffer may be full. Returns 0, or -errno with a message. */
int bb_recorder__poll(struct bb_recorder *r, int timeout_ms, struct bb_err *err);

/* Stops the recording. Call it once. Returns 0, or -errno with a message. */
int bb_recorder__finish(struct bb_recorder *r, struct bb_recording *ret_recording,
			struct bb_err *err);

void bb_recorder__free(struct bb_recorder *r); /* takes NULL */

struct bb_recording_opts {
	/* if there is a command, bb_recording__take() sets `pid` */
	struct bb_sampler_opts sampler;
	char *const *argv;      /* the command, ended by NULL; NULL: no command */
	const char *const *env; /* variables of the command's environment, as bb_child_rules.env */
	uid_t uid;              /* user that the command runs as */
	gid_t gid;
	double seconds; /* time limit, s; INFINITY: none */
};

/* Samples until the command or the sampled process ends, the time is up, or a signal asks us to
 * stop (base/deadline.h). After a signal the samples so far are returned. Returns 0, or -errno
 * with a message. */
int bb_recording__take(const struct bb_recording_opts *opts, struct bb_recording *ret_recording,
		       struct bb_err *err);

/* Adds the names of /proc/kallsyms to `t`, and sorts it. Adds none if the kernel hides them. */
void bb_kernel_symbols(struct bb_symtab *t);

void bb_recording__done(struct bb_recording *r);

struct bb_profile {
	struct bb_stacks stacks; /* sorted */
	struct bb_symbolize_result symbols;
	uint64_t unknown_kernel; /* number of kernel frames without a name */
};

struct bb_fold_opts {
	/* weight of one on-CPU sample: 1, or the microseconds it stands for */
	double on_cpu_weight;
	const struct bb_symtab *kernel; /* sorted */
	/* the root of a stack is "comm (pid)" in place of "comm" */
	bool with_pid;
};

/* Turns samples into folded stacks with names. Call bb_spaces__replay(spaces) before. Returns 0,
 * or -errno with a message. */
int bb_fold(const struct bb_samples *samples, const struct bb_spaces *spaces,
	    const struct bb_fold_opts *opts, struct bb_profile *ret_profile, struct bb_err *err);

void bb_profile__done(struct bb_profile *p);
