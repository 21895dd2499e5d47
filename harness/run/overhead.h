/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/metric.h"
#include "run/agent.h"
#include "stats/verdict.h"

/* Figures for the cost of an agent to a workload. The same commands run in turns with the agent
 * (head) and without it or with another agent (base). A block is four turns, ABBA or BAAB at
 * random, and gives one difference. docs/overhead.md explains the figures. */
enum bb_overhead_what {
	/* CPU time of the workload, the server and the agent, which gets a verdict */
	BB_OVERHEAD_CPU,
	/* CPU time of the whole machine: the time of all CPUs less idle time and steal of
	 * /proc/stat. The resolution is 10 ms per turn. It gets a verdict, too. */
	BB_OVERHEAD_MACHINE,
	BB_OVERHEAD_WALL,
	BB_OVERHEAD_BYSTANDER, /* CPU time of the command --bystander */
	/* a load generator's mean, median and 99 % latency, s, and requests a second */
	BB_OVERHEAD_LATENCY,
	BB_OVERHEAD_P50,
	BB_OVERHEAD_P99,
	BB_OVERHEAD_RATE,
	BB_N_OVERHEAD,
};

/* Fewest blocks for a verdict, because fewer give no interval at 99 %. */
#define BB_OVERHEAD_LEAST_BLOCKS 8

/* The figures from BB_OVERHEAD_LATENCY on, which a load generator prints. NAN if it does not. */
struct bb_load_figures {
	double x[BB_N_OVERHEAD - BB_OVERHEAD_LATENCY];
};

/* A load generator whose output bpfbench can read. */
struct bb_load_generator {
	const char *name, *doc;
	/* Returns -EPROTO if `text` has no number of requests a second. */
	int (*read)(const char *text, struct bb_load_figures *ret_figures);
};

#define BB_N_LOAD_GENERATORS 3
extern const struct bb_load_generator bb_load_generators[BB_N_LOAD_GENERATORS];

struct bb_overhead_opts {
	/* `agent` runs in head's turns, `against` in base's turns. against.command.shell is NULL if
	 * base's turns have no agent. */
	struct bb_agent_spec agent, against;
	/* in an unused `server` or `bystander`, `shell` and `program` are NULL */
	struct bb_command_spec workload, server, bystander;
	/* NULL if the workload is no load generator */
	const struct bb_load_generator *generator;
	/* time for the server to start before the workload runs, s */
	double server_s;
	double budget_s;   /* wall time after which no turn begins, s */
	double max;        /* largest acceptable cost (0.03 is 3 %) */
	uint32_t requests; /* requests in one run of the workload (figures are per request) */
	uint64_t seed;
};

struct bb_overhead_turn {
	uint32_t block;
	/* true for a turn with --agent; false for a turn without it or with --against */
	bool is_head;
	/* Seconds per request. The bystander's figure is seconds per run. The load generator's
	 * figures are its own. NAN if not measured. */
	double s[BB_N_OVERHEAD];
	double agent_s;     /* CPU time of the agent's processes, s per request */
	uint64_t rss_bytes; /* resident memory of the agent at the end of the turn */
};

struct bb_overhead_figure {
	double base_s, head_s; /* medians over turns, s per request */
	/* head / base: Hodges-Lehmann estimate and signed-rank interval */
	struct bb_estimate ratio;
	enum bb_verdict verdict; /* regressed if above the limit, same if within it */
};

struct bb_overhead_program {
	struct bb_loaded program;
	double runs, ns; /* runs per request, and ns per run; NAN if it did not run */
	/* runs that the kernel left out (recursion_misses) */
	uint64_t misses;
	bool is_gone;
};

struct bb_overhead {
	struct bb_overhead_turn *turns;
	size_t n_turns;
	size_t n_blocks; /* complete blocks (turns after them are of an incomplete block) */
	uint64_t n_runs;
	uint32_t runs_a_turn; /* runs of the workload in a turn of the last block */
	struct bb_overhead_figure figures[BB_N_OVERHEAD];
	/* the agent's programs, measured in up to four turns with bpf_stats on */
	struct bb_overhead_program *programs;
	size_t n_programs;
	/* the agent's ring buffers; their `pages` are NULL */
	struct bb_agent_ring *rings;
	size_t n_rings, n_perf_buffers;
	/* CPU time per request in the turns with bpf_stats on, s; 0 if there were none */
	double parts_turn_s;
	/* agent_s is the median over turns of the agent's CPU time, s per request */
	double agent_s, map_bytes, rss_bytes;
	double elapsed_s, steal;
	uint32_t n_starts;
	uint32_t n_killed;
	/* programs that were unloaded by removing their pins */
	size_t n_cleaned;
	uint32_t n_gone; /* turns in which programs of an agent were unloaded */
	char gone[BB_LOADED_NAME];
	char why[320]; /* why the verdict is inconclusive; empty for other verdicts */
	/* budget that should give a verdict, s; NAN if none would */
	double advised_s;
};

/* Runs the turns and computes the figures. After an error, the result has what was measured so far.
 * Free it with bb_overhead__done() in all cases. */
int bb_overhead__measure(const struct bb_overhead_opts *opts, struct bb_overhead *ret_overhead,
			 struct bb_err *err);
void bb_overhead__done(struct bb_overhead *o);

/* Computes the figures and `why` from the turns, the elapsed time and opts->max. */
void bb_overhead__judge(struct bb_overhead *o, const struct bb_overhead_opts *opts);

/* Returns true if the CPU time of the workload or of the machine is surely above the limit. */
bool bb_overhead__is_above(const struct bb_overhead *o);

/* Return the time of a run, ns, and the CPU time per request, s, of one of the agent's programs.
 * They are measured with bpf_stats on and scaled to the speed of the other turns. */
double bb_overhead__program_ns(const struct bb_overhead *o, const struct bb_overhead_program *p);
double bb_overhead__program_s(const struct bb_overhead *o, const struct bb_overhead_program *p);

/* Returns the agent's cost per request, s, less the CPU time of its programs and processes. */
double bb_overhead__unexplained_s(const struct bb_overhead *o);
