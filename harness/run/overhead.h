/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/metric.h"
#include "run/agent.h"
#include "stats/verdict.h"

/* The cost of an agent to a workload. The same commands run in turns with the agent and without it
 * (or with another agent), in blocks of four turns, ABBA or BAAB at random. A block gives one
 * difference. docs/overhead.md explains the figures. */
enum bb_overhead_what {
	/* CPU time of the processes of the workload (getrusage), the server and the agent, with ns
	 * resolution. This figure gets a verdict. */
	BB_OVERHEAD_CPU,
	/* CPU time of the whole machine, from /proc/stat: the time of all CPUs less idle time and
	 * steal. Its resolution is 10 ms per turn. This figure gets a verdict, too. */
	BB_OVERHEAD_MACHINE,
	BB_OVERHEAD_WALL,      /* wall time */
	BB_OVERHEAD_BYSTANDER, /* CPU time of the command --bystander */
	/* figures of the load generator: its latencies, s: mean, median and 99th percentile; and
	 * requests a second */
	BB_OVERHEAD_LATENCY,
	BB_OVERHEAD_P50,
	BB_OVERHEAD_P99,
	BB_OVERHEAD_RATE,
	BB_N_OVERHEAD,
};

/* Fewest blocks for a verdict: fewer give no interval at 99 %. */
#define BB_OVERHEAD_LEAST_BLOCKS 8

/* Figures that a load generator prints about its requests, by enum bb_overhead_what less
 * BB_OVERHEAD_LATENCY. NAN: it does not print this figure. */
struct bb_load_figures {
	double x[BB_N_OVERHEAD - BB_OVERHEAD_LATENCY];
};

/* A load generator whose output we can read. */
struct bb_load_generator {
	const char *name, *doc;
	/* Reads the generator's output, a string. Returns 0, or -EPROTO if it has no number of
	 * requests a second. */
	int (*read)(const char *text, struct bb_load_figures *ret_figures);
};

#define BB_N_LOAD_GENERATORS 3
extern const struct bb_load_generator bb_load_generators[BB_N_LOAD_GENERATORS];

struct bb_overhead_opts {
	/* `agent` runs in head's turns, `against` in base's; against.command.shell is NULL if
	 * base's turns have no agent */
	struct bb_agent_spec agent, against;
	/* `shell` and `program` of `server` or `bystander` are NULL if the user gave no such
	 * command */
	struct bb_command_spec workload, server, bystander;
	/* the load generator that the workload is; NULL: the workload is no load generator */
	const struct bb_load_generator *generator;
	/* time that the server gets to start before the workload runs, s */
	double server_s;
	double budget_s;   /* wall time after which no turn begins, s */
	double max;        /* the limit: largest acceptable cost; 0.03 is 3 % */
	uint32_t requests; /* requests in one run of the workload; figures are per request */
	uint64_t seed;
};

struct bb_overhead_turn {
	uint32_t block;
	bool is_head; /* true: a turn with --agent; false: a turn without it, or with --against */
	double s[BB_N_OVERHEAD]; /* seconds per request; of the bystander, seconds per run; of the
				    load generator, its own figures; NAN: not measured */
	double agent_s;     /* CPU time of the agent's processes in the turn, seconds per request */
	uint64_t rss_bytes; /* resident memory of the agent at the end of the turn */
};

struct bb_overhead_figure {
	double base_s, head_s; /* medians over turns, seconds per request */
	/* head / base: Hodges-Lehmann estimate and interval from the signed ranks of the blocks'
	 * differences */
	struct bb_estimate ratio;
	enum bb_verdict verdict; /* regressed: above the limit; same: within it */
};

struct bb_overhead_program {
	struct bb_loaded program;
	double runs, ns; /* runs per request; ns per run; NAN: it did not run */
	/* runs that the kernel left out in the turns with bpf_stats on (recursion_misses) */
	uint64_t misses;
	bool is_gone;
};

struct bb_overhead {
	struct bb_overhead_turn *turns;
	size_t n_turns;
	size_t n_blocks; /* number of complete blocks; later turns are of an incomplete block */
	uint64_t n_runs; /* runs of the workload in all turns */
	uint32_t runs_a_turn; /* runs of the workload in a turn of the last block */
	struct bb_overhead_figure figures[BB_N_OVERHEAD];
	/* the agent's programs, measured in up to four turns with bpf_stats on */
	struct bb_overhead_program *programs;
	size_t n_programs;
	/* the agent's ring buffers in the turns with bpf_stats on; `pages` is not set */
	struct bb_agent_ring *rings;
	size_t n_rings, n_perf_buffers;
	/* CPU time per request in the turns with bpf_stats on, s; 0 if there were no such turns */
	double parts_turn_s;
	/* agent_s: median over turns of the CPU time of the agent's processes, s per request */
	double agent_s, map_bytes, rss_bytes;
	double elapsed_s, steal;
	uint32_t n_starts; /* number of times that an agent was started */
	uint32_t n_killed; /* number of agents that had to be ended by SIGKILL */
	/* number of programs that were unloaded by removing their pins */
	size_t n_cleaned;
	uint32_t n_gone;           /* turns in which programs of an agent were unloaded */
	char gone[BB_LOADED_NAME]; /* name of a program that was unloaded in such a turn */
	char why[320];             /* why the verdict is inconclusive; empty for other verdicts */
	/* budget that should give a verdict, s; NAN: no budget would give one */
	double advised_s;
};

/* Runs the turns and computes the figures. After an error, the result has the turns and figures so
 * far. The caller frees it with bb_overhead__done(). */
int bb_overhead__measure(const struct bb_overhead_opts *opts, struct bb_overhead *ret_overhead,
			 struct bb_err *err);
void bb_overhead__done(struct bb_overhead *o);

/* Computes the figures of the complete blocks, and `why`. A pure function of turns, elapsed time
 * and opts->max. */
void bb_overhead__judge(struct bb_overhead *o, const struct bb_overhead_opts *opts);

/* True if the verdict on the workload's or the machine's CPU time is "above the limit". */
bool bb_overhead__is_above(const struct bb_overhead *o);

/* Returns the time of a run, ns, and the CPU time per request, s, of a program of the agent. Both
 * are from the turns with bpf_stats on, scaled to the speed of the other turns. */
double bb_overhead__program_ns(const struct bb_overhead *o, const struct bb_overhead_program *p);
double bb_overhead__program_s(const struct bb_overhead *o, const struct bb_overhead_program *p);

/* Returns the CPU time per request, s, beyond that of the programs and the agent's processes. */
double bb_overhead__unexplained_s(const struct bb_overhead *o);
