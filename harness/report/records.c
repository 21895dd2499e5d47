/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "report/report.h"

#define MEMBER_AS(of, key, type, member, doc) BB_ROW(of, key, type, BB_ALWAYS, member, doc)
/* Row of a member that runs of older versions do not have. */
#define NEWER_AS(of, key, type, member, doc) BB_ROW(of, key, type, BB_NEWER, member, doc)
#define IF_SET_AS(of, key, type, member, doc) BB_ROW(of, key, type, BB_IF_SET, member, doc)
/* Rows of members whose key is the member's name in the struct. */
#define MEMBER(of, type, member, doc) MEMBER_AS(of, #member, type, member, doc)
#define NEWER(of, type, member, doc) NEWER_AS(of, #member, type, member, doc)
#define IF_SET(of, type, member, doc) IF_SET_AS(of, #member, type, member, doc)

static const struct bb_member flow_members[] = {
	MEMBER(bb_ring_use, BB_COUNT, consumed, "samples that the consumer had finished"),
	MEMBER(bb_ring_use, BB_COUNT, waiting,
	       "samples still in the ring at the end; of these the age is in bins"),
	MEMBER(bb_ring_use, BB_COUNT, ring_bytes, ""),
	MEMBER(bb_ring_use, BB_POSITIVE, consumer_cpu_s, "null: there was no consumer"),
	{.key = "backlog", .type = BB_OTHER},
};

BB_RECORD(bb_ring_use, flow_members, NULL, NULL,
	  "what went through the ring; the samples are lags then");

static void done_series(void *series)
{
	struct bb_series *s = series;

	bb_hist_done(&s->hist);
}

static void done_class(void *class)
{
	bb_hist_done(&((struct bb_class *)class)->hist);
}

static const struct bb_member class_members[] = {
	MEMBER(bb_class, BB_U32, value, "that the runs returned"),
	MEMBER(bb_class, BB_NAME, returned, "in words: \"2 (XDP_PASS)\""),
	IF_SET(bb_class, BB_NAME, path,
	       "of the runs' inputs, by the source line that tells it from the most frequent one. "
	       "Absent: all inputs take one path, or it is not known"),
	MEMBER_AS(bb_class, "hist", BB_OTHER, hist, ""),
};

BB_RECORD(bb_class, class_members, NULL, done_class,
	  "of a mix: the samples of a series whose runs returned one value on one path");

