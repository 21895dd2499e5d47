/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_json_fields.h"

#include "report/report.h"

#define FIELDS(array, first_newer)                                                                 \
	{                                                                                          \
		(array), sizeof(array) / sizeof((array)[0]), (first_newer)                         \
	}

static const struct bb_json_field report_fields[] = {
	{"id", BB_JSON_NAME, offsetof(struct bb_report, id)},
	{"started", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_report, started)},
	{"command", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_report, command)},
	{"seed", BB_JSON_SEED, offsetof(struct bb_report, seed)},
	{"elapsed_s", BB_JSON_POSITIVE, offsetof(struct bb_report, elapsed_s)},
	{"steal", BB_JSON_SHARE, offsetof(struct bb_report, steal)},
	{"incomplete", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_report, incomplete)},
};

static const struct bb_json_field skip_fields[] = {
	{"what", BB_JSON_TEXT, offsetof(struct bb_skip, what)},
	{"why", BB_JSON_TEXT, offsetof(struct bb_skip, why)},
};

static const struct bb_json_field case_fields[] = {
	{"name", BB_JSON_NAME, offsetof(struct bb_case, name)},
	{"scenario", BB_JSON_NAME, offsetof(struct bb_case, scenario)},
	{"variant", BB_JSON_NAME, offsetof(struct bb_case, variant)},
	{"drive", BB_JSON_NAME, offsetof(struct bb_case, drive)},
	{"param", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_case, param)},
	{"param_value", BB_JSON_U32, offsetof(struct bb_case, param_value)},
	{"anchor", BB_JSON_BOOL, offsetof(struct bb_case, is_anchor)},
	{"units_per_ns", BB_JSON_U32_NOT_0, offsetof(struct bb_case, units_per_ns)},
	{"live", BB_JSON_BOOL, offsetof(struct bb_case, is_live)},
	{"wakeups", BB_JSON_POSITIVE, offsetof(struct bb_case, wakeups)},
	{"emptied", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_case, emptied)},
	{"between", BB_JSON_POSITIVE, offsetof(struct bb_case, between)},
	{"between_relative", BB_JSON_POSITIVE, offsetof(struct bb_case, between_relative)},
	{"between_floor", BB_JSON_POSITIVE, offsetof(struct bb_case, between_floor)},
	{"between_runs", BB_JSON_U32, offsetof(struct bb_case, between_runs)},
};

#define REFERENCE(key, index)                                                                      \
	{                                                                                          \
		key, BB_JSON_POSITIVE, offsetof(struct bb_series, reference_ns[index])             \
	}

static const struct bb_json_field series_fields[] = {
	{"load", BB_JSON_U32, offsetof(struct bb_series, load)},
	{"jit_mod64", BB_JSON_MOD64, offsetof(struct bb_series, jit_mod64)},
	{"void", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_series, void_why)},
	{"fired", BB_JSON_COUNT, offsetof(struct bb_series, fired)},
	{"run_cnt", BB_JSON_COUNT, offsetof(struct bb_series, run_cnt)},
	{"run_time_ns", BB_JSON_COUNT, offsetof(struct bb_series, run_time_ns)},
	{"misses", BB_JSON_COUNT, offsetof(struct bb_series, misses)},
	{"drops", BB_JSON_COUNT, offsetof(struct bb_series, drops)},
	{"warmup", BB_JSON_COUNT, offsetof(struct bb_series, warmup)},
	{"multi", BB_JSON_COUNT, offsetof(struct bb_series, multi)},
	{"elapsed_s", BB_JSON_POSITIVE, offsetof(struct bb_series, elapsed_s)},
	{"target_cpu_s", BB_JSON_POSITIVE, offsetof(struct bb_series, target_cpu_s)},
	{"steal", BB_JSON_SHARE, offsetof(struct bb_series, steal)},
	{"intercept_ns", BB_JSON_REAL, offsetof(struct bb_series, slope.intercept_ns)},
	{"cycles", BB_JSON_REAL, offsetof(struct bb_series, slope.cycles)},
	{"instructions", BB_JSON_REAL, offsetof(struct bb_series, slope.instructions)},
	{"llc_misses", BB_JSON_REAL, offsetof(struct bb_series, slope.llc_misses)},
	{"floor_ns", BB_JSON_REAL, offsetof(struct bb_series, floor_ns)},
	{"retries", BB_JSON_COUNT, offsetof(struct bb_series, retries)},
	{"events", BB_JSON_COUNT, offsetof(struct bb_series, events)},
	{"jit_share", BB_JSON_SHARE, offsetof(struct bb_series, jit_share)},
	REFERENCE("instructions_ns", BB_REFERENCE_INSTRUCTIONS),
	REFERENCE("memory_ns", BB_REFERENCE_MEMORY),
	REFERENCE("wakeup_ns", BB_REFERENCE_WAKEUP),
	{"line_ns", BB_JSON_POSITIVE, offsetof(struct bb_series, line_ns)},
};

