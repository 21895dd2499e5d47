/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/ring_use.h"
#include "drivers/cold.h"
#include "drivers/test_prog.h"

/* A driver makes a loaded program run, and takes samples of the cost of its runs. Each driver is
 * one file: struct bb_driver has its name, its scenario keys and its functions. registry.c lists
 * all drivers. An instrument is a driver that only measures runs; a trigger makes the program run
 * (drivers/trigger.h). */

/* The hardware counters of the drive `slope`. */
enum bb_pmu_counter { BB_PMU_CYCLES, BB_PMU_INSTRUCTIONS, BB_PMU_LLC_MISSES, BB_PMU_COUNTERS };

/* Options that hold for a whole run of bpfbench. */
struct bb_driver_opts {
	int cpu; /* the CPU that the program under test runs on */
	/* the CPU that polls a program's counters; equal to `cpu` if there is no other CPU */
	int poll_cpu;
	uint64_t seed; /* seed of all random numbers */
	uid_t uid;     /* the user that workloads run as: the caller of sudo */
	gid_t gid;
	/* Names of environment variables that workloads keep beside the usual ones (base/child.h);
	 * the list ends in NULL. NULL: workloads keep only the usual ones. */
	const char *const *env;
	/* Folder in which workloads without a slash in their name are searched before $PATH is.
	 * NULL: only $PATH is searched. */
	const char *workload_dir;
	/* folder of BPF objects whose names have no slash, and of profile.bpf.o */
	const char *object_dir;
	/* true: a program that affects other processes may be attached to a hook that every process
	 * passes (--allow-system-wide) */
	bool allow_system_wide;
	/* true: samples are numbers of instructions, and are kept with all their digits */
	bool is_exact;
};

struct bb_test_run_type;

/* The paths of the inputs of a mix. A path is here a set of basic blocks, without their order. */
#define BB_MIX_MOST_PATHS 16
struct bb_mix_paths {
	/* path_of[n_places]: path_of[i] is the path of input number i of the mix, as an index into
	 * words[]. BB_MIX_MOST_PATHS: the input takes a path that is not in words[]. */
	uint8_t *path_of;
	size_t n_places;
	/* words[path]: text that says how this path differs from the most frequent path, or NULL;
	 * owned */
	char *words[BB_MIX_MOST_PATHS];
};
void bb_mix_paths__done(struct bb_mix_paths *p);

/* One batch: consecutive samples of one program. The caller sets the members above the empty line,
 * the driver sets the members below it. */
struct bb_batch {
	/* ns[want]: the samples. Each is the cost of one run, in 1/units_per_ns ns (units_per_ns of
	 * struct bb_drive_kind). */
	uint64_t *ns;
	/* paths[want]: the path of each run, for the drive `exact`; NULL for other drives. */
	uint64_t *paths;
	/* returns[want]: return value of each run, for a mix of inputs; NULL: not wanted */
	uint32_t *returns;
	/* true: the batch begins with the first input of a mix; false: with the input that follows
	 * the input of the last run */
	bool rewinds;
	/* places[want]: position in the mix of each run's input; NULL: not wanted */
	uint32_t *places;
	/* the paths of the mix; NULL: there is no mix, or its paths are unknown */
	const struct bb_mix_paths *mix_paths;
	/* Number of samples to take. The driver takes fewer, or none, only if the time is over. */
	size_t want;
	/* In: number of runs to fire and discard first. Out: number of runs discarded. */
	size_t warmup;
	/* Longest wall time of the batch, s. For drives over a workload: longest CPU time of the
	 * workload, s. A driver that fires takes at least one sample even if the time is over. 0:
	 * only the budget limits the batch (base/deadline.h). */
	double max_s;
	/* true: empty the program's rings after every run; false: empty only rings that are half
	 * full */
	bool drain_each_run;

	size_t n; /* number of samples taken */
	/* Events fired after the warm-up (drive `slope`: lines measured); 0 if they cannot be
	 * counted. */
	uint64_t fired;
	/* growth of the kernel's counters of the program during the batch, without the warm-up */
	uint64_t run_cnt, run_time_ns;
	uint64_t events; /* in situ: number of packets sent or requests answered; else 0 */
	uint64_t multi;  /* runs that shared a window with other runs, and so gave no sample */
	double elapsed_s;
	double target_cpu_s; /* CPU time of the workload, s; NAN without a workload */
	struct {
		double intercept_ns;         /* cost of a system call without its runs, ns */
		double pmu[BB_PMU_COUNTERS]; /* hardware counts of one run; NAN without a PMU */
	} slope;                             /* NAN for other drives */
	double floor_ns; /* drive `hook`: cost of an empty program, ns; NAN for other drives */
	/* Number of test calls that were repeated because a signal interrupted them. The runs of
	 * the interrupted calls count in `warmup`. */
	uint64_t retries;
	/* line_ns: time to read a cache line after the caches were emptied, ns; NAN with hot
	 * caches. emptied: what was emptied; valid while the drive is open; NULL with hot
	 * caches. */
	double line_ns;
	const char *emptied;
	/* drive `pipeline`: use of the ring over time. The driver allocates it, the caller frees
	 * it. NULL for other drives. */
	struct bb_ring_use *flow;
	/* Return value of the first test run, such as "1 (XDP_DROP)"; empty for other triggers, for
	 * floors and for mixes. */
	char returned[32];
	/* type that names the values in returns[]; NULL: there are no test runs */
	const struct bb_test_run_type *run_type;
	/* Why the samples do not count; empty means that they count. */
	char void_why[200];
};