static const struct bb_member series_members[] = {
	MEMBER(bb_series, BB_U32, load,
	       "round of the run; equal rounds of different cases were interleaved in time"),
	MEMBER(bb_series, BB_MOD64, jit_mod64, "address of the JITed program mod 64; -1: unknown"),
	MEMBER_AS(bb_series, "void", BB_TEXT_OR_NULL, void_why,
		  "why the series does not count; null: it does"),
	MEMBER(bb_series, BB_COUNT, fired, "events fired; 0 where the drive cannot know"),
	MEMBER(bb_series, BB_COUNT, run_cnt, "by the kernel's counters, warm-up excluded"),
	MEMBER(bb_series, BB_COUNT, run_time_ns, ""),
	MEMBER(bb_series, BB_COUNT, misses, "recursion_misses"),
	MEMBER(bb_series, BB_COUNT, drops, "the program's own counter of results thrown away"),
	MEMBER(bb_series, BB_COUNT, warmup, "runs discarded at the start, by intent"),
	MEMBER(bb_series, BB_COUNT, multi,
	       "runs that shared a reading of the counters with others and are no samples"),
	MEMBER(bb_series, BB_POSITIVE, elapsed_s, ""),
	MEMBER(bb_series, BB_POSITIVE, target_cpu_s, "CPU time of the workload (in-situ)"),
	MEMBER(bb_series, BB_SHARE, steal, ""),
	NEWER_AS(bb_series, "intercept_ns", BB_REAL, slope.intercept_ns,
		 "slope: cost of the system call around the runs; null elsewhere"),
	NEWER_AS(bb_series, "cycles", BB_REAL, slope.cycles,
		 "slope: CPU cycles of a run; null elsewhere and without a PMU"),
	NEWER_AS(bb_series, "instructions", BB_REAL, slope.instructions,
		 "slope: machine instructions of a run; likewise"),
	NEWER_AS(bb_series, "llc_misses", BB_REAL, slope.llc_misses,
		 "slope: reads of a run that missed the last level cache; likewise"),
	NEWER(bb_series, BB_REAL, floor_ns,
	      "hook: the same with an empty program on the same hook; null elsewhere"),
	NEWER(bb_series, BB_COUNT, retries,
	      "calls that a signal broke off and that were made again; what they had run is in "
	      "warmup"),
	NEWER(bb_series, BB_COUNT, events,
	      "in-situ by rate: packets sent, requests answered; 0 elsewhere"),
	NEWER(bb_series, BB_SHARE, jit_share,
	      "share of that address mod 64 among all random loads; null: the loads were not drawn "
	      "by it. Older runs have no such key"),
	NEWER_AS(bb_series, "instructions_ns", BB_POSITIVE, reference_ns[BB_REFERENCE_INSTRUCTIONS],
		 "the reference of instructions, just before the series; null: not measured"),
	NEWER_AS(bb_series, "memory_ns", BB_POSITIVE, reference_ns[BB_REFERENCE_MEMORY],
		 "the reference of memory"),
	NEWER_AS(bb_series, "wakeup_ns", BB_POSITIVE, reference_ns[BB_REFERENCE_WAKEUP],
		 "the reference of a wakeup"),
	NEWER(bb_series, BB_POSITIVE, line_ns,
	      "cold: time of a line of memory that is read after emptying; null elsewhere"),
	BB_ROW_OF(bb_series, "flow", BB_STRUCT_OR_NULL, BB_IF_SET, flow, &bb_ring_use_record, ""),
	MEMBER_AS(bb_series, "hist", BB_OTHER, hist, ""),
	BB_LIST(bb_series, "classes", BB_IF_SET, classes, bb_class_record,
		"of a mix: the same samples, by return value and path. Absent elsewhere"),
};

BB_RECORD(bb_series, series_members, NULL, done_series,
	  "the samples of one case from one load of the program");

static const struct bb_member in_vain_members[] = {
	MEMBER(bb_in_vain, BB_TEXT_OR_NULL, map, "null: not known"),
	MEMBER(bb_in_vain, BB_TEXT_OR_NULL, type, "of the map: lpm_trie, prog_array, ..."),
	MEMBER_AS(bb_in_vain, "inner", BB_BOOL, is_inner,
		  "the lookups were in a map that was itself looked up in that one"),
	MEMBER_AS(bb_in_vain, "tail_call", BB_BOOL, is_tail_call,
		  "a tail call that did not happen; false: lookups that found nothing"),
	MEMBER_AS(bb_in_vain, "captured", BB_BOOL, is_captured,
		  "the map was copied from a captured command"),
	MEMBER(bb_in_vain, BB_POSITIVE, entries,
	       "in the map after the runs; 1000: that many or more; null: not known"),
	MEMBER(bb_in_vain, BB_POSITIVE, index, "of the tail call, where it is a constant"),
	MEMBER(bb_in_vain, BB_COUNT, calls, ""),
	MEMBER(bb_in_vain, BB_COUNT, in_vain, "of these calls, those that came to nothing"),
	MEMBER(bb_in_vain, BB_TEXT_OR_NULL, file,
	       "of the first of these calls in the program; null: no line is known"),
	MEMBER(bb_in_vain, BB_U32, line, ""),
	MEMBER(bb_in_vain, BB_U32_NOT_0, places, "calls in the program that are meant"),
};

BB_RECORD(bb_in_vain, in_vain_members, NULL, NULL,
	  "lookups of one map, or a tail call, as counted in a few runs of a clone of the program");

static void init_case(void *a_case)
{
	struct bb_case *c = a_case;

	c->floor = BB_NO_FLOOR;
	for (size_t i = 0; i < bb_n_metrics; i++)
		*(struct bb_estimate *)((char *)&c->summary + bb_metrics[i].offset) =
			(struct bb_estimate){NAN, NAN, NAN};
}

