/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_DRIVER_H
#define BB_DRIVERS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "core/flow.h"
#include "drivers/pmu.h"
#include "drivers/subject.h"
#include "plan/scenario.h"

/*
 * A driver makes a loaded program run and takes samples of what each run cost. It is one file and
 * one row of bb_drivers[]. To add one: write the functions, add the row, and name its keys in
 * plan/scenario.c.
 */

/* What the whole run settles once. */
struct bb_driver_opts {
	int cpu; /* where the program under test runs */
	/* where counters are polled from; equal to cpu when there is no other */
	int poll_cpu;
	uint64_t seed; /* for drivers that make something up */
	uid_t uid;     /* whom workloads run as: who called sudo */
	gid_t gid;
	/* names of the variables that workloads keep besides; ends in NULL; NULL: none */
	const char *const *env;
	/* where workloads without a slash are looked for before $PATH; may be NULL */
	const char *workload_dir;
	/* where objects named without a slash are, and profile.bpf.o */
	const char *object_dir;
};

/* One batch: consecutive samples of one program. The caller sets the first part, the driver the
 * rest. */
struct bb_batch {
	/* room for `want` samples: cost of one run each, in 1/units_per_ns ns of the driver */
	uint64_t *ns;
	/* exact: room for as many: which way each run took; NULL elsewhere */
	uint64_t *paths;
	size_t want; /* at most this many; fewer only if the time is up */
	/* runs to fire and discard first (drivers that fire); out: those that were */
	size_t warmup;
	/* drives that go by time: wall time to spend (in-situ over a workload: its CPU time); 0: no
	 * limit */
	double max_s;
	bool drain_always; /* rings emptied after every run, or only when half full */

	size_t n; /* samples taken */
	/* events fired (slope: lines taken), warm-up excluded; 0: the driver cannot know */
	uint64_t fired;
	uint64_t run_cnt, run_time_ns; /* by the counters, warm-up excluded */
	uint64_t events; /* in-situ by rate: packets sent, requests answered; 0 elsewhere */
	uint64_t multi;  /* runs that shared a window with others: counted, but no sample */
	double elapsed_s;
	double target_cpu_s; /* CPU time of the workload; NAN where there is none */
	double intercept_ns; /* slope: what a call costs besides the runs; NAN elsewhere */
	/* slope: hardware counts of a run; NAN elsewhere and without a PMU */
	double pmu[BB_PMU_COUNTERS];
	/* calls made again because a signal broke them off; their runs are in `warmup` */
	uint64_t retries;
	/* pipeline: made by the driver, owned by the caller; NULL elsewhere */
	struct bb_flow *flow;
	/* the program did not do what is expected of it; empty: nothing to say */
	char void_why[200];
};

struct bb_driver {
	const char *name; /* what stands after `with:` */
	/* and after `trigger:` (step) or `event:` (in-situ), where drivers share the name */
	const char *by[2];
	const char *doc;
	bool needs_bpf; /* false: subjects have no target (call, fake) */
	bool made_up;   /* its samples are: the machine has no part in them */
	bool fires;     /* it fires the events itself: fired must equal run_cnt */
	bool counts;    /* its samples are instructions: exact.h */
	/* it neither attaches nor changes the program: it may be somebody else's */
	bool spares_others;
	bool any_sampler;      /* it drives variants whose sampler is no program, too */
	bool stats_off;        /* bpf_stats must be off meanwhile: the counters may not move */
	uint32_t units_per_ns; /* of its samples: 1, or 1000 for ps; 0: 1 */
	int (*open)(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		    void **ret_state,
		    /* -ENOTSUP with the reason where this machine cannot */
		    struct bb_err *err);
	/* Can it drive this program? Asked once, before anything is measured; NULL: any. -ENOTSUP
	 * with the reason. */
	int (*probe)(void *state, struct bb_subject *subject, struct bb_err *err);
	int (*attach)(void *state, struct bb_subject *subject, void **ret_slot, struct bb_err *err);
	int (*batch)(void *state, void *slot, uint32_t param, struct bb_batch *b,
		     struct bb_err *err);
	/* the command whose time a sample is; NULL: none */
	const char *(*command)(void *state);
	void (*detach)(void *state, void *slot);
	void (*close)(void *state); /* takes NULL */
};

extern const struct bb_driver bb_driver_step_page_fault, bb_driver_step_test_run, bb_driver_slope,
	bb_driver_insitu, bb_driver_insitu_packets, bb_driver_insitu_http, bb_driver_insitu_attach,
	bb_driver_live, bb_driver_exact_page_fault, bb_driver_exact_test_run, bb_driver_pipeline,
	bb_driver_slowdown, bb_driver_call, bb_driver_fake;
extern const struct bb_driver *const bb_drivers[];
extern const size_t bb_n_drivers;

/* By `with` and, where several share that name, by `trigger` or `event` (NULL: the first of them).
 * NULL: there is none. */
const struct bb_driver *bb_driver_find(const struct bb_drive_spec *spec);

/* Pin the calling thread to one CPU. 0, or -errno with a message. */
int bb_pin_to_cpu(int cpu, struct bb_err *err);

#endif
