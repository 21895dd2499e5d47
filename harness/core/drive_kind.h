/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * A kind of drive as data: all that the scenario reader, the plan, a run, a report and the commands
 * know about it. Each driver (drivers/NAME.c) defines its own kind or kinds. drivers/registry.c
 * lists them all and passes the list to bb_drive_kinds__pass() when bpfbench starts. Other code
 * names a single kind only where an option or a default asks for it, such as --lines.
 */

/* How many samples a kind of drive takes of a case, and how many runs it discards. */
struct bb_pace {
	uint32_t samples; /* default number of samples per case, over all loads; 0: the drive
			     measures by time */
	/* limit: samples of a variant over all values of the parameter; each load still gets at
	 * least one sample of each value. 0: no limit */
	uint32_t sweep_samples;
	uint32_t turn; /* samples of one case before another case has its turn */
	/* in a comparison: samples of one program before the other program has its turn; <=
	 * BB_PAIR_TURN_MOST */
	uint32_t pair_turn;
	uint32_t warmup_first; /* runs to discard after a new load */
	/* runs to discard at the beginning of each later turn of the same load */
	uint32_t warmup_turn;
	/* in a comparison: runs to discard at the beginning of each later turn of the same load */
	uint32_t pair_warmup;
	/* rough time that a sample takes, s; for the progress bar and for estimates of how long
	 * bpfbench will run */
	double sample_s;
};

#define BB_PAIR_TURN_MOST 16u

/* What the samples of a kind of drive are called. */
struct bb_sample_kind {
	const char *noun; /* what is sampled, in tables and messages: "run" */
	const char *unit; /* unit of a sample, a table's heading: "ns per run" */
	/* true: a sample is a delay, not a cost; BMF has separate measures for delays */
	bool is_lag;
	/* number of ns in one `unit`: 1000 for us. 0: `unit` is ns, and tables show longer times in
	 * ms */
	double shown_ns;
};

#define BB_SAMPLE_RUN                                                                              \
	{                                                                                          \
		"run", "ns per run", false                                                         \
	}

/* Figures that only some kinds of drives have, as bits of bb_drive_kind.fills. */
enum bb_drive_fills {
	/* runs per second of wall time, and the share of a CPU that these runs take */
	BB_FILLS_RUN_RATE = 1,
	BB_FILLS_SLOWDOWN = 2, /* time of a command divided by the floor's time */
	BB_FILLS_PMU = 4,      /* cycles, instructions and cache misses per run */
	/* time of the longest run of the program; a comparison gives it no verdict */
	BB_FILLS_WORST = 8,
	BB_FILLS_MEAN = 16, /* the latency is the mean of all runs, with outliers */
	/* runs per second of all CPUs together; the parameter is the number of CPUs */
	BB_FILLS_THROUGHPUT = 32,
	BB_FILLS_PACKET_RATE = 64, /* packets per second */
};

#define BB_DRIVE_KEYS 6u

/* A key that a drive has in a scenario, besides `with`. */
struct bb_drive_key {
	const char *name; /* name of the key; NULL: the end of the list of keys */
	/* Returns the i-th allowed value of the key, from 0 on; NULL after the last. Value 0 is the
	 * default. If `choice` is NULL, every value is allowed. */
	const char *(*choice)(size_t i);
};

/* A slice in which the live program did not run is void. The reason for that begins with this
 * text. */
#define BB_NO_RUN "no run in "

struct bb_drive_kind {
	/* The keys by which a scenario names the kind. */
	const char *with; /* value of the scenario's key `with` */
	/* older value of `with` that scenarios may have; NULL: there is none */
	const char *old_with;
	const char *by_key; /* "trigger" or "event": the scenario's key that chooses between kinds
			       with the same `with`; NULL: only one kind has this `with` */
	/* values of the key `by_key` that choose this kind; unused entries are NULL */
	const char *by[2];
	const char *name; /* name of the drive in cases and options; NULL: the name is `with` */
	/* name of the drive in cases with emptied caches; NULL: this kind cannot empty caches */
	const char *cold_name;
	/* name of the drive in cases with the key `same_input`; NULL: this kind has no such key */
	const char *same_name;
	const char *title; /* name in messages, "step by test-run"; NULL: the name is `with` */
	const char *doc;   /* description for --help, one sentence */
	/* keys of a scenario that only some kinds have; keys that every kind has are not listed */
	struct bb_drive_key keys[BB_DRIVE_KEYS];