static const struct bb_member case_members[] = {
	MEMBER(bb_case, BB_NAME, name,
	       "scenario/variant/drive/parameter=value, the benchmark's name in BMF; unique in the "
	       "run"),
	MEMBER(bb_case, BB_NAME, scenario, ""),
	MEMBER(bb_case, BB_NAME, variant, ""),
	MEMBER(bb_case, BB_NAME, drive, ""),
	MEMBER(bb_case, BB_TEXT_OR_NULL, param,
	       "stack_depth, freq_hz, ...; null: the drive has none"),
	MEMBER(bb_case, BB_U32, param_value, ""),
	NEWER(bb_case, BB_TEXT_OR_NULL, param_text,
	      "the value in words: 32, an input's name; null: the drive has no parameter"),
	MEMBER_AS(bb_case, "anchor", BB_BOOL, is_anchor, "what the history divides by"),
	NEWER(bb_case, BB_U32_NOT_0, units_per_ns,
	      "the samples of the series (bins, sum_ns, min_ns, max_ns) are in 1/units_per_ns ns: "
	      "1, or 1000 for the picoseconds of slope. Runs from before slope have no such key: "
	      "1"),
	NEWER_AS(bb_case, "live", BB_BOOL, is_live,
		 "the program was loaded already, by somebody else: its series are slices of time, "
		 "not loads. Older runs have no such key: false"),
	NEWER(bb_case, BB_POSITIVE, wakeups,
	      "interrupts to its own CPU by a run, which wakes somebody; null: not known"),
	NEWER(bb_case, BB_TEXT_OR_NULL, emptied,
	      "the caches that were emptied before each run; null: none"),
	NEWER(bb_case, BB_POSITIVE, between,
	      "95 % half width in ln of the latency: by how much runs like this one differ, by "
	      "stored runs of the program or the self-test of the machine; null: not known"),
	NEWER(bb_case, BB_POSITIVE, between_relative,
	      "the same of the latency in pieces of the reference"),
	NEWER(bb_case, BB_POSITIVE, between_floor, "the same of the floor's latency"),
	NEWER(bb_case, BB_U32, between_runs, "runs behind them"),
	IF_SET(bb_case, BB_BOOL, found,
	       "its input, globals or entries of maps are of --try-inputs: a way through the "
	       "program, not production's. Absent: they are given"),
	IF_SET(bb_case, BB_NAME, command,
	       "slowdown: the command line whose time a sample is; of older runs, that of "
	       "hyperfine, which timed it. Absent elsewhere"),
	IF_SET(bb_case, BB_NAME, fired_by,
	       "trigger and place that made the program run. Absent where the drive waits for "
	       "runs"),
	IF_SET(bb_case, BB_U32, executed_insns,
	       "instructions of the program that its runs execute at all. Absent: not known"),
	IF_SET_AS(bb_case, "insns", BB_U32, n_insns,
		  "all instructions of the program. Absent: not known"),
	IF_SET(bb_case, BB_BOOL, goes_on,
	       "its runs went on, by tail calls, in programs whose instructions are not among "
	       "these. Absent: they did not, or that is not known"),
	BB_LIST(bb_case, "in_vain", BB_IF_SET, in_vain, bb_in_vain_record,
		"calls that came to nothing, nine of ten of them or more: lookups in a map that "
		"found nothing, a tail call that did not happen. Absent where there are none"),
	IF_SET_AS(bb_case, "unwatched", BB_U32, n_unwatched,
		  "lookups and tail calls that may have come to nothing: the verifier refuses the "
		  "program with a counter at each. Absent: all were counted, or that is not known"),
	IF_SET(bb_case, BB_BOOL, first_run_only,
	       "the time was over after the first counted run: lookups that failed in it may find "
	       "in later runs what it stored, and are not in in_vain. Absent: more runs were "
	       "counted, or none"),
	IF_SET_AS(bb_case, "turned_away_file", BB_NAME, turned_file,
		  "source of the check behind which are most of the instructions that no run "
		  "executed. Absent: runs execute half of the program or more, a lookup of in_vain "
		  "is that check, or it is not known"),
	IF_SET_AS(bb_case, "turned_away_line", BB_U32, turned_line, "of the check"),
	IF_SET_AS(bb_case, "turned_away_text", BB_NAME, turned_text, "of that line"),
	IF_SET_AS(bb_case, "turned_away_insns", BB_U32, turned_insns,
		  "instructions behind the check that no run executed"),
	IF_SET(bb_case, BB_NAME, returned_at,
	       "source line where a run with another return value than expected left the program, "
	       "and its text. Absent: as expected, or not known"),
	IF_SET(bb_case, BB_NAME, shares,
	       "parallel: maps that a run writes and that all CPUs share, with the source lines. "
	       "Absent elsewhere, and where none was found"),
	IF_SET(bb_case, BB_NAME, per_cpu_of,
	       "parallel: the variant from which this one differs in one map alone, per_cpu_map, "
	       "which has a value for each CPU here. Absent: there is none"),
	IF_SET(bb_case, BB_NAME, per_cpu_map, "that map"),
	IF_SET(bb_case, BB_NAME, each_input_in,
	       "parallel-same: the drive in which each CPU has another one of the same inputs. "
	       "Absent: there is none"),
	IF_SET(bb_case, BB_SHARE, path_share,
	       "share of the program's runs that took this path, by `bpfbench inside`, or that "
	       "this input stands for, by its `weight` in the scenario. Absent elsewhere"),
	IF_SET(bb_case, BB_NAME, returned,
	       "test runs: what the first run returned, \"1 (XDP_DROP)\". Absent elsewhere and of "
	       "floors"),
	IF_SET(bb_case, BB_POSITIVE, map_bytes,
	       "memory of the maps that are filled to the sizes that param_value has. Absent "
	       "elsewhere"),
	{.key = "floor", .type = BB_OTHER},
	{.key = "summary", .type = BB_OTHER},
	BB_LIST(bb_case, "series", BB_ALWAYS, series, bb_series_record, ""),
};

