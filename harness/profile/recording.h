/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile.h"
#include "profile/stacks.h"
#include "profile/symbolize.h"

/* Addresses in the kernel and addresses in user space, each innermost first. */
struct bb_sampled_stack {
	uint32_t pid;
	char comm[BB_PROFILE_COMM];
	bool is_off_cpu; /* true if the thread waited, false if it ran on a CPU */
	/* the stack has as many addresses as fit, so the real one may be deeper */
	bool is_kernel_cut, is_user_cut;
	bool is_lost; /* true if the profiler had no room to store the addresses */
	/* number of samples with this stack, or the waiting time in ns if is_off_cpu */
	uint64_t weight;
	/* bb_samples.addresses has n_kernel addresses from `first` on, then n_user addresses */
	size_t first;
	uint16_t n_kernel, n_user;
};

struct bb_samples {
	struct bb_sampled_stack *v;
	size_t n;
	uint64_t *addresses; /* with room for `size` */
	size_t n_addresses, size;
};

/* Adds a copy of `s` with kernel[s->n_kernel] and user[s->n_user]. A zeroed bb_samples is empty. */
void bb_samples__add(struct bb_samples *samples, const struct bb_sampled_stack *s,
		     const uint64_t *kernel, const uint64_t *user);
void bb_samples__done(struct bb_samples *samples);

struct bb_sampler_opts {
	const char *object_dir;
	pid_t pid; /* sample this process and its later children; 0 for all processes */
	uint32_t freq_hz;
	bool on_cpu, off_cpu;
	bool want_kernel, want_user;
};

struct bb_sampler_stats {
	uint64_t samples;     /* number of on-CPU samples */
	uint64_t lost_stacks; /* samples whose stack is unknown */
	uint64_t drops;       /* samples dropped because the maps were full */
	uint32_t max_frames;  /* limit for a stack's kernel addresses, and for its user addresses */
	/* true if a clock causes the samples, because there is no cycle counter */
	bool is_cpu_clock;
};

/* All samples of a recording, and the tables from which their addresses get names. */
struct bb_recording {
	struct bb_samples samples;
	struct bb_spaces spaces; /* after bb_spaces__replay() */
	struct bb_symtab kernel; /* functions of the kernel, sorted */
	struct bb_sampler_stats stats;
	uint64_t lost_task_events;
	double seconds;
	int command_status; /* from waitpid(2); 0 without a command */
};

struct bb_recorder;

/* Starts to record. Returns 0, or -errno with a message. -ENOTSUP means that the kernel lacks a
 * feature, or that we are not in the first PID namespace. -ESRCH means that there is no such
 * process. */
int bb_recorder__start(const struct bb_sampler_opts *opts, struct bb_recorder **ret_recorder,
		       struct bb_err *err);

/* Waits for up to `timeout_ms`, reads the ring buffers, and opens the files that processes have
 * mapped. Call it several times a second, because a full ring buffer drops records, and a process's
 * files cannot be opened any more once it has ended. Returns 0, or -errno with a message. */
int bb_recorder__poll(struct bb_recorder *r, int timeout_ms, struct bb_err *err);

/* Stops the recording, and moves it to `*ret_recording`. Returns 0, or -errno with a message. Free
 * the result with bb_recording__done(). */
int bb_recorder__finish(struct bb_recorder *r, struct bb_recording *ret_recording,
			struct bb_err *err);

void bb_recorder__free(struct bb_recorder *r); /* accepts NULL */

struct bb_recording_opts {
	/* if there is a command, it is sampled and `sampler.pid` is ignored */
	struct bb_sampler_opts sampler;
	char *const *argv;      /* command to run and sample, ended by NULL; may be NULL */
	const char *const *env; /* as bb_child_rules.env */
	uid_t uid;              /* user and group that the command runs as */
	gid_t gid;
	double seconds; /* time limit, s; may be INFINITY */
};

/* Samples until the command or the sampled process ends, the time is up, or a signal asks us to
 * stop (base/deadline.h), which is no error. Returns 0, or -errno with a message. Free the result
 * with bb_recording__done(). */
int bb_recording__take(const struct bb_recording_opts *opts, struct bb_recording *ret_recording,
		       struct bb_err *err);

/* Adds the functions in /proc/kallsyms to `t`, and sorts it. Adds none if the kernel hides them. */
void bb_kernel_symbols(struct bb_symtab *t);

void bb_recording__done(struct bb_recording *r);

struct bb_profile {
	struct bb_stacks stacks; /* sorted */
	struct bb_symbolize_result symbols;
	uint64_t unknown_kernel; /* number of kernel frames without a name */
};

struct bb_fold_opts {
	double on_cpu_weight; /* weight of a sample on the CPU: 1, or the sampling period in us */
	const struct bb_symtab *kernel; /* functions of the kernel, sorted */
	bool with_pid;                  /* the outermost frame is "comm (pid)" instead of "comm" */
};

/* Turns samples into folded stacks with names, and frees the samples. Call bb_spaces__replay()
 * before. The weight of a stack off the CPU is its waiting time in us. Returns 0, or -errno with a
 * message. Free the profile with bb_profile__done(). */
int bb_fold(struct bb_samples *samples, const struct bb_spaces *spaces,
	    const struct bb_fold_opts *opts, struct bb_profile *ret_profile, struct bb_err *err);

void bb_profile__done(struct bb_profile *p);