	/* The parameter that distinguishes the cases of a drive. */
	const char *param; /* name of the parameter, and of the key with its values; NULL: the kind
			      has no parameter, or its parameter is the input */
	uint32_t param_default;
	bool takes_inputs; /* true: each of the scenario's `inputs` is a case */

	/* Default numbers of samples and default times. */
	struct bb_pace pace;
	struct bb_pace cold; /* pace with emptied caches; zeroed: this kind cannot empty caches */
	/* time per case, over all loads, s; 0: the drive takes the number of samples in `pace` */
	double seconds;
	double compare_s; /* smallest default budget of a comparison, s */
	/* for a drive that measures by time: largest number of samples of one load; 0: it is
	 * computed from the rate */
	size_t batch_samples;
	/* for a drive that measures by time at a rate: largest number of samples per requested
	 * event */
	double samples_per_event;

	/* The samples, and the figures that are computed from them. */
	struct bb_sample_kind sample;
	uint32_t units_per_ns; /* samples are in 1/units_per_ns ns, so 1000 means ps; 0 means 1 */
	unsigned int fills;    /* bits of enum bb_drive_fills */
	/* true: a sample covers more than a run of the program, so it is longer than run_time_ns /
	 * run_cnt */
	bool is_whole;
	/* name of a drive whose results must agree with those of this kind; NULL: there is no such
	 * drive */
	const char *agrees_with;
	/* true: cases have no floor, because the program's verdict on a packet changes the cost of
	 * the packet */
	bool no_floor;
	/* true: each series measures its own floor, an empty program at the same hook */
	bool own_floor;

	/* Needs and effects of the kind. */
	bool needs_bpf; /* false: nothing is loaded into the kernel */
	bool synthetic; /* true: the samples are invented, for tests: drivers/fake.c */
	/* true: the drive fires events itself; a series is void unless each event made the
	 * program run exactly once */
	bool fires;
	bool shares_events; /* true: runs that other processes cause do not void a series */
	/* true: the drive can act between any two runs, for example empty caches */
	bool one_by_one;
	/* true: samples are numbers of instructions, not times: drivers/exact.c */
	bool counts;
	bool by_line;     /* true: also times the lines of a run: drivers/lines.c */
	bool read_only;   /* true: may measure a live program */
	bool any_sampler; /* true: may measure variants that sample without a BPF program */
	bool stats_off;   /* true: needs bpf_stats to be off */
	/* true: the program runs at events of a workload that bpfbench starts */
	bool watches_workload;
	bool whole_object; /* true: all programs of an object must share one set of maps */
};

/* bb_drive_kinds[bb_n_drive_kinds]: all kinds, in the order in which lists print them; empty until
 * bb_drive_kinds__pass(). */
extern const struct bb_drive_kind *const *bb_drive_kinds;
extern size_t bb_n_drive_kinds;
/* Sets bb_drive_kinds to kinds[n], which must exist until bpfbench ends. */
void bb_drive_kinds__pass(const struct bb_drive_kind *const *kinds, size_t n);

/* Finds the kind that has `with` as its member `with` or `old_with`. If several kinds have it, `by`
 * chooses one: it is the value of the key that their member `by_key` names. If `by` is NULL,
 * returns the first of them. Returns NULL if there is no such kind. */
const struct bb_drive_kind *bb_drive_kind_find(const char *with, const char *by);

/* Names of the kinds of `bpfbench inside` and `bpfbench live --save`. */
#define BB_DRIVE_INSIDE "inside"
#define BB_DRIVE_WATCH "watch"

/*
 * Finds the kind by the name that its drives have in cases ("in-situ-http", "step-cold"). For an
 * unknown name, returns a kind that only says that samples are times of runs in ns. Never returns
 * NULL.
 */
const struct bb_drive_kind *bb_drive_kind_named(const char *drive);

/* Returns the name that drives of this kind have in cases if caches are not emptied. */
const char *bb_drive_kind_name(const struct bb_drive_kind *kind);

/* Returns the key `name` of this kind. Returns NULL for other keys, also for keys that every kind
 * has. */
const struct bb_drive_key *bb_drive_kind_key(const struct bb_drive_kind *kind, const char *name);

/*
 * Functions for the member `choice` of keys that several kinds have. The first one has the clocks
 * "cpu-clock" and "task-clock". The second one has "none" and the values of a variant's key
 * `consumer` (workloads/process_sample.c).
 */
const char *bb_clock_name(size_t i);
const char *bb_sample_consumer_name(size_t i);
