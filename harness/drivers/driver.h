/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/ring_use.h"
#include "drivers/cold.h"
#include "drivers/test_prog.h"

/* A driver makes a loaded program run, and takes samples of the cost of its runs. Each driver is
 * one file: struct bb_driver has its name, its scenario keys and its functions. registry.c lists
 * all drivers. An instrument is a driver that only measures runs. It needs a trigger
 * (drivers/trigger.h), which makes the program run. */

enum bb_pmu_counter { BB_PMU_CYCLES, BB_PMU_INSTRUCTIONS, BB_PMU_LLC_MISSES, BB_PMU_COUNTERS };

struct bb_driver_opts {
	int cpu; /* runs the measured program */
	/* the CPU that reads the program's counters; equal to `cpu` if we may use only one CPU */
	int poll_cpu;
	uint64_t seed;
	uid_t uid; /* workloads run as this user, the caller of sudo */
	gid_t gid;
	/* Names of environment variables that workloads keep in addition to those that base/child.h
	 * lists. The list ends in NULL. `env` is NULL if there are none. */
	const char *const *env;
	/* folder to search for workloads before $PATH, if their name has no slash; may be NULL */
	const char *workload_dir;
	/* folder of BPF objects whose names have no slash, and of profile.bpf.o */
	const char *object_dir;
	/* --allow-system-wide: programs that affect other processes may be attached */
	bool allow_system_wide;
	/* true if samples are numbers of instructions, which are kept with all their digits */
	bool is_exact;
};

struct bb_test_run_type;

/* The paths that a program takes on the inputs of a mix, which are inputs that take turns. A path
 * is here a set of basic blocks, without their order. */
#define BB_MIX_MOST_PATHS 16
struct bb_mix_paths {
	/* path_of[input]: index in words[]; BB_MIX_MOST_PATHS if words[] lacks the path */
	uint8_t *path_of;
	size_t n_places;
	/* words[path]: how the path differs from the most frequent path; may be NULL; owned */
	char *words[BB_MIX_MOST_PATHS];
};
void bb_mix_paths__done(struct bb_mix_paths *p);

/* A batch: consecutive samples of one program. The caller sets the members above the empty line,
 * the driver sets the members below it. */
struct bb_batch {
	/* ns[want]: cost of each run, in 1/units_per_ns ns (struct bb_drive_kind) */
	uint64_t *ns;
	/* paths[want]: the path of each run in the drive `exact`; NULL in other drives */
	uint64_t *paths;
	/* returns[want]: return value of each run of a mix; NULL if they are not wanted */
	uint32_t *returns;
	/* true to begin with the first input of a mix, false to go on after the last run's input */
	bool rewinds;
	/* places[want]: position in the mix of each run's input; NULL if they are not wanted */
	uint32_t *places;
	/* NULL if there is no mix, or its paths are unknown */
	const struct bb_mix_paths *mix_paths;
	/* number of samples to take; the driver takes fewer only if the time is over */
	size_t want;
	/* In: number of runs to fire and discard first. Out: number of discarded runs. */
	size_t warmup;
	/* Longest wall time of the batch, s. For a drive with a workload it is the longest CPU time
	 * of the workload. A driver that fires takes at least one sample even if the time is over.
	 * If max_s is 0, only the budget limits the batch (base/deadline.h). */
	double max_s;
	/* true to empty the program's rings after every run, false only when they are half full */
	bool drain_each_run;

	size_t n;
	/* events fired after the warm-up (drive `slope`: measured lines); 0 if unknown */
	uint64_t fired;
	/* growth of the program's counters in the kernel during the batch, without the warm-up */
	uint64_t run_cnt, run_time_ns;
	uint64_t events; /* packets sent or requests answered */
	/* runs that gave no sample, because several came between two readings of the counters */
	uint64_t multi;
	double elapsed_s;
	double target_cpu_s; /* NAN without a workload */
	struct {
		double intercept_ns;         /* cost of a system call without its runs, ns */
		double pmu[BB_PMU_COUNTERS]; /* hardware counts of one run; NAN without a PMU */
	} slope;                             /* NAN for other drives */
	double floor_ns; /* drive `hook`: cost of an empty program, ns; NAN for other drives */
	/* number of test calls that were repeated, because a signal interrupted them */
	uint64_t retries;
	/* With caches emptied before each run: time to read a cache line afterwards, ns, and a text
	 * that says what was emptied. With hot caches: NAN and NULL. */
	double line_ns;
	const char *emptied;
	/* drive `pipeline`: use of the ring over time, for the caller to free; else NULL */
	struct bb_ring_use *flow;
	/* return value of the first test run, such as "1 (XDP_DROP)"; may be empty */
	char returned[32];
	/* type that names the values in returns[]; NULL if there are no test runs */
	const struct bb_test_run_type *run_type;
	/* why the samples do not count; empty if they do */
	char void_why[200];
};

/* Adds to the batch the `runs` runs between two readings of the counters, which took `ns` in all.
 * If there are exactly `mean_of` runs (mostly 1), their mean time is a sample. */
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

