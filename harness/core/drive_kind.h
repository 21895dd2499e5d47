/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A drive is a way to make programs run and to measure them. A kind of drive is described here as
 * data: all that the rest of bpfbench knows about it. Each driver (drivers/NAME.c) defines its own
 * kinds. drivers/registry.c passes a list of them all to bb_drive_kinds__pass() when bpfbench
 * starts. */

/* How many samples a kind of drive takes of a case, and how many runs it discards. A case is one
 * program measured at one value of a parameter. */
struct bb_pace {
	/* default number of samples per case, over all loads; 0 if the drive measures by time */
	uint32_t samples;
	/* Limit of the samples of a variant over all values of the parameter; 0 means no limit.
	 * Each load still gets at least one sample of each value. */
	uint32_t sweep_samples;
	uint32_t turn; /* samples of one case before the next case is measured */
	/* In a comparison: samples of one program before the other; at most BB_PAIR_TURN_MOST. */
	uint32_t pair_turn;
	uint32_t warmup_first; /* runs to discard after a new load */
	/* runs to discard before each later group of `turn` samples */
	uint32_t warmup_turn;
	/* runs to discard before each later group of `pair_turn` samples */
	uint32_t pair_warmup;
	/* rough time of a sample, s, to estimate how long bpfbench will run */
	double sample_s;
};

#define BB_PAIR_TURN_MOST 16u

struct bb_sample_kind {
	const char *noun; /* what is sampled: "run" */
	const char *unit; /* heading of tables: "ns per run" */
	/* a sample is a delay and not a cost; the export to Bencher tells them apart */
	bool is_lag;
	/* ns in one `unit`, such as 1000; 0 if `unit` is ns and tables show long times in ms */
	double shown_ns;
};

#define BB_SAMPLE_RUN                                                                              \
	{                                                                                          \
		"run", "ns per run", false                                                         \
	}

/* Figures that only some kinds of drives have, as bits of bb_drive_kind.fills. */
enum bb_drive_fills {
	/* runs per second of wall time, and their share of a CPU */
	BB_FILLS_RUN_RATE = 1,
	BB_FILLS_SLOWDOWN = 2, /* time of a command divided by its time with the empty program */
	BB_FILLS_PMU = 4,      /* cycles, instructions and cache misses per run */
	/* time of the longest run */
	BB_FILLS_WORST = 8,
	BB_FILLS_MEAN = 16, /* the latency is the mean of all runs, with outliers */
	/* runs per second of all CPUs together; the parameter is the number of CPUs */
	BB_FILLS_THROUGHPUT = 32,
	BB_FILLS_PACKET_RATE = 64,
};

#define BB_DRIVE_KEYS 6u

/* A key of a drive in a scenario file, besides `with`. */
struct bb_drive_key {
	const char *name; /* NULL ends the list of keys */
	/* Returns the i-th allowed value of the key, from 0 on, or NULL after the last one. Value 0
	 * is the default. If `choice` is NULL, every value is allowed. */
	const char *(*choice)(size_t i);
};

/* Beginning of the reason for discarding a period in which a watched program did not run. */
#define BB_NO_RUN "no run in "

struct bb_drive_kind {
	const char *with; /* value of the scenario's key `with` */
	/* older name for `with`, or NULL */
	const char *old_with;
	/* The scenario's key "trigger" or "event", if it chooses between kinds with the same
	 * `with`. NULL if only one kind has this `with`. */
	const char *by_key;
	/* values of the key `by_key` that choose this kind */
	const char *by[2];
	const char *name; /* name of the drive in cases and options; NULL if it is `with` */
	/* name of the drive with emptied caches; NULL if it cannot empty caches */
	const char *cold_name;
	/* name of the drive with the key `same_input`; NULL if there is no such key */
	const char *same_name;
	const char *title; /* name in messages, "step by test-run"; NULL if it is `with` */
	const char *doc;
	/* keys of a scenario that only some kinds have */
	struct bb_drive_key keys[BB_DRIVE_KEYS];

	/* The name of the parameter that distinguishes the cases, and of the key with its values.
	 * NULL if there is none, or if the cases differ in their input. */
	const char *param;
	uint32_t param_default;
	bool takes_inputs; /* each of the scenario's `inputs` is a case */

	struct bb_pace pace;
	struct bb_pace cold; /* pace with emptied caches; zeroed if caches cannot be emptied */
	/* time per case over all loads, s; 0 if the drive takes the samples of `pace` */
	double seconds;
	double compare_s; /* least default time for a comparison, s */
	/* If the drive measures by time: most samples of one load. 0 if the rate decides. */
	size_t batch_samples;
	/* If the drive measures by time at a rate: most samples per requested event. */
	double samples_per_event;

	struct bb_sample_kind sample;
	uint32_t units_per_ns; /* samples are in 1/units_per_ns ns; 0 means 1 */
	unsigned int fills;
	/* a sample covers more than a run, so it is longer than run_time_ns / run_cnt */
	bool is_whole;
	/* name of a drive that must give the same results, or NULL */
	const char *agrees_with;
	/* Cases have no floor (cost of an empty program), because a program's verdict on a packet
	 * changes the packet's cost. */
	bool no_floor;
	/* each series measures its own empty program at the same hook */
	bool own_floor;

	bool needs_bpf; /* false if nothing is loaded into the kernel */
	bool synthetic; /* the samples are invented, for tests (drivers/fake.c) */
	/* the drive causes the events; each must make the program run exactly once */
	bool fires;
	bool shares_events; /* runs caused by other processes do not void a series */
	/* the drive can act between any two runs, for example empty caches */
	bool one_by_one;
	/* samples are numbers of instructions, not times (drivers/exact.c) */
	bool counts;
	bool by_line;
	bool read_only;   /* can measure a program that somebody else has loaded */
	bool any_sampler; /* can measure variants that sample without a BPF program */
	bool stats_off;   /* needs bpf_stats to be off */
	/* the program runs at events of a workload that bpfbench starts */
	bool watches_workload;
	bool whole_object; /* all programs of an object must share one set of maps */
};

/* all kinds, in the order of lists; empty until bb_drive_kinds__pass() */
extern const struct bb_drive_kind *const *bb_drive_kinds;
extern size_t bb_n_drive_kinds;
/* kinds[n] must exist until bpfbench ends. */
void bb_drive_kinds__pass(const struct bb_drive_kind *const *kinds, size_t n);

/* Finds the kind with this `with` or `old_with`; NULL if there is none. If there are several, `by`
 * chooses one: it is the value of their `by_key`. If `by` is NULL, returns the first one. */
const struct bb_drive_kind *bb_drive_kind_find(const char *with, const char *by);

/* kinds of `bpfbench inside` and `bpfbench live --save` */
#define BB_DRIVE_INSIDE "inside"
#define BB_DRIVE_WATCH "watch"

/* Finds the kind by the name of its drives in cases ("in-situ-http", "step-cold"). Never returns
 * NULL: for an unknown name, returns a kind that only says that samples are times of runs in ns. */
const struct bb_drive_kind *bb_drive_kind_named(const char *drive);

/* Returns the name of the drive in cases without emptied caches. */
const char *bb_drive_kind_name(const struct bb_drive_kind *kind);

const struct bb_drive_key *bb_drive_kind_key(const struct bb_drive_kind *kind, const char *name);

/* Functions for bb_drive_key.choice. The clocks are "cpu-clock" and "task-clock". The consumers,
 * which read samples from a ring, are in workloads/process_sample.c, and "none". */
const char *bb_clock_name(size_t i);
const char *bb_sample_consumer_name(size_t i);
