/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile.h"
#include "profile/stacks.h"
#include "profile/symbolize.h"

/* A sampled stack: addresses in the kernel and addresses in user space, each innermost first. */
struct bb_sampled_stack {
	uint32_t pid;
	char comm[BB_PROFILE_COMM];
	bool is_off_cpu; /* true: the thread waited; false: it ran on a CPU */
	/* is_kernel_cut: the stack has as many kernel addresses as can be stored, so the real stack
	 * may be deeper. is_user_cut: the same for user addresses. */
	bool is_kernel_cut, is_user_cut;
	bool is_lost;    /* true: the profiler had no room to store the addresses of the stack */
	uint64_t weight; /* number of samples with this stack; if is_off_cpu, waiting time, ns */
	/* bb_samples.addresses[first] is the first of n_kernel addresses, which n_user addresses
	 * follow */
	size_t first;
	uint16_t n_kernel, n_user;
};

struct bb_samples {
	struct bb_sampled_stack *v; /* v[n] */
	size_t n;
	uint64_t *addresses; /* addresses[n_addresses]: those of all stacks together */
	size_t n_addresses;
};

/* Adds a copy of the sample `s` with kernel[s->n_kernel] and user[s->n_user], and sets `first` of
 * the copy. A zeroed bb_samples is empty. */
void bb_samples__add(struct bb_samples *samples, const struct bb_sampled_stack *s,
		     const uint64_t *kernel, const uint64_t *user);
void bb_samples__done(struct bb_samples *samples);

struct bb_sampler_opts {
	const char *object_dir; /* folder of profile.bpf.o */
	pid_t pid;              /* sample this process and its later children; 0: all processes */
	uint32_t freq_hz;
	/* on_cpu: sample running threads; off_cpu: sample waiting threads */
	bool on_cpu, off_cpu;
	bool want_kernel, want_user; /* store the addresses in the kernel, in user space */
};

struct bb_sampler_stats {
	uint64_t samples;     /* number of on-CPU samples */
	uint64_t lost_stacks; /* samples whose stack is unknown */
	uint64_t drops;       /* samples that were dropped because the maps were full */
	uint32_t max_frames;  /* limit for a stack's kernel addresses, and for its user addresses */
	/* true: a clock causes the samples, because there is no cycle counter */
	bool is_cpu_clock;
};

/* All samples of a recording, and the tables from which their addresses get names. */
struct bb_recording {
	struct bb_samples samples;
	struct bb_spaces spaces; /* after bb_spaces__replay() */
	struct bb_symtab kernel; /* functions of the kernel, after bb_symtab__sort() */
	struct bb_sampler_stats stats;
	uint64_t lost_task_events; /* bb_task_events.lost at the end of the recording */
	double seconds;            /* length of the recording */
	int command_status;        /* the command's status from waitpid(2); 0 without a command */
};

/* A recording in progress. It samples stacks and follows code mappings until
 * bb_recorder__finish(). */
struct bb_recorder;

/* Starts a recording. Returns 0, or -errno with a message: -ENOTSUP if the kernel lacks a feature,
 * or we are not in the first PID namespace; -ESRCH if there is no such process; other errors if
 * permissions are missing or the rate is above kernel.perf_event_max_sample_rate. Free the recorder
 * with bb_recorder__free(). */
int bb_recorder__start(const struct bb_sampler_opts *opts, struct bb_recorder **ret_recorder,
		       struct bb_err *err);

/* Waits for up to `timeout_ms`, takes the records out of the ring buffers, and opens the files that
 * processes have mapped since the last call. Call it several times a second: once a process has
 * ended, its files cannot be opened any more, and a full ring buffer drops records. Returns 0, or
 * -errno with a message. */
int bb_recorder__poll(struct bb_recorder *r, int timeout_ms, struct bb_err *err);

/* Stops the recording, and moves it to `*ret_recording`. Call it once, and free the result with
 * bb_recording__done(). Returns 0, or -errno with a message. */
int bb_recorder__finish(struct bb_recorder *r, struct bb_recording *ret_recording,
			struct bb_err *err);

void bb_recorder__free(struct bb_recorder *r); /* accepts NULL */

struct bb_recording_opts {
	/* how to sample; if there is a command, bb_recording__take() samples the command and
	 * ignores `pid` */
	struct bb_sampler_opts sampler;
	char *const *argv;      /* command to run and sample, ended by NULL; NULL: no command */
	const char *const *env; /* variables of the command's environment, as bb_child_rules.env */
	uid_t uid;              /* user and group that the command runs as */
	gid_t gid;
	double seconds; /* time limit, s; INFINITY means no limit */
};

/* Samples until the command or the sampled process ends, the time is up, or a signal asks us to
 * stop (base/deadline.h). Returns the samples so far also after a signal. Returns 0, or -errno with
 * a message. Free the result with bb_recording__done(). */
int bb_recording__take(const struct bb_recording_opts *opts, struct bb_recording *ret_recording,
		       struct bb_err *err);

/* Adds the functions in /proc/kallsyms to `t`, and sorts it. Adds none if the kernel hides their
 * addresses. */
void bb_kernel_symbols(struct bb_symtab *t);

void bb_recording__done(struct bb_recording *r);

struct bb_profile {
	struct bb_stacks stacks; /* after bb_stacks__sort() */
	struct bb_symbolize_result symbols;
	uint64_t unknown_kernel; /* number of kernel frames without a name */
};

struct bb_fold_opts {
	double on_cpu_weight; /* weight of a sample on the CPU: 1, or the sampling period in us */
	const struct bb_symtab *kernel; /* functions of the kernel, after bb_symtab__sort() */
	/* true: the outermost frame is "comm (pid)"; false: "comm" */
	bool with_pid;
};

/* Turns samples into folded stacks with names. Call bb_spaces__replay() before. The weight of a
 * stack off the CPU is its waiting time in microseconds. Returns 0, or -errno with a message. Free
 * the profile with bb_profile__done(). */
int bb_fold(const struct bb_samples *samples, const struct bb_spaces *spaces,
	    const struct bb_fold_opts *opts, struct bb_profile *ret_profile, struct bb_err *err);

void bb_profile__done(struct bb_profile *p);
