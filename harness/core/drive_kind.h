/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CORE_DRIVE_KIND_H
#define BB_CORE_DRIVE_KIND_H

#include "base/std.h"

/*
 * A kind of drive as data: all that the scenario reader, the plan, a run, a report and the commands
 * know about it. Each driver (drivers/NAME.c) defines its own. drivers/registry.c lists them, and
 * the list is passed down at the start of the program. Other code names a kind only for an option
 * or key that stands for it (--lines, --drive hook, the drives of a bare object).
 */

/* How many samples a drive takes, and how many in succession. */
struct bb_pace {
	uint32_t samples; /* default per case, over all loads; 0: the drive measures by time */
	/* upper limit per variant, over all values of its parameter, but at least one per load;
	 * 0: none */
	uint32_t sweep_samples;
	uint32_t turn;         /* samples in succession before another case has its turn */
	uint32_t pair_turn;    /* the same in a comparison of two programs; <= BB_PAIR_TURN_MOST */
	uint32_t warmup_first; /* runs to discard after a new load */
	uint32_t warmup_turn;  /* runs to discard when a later turn begins */
	uint32_t pair_warmup;  /* runs to discard in a comparison of two programs */
	double sample_s;       /* rough time of a sample, s; only the progress bar uses it */
};

#define BB_PAIR_TURN_MOST 16u

/* What a sample of a drive is. */
struct bb_sample_kind {
	const char *noun; /* "run" */
	const char *unit; /* "ns per run", a table's heading */
	bool is_lag;      /* a delay, not a cost; BMF has measures of its own for it */
};

#define BB_SAMPLE_RUN                                                                              \
	{                                                                                          \
		"run", "ns per run", false                                                         \
	}

/* Figures that only some kinds have, as bits of bb_drive_kind.fills. */
enum bb_drive_fills {
	BB_FILLS_RUN_RATE = 1, /* runs per second, and their share of a CPU, by wall time */
	BB_FILLS_SLOWDOWN = 2, /* the time divided by the floor's */
	BB_FILLS_PMU = 4,      /* cycles, instructions and cache misses per run */
	/* the latency is the mean of all runs, outliers too; the longest run is known */
	BB_FILLS_WORST = 8,
};

#define BB_DRIVE_KEYS 6u

/* A key that a scenario may give beside `with`. */
struct bb_drive_key {
	const char *name; /* NULL: there is no more key */
	/* allowed values: value i; the first is the default, NULL follows the last. NULL: any
	 * value */
	const char *(*choice)(size_t i);
};

struct bb_drive_kind {
	/* How a scenario names the kind. */
	const char *with;   /* the value of `with` */
	const char *by_key; /* "trigger" or "event" if several kinds share `with`; else NULL */
	const char *by[2];  /* values of that key that choose this kind */
	const char *name;   /* name in cases and options; NULL: the same as `with` */
	/* name if caches are emptied before each run; NULL: impossible */
	const char *cold_name;
	const char *title; /* name in messages: "step by test-run"; NULL: the same as `with` */
	const char *doc;   /* one sentence for --help */
	struct bb_drive_key keys[BB_DRIVE_KEYS]; /* its own, beside those of all kinds */

	/* The parameter that distinguishes its cases. */
	const char *param; /* also the key of its values; NULL: none, or the inputs */
	uint32_t param_default;
	bool takes_inputs; /* its cases are the scenario's `inputs` */

	/* Default amounts. */
	struct bb_pace pace;
	struct bb_pace cold;  /* with emptied caches; zero: impossible */
	double seconds;       /* per case, over all loads; 0: measures by samples */
	double compare_s;     /* least budget of a comparison, s; 0: the usual one */
	size_t batch_samples; /* drives by time: room for the samples of a load; 0: follows from the
				 rate */
	double samples_per_event; /* drives by time with a rate: most samples per requested event */

	/* Its figures. */
	struct bb_sample_kind sample;
	uint32_t units_per_ns; /* of its samples: 1000 for ps; 0: 1 */
	unsigned int fills;    /* bits of enum bb_drive_fills */
	bool is_whole;         /* a sample covers more than the program, so it is no mean of runs */
	const char *agrees_with; /* drive that must agree with it; may be NULL */
	bool own_floor;          /* each series has its own empty program, at the same hook */

	/* Its needs and effects. */
	bool needs_bpf; /* false: nothing is loaded into the kernel */
	bool synthetic; /* samples come from a script and not from the machine */
	bool fires; /* it fires events, and a series without exactly one run per event is void */
	bool shares_events;    /* other processes may make the program run, which does not void the
				  series */
	bool one_by_one;       /* work can be done between any two runs */
	bool counts;           /* samples are instructions: drivers/exact.c */
	bool by_line;          /* it also times the lines of a run: drivers/lines.c */
	bool read_only;        /* may drive a live program */
	bool any_sampler;      /* may drive variants that sample without a program */
	bool stats_off;        /* needs bpf_stats off */
	bool watches_workload; /* the program runs at events of a workload of ours */
	bool whole_object;     /* all programs of an object share a set of maps */
};

/* All kinds, in the order of printed lists; empty until bb_drive_kinds__pass(). */
extern const struct bb_drive_kind *const *bb_drive_kinds;
extern size_t bb_n_drive_kinds;
/* Sets the list kinds[n], which is borrowed forever. */
void bb_drive_kinds__pass(const struct bb_drive_kind *const *kinds, size_t n);

/* Finds the kind by `with` and the value of its by_key (NULL: the first kind with that `with`).
 * Returns NULL if there is none. */
const struct bb_drive_kind *bb_drive_kind_find(const char *with, const char *by);

/* The name of the kind of `bpfbench inside`, which no scenario can choose. */
#define BB_DRIVE_INSIDE "inside"

/* Finds the kind by the name of a drive in a case ("in-situ-http", "step-cold"). A name that
 * this version does not know gives a kind that only has samples of runs. Never NULL. */
const struct bb_drive_kind *bb_drive_kind_named(const char *drive);

/* Returns the name of its drives in cases, without emptied caches. */
const char *bb_drive_kind_name(const struct bb_drive_kind *kind);

/* Returns its name in messages: "step by test-run". */
const char *bb_drive_kind_title(const struct bb_drive_kind *kind);

/* Returns its key of that name, or NULL. Keys of all kinds are not in its list. */
const struct bb_drive_key *bb_drive_kind_key(const struct bb_drive_kind *kind, const char *name);

/* Values of keys that several kinds have, as in bb_drive_key.choice: "cpu-clock", "task-clock";
 * names of sample consumers for variants (workloads/process_sample.c). */
const char *bb_clock_name(size_t i);
const char *bb_sample_consumer_name(size_t i);

#endif