static const struct bb_json_field program_fields[] = {
	{"name", BB_JSON_NAME, offsetof(struct bb_program, name)},
	{"scenario", BB_JSON_NAME, offsetof(struct bb_program, scenario)},
	{"variant", BB_JSON_NAME, offsetof(struct bb_program, variant)},
	{"program", BB_JSON_NAME, offsetof(struct bb_program, program)},
	{"object", BB_JSON_NAME, offsetof(struct bb_program, object)},
	{"type", BB_JSON_NAME, offsetof(struct bb_program, type)},
	{"tag", BB_JSON_NAME, offsetof(struct bb_program, tag)},
};

static const struct bb_json_field comparison_fields[] = {
	{"name", BB_JSON_NAME, offsetof(struct bb_comparison, name)},
	{"base", BB_JSON_NAME, offsetof(struct bb_comparison, base)},
	{"head", BB_JSON_NAME, offsetof(struct bb_comparison, head)},
	{"threshold", BB_JSON_POSITIVE, offsetof(struct bb_comparison, threshold)},
	{"alpha", BB_JSON_SHARE, offsetof(struct bb_comparison, alpha)},
	{"injected", BB_JSON_REAL, offsetof(struct bb_comparison, injected)},
};

static const struct bb_json_field pair_fields[] = {
	{"matched", BB_JSON_BOOL, offsetof(struct bb_pair, matched)},
	{"base_mod64", BB_JSON_MOD64, offsetof(struct bb_pair, base_mod64)},
	{"head_mod64", BB_JSON_MOD64, offsetof(struct bb_pair, head_mod64)},
	{"blocks", BB_JSON_U32, offsetof(struct bb_pair, blocks)},
	{"d", BB_JSON_REAL, offsetof(struct bb_pair, d)},
	{"d_net", BB_JSON_REAL, offsetof(struct bb_pair, d_net)},
	{"shift_ns", BB_JSON_REAL, offsetof(struct bb_pair, shift_ns)},
	{"base_ns", BB_JSON_POSITIVE, offsetof(struct bb_pair, base_ns)},
	{"head_ns", BB_JSON_POSITIVE, offsetof(struct bb_pair, head_ns)},
	{"floor_ns", BB_JSON_POSITIVE, offsetof(struct bb_pair, floor_ns)},
	{"void", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_pair, void_why)},
};

static const struct bb_json_field counted_fields[] = {
	{"name", BB_JSON_NAME, offsetof(struct bb_counted, name)},
	{"scenario", BB_JSON_NAME, offsetof(struct bb_counted, scenario)},
	{"variant", BB_JSON_NAME, offsetof(struct bb_counted, variant)},
	{"n_insns", BB_JSON_U32, offsetof(struct bb_counted, n_insns)},
	{"n_blocks", BB_JSON_U32, offsetof(struct bb_counted, n_blocks)},
	{"clone_insns", BB_JSON_U32, offsetof(struct bb_counted, clone_insns)},
	{"runs", BB_JSON_COUNT, offsetof(struct bb_counted, runs)},
	{"instructions", BB_JSON_COUNT, offsetof(struct bb_counted, instructions)},
	{"paths", BB_JSON_COUNT, offsetof(struct bb_counted, paths)},
	{"tail_calls", BB_JSON_COUNT, offsetof(struct bb_counted, tail_calls)},
};

static const struct bb_json_field counted_case_fields[] = {
	{"name", BB_JSON_NAME, offsetof(struct bb_counted_case, name)},
	{"param", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_counted_case, param)},
	{"param_value", BB_JSON_U32, offsetof(struct bb_counted_case, param_value)},
	{"runs", BB_JSON_COUNT, offsetof(struct bb_counted_case, runs)},
	{"least", BB_JSON_COUNT, offsetof(struct bb_counted_case, least)},
	{"most", BB_JSON_COUNT, offsetof(struct bb_counted_case, most)},
	{"instructions", BB_JSON_COUNT, offsetof(struct bb_counted_case, instructions)},
	{"paths", BB_JSON_COUNT, offsetof(struct bb_counted_case, paths)},
	{"void", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_counted_case, void_why)},
};

static const struct bb_json_field counted_line_fields[] = {
	{"file", BB_JSON_TEXT, offsetof(struct bb_counted_line, file)},
	{"line", BB_JSON_U32, offsetof(struct bb_counted_line, line)},
	{"text", BB_JSON_TEXT, offsetof(struct bb_counted_line, text)},
	{"n_insns", BB_JSON_U32, offsetof(struct bb_counted_line, n_insns)},
	{"executions", BB_JSON_COUNT, offsetof(struct bb_counted_line, executions)},
	{"instructions", BB_JSON_COUNT, offsetof(struct bb_counted_line, instructions)},
};

static const struct bb_json_field counted_call_fields[] = {
	{"name", BB_JSON_NAME, offsetof(struct bb_counted_call, name)},
	{"calls", BB_JSON_COUNT, offsetof(struct bb_counted_call, calls)},
};

