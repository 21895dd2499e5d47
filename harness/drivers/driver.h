/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_DRIVER_H
#define BB_DRIVERS_DRIVER_H

#include "base/err.h"
#include "base/std.h"
#include "core/drive_kind.h"
#include "core/ring_use.h"
#include "drivers/cold.h"
#include "drivers/pmu.h"
#include "drivers/test_prog.h"
#include "plan/scenario.h"

/*
 * A driver makes a loaded program run and takes samples of the cost of each run. It is one file,
 * which has its kind (core/drive_kind.h) and its functions, and one row in registry.c. An
 * instrument is a driver that leaves the firing to a trigger (drivers/trigger.h).
 */

/* Options of the whole run. */
struct bb_driver_opts {
	int cpu; /* where the program under test runs */
	/* where counters are polled from; equal to cpu when there is no other */
	int poll_cpu;
	uint64_t seed; /* for drivers that make something up */
	uid_t uid;     /* the user that workloads run as: the caller of sudo */
	gid_t gid;
	/* names of the variables that workloads keep besides; ends in NULL; NULL: none */
	const char *const *env;
	/* where workloads without a slash are looked for before $PATH; may be NULL */
	const char *workload_dir;
	/* where objects named without a slash are, and profile.bpf.o */
	const char *object_dir;
	/* programs that act on other processes are attached where all processes pass */
	bool allow_system_wide;
};

/* One batch: consecutive samples of one program. The caller sets the first part, the driver the
 * rest. */
struct bb_batch {
	/* room for `want` samples: cost of one run each, in 1/units_per_ns ns of the driver */
	uint64_t *ns;
	/* exact: room for as many: the path of each run; NULL elsewhere */
	uint64_t *paths;
	/* at most this many; fewer, or none, only if the time is up */
	size_t want;
	/* runs to fire and discard first (drivers that fire); out: those that were */
	size_t warmup;
	/* wall time to spend (in-situ over a workload: its CPU time), in which a driver that fires
	 * takes one sample at least; 0: no limit but the deadline (base/deadline.h) */
	double max_s;
	bool drain_each_run; /* rings emptied after every run, or only when half full */

	size_t n; /* samples taken */
	/* events fired (slope: lines taken), warm-up excluded; 0: the driver cannot know */
	uint64_t fired;
	uint64_t run_cnt, run_time_ns; /* by the counters, warm-up excluded */
	uint64_t events; /* in-situ by rate: packets sent, requests answered; 0 elsewhere */
	uint64_t multi;  /* runs that shared a window with others: counted, but no sample */
	double elapsed_s;
	double target_cpu_s; /* CPU time of the workload; NAN where there is none */
	struct {
		double intercept_ns;         /* the cost of a call without the runs */
		double pmu[BB_PMU_COUNTERS]; /* hardware counts of a run; NAN without a PMU */
	} slope;                             /* NAN elsewhere */
	double floor_ns;                     /* hook: of an empty program; NAN elsewhere */
	/* calls made again because a signal broke them off; their runs are in `warmup` */
	uint64_t retries;
	/* how long a line of memory took to read after the caches were emptied, and which they are
	 * (valid as long as the drive is open); NAN, NULL where they are left as they are */
	double line_ns;
	const char *emptied;
	/* pipeline: made by the driver, owned by the caller; NULL elsewhere */
	struct bb_ring_use *flow;
	/* why the samples do not count: an unexpected result of the program; empty: they count */
	char void_why[200];
};

/* The runs between two readings of the counters: a single one is a sample, several are counted. So
 * it is with mean_of 1; with k, the mean of just k runs is a sample. */
static inline void bb_batch__take(struct bb_batch *b, uint64_t runs, uint64_t ns, uint64_t mean_of)
{
	b->run_cnt += runs;
	b->run_time_ns += ns;
	if (runs == mean_of)
		b->ns[b->n++] = (ns + mean_of / 2) / mean_of;
	else
		b->multi += runs;
}

struct bb_drive_trigger;

struct bb_driver {
	struct bb_drive_kind kind;
	/* what fires; NULL: the drive waits for runs, or this is an instrument */
	const struct bb_drive_trigger *trigger;
	/* an instrument: one driver for each trigger; of its kind, what a trigger cannot is off */
	bool is_instrument;
	/* -ENOTSUP with the reason where this machine cannot */
	int (*open)(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		    void **ret_state, struct bb_err *err);
	/* Can it drive this program? Asked once, before anything is measured; NULL: any. -ENOTSUP
	 * with the reason. */
	int (*probe)(void *state, struct bb_test_prog *prog, struct bb_err *err);
	int (*attach)(void *state, struct bb_test_prog *prog, void **ret_slot, struct bb_err *err);
	int (*batch)(void *state, void *slot, uint32_t param, struct bb_batch *b,
		     struct bb_err *err);
	/* the command whose time a sample is; NULL: none */
	const char *(*command)(void *state);
	/* how the program is made to run, for the report; NULL: its name says it. The
	 * input is NULL where the driver chooses it. */
	void (*fired_by)(const struct bb_input *input, const struct bb_test_prog *prog,
			 char *ret_words, size_t size);
	void (*detach)(void *state, void *slot);
	void (*close)(void *state); /* takes NULL */
};

/* The pace of a drive that fires one event after another; with caches emptied before each (half a
 * millisecond to five); and of one that goes by time. */
#define BB_STEP_PACE                                                                               \
	{                                                                                          \
		.samples = 6000, .turn = 100, .pair_turn = 16, .warmup_first = 100,                \
		.warmup_turn = 8, .pair_warmup = 4, .sample_s = 5e-6                               \
	}
#define BB_COLD_PACE                                                                               \
	{                                                                                          \
		.samples = 240, .sweep_samples = 3072, .turn = 10, .pair_turn = 4,                 \
		.sample_s = BB_COLD_GUESS_S                                                        \
	}
#define BB_TIMED_PACE                                                                              \
	{                                                                                          \
		.pair_turn = 8                                                                     \
	} /* at 100 Hz these take 80 ms */

extern const struct bb_driver bb_driver_step, bb_driver_slope, bb_driver_hook, bb_driver_insitu,
	bb_driver_insitu_packets, bb_driver_insitu_http, bb_driver_insitu_attach, bb_driver_live,
	bb_driver_exact, bb_driver_lines, bb_driver_pipeline, bb_driver_slowdown, bb_driver_call,
	bb_driver_fake;

/* Makes the drivers of all instruments and triggers, and passes the kinds of all drivers to
 * core/drive_kind.h. Once, when a program begins. */
void bb_drivers__register(void);

/* The driver that counts the instructions of the runs that `driver` fires; NULL: they cannot be
 * counted. */
const struct bb_driver *bb_driver__executed_by(const struct bb_driver *driver);

/* Of a kind that was registered. */
static inline const struct bb_driver *bb_driver_of(const struct bb_drive_kind *kind)
{
	return (const struct bb_driver *)(const void *)((const char *)kind -
							offsetof(struct bb_driver, kind));
}

/* As bb_drive_kind_find(). */
static inline const struct bb_driver *bb_driver__by(const char *with, const char *by)
{
	return bb_driver_of(bb_drive_kind_find(with, by));
}

/* For a drive that attaches nothing: its slot is the program. */
int bb_driver__attach_nothing(void *state, struct bb_test_prog *prog, void **ret_slot,
			      struct bb_err *err);
void bb_driver__detach_nothing(void *state, void *slot);

/* Pin the calling thread to one CPU. 0, or -errno with a message. */
int bb_pin_to_cpu(int cpu, struct bb_err *err);

#endif