BB_RECORD(bb_case, case_members, init_case, NULL,
	  "one variant of a program under one drive at one parameter");

static void init_program(void *program)
{
	bb_static_clear(&((struct bb_program *)program)->metrics);
}

static const struct bb_member program_members[] = {
	MEMBER(bb_program, BB_NAME, name,
	       "scenario/variant, the benchmark's name in BMF; unique in the run"),
	MEMBER(bb_program, BB_NAME, scenario, ""),
	MEMBER(bb_program, BB_NAME, variant, ""),
	MEMBER(bb_program, BB_TEXT, program,
	       "function in the object; older runs: empty of a live program without a name"),
	MEMBER(bb_program, BB_NAME, object, "as the scenario or the command line names it"),
	MEMBER(bb_program, BB_NAME, type, "perf_event, xdp, ..."),
	MEMBER(bb_program, BB_NAME, tag,
	       "the kernel's, 16 hex digits: equal for equal instructions"),
	IF_SET(bb_program, BB_BOOL, has_ring, "it writes to a ring buffer"),
	MEMBER_AS(bb_program, "static", BB_OTHER, metrics, ""),
};

BB_RECORD(bb_program, program_members, init_program, NULL,
	  "one variant's program, as the kernel loaded it");

static const struct bb_member pair_members[] = {
	MEMBER(bb_pair, BB_BOOL, matched,
	       "both at the same JIT address mod 64: only such pairs decide"),
	MEMBER(bb_pair, BB_MOD64, base_mod64, "-1: unknown"),
	MEMBER(bb_pair, BB_MOD64, head_mod64, ""),
	MEMBER(bb_pair, BB_U32, blocks, "blocks that count"),
	MEMBER(bb_pair, BB_REAL, d, "median over the blocks of ln(head / base)"),
	MEMBER(bb_pair, BB_REAL, d_net, "the same of the costs without the floor; null: no floor"),
	MEMBER(bb_pair, BB_REAL, shift_ns, "median over the blocks of head - base"),
	MEMBER(bb_pair, BB_POSITIVE, base_ns,
	       "median over the blocks of the mean without outliers"),
	MEMBER(bb_pair, BB_POSITIVE, head_ns, ""),
	MEMBER(bb_pair, BB_POSITIVE, floor_ns, ""),
	MEMBER_AS(bb_pair, "void", BB_TEXT_OR_NULL, void_why,
		  "why the pair does not count; null: it does"),
};