static const struct bb_json_field timed_fields[] = {
	{"name", BB_JSON_NAME, offsetof(struct bb_timed, name)},
	{"scenario", BB_JSON_NAME, offsetof(struct bb_timed, scenario)},
	{"variant", BB_JSON_NAME, offsetof(struct bb_timed, variant)},
	{"drive", BB_JSON_NAME, offsetof(struct bb_timed, drive)},
	{"param", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_timed, param)},
	{"param_value", BB_JSON_U32, offsetof(struct bb_timed, param_value)},
	{"cuts", BB_JSON_U32, offsetof(struct bb_timed, cuts)},
	{"refused", BB_JSON_U32, offsetof(struct bb_timed, refused)},
	{"refused_why", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_timed, refused_why)},
	{"passed", BB_JSON_COUNT, offsetof(struct bb_timed, passed)},
	{"runs", BB_JSON_COUNT, offsetof(struct bb_timed, runs)},
	{"other_ways", BB_JSON_COUNT, offsetof(struct bb_timed, other_ways)},
	{"check_ns", BB_JSON_POSITIVE, offsetof(struct bb_timed, check_ns)},
	{"leaves", BB_JSON_BOOL, offsetof(struct bb_timed, leaves)},
	{"program_ns", BB_JSON_TEXT, offsetof(struct bb_timed, program_ns)},
	{"empty_ns", BB_JSON_TEXT, offsetof(struct bb_timed, empty_ns)},
	{"rest_ns", BB_JSON_TEXT, offsetof(struct bb_timed, rest_ns)},
	{"points", BB_JSON_U32, offsetof(struct bb_timed, points)},
	{"thinned_why", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_timed, thinned_why)},
	{"measured", BB_JSON_COUNT, offsetof(struct bb_timed, measured)},
	{"processes", BB_JSON_U32, offsetof(struct bb_timed, processes)},
	{"sweeps", BB_JSON_COUNT, offsetof(struct bb_timed, sweeps)},
	{"disturbed", BB_JSON_COUNT, offsetof(struct bb_timed, disturbed)},
	{"hidden_ns", BB_JSON_TEXT_OR_NULL, offsetof(struct bb_timed, hidden_ns)},
};

static const struct bb_json_field timed_row_fields[] = {
	{"file", BB_JSON_TEXT, offsetof(struct bb_timed_row, file)},
	{"line", BB_JSON_U32, offsetof(struct bb_timed_row, line)},
	{"last_line", BB_JSON_U32, offsetof(struct bb_timed_row, last_line)},
	{"insn", BB_JSON_U32, offsetof(struct bb_timed_row, insn)},
	{"text", BB_JSON_TEXT, offsetof(struct bb_timed_row, text)},
	{"call", BB_JSON_TEXT, offsetof(struct bb_timed_row, call)},
	{"loop", BB_JSON_BOOL, offsetof(struct bb_timed_row, is_loop)},
	{"turns", BB_JSON_COUNT, offsetof(struct bb_timed_row, turns)},
	{"ns", BB_JSON_TEXT, offsetof(struct bb_timed_row, ns)},
	{"first_ns", BB_JSON_TEXT, offsetof(struct bb_timed_row, first_ns)},
	{"from", BB_JSON_TEXT, offsetof(struct bb_timed_row, from)},
	{"enters", BB_JSON_BOOL, offsetof(struct bb_timed_row, enters)},
};

static const struct bb_json_field flow_fields[] = {
	{"consumed", BB_JSON_COUNT, offsetof(struct bb_ring_use, consumed)},
	{"waiting", BB_JSON_COUNT, offsetof(struct bb_ring_use, waiting)},
	{"ring_bytes", BB_JSON_COUNT, offsetof(struct bb_ring_use, ring_bytes)},
	{"consumer_cpu_s", BB_JSON_POSITIVE, offsetof(struct bb_ring_use, consumer_cpu_s)},
};

const struct bb_json_fields bb_report_fields = FIELDS(report_fields, NULL);
const struct bb_json_fields bb_skip_fields = FIELDS(skip_fields, NULL);
const struct bb_json_fields bb_case_fields = FIELDS(case_fields, "units_per_ns");
const struct bb_json_fields bb_series_fields = FIELDS(series_fields, "intercept_ns");
const struct bb_json_fields bb_program_fields = FIELDS(program_fields, NULL);
const struct bb_json_fields bb_comparison_fields = FIELDS(comparison_fields, NULL);
const struct bb_json_fields bb_pair_fields = FIELDS(pair_fields, NULL);
const struct bb_json_fields bb_counted_fields = FIELDS(counted_fields, NULL);
const struct bb_json_fields bb_counted_case_fields = FIELDS(counted_case_fields, NULL);
const struct bb_json_fields bb_counted_line_fields = FIELDS(counted_line_fields, NULL);
const struct bb_json_fields bb_counted_call_fields = FIELDS(counted_call_fields, NULL);
const struct bb_json_fields bb_timed_fields = FIELDS(timed_fields, "points");
const struct bb_json_fields bb_timed_row_fields = FIELDS(timed_row_fields, "from");
const struct bb_json_fields bb_flow_fields = FIELDS(flow_fields, NULL);
