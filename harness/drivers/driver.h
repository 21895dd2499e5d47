/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/ring_use.h"
#include "drivers/cold.h"
#include "drivers/test_prog.h"

/* A driver makes a loaded program run and takes samples of the cost of each run. A driver is one
 * file, with its kind (core/drive_kind.h) and its functions, and one row in registry.c. An
 * instrument is a driver that leaves the firing to a trigger (drivers/trigger.h). */

/* The hardware counters of the drive `slope`. */
enum bb_pmu_counter { BB_PMU_CYCLES, BB_PMU_INSTRUCTIONS, BB_PMU_LLC_MISSES, BB_PMU_COUNTERS };

/* Options of the whole run. */
struct bb_driver_opts {
	int cpu; /* the CPU that the program under test runs on */
	/* The CPU that polls the counters; equal to `cpu` if there is no other. */
	int poll_cpu;
	uint64_t seed; /* seed of random numbers */
	uid_t uid;     /* the user that workloads run as: the caller of sudo */
	gid_t gid;
	/* Names of more environment variables that workloads keep; ends in NULL. NULL means none.
	 */
	const char *const *env;
	/* Folder that is searched before $PATH for workloads without a slash; may be NULL. */
	const char *workload_dir;
	/* Folder of objects whose names have no slash, and of profile.bpf.o. */
	const char *object_dir;
	/* Programs that act on other processes may be attached to hooks that all processes run. */
	bool allow_system_wide;
};

struct bb_test_run_type;

/* The paths that the inputs of a mix take: sets of basic blocks, without order and turns. */
#define BB_MIX_MOST_PATHS 16
struct bb_mix_paths {
	/* path_of[n_places]: for each place in the mix, the path of the input at that place, as an
	 * index of words[]; BB_MIX_MOST_PATHS: another path than those */
	uint8_t *path_of;
	size_t n_places;
	char *words[BB_MIX_MOST_PATHS]; /* what tells a path from the most frequent one */
};
void bb_mix_paths__done(struct bb_mix_paths *p);

/* One batch: consecutive samples of one program. The caller sets the members before the empty line,
 * the driver sets the others. */
struct bb_batch {
	/* ns[want]: the samples, each the cost of one run, in 1/units_per_ns ns
	 * (core/drive_kind.h). */
	uint64_t *ns;
	/* paths[want]: the path of each run, for the drive `exact`; NULL for other drives. */
	uint64_t *paths;
	/* returns[want]: what each run returned, for a mix of inputs; NULL: not needed */
	uint32_t *returns;
	bool rewinds; /* the first input of a mix comes next; false: the one after the last run's */
	/* places[want]: place of each run's input in the mix; NULL: not needed */
	uint32_t *places;
	const struct bb_mix_paths *mix_paths; /* NULL: not a mix, or not known */
	/* Number of samples to take. The driver takes fewer, or none, only if the time is up. */
	size_t want;
	/* In: number of runs to fire and discard first. Out: number of runs discarded. */
	size_t warmup;
	/* Longest wall time of the batch, s; for drives over a workload, the longest CPU time of
	 * the workload. A driver that fires takes at least one sample in any case. 0: only the
	 * deadline limits the batch (base/deadline.h). */
	double max_s;
	/* true: empty rings after every run; false: only when they are half full */
	bool drain_each_run;

	size_t n; /* samples taken */
	/* Events fired (slope: lines taken) after the warm-up; 0 if the driver cannot know. */
	uint64_t fired;
	uint64_t run_cnt, run_time_ns; /* the kernel's counters over the batch, without warm-up */
	uint64_t events; /* in situ: number of packets sent or requests answered; else 0 */
	uint64_t multi;  /* runs that shared a window with others and so are not samples */
	double elapsed_s;
	double target_cpu_s; /* CPU time of the workload, s; NAN without a workload */
	struct {
		double intercept_ns;         /* cost of a call without its runs, ns */
		double pmu[BB_PMU_COUNTERS]; /* hardware counts of a run; NAN without a PMU */
	} slope;                             /* NAN for other drives */
	double floor_ns; /* hook: cost of an empty program; NAN for other drives */
	/* Calls made again because a signal interrupted them. Their runs count in `warmup`. */
	uint64_t retries;
	/* With cold caches: time to read a cache line after emptying, ns, and a description of
	 * what was emptied, valid while the drive is open. NAN and NULL with hot caches. */
	double line_ns;
	const char *emptied;
	/* pipeline: use of the ring over time, allocated by the driver, owned by the caller;
	 * NULL for other drives. */
	struct bb_ring_use *flow;
	/* Return value of the first test run, such as "1 (XDP_DROP)"; empty for other triggers, for
	 * floors and for mixes. */
	char returned[32];
	/* has the names of the values in returns[]; NULL: nothing was returned */
	const struct bb_test_run_type *run_type;
	/* Why the samples do not count; empty means that they count. */
	char void_why[200];
};

/* Adds the runs between two readings of the counters. If there are exactly `mean_of` of them
 * (mostly 1), their mean time is a sample. Any other number of runs is only counted. */
static inline void bb_batch__take(struct bb_batch *b, uint64_t runs, uint64_t ns, uint64_t mean_of)
{
	b->run_cnt += runs;
	b->run_time_ns += ns;
	if (runs == mean_of)
		b->ns[b->n++] = (ns + mean_of / 2) / mean_of;
	else
		b->multi += runs;
}

struct bb_attached;
struct bb_driver;
struct bb_drive_trigger;
struct bb_trigger_state;