/* An open drive. A driver's own struct for its state begins with it. */
struct bb_drive_state {
	const struct bb_driver *driver;
	const struct bb_drive_spec *spec; /* borrowed */
	struct bb_driver_opts opts;
	struct bb_rng rng;
	/* drive `overhead`: the command whose run times are the samples; else NULL; owned */
	char *command;
	/* the drive's open trigger (drivers/trigger.h); NULL if it has none */
	struct bb_trigger_state *fired;
};

/* A load of a program in an open drive. A driver's own struct for slots begins with it. */
struct bb_drive_slot {
	struct bb_drive_state *state;
	struct bb_test_prog *prog;
	/* NULL if the program is not attached to a trigger */
	struct bb_attached *attached;
	/* For bb_record__check(): the kernel's counters when the program was attached, and the
	 * number of events fired since then, warm-up included. */
	struct bb_prog_stats before;
	uint64_t n_fired;
};

/* The argument `state` or `slot` of a function is the driver's own struct. bb_driver__open() and
 * bb_driver__attach() allocate and zero it; bb_driver__close() and bb_driver__detach() free it. A
 * function that is NULL has nothing to do. */
struct bb_driver {
	struct bb_drive_kind kind;
	/* NULL for drives that wait for runs. registry.c sets it for instruments. */
	const struct bb_drive_trigger *trigger;
	/* true if registry.c makes one driver of it with each trigger */
	bool is_instrument;
	/* true if the driver polls counters on opts.poll_cpu, which then must not be opts.cpu */
	bool polls;
	/* Sizes of the driver's own structs, bytes. If they are 0, the driver uses struct
	 * bb_drive_state or struct bb_drive_slot itself. */
	size_t state_bytes, slot_bytes;
	/* Returns 0, or -ENOTSUP with the reason if the drive does not work on this machine. */
	int (*open)(void *state, struct bb_err *err);
	/* Called once before anything is measured, after the trigger's probe(). Returns 0 if the
	 * driver can drive this program, else -ENOTSUP with the reason. */
	int (*probe)(void *state, struct bb_test_prog *prog, struct bb_err *err);
	/* If NULL, the program is attached to the drive's trigger, if it has one. */
	int (*attach)(void *slot, struct bb_err *err);
	int (*batch)(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err);
	/* Writes what makes the program run, for the report. NULL if the drive's name says it
	 * already. `input` is NULL if the driver chooses the input. */
	void (*fired_by)(const struct bb_input *input, const struct bb_test_prog *prog,
			 char *ret_words, size_t size);
	/* detach() undoes attach(); the program is already detached from the trigger. close()
	 * undoes open(). Both are called even if attach() or open() failed midway. */
	void (*detach)(void *slot);
	void (*close)(void *state);
};

/* Opens a driver and its trigger. `spec` must outlive the state. Returns 0 or -errno. */
int bb_driver__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		    struct bb_drive_state **ret_state, struct bb_err *err);
int bb_driver__probe(struct bb_drive_state *state, struct bb_test_prog *prog, struct bb_err *err);
int bb_driver__attach(struct bb_drive_state *state, struct bb_test_prog *prog,
		      struct bb_drive_slot **ret_slot, struct bb_err *err);
/* Sets target_cpu_s to NAN and elapsed_s to the elapsed time, unless the driver sets them. */
int bb_driver__batch(struct bb_drive_slot *slot, uint32_t param, struct bb_batch *b,
		     struct bb_err *err);
void bb_driver__detach(struct bb_drive_slot *slot);  /* `slot` may be NULL */
void bb_driver__close(struct bb_drive_state *state); /* `state` may be NULL */

#define BB_PS_PER_NS 1000u /* units_per_ns of drives whose samples are in ps */

/* Paces of drives that fire one event after another, and of drives that run for a given time. */
#define BB_STEP_PACE                                                                               \
	{                                                                                          \
		.samples = 6000, .turn = 100, .pair_turn = 16, .warmup_first = 100,                \
		.warmup_turn = 8, .pair_warmup = 4, .sample_s = 5e-6                               \
	}
#define BB_TIMED_PACE                                                                              \
	{                                                                                          \
		.pair_turn = 8                                                                     \
	} /* 8 samples take 80 ms at 100 Hz */

extern const struct bb_driver bb_driver_step, bb_driver_slope, bb_driver_parallel,
	bb_driver_packets, bb_driver_hook, bb_driver_insitu, bb_driver_insitu_packets,
	bb_driver_insitu_http, bb_driver_insitu_attach, bb_driver_live, bb_driver_exact,
	bb_driver_lines, bb_driver_pipeline, bb_driver_overhead, bb_driver_call, bb_driver_fake;

/* Registers all drivers. Makes a driver of each pair of an instrument and a trigger. */
void bb_drivers__register(void);

/* Returns the driver that counts the instructions of the runs that `driver` fires, or NULL. */
const struct bb_driver *bb_driver__executed_by(const struct bb_driver *driver);

/* Returns the driver that counts the instructions of a run on the first input, if `driver` takes
 * inputs but varies another parameter (`parallel`). Returns NULL for other drivers. */
const struct bb_driver *bb_driver__first_executed_by(const struct bb_driver *driver);

static inline const struct bb_driver *bb_driver_of(const struct bb_drive_kind *kind)
{
	return (const struct bb_driver *)(const void *)((const char *)kind -
							offsetof(struct bb_driver, kind));
}

int bb_pin_to_cpu(int cpu, struct bb_err *err);
