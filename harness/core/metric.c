/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/metric.h"

static const char *const names[BB_N_REFERENCES] = {
	[BB_REFERENCE_INSTRUCTIONS] = "instructions",
	[BB_REFERENCE_MEMORY] = "memory",
	[BB_REFERENCE_WAKEUP] = "wakeup",
};

const char *bb_reference_name(enum bb_reference reference)
{
	return (size_t)reference < BB_N_REFERENCES ? names[reference] : "?";
}

#define AT(field) offsetof(struct bb_summary, field)

const struct bb_metric_def bb_metrics[] = {
	{"latency", "latency", "ns", BB_LOWER_IS_BETTER, BB_METRIC_TIMING, AT(latency),
	 "gross cost of one run: median over loads of the censored means"},
	{"net", "latency-net", "ns", BB_LOWER_IS_BETTER, BB_METRIC_TIMING, AT(net),
	 "latency minus the floor (an empty program of the same type)"},
	{"floor", NULL, "ns", BB_LOWER_IS_BETTER, BB_METRIC_TIMING, AT(floor),
	 "latency of the floor in the same run"},
	{"p50", "latency-p50", "ns", BB_LOWER_IS_BETTER, BB_METRIC_TIMING, AT(p50),
	 "median of all samples"},
	{"p90", "latency-p90", "ns", BB_LOWER_IS_BETTER, BB_METRIC_TIMING, AT(p90),
	 "90th percentile of all samples"},
	{"p99", "latency-p99", "ns", BB_LOWER_IS_BETTER, BB_METRIC_TIMING, AT(p99),
	 "99th percentile of all samples"},
	{"naive_mean", NULL, "ns", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(naive_mean),
	 "sum of run_time_ns / sum of run_cnt, for contrast"},
	{"layout_spread", NULL, "ratio", BB_NO_DIRECTION, BB_METRIC_INFO, AT(layout_spread),
	 "p90/p10 of the location over program loads"},
	{"layout_best", NULL, "ns", BB_NO_DIRECTION, BB_METRIC_INFO, AT(layout_best),
	 "latency where the JIT places the code best"},
	{"layout_worst", NULL, "ns", BB_NO_DIRECTION, BB_METRIC_INFO, AT(layout_worst),
	 "latency where the JIT places the code worst"},
	{"outlier_share", NULL, "share", BB_NO_DIRECTION, BB_METRIC_INFO, AT(outlier_share),
	 "samples above the censoring threshold"},
	{"outlier_time_share", NULL, "share", BB_NO_DIRECTION, BB_METRIC_INFO,
	 AT(outlier_time_share), "share of run_time_ns in those samples"},
	{"rate_requested", NULL, "Hz", BB_NO_DIRECTION, BB_METRIC_INFO, AT(rate_requested),
	 "rate of samples, packets or requests asked for"},
	{"rate_achieved", "sample-rate", "Hz", BB_HIGHER_IS_BETTER, BB_METRIC_INFO,
	 AT(rate_achieved),
	 "runs per second of the workload's CPU time; packets or requests per second"},
	{"run_rate", "run-rate", "Hz", BB_NO_DIRECTION, BB_METRIC_INFO, AT(live.run_rate),
	 "live: runs per second of wall time; parallel: of all CPUs together"},
	{"cpu_share", NULL, "share", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(live.cpu_share),
	 "live: share of one CPU that the runs take, by run_time_ns"},
	{"path_share", "path-share", "share", BB_NO_DIRECTION, BB_METRIC_INFO, AT(live.path_share),
	 "share of the program's runs that take this path, or that this input stands for"},
	{"filled_bytes", "filled-map-bytes", "B", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(map_bytes),
	 "memory of the maps that are filled to several sizes, by the kernel"},
	{"worst", "latency-worst", "ns", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(live.worst),
	 "inside: longest run"},
	{"drops", NULL, "runs", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(drops),
	 "runs whose result was thrown away"},
	{"relative", "latency-relative", "pieces", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(relative),
	 "latency in pieces of a fixed work that was timed in the same rounds: wakeups for "
	 "programs that wake a reader, else stretches of instructions"},
	{"produced", "samples-produced", "samples", BB_NO_DIRECTION, BB_METRIC_INFO,
	 AT(pipeline.produced), "pipeline: samples that got into the ring"},
	{"consumed", "samples-consumed", "samples", BB_HIGHER_IS_BETTER, BB_METRIC_INFO,
	 AT(pipeline.consumed),
	 "pipeline: samples that the consumer had finished; the others were still waiting"},
	{"lag_max", "lag-max", "ns", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(pipeline.lag_max),
	 "pipeline: largest lag of all samples"},
	{"ring_peak", "ring-peak", "share", BB_LOWER_IS_BETTER, BB_METRIC_INFO,
	 AT(pipeline.ring_peak),
	 "pipeline: highest fill of the ring that was seen, as a share of its size"},
	{"consumer_cpu", "consumer-cpu", "ns", BB_LOWER_IS_BETTER, BB_METRIC_INFO,
	 AT(pipeline.consumer_cpu), "pipeline: CPU time of the consumer a sample"},
	{"slowdown", "slowdown", "ratio", BB_LOWER_IS_BETTER, BB_METRIC_TIMING, AT(slowdown.ratio),
	 "slowdown: time of the command while it is sampled / while it is not, load by load"},
	{"intercept", NULL, "ns", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(slope.intercept),
	 "slope: cost of the system call around the runs"},
	{"cycles", "pmu-cycles", "cycles", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(slope.cycles),
	 "slope: CPU cycles of a run, by the PMU"},
	{"pmu_instructions", "pmu-instructions", "insns", BB_LOWER_IS_BETTER, BB_METRIC_INFO,
	 AT(slope.instructions), "slope: machine instructions of a run, by the PMU"},
	{"llc_misses", "pmu-llc-misses", "misses", BB_LOWER_IS_BETTER, BB_METRIC_INFO,
	 AT(slope.llc_misses),
	 "slope: reads of a run that missed the last level cache, by the PMU"},
	{"steal", NULL, "share", BB_NO_DIRECTION, BB_METRIC_INFO, AT(steal),
	 "CPU time taken by the hypervisor meanwhile"},
};

