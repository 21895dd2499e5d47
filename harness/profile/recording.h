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

/* All samples, as addresses. */
struct bb_recording {
	struct bb_samples samples;
	struct bb_spaces spaces; /* replayed */
	struct bb_symtab kernel; /* sorted */
	struct bb_sampler_stats stats;
	uint64_t lost_task_events;
	double seconds;
	int command_status; /* as of waitpid(); bb_recording__take() alone */
};

/* A recording in progress: stacks are sampled and code mappings are followed, until __finish. */
struct bb_recorder;

/* Errors: a kernel feature is missing (-ENOTSUP), there is no such process (-ESRCH), no permission,
 * a rate above kernel.perf_event_max_sample_rate. */
int bb_recorder__start(const struct bb_sampler_opts *opts, struct bb_recorder **ret_recorder,
		       struct bb_err *err);

/* Wait up to timeout_ms. Several times a second: files of processes that have ended meanwhile
 * cannot be opened any more. */
int bb_recorder__poll(struct bb_recorder *r, int timeout_ms, struct bb_err *err);

/* Stop. Once. */
int bb_recorder__finish(struct bb_recorder *r, struct bb_recording *ret_recording,
			struct bb_err *err);

void bb_recorder__free(struct bb_recorder *r); /* takes NULL */

struct bb_recording_opts {
	struct bb_sampler_opts sampler; /* its pid is set here for a command */
	char *const *argv;              /* the command, ending with NULL; NULL: none */
	const char *const *env;         /* its environment: as `also` of base/child.h */
	uid_t uid;                      /* whom it runs as */
	gid_t gid;
	double seconds; /* at the most; INFINITY */
};

/*
 * Sample until the command or process ends, the time is up, or a signal asks to stop (base/stop.h);
 * samples until then count. 0 or -errno with a message.
 */
int bb_recording__take(const struct bb_recording_opts *opts, struct bb_recording *ret_recording,
		       struct bb_err *err);

/* The names of /proc/kallsyms, sorted; none where they are hidden. */
int bb_kernel_symbols(struct bb_symtab *t, struct bb_err *err);

void bb_recording__done(struct bb_recording *r);

struct bb_profile {
	struct bb_stacks stacks; /* sorted */
	struct bb_symbolize_result symbols;
	uint64_t unknown_kernel; /* kernel frames without a name */
};

struct bb_fold_opts {
	/* of one sample on a CPU: 1 to count, or the microseconds that it stands for */
	double on_cpu_weight;
	const struct bb_symtab *kernel; /* sorted */
	/* processes are told apart: the root of a stack is "comm (pid)", not "comm" */
	bool with_pid;
};

/* From addresses to names: the folded stacks of all samples. `spaces` have been replayed. */
int bb_fold(const struct bb_samples *samples, const struct bb_spaces *spaces,
	    const struct bb_fold_opts *opts, struct bb_profile *ret_profile, struct bb_err *err);

void bb_profile__done(struct bb_profile *p);

#endif