/* An open drive. It is the first member of the driver's own struct for its state. */
struct bb_drive_state {
	const struct bb_driver *driver;
	const struct bb_drive_spec *spec; /* borrowed */
	struct bb_driver_opts opts;
	/* the drive's open trigger (drivers/trigger.h); NULL: the drive has none */
	struct bb_trigger_state *fired;
};

/* A load of a program in an open drive. It is the first member of the driver's own struct for its
 * slots. */
struct bb_drive_slot {
	struct bb_drive_state *state;
	struct bb_test_prog *prog;
	/* the program, attached to the trigger (drivers/trigger.h); NULL: not attached */
	struct bb_attached *attached;
};

/* The functions get the driver's own structs, which bb_driver__open() and bb_driver__attach()
 * allocate, zero and free. A function that is NULL has nothing to do. */
struct bb_driver {
	struct bb_drive_kind kind;
	/* The trigger that fires; NULL for drives that wait for runs, and for instruments. */
	const struct bb_drive_trigger *trigger;
	/* registry.c makes a driver of this instrument for each trigger. */
	bool is_instrument;
	/* The driver polls counters on opts.poll_cpu, which must then be another CPU than
	 * opts.cpu. */
	bool polls;
	/* Sizes of the driver's own structs. 0 means struct bb_drive_state and struct
	 * bb_drive_slot. */
	size_t state_bytes, slot_bytes;
	/* Returns -ENOTSUP with the reason if the drive does not work on this machine. */
	int (*open)(void *state, struct bb_err *err);
	/* Called once before anything is measured, after the trigger's probe(). Returns 0 if the
	 * driver can drive this program, else -ENOTSUP with the reason. */
	int (*probe)(void *state, struct bb_test_prog *prog, struct bb_err *err);
	/* NULL: the program is only attached to the trigger, if there is one. */
	int (*attach)(void *slot, struct bb_err *err);
	int (*batch)(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err);
	/* Returns the command that is timed: a sample is the time of one run of this command. */
	const char *(*command)(void *state);
	/* Writes how the program is made to run, for the report. NULL: the drive's name says it.
	 * `input` is NULL if the driver chooses it. */
	void (*fired_by)(const struct bb_input *input, const struct bb_test_prog *prog,
			 char *ret_words, size_t size);
	/* detach() undoes attach(), after the trigger was detached. close() undoes open(). Both
	 * are called even if attach() or open() failed midway. */
	void (*detach)(void *slot);
	void (*close)(void *state);
};

/* Opens a drive with the driver of its kind and that driver's trigger. 0 or -errno. */
int bb_driver__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		    struct bb_drive_state **ret_state, struct bb_err *err);
/* Returns 0 if the drive can drive the program, else -errno with the reason. */
int bb_driver__probe(struct bb_drive_state *state, struct bb_test_prog *prog, struct bb_err *err);
/* Attaches the current load of the program. 0 or -errno. */
int bb_driver__attach(struct bb_drive_state *state, struct bb_test_prog *prog,
		      struct bb_drive_slot **ret_slot, struct bb_err *err);
/* Takes a batch of samples. If the driver does not set target_cpu_s, it is NAN. If the driver
 * does not set elapsed_s, it is the time that the driver took. 0 or -errno. */
int bb_driver__batch(struct bb_drive_slot *slot, uint32_t param, struct bb_batch *b,
		     struct bb_err *err);
void bb_driver__detach(struct bb_drive_slot *slot);  /* takes NULL */
void bb_driver__close(struct bb_drive_state *state); /* takes NULL */

/* Paces of drives that fire one event after another, of drives that empty the caches before each
 * event (0.5 to 5 ms), and of drives that run for a given time. */
#define BB_PS_PER_NS 1000u /* units_per_ns of drives whose samples are in ps */

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
	} /* 8 samples take 80 ms at 100 Hz */

extern const struct bb_driver bb_driver_step, bb_driver_slope, bb_driver_parallel,
	bb_driver_packets, bb_driver_hook, bb_driver_insitu, bb_driver_insitu_packets,
	bb_driver_insitu_http, bb_driver_insitu_attach, bb_driver_live, bb_driver_exact,
	bb_driver_lines, bb_driver_pipeline, bb_driver_overhead, bb_driver_call, bb_driver_fake;

/* Makes a driver for each pair of instrument and trigger, and passes the kinds of all drivers to
 * core/drive_kind.h. main() calls it once. */
void bb_drivers__register(void);

/* Returns the driver that counts the instructions of the runs that `driver` fires; NULL if they
 * cannot be counted. */
const struct bb_driver *bb_driver__executed_by(const struct bb_driver *driver);

/* Returns the driver that counts the instructions of runs on the first input of `driver`, whose
 * parameter is not the input (`parallel`); NULL for others. */
const struct bb_driver *bb_driver__first_executed_by(const struct bb_driver *driver);

/* Returns the driver of a registered kind. */
static inline const struct bb_driver *bb_driver_of(const struct bb_drive_kind *kind)
{
	return (const struct bb_driver *)(const void *)((const char *)kind -
							offsetof(struct bb_driver, kind));
}

/* Finds a driver as bb_drive_kind_find() finds its kind. */
static inline const struct bb_driver *bb_driver__by(const char *with, const char *by)
{
	return bb_driver_of(bb_drive_kind_find(with, by));
}

/* Pins the calling thread to one CPU. 0, or -errno with a message. */
int bb_pin_to_cpu(int cpu, struct bb_err *err);