BB_RECORD(bb_pair, pair_members, NULL, NULL,
	  "one load of each program, compared over ABBA or BAAB blocks of runs");

static void init_comparison(void *comparison)
{
	struct bb_comparison *c = comparison;

	c->threshold = c->alpha = c->injected = 0;
}

static const struct bb_member comparison_members[] = {
	MEMBER(bb_comparison, BB_NAME, name, "scenario/drive/parameter=value; unique in the run"),
	MEMBER(bb_comparison, BB_NAME, base, "variant, the old one"),
	MEMBER(bb_comparison, BB_NAME, head, "variant, the new one"),
	MEMBER(bb_comparison, BB_POSITIVE, threshold,
	       "smallest difference that matters, a share: 0.01 is 1 %"),
	MEMBER(bb_comparison, BB_SHARE, alpha,
	       "chance of a false verdict over all comparisons of the run"),
	MEMBER(bb_comparison, BB_REAL, injected,
	       "share that a self-test added to every sample of head; 0 otherwise"),
	IF_SET(bb_comparison, BB_POSITIVE, budget_s,
	       "time for all comparisons that its verdict was looked for in, s; absent: the number "
	       "of loads ended it, or an older run"),
	{.key = "summary", .type = BB_OTHER},
	BB_LIST(bb_comparison, "pairs", BB_ALWAYS, pairs, bb_pair_record, ""),
};

BB_RECORD(bb_comparison, comparison_members, init_comparison, NULL,
	  "two programs under one drive at one parameter");

static const struct bb_member counted_case_members[] = {
	MEMBER(bb_counted_case, BB_NAME, name,
	       "scenario/variant/exact/parameter=value, the benchmark in BMF"),
	MEMBER(bb_counted_case, BB_TEXT_OR_NULL, param, ""),
	MEMBER(bb_counted_case, BB_U32, param_value, ""),
	NEWER(bb_counted_case, BB_TEXT_OR_NULL, param_text,
	      "the value in words: 32, an input's name; null: the drive has no parameter"),
	MEMBER(bb_counted_case, BB_COUNT, runs, ""),
	MEMBER(bb_counted_case, BB_COUNT, least, "instructions of one run"),
	MEMBER(bb_counted_case, BB_COUNT, most, "equal to least: exact"),
	MEMBER(bb_counted_case, BB_COUNT, instructions, "of all runs"),
	MEMBER(bb_counted_case, BB_COUNT, paths, "different paths of the runs"),
	MEMBER_AS(bb_counted_case, "void", BB_TEXT_OR_NULL, void_why,
		  "why it does not count; null: it does"),
};

BB_RECORD(bb_counted_case, counted_case_members, NULL, NULL, "one input or stack depth");

static const struct bb_member counted_line_members[] = {
	MEMBER(bb_counted_line, BB_TEXT, file, ""),
	MEMBER(bb_counted_line, BB_U32, line, "0: instructions of the compiler's own"),
	MEMBER(bb_counted_line, BB_TEXT, text, "empty where the BTF has none"),
	MEMBER(bb_counted_line, BB_U32, n_insns, "in the program for this line"),
	MEMBER(bb_counted_line, BB_COUNT, executions,
	       "the most of any of its instructions; 0: never executed"),
	MEMBER(bb_counted_line, BB_COUNT, instructions, ""),
};

BB_RECORD(bb_counted_line, counted_line_members, NULL, NULL,
	  "a line of the source, by the line information in the BTF");

static const struct bb_member counted_call_members[] = {
	MEMBER(bb_counted_call, BB_NAME, name, "helper or kfunc"),
	MEMBER(bb_counted_call, BB_COUNT, calls, ""),
};

BB_RECORD(bb_counted_call, counted_call_members, NULL, NULL, "a helper or kfunc that was called");