/* Adds `runs` runs, which took `ns` in all, to the batch. If runs == mean_of (mostly 1), the mean
 * time of these runs is a sample; otherwise the runs are counted, and give no sample. */
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

/* An open drive. It is the first member of the struct that a driver defines for its state. */
struct bb_drive_state {
	const struct bb_driver *driver;
	const struct bb_drive_spec *spec; /* borrowed */
	struct bb_driver_opts opts;
	struct bb_rng rng; /* begins with opts.seed */
	/* command line whose run times are the samples; owned; NULL for other drives */
	char *command;
	/* the drive's open trigger (drivers/trigger.h); NULL: the drive has none */
	struct bb_trigger_state *fired;
};

/* A load of a program in an open drive. It is the first member of a driver's struct for slots. */
struct bb_drive_slot {
	struct bb_drive_state *state;
	struct bb_test_prog *prog;
	/* the program, attached to the trigger (drivers/trigger.h); NULL: it is not attached */
	struct bb_attached *attached;
};

/* The argument `state` or `slot` of a function is the driver's own struct. bb_driver__open() and
 * bb_driver__attach() allocate and zero it; bb_driver__close() and bb_driver__detach() free it. A
 * function that is NULL has nothing to do. */
struct bb_driver {
	struct bb_drive_kind kind;
	/* What makes the program run. NULL for drives that wait for runs, and for instruments. */
	const struct bb_drive_trigger *trigger;
	/* true: registry.c makes a driver of this instrument with each trigger */
	bool is_instrument;
	/* true: the driver polls counters on opts.poll_cpu, which must then differ from opts.cpu */
	bool polls;
	/* Sizes of the driver's own structs for its state and a slot, bytes. 0: the driver uses
	 * struct bb_drive_state or struct bb_drive_slot. */
	size_t state_bytes, slot_bytes;
	/* Returns 0, or -ENOTSUP with the reason if the drive does not work on this machine. */
	int (*open)(void *state, struct bb_err *err);
	/* Called once before anything is measured, after the trigger's probe(). Returns 0 if the
	 * driver can drive this program, else -ENOTSUP with the reason. */
	int (*probe)(void *state, struct bb_test_prog *prog, struct bb_err *err);
	/* Prepares a slot. NULL: the program is attached to the drive's trigger, if it has one. */
	int (*attach)(void *slot, struct bb_err *err);
	int (*batch)(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err);
	/* Writes what makes the program run, for the report. NULL: the name of the drive already
	 * says it. `input` is NULL if the driver chooses the input. */
	void (*fired_by)(const struct bb_input *input, const struct bb_test_prog *prog,
			 char *ret_words, size_t size);
	/* detach() undoes attach(); the program is already detached from the trigger. close()
	 * undoes open(). Both are called even if attach() or open() failed midway. */
	void (*detach)(void *slot);
	void (*close)(void *state);
};

/* Opens a drive: the driver of its kind, and that driver's trigger. `spec` must outlive the state.
 * Returns 0 or -errno. */
int bb_driver__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		    struct bb_drive_state **ret_state, struct bb_err *err);
/* Returns 0 if the drive can drive the program, else -errno with the reason. */
int bb_driver__probe(struct bb_drive_state *state, struct bb_test_prog *prog, struct bb_err *err);
/* Attaches the current load of the program. Returns 0 or -errno. */
int bb_driver__attach(struct bb_drive_state *state, struct bb_test_prog *prog,
		      struct bb_drive_slot **ret_slot, struct bb_err *err);
/* Takes a batch of samples. If the driver sets no target_cpu_s, it becomes NAN. If the driver sets
 * no elapsed_s, it becomes the time that the driver took. Returns 0 or -errno. */
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

/* Makes a driver of each pair of an instrument and a trigger, and registers the kinds of all
 * drivers (bb_drive_kinds__pass()). main() calls it once. */
void bb_drivers__register(void);

/* Returns the driver that counts the instructions of the runs that `driver` fires; NULL if they
 * cannot be counted. */
const struct bb_driver *bb_driver__executed_by(const struct bb_driver *driver);

/* For a driver that takes inputs but varies another parameter (`parallel`): returns the driver that
 * counts the instructions of a run on the first input. NULL for other drivers. */
const struct bb_driver *bb_driver__first_executed_by(const struct bb_driver *driver);

/* Returns the driver of a registered kind. */
static inline const struct bb_driver *bb_driver_of(const struct bb_drive_kind *kind)
{
	return (const struct bb_driver *)(const void *)((const char *)kind -
							offsetof(struct bb_driver, kind));
}

/* Pins the calling thread to one CPU. Returns 0, or -errno with a message. */
int bb_pin_to_cpu(int cpu, struct bb_err *err);
