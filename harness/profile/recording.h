/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_RECORDING_H
#define BB_PROFILE_RECORDING_H

#include "base/err.h"
#include "profile/sampler.h"
#include "profile/spaces.h"
#include "profile/symtab.h"

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

/* Errors: a kernel feature is missing (-ENOTSUP), there is no such process (-ESRCH), no permission.
 * */
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

#endif
