/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CORE_DRIVE_KIND_H
#define BB_CORE_DRIVE_KIND_H

#include "base/std.h"

/*
 * A kind of drive as data: all that the scenario reader, the plan, a run, a report and the commands
 * know of it. Each driver (drivers/NAME.c) defines its own; drivers/registry.c lists them and
 * passes the list down when a program begins. Elsewhere a kind is named only where an option or a
 * key stands for it (--lines, --drive hook, the drives of a bare object).
 */

/* How many samples a drive takes, and how many in a row. */
struct bb_pace {
	uint32_t samples; /* default of a case, all loads together; 0: the drive goes by time */
	/* upper limit of a variant, all values of its parameter together, but one a load at the
	 * least; 0: none */
	uint32_t sweep_samples;
	uint32_t turn;         /* in a row, before another case has its turn */
	uint32_t pair_turn;    /* the same when two programs are compared; <= BB_PAIR_TURN_MOST */
	uint32_t warmup_first; /* runs to discard when a load is new */
	uint32_t warmup_turn;  /* runs to discard when its turn comes again */
	uint32_t pair_warmup;  /* the same when two programs are compared */
	double sample_s;       /* rough time of one, s; only the progress bar depends on it */
};

#define BB_PAIR_TURN_MOST 16u

/* The meaning of one sample of a drive. */
struct bb_sample_kind {
	const char *noun; /* "run" */
	const char *unit; /* "ns per run", the heading of a table */
	bool is_lag;      /* a delay, not a cost: BMF measures of its own */
};

#define BB_SAMPLE_RUN                                                                              \
	{                                                                                          \
		"run", "ns per run", false                                                         \
	}

/* Figures that only some kinds have: bits of bb_drive_kind.fills. */
enum bb_drive_fills {
	BB_FILLS_RUN_RATE = 1, /* runs a second and their share of a CPU, in wall time */
	BB_FILLS_SLOWDOWN = 2, /* the ratio to the floor's time */
	BB_FILLS_PMU = 4,      /* cycles, instructions and cache misses of a run */
};

/* A key that a scenario may give beside `with`. */
struct bb_drive_key {
	const char *name; /* NULL: the end of a list */
	/* its legal values: value i, the first the default, NULL behind the last; NULL: any */
	const char *(*choice)(size_t i);
};

struct bb_drive_kind {
	/* How a scenario names it. */
	const char *with;   /* the value of `with` */
	const char *by_key; /* "trigger" or "event" where kinds share `with`, or NULL */
	const char *by[2];  /* the values of that key which mean this kind */
	const char *name;   /* in names of cases and options; NULL: as `with` */
	/* the same with caches emptied before each run; NULL: cannot */
	const char *cold_name;
	const char *title; /* in messages: "step by test-run"; NULL: as `with` */
	const char *doc;   /* one sentence for --help */
	/* its keys besides those of all kinds; NULL: none */
	const struct bb_drive_key *keys;

	/* The parameter that its cases are told apart by. */
	const char *param; /* also the key of its values; NULL: none, or inputs */
	uint32_t param_default;
	bool takes_inputs; /* its cases are the scenario's `inputs` */

	/* Its default amounts. */
	struct bb_pace pace;
	struct bb_pace cold;      /* with caches emptied before each run; zero: cannot */
	double seconds;           /* of a case, all loads together; 0: goes by samples */
	double compare_s;         /* budget of a comparison, s, at the least; 0: the usual one */
	size_t batch_samples;     /* by time: room for one load's samples; 0: by the rate */
	double samples_per_event; /* by time with a rate: at most, for each event asked for */

	/* Its figures. */
	struct bb_sample_kind sample;
	uint32_t units_per_ns;   /* of its samples: 1000 for ps; 0: 1 */
	unsigned int fills;      /* bits of enum bb_drive_fills */
	bool is_whole;           /* samples are of more than the program: no mean of its runs */
	const char *agrees_with; /* drive whose figures it is checked against, or NULL */
	bool own_floor;          /* each series has an empty program of its own, on the same hook */

	/* Its needs and its effects. */
	bool needs_bpf;        /* false: nothing is loaded into the kernel */
	bool synthetic;        /* samples come from a script, not from the machine */
	bool fires;            /* it fires the events: as many runs as events, or void */
	bool shares_events;    /* others make the program run meanwhile: no fault of the series */
	bool one_by_one;       /* something can be done between any two runs */
	bool counts;           /* samples are instructions: drivers/exact.c */
	bool by_line;          /* it times the lines of a run, too: drivers/lines.c */
	bool read_only;        /* it may drive a live program */
	bool any_sampler;      /* it drives variants that sample without a program, too */
	bool stats_off;        /* bpf_stats must be off meanwhile */
	bool watches_workload; /* the program runs on events of a workload of ours */
	bool whole_object;     /* the programs of one object use one set of maps */
};

/* All kinds, in the order in which lists of them are printed; none before they are passed. */
extern const struct bb_drive_kind *const *bb_drive_kinds;
extern size_t bb_n_drive_kinds;
/* kinds[n], borrowed for good. */
void bb_drive_kinds__pass(const struct bb_drive_kind *const *kinds, size_t n);

/* The kind that `with` and the value of its by_key mean (NULL: the first of that `with`); NULL:
 * there is none. */
const struct bb_drive_kind *bb_drive_kind_find(const char *with, const char *by);

/* By the name of a drive in a case ("in-situ-http", "step-cold"). One that this version does not
 * know is a kind that has nothing but samples of runs. Never NULL. */
const struct bb_drive_kind *bb_drive_kind_named(const char *drive);

/* The name of its drives in cases, caches as they are. */
const char *bb_drive_kind_name(const struct bb_drive_kind *kind);

/* As messages call it: "step by test-run". */
const char *bb_drive_kind_title(const struct bb_drive_kind *kind);

/* Its key of that name, or NULL. Keys of all kinds are not in its list. */
const struct bb_drive_key *bb_drive_kind_key(const struct bb_drive_kind *kind, const char *name);

/* The values of keys that several kinds have: "cpu-clock", "task-clock"; names of sample consumers,
 * which a variant chooses from (workloads/process_sample.c). As bb_drive_key.choice. */
const char *bb_clock_name(size_t i);
const char *bb_sample_consumer_name(size_t i);

#endif