static const struct bb_member counted_members[] = {
	MEMBER(bb_counted, BB_NAME, name, "scenario/variant/exact"),
	MEMBER(bb_counted, BB_NAME, scenario, ""),
	MEMBER(bb_counted, BB_NAME, variant, ""),
	MEMBER(bb_counted, BB_U32, n_insns, "of the program"),
	MEMBER(bb_counted, BB_U32, n_blocks, "basic blocks of the program"),
	MEMBER(bb_counted, BB_U32, clone_insns, "of the clone with counters, which was run"),
	MEMBER(bb_counted, BB_COUNT, runs, "of all cases together"),
	MEMBER(bb_counted, BB_COUNT, instructions, "executed by all runs"),
	MEMBER(bb_counted, BB_COUNT, paths, "different paths over all cases"),
	MEMBER(bb_counted, BB_COUNT, tail_calls, "that were taken"),
	BB_LIST(bb_counted, "cases", BB_ALWAYS, cases, bb_counted_case_record, ""),
	BB_LIST(bb_counted, "lines", BB_ALWAYS, lines, bb_counted_line_record, ""),
	BB_LIST(bb_counted, "calls", BB_ALWAYS, calls, bb_counted_call_record, ""),
};

BB_RECORD(bb_counted, counted_members, NULL, NULL,
	  "instructions that runs of one program executed, and no time");

static const struct bb_member timed_call_members[] = {
	MEMBER(bb_timed_call, BB_U32, line, "where it is; 0: not known"),
	MEMBER(bb_timed_call, BB_TEXT, call, "the function that is called"),
};

BB_RECORD(bb_timed_call, timed_call_members, NULL, NULL, "a call that led to a function");

static const struct bb_member timed_row_members[] = {
	MEMBER(bb_timed_row, BB_TEXT, file, ""),
	MEMBER(bb_timed_row, BB_U32, line, "0: no line information"),
	MEMBER(bb_timed_row, BB_U32, last_line, ""),
	MEMBER(bb_timed_row, BB_U32, insn, "the instruction where it begins"),
	MEMBER(bb_timed_row, BB_TEXT, text, ""),
	MEMBER(bb_timed_row, BB_TEXT, call,
	       "the helper, kfunc or function; empty: the program's own code"),
	MEMBER_AS(bb_timed_row, "loop", BB_BOOL, is_loop, ""),
	MEMBER(bb_timed_row, BB_COUNT, turns, "in one run"),
	MEMBER(bb_timed_row, BB_NUMBERS, ns, "of all turns"),
	MEMBER(bb_timed_row, BB_NUMBERS, first_ns, "of the first"),
	BB_LIST(bb_timed_row, "from", BB_IF_SET, from, bb_timed_call_record,
		"the calls that led to its function, the main one's first. Absent in the main one; "
		"a text in older runs"),
	NEWER(bb_timed_row, BB_BOOL, enters, "a call whose function has rows of its own"),
};

BB_RECORD(bb_timed_row, timed_row_members, NULL, NULL, "a line of one run, or a call in it");