const struct bb_metric_def bb_metric_instructions = {
	"instructions",
	"instructions",
	"instructions",
	BB_LOWER_IS_BETTER,
	BB_METRIC_EXACT,
	0,
	"BPF instructions that one run executes, without those of helpers",
};

const size_t bb_n_metrics = BB_LEN(bb_metrics);

#undef AT
#define AT(field) offsetof(struct bb_prog_static, field)

const struct bb_metric_def bb_static_metrics[] = {
	{"verified_insns", "verified-instructions", "insns", BB_LOWER_IS_BETTER, BB_METRIC_EXACT,
	 AT(verified_insns),
	 "instructions that the verifier processed, on all paths; its limit is 1 million"},
	{"xlated_bytes", "xlated-bytes", "B", BB_LOWER_IS_BETTER, BB_METRIC_EXACT, AT(xlated_bytes),
	 "BPF code as the verifier leaves it, dead code gone"},
	{"jited_bytes", "jited-bytes", "B", BB_LOWER_IS_BETTER, BB_METRIC_EXACT, AT(jited_bytes),
	 "machine code; depends on the kernel, the CPU, mitigations and bpf_jit_harden too"},
	{"stack_bytes", "stack-depth-bytes", "B", BB_LOWER_IS_BETTER, BB_METRIC_EXACT,
	 AT(stack_bytes),
	 "stack by the verifier, its functions added up (as veristat does; one call chain may have "
	 "512 B)"},
	{"map_bytes", "map-memory-bytes", "B", BB_LOWER_IS_BETTER, BB_METRIC_EXACT, AT(map_bytes),
	 "memory of its maps, globals included, before the first run; per-CPU maps count "
	 "every CPU"},
	{"total_states", "verifier-states", "states", BB_LOWER_IS_BETTER, BB_METRIC_EXACT,
	 AT(total_states),
	 "states that the verifier saved, on all paths, to compare later paths with"},
	{"verify_ns", "verification-time", "ns", BB_LOWER_IS_BETTER, BB_METRIC_INFO, AT(verify_ns),
	 "the verifier's own time for one load: a single sample, not exact, never compared"},
};

const size_t bb_n_static_metrics = BB_LEN(bb_static_metrics);