static const struct bb_member timed_members[] = {
	MEMBER(bb_timed, BB_NAME, name, "of its case"),
	MEMBER(bb_timed, BB_NAME, scenario, ""),
	MEMBER(bb_timed, BB_NAME, variant, ""),
	MEMBER(bb_timed, BB_NAME, drive, ""),
	MEMBER(bb_timed, BB_TEXT_OR_NULL, param, ""),
	MEMBER(bb_timed, BB_U32, param_value, ""),
	MEMBER(bb_timed, BB_U32, cuts, "points at which the clone can end"),
	MEMBER(bb_timed, BB_U32, refused, "of the cuts, those that the verifier does not allow"),
	MEMBER(bb_timed, BB_TEXT_OR_NULL, refused_why, "in its words, of one of them"),
	MEMBER(bb_timed, BB_COUNT, passed, "cuts that a run passes"),
	MEMBER(bb_timed, BB_COUNT, runs, "of the clone, that count"),
	MEMBER(bb_timed, BB_COUNT, other_ways, "runs that took another path and are left out"),
	MEMBER(bb_timed, BB_POSITIVE, check_ns,
	       "the price of a check at a cut, which is taken out of all rows"),
	MEMBER(bb_timed, BB_BOOL, leaves, "a run ends by a tail call"),
	MEMBER(bb_timed, BB_NUMBERS, program_ns, "the program itself"),
	MEMBER(bb_timed, BB_NUMBERS, empty_ns, "an empty program, called and timed as it is"),
	MEMBER(bb_timed, BB_NUMBERS, rest_ns,
	       "by other paths, and with cold caches the rest that no cut shows; in older runs "
	       "behind a tail call"),
	NEWER(bb_timed, BB_U32, points,
	      "points at which the program could be cut; 0 in older runs, which do not say"),
	NEWER(bb_timed, BB_TEXT_OR_NULL, thinned_why, "why there are fewer cuts than points"),
	NEWER(bb_timed, BB_COUNT, measured,
	      "of them, those that runs ended at; 0 in older runs, which do not say"),
	NEWER(bb_timed, BB_U32, processes,
	      "that measured the loads, one after the other; 0 in older runs, of which one did"),
	NEWER(bb_timed, BB_COUNT, sweeps, "over all places, in all loads; 0 in older runs"),
	NEWER(bb_timed, BB_COUNT, disturbed,
	      "sweeps that are left out, as the program took longer than it does here"),
	IF_SET(bb_timed, BB_BOOL, counts_instructions,
	       "the figures are machine instructions and not ns: the run is of a guest of --vm"),
	IF_SET(bb_timed, BB_NUMBERS, hidden_ns,
	       "the part of its way out that the program hides. Absent in older runs"),
	BB_LIST(bb_timed, "rows", BB_ALWAYS, rows, bb_timed_row_record, ""),
};

BB_RECORD(bb_timed, timed_members, NULL, NULL,
	  "what the drive lines measured of one case: the time of each line of one run, and of "
	  "each call in it");

static const struct bb_member skip_members[] = {
	MEMBER(bb_skip, BB_TEXT, what, "a case, a drive or a program"),
	MEMBER(bb_skip, BB_TEXT, why, "the reason"),
};

BB_RECORD(bb_skip, skip_members, NULL, NULL,
	  "a case, a drive or a program that could not be measured");

static void init_report(void *report)
{
	bb_fingerprint_init(&((struct bb_report *)report)->fingerprint);
}

static const struct bb_member report_members[] = {
	MEMBER(bb_report, BB_NAME, id,
	       "file name without .json; begins with the time it started (UTC)"),
	MEMBER(bb_report, BB_TEXT_OR_NULL, started, "ISO 8601, UTC"),
	MEMBER(bb_report, BB_TEXT_OR_NULL, command, "command line"),
	MEMBER(bb_report, BB_SEED, seed, "what all random choices of the run followed from"),
	MEMBER(bb_report, BB_POSITIVE, elapsed_s, "wall time"),
	MEMBER(bb_report, BB_SHARE, steal,
	       "CPU time that the hypervisor took during the run, all CPUs"),
	MEMBER(bb_report, BB_TEXT_OR_NULL, incomplete,
	       "why the run stopped early; null: it is whole"),
	{.key = "fingerprint", .type = BB_OTHER},
	BB_LIST(bb_report, "skips", BB_ALWAYS, skips, bb_skip_record,
		"asked for, but impossible on that machine"),
	BB_LIST(bb_report, "programs", BB_IF_SET, programs, bb_program_record,
		"what was loaded, one a variant. Absent where nothing was (the fake driver), and "
		"in older runs"),
	BB_LIST(bb_report, "comparisons", BB_IF_SET, comparisons, bb_comparison_record,
		"of `bpfbench compare`: programs measured in turns. A plain run has no such key"),
	BB_LIST(bb_report, "counted", BB_IF_SET, counted, bb_counted_record,
		"instruction counts, of the drive exact. Absent without it"),
	BB_LIST(bb_report, "timed", BB_IF_SET, timed, bb_timed_record,
		"times by line, of the drive lines. Absent without it, and in older runs"),
	BB_LIST(bb_report, "cases", BB_ALWAYS, cases, bb_case_record, ""),
};

BB_RECORD(bb_report, report_members, init_report, NULL, "a run stored by bpfbench");
