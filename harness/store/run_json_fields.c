/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_json_fields.h"

#include "report/report.h"

#define FIELDS(array, n_newer)                                                                     \
	{                                                                                          \
		(array), sizeof(array) / sizeof((array)[0]), (n_newer)                             \
	}

static const struct bb_field report_fields[] = {
	{"id", FIELD_NAME, offsetof(struct bb_report, id)},
	{"started", FIELD_TEXT_OR_NULL, offsetof(struct bb_report, started)},
	{"command", FIELD_TEXT_OR_NULL, offsetof(struct bb_report, command)},
	{"seed", FIELD_SEED, offsetof(struct bb_report, seed)},
	{"elapsed_s", FIELD_POSITIVE, offsetof(struct bb_report, elapsed_s)},
	{"steal", FIELD_SHARE, offsetof(struct bb_report, steal)},
	{"incomplete", FIELD_TEXT_OR_NULL, offsetof(struct bb_report, incomplete)},
};

static const struct bb_field skip_fields[] = {
	{"what", FIELD_TEXT, offsetof(struct bb_skip, what)},
	{"why", FIELD_TEXT, offsetof(struct bb_skip, why)},
};

static const struct bb_field case_fields[] = {
	{"name", FIELD_NAME, offsetof(struct bb_case, name)},
	{"scenario", FIELD_NAME, offsetof(struct bb_case, scenario)},
	{"variant", FIELD_NAME, offsetof(struct bb_case, variant)},
	{"drive", FIELD_NAME, offsetof(struct bb_case, drive)},
	{"param", FIELD_TEXT_OR_NULL, offsetof(struct bb_case, param)},
	{"param_value", FIELD_U32, offsetof(struct bb_case, param_value)},
	{"anchor", FIELD_BOOL, offsetof(struct bb_case, is_anchor)},
	{"units_per_ns", FIELD_U32_NOT_0, offsetof(struct bb_case, units_per_ns)},
	{"live", FIELD_BOOL, offsetof(struct bb_case, is_live)},
};

static const struct bb_field series_fields[] = {
	{"load", FIELD_U32, offsetof(struct bb_series, load)},
	{"jit_mod64", FIELD_MOD64, offsetof(struct bb_series, jit_mod64)},
	{"void", FIELD_TEXT_OR_NULL, offsetof(struct bb_series, void_why)},
	{"fired", FIELD_COUNT, offsetof(struct bb_series, fired)},
	{"run_cnt", FIELD_COUNT, offsetof(struct bb_series, run_cnt)},
	{"run_time_ns", FIELD_COUNT, offsetof(struct bb_series, run_time_ns)},
	{"misses", FIELD_COUNT, offsetof(struct bb_series, misses)},
	{"drops", FIELD_COUNT, offsetof(struct bb_series, drops)},
	{"warmup", FIELD_COUNT, offsetof(struct bb_series, warmup)},
	{"multi", FIELD_COUNT, offsetof(struct bb_series, multi)},
	{"elapsed_s", FIELD_POSITIVE, offsetof(struct bb_series, elapsed_s)},
	{"target_cpu_s", FIELD_POSITIVE, offsetof(struct bb_series, target_cpu_s)},
	{"steal", FIELD_SHARE, offsetof(struct bb_series, steal)},
	{"intercept_ns", FIELD_REAL, offsetof(struct bb_series, slope.intercept_ns)},
	{"cycles", FIELD_REAL, offsetof(struct bb_series, slope.cycles)},
	{"instructions", FIELD_REAL, offsetof(struct bb_series, slope.instructions)},
	{"llc_misses", FIELD_REAL, offsetof(struct bb_series, slope.llc_misses)},
	{"retries", FIELD_COUNT, offsetof(struct bb_series, retries)},
	{"events", FIELD_COUNT, offsetof(struct bb_series, events)},
};

static const struct bb_field program_fields[] = {
	{"name", FIELD_NAME, offsetof(struct bb_program, name)},
	{"scenario", FIELD_NAME, offsetof(struct bb_program, scenario)},
	{"variant", FIELD_NAME, offsetof(struct bb_program, variant)},
	{"program", FIELD_NAME, offsetof(struct bb_program, program)},
	{"object", FIELD_NAME, offsetof(struct bb_program, object)},
	{"type", FIELD_NAME, offsetof(struct bb_program, type)},
	{"tag", FIELD_NAME, offsetof(struct bb_program, tag)},
};

static const struct bb_field comparison_fields[] = {
	{"name", FIELD_NAME, offsetof(struct bb_comparison, name)},
	{"base", FIELD_NAME, offsetof(struct bb_comparison, base)},
	{"head", FIELD_NAME, offsetof(struct bb_comparison, head)},
	{"threshold", FIELD_POSITIVE, offsetof(struct bb_comparison, threshold)},
	{"alpha", FIELD_SHARE, offsetof(struct bb_comparison, alpha)},
	{"injected", FIELD_REAL, offsetof(struct bb_comparison, injected)},
};

static const struct bb_field pair_fields[] = {
	{"matched", FIELD_BOOL, offsetof(struct bb_pair, matched)},
	{"base_mod64", FIELD_MOD64, offsetof(struct bb_pair, base_mod64)},
	{"head_mod64", FIELD_MOD64, offsetof(struct bb_pair, head_mod64)},
	{"blocks", FIELD_U32, offsetof(struct bb_pair, blocks)},
	{"d", FIELD_REAL, offsetof(struct bb_pair, d)},
	{"d_net", FIELD_REAL, offsetof(struct bb_pair, d_net)},
	{"shift_ns", FIELD_REAL, offsetof(struct bb_pair, shift_ns)},
	{"base_ns", FIELD_POSITIVE, offsetof(struct bb_pair, base_ns)},
	{"head_ns", FIELD_POSITIVE, offsetof(struct bb_pair, head_ns)},
	{"floor_ns", FIELD_POSITIVE, offsetof(struct bb_pair, floor_ns)},
	{"void", FIELD_TEXT_OR_NULL, offsetof(struct bb_pair, void_why)},
};

static const struct bb_field counted_fields[] = {
	{"name", FIELD_NAME, offsetof(struct bb_counted, name)},
	{"scenario", FIELD_NAME, offsetof(struct bb_counted, scenario)},
	{"variant", FIELD_NAME, offsetof(struct bb_counted, variant)},
	{"n_insns", FIELD_U32, offsetof(struct bb_counted, n_insns)},
	{"n_blocks", FIELD_U32, offsetof(struct bb_counted, n_blocks)},
	{"clone_insns", FIELD_U32, offsetof(struct bb_counted, clone_insns)},
	{"runs", FIELD_COUNT, offsetof(struct bb_counted, runs)},
	{"instructions", FIELD_COUNT, offsetof(struct bb_counted, instructions)},
	{"paths", FIELD_COUNT, offsetof(struct bb_counted, paths)},
	{"tail_calls", FIELD_COUNT, offsetof(struct bb_counted, tail_calls)},
};

static const struct bb_field counted_case_fields[] = {
	{"name", FIELD_NAME, offsetof(struct bb_counted_case, name)},
	{"param", FIELD_TEXT_OR_NULL, offsetof(struct bb_counted_case, param)},
	{"param_value", FIELD_U32, offsetof(struct bb_counted_case, param_value)},
	{"runs", FIELD_COUNT, offsetof(struct bb_counted_case, runs)},
	{"least", FIELD_COUNT, offsetof(struct bb_counted_case, least)},
	{"most", FIELD_COUNT, offsetof(struct bb_counted_case, most)},
	{"instructions", FIELD_COUNT, offsetof(struct bb_counted_case, instructions)},
	{"paths", FIELD_COUNT, offsetof(struct bb_counted_case, paths)},
	{"void", FIELD_TEXT_OR_NULL, offsetof(struct bb_counted_case, void_why)},
};

static const struct bb_field counted_line_fields[] = {
	{"file", FIELD_TEXT, offsetof(struct bb_counted_line, file)},
	{"line", FIELD_U32, offsetof(struct bb_counted_line, line)},
	{"text", FIELD_TEXT, offsetof(struct bb_counted_line, text)},
	{"n_insns", FIELD_U32, offsetof(struct bb_counted_line, n_insns)},
	{"executions", FIELD_COUNT, offsetof(struct bb_counted_line, executions)},
	{"instructions", FIELD_COUNT, offsetof(struct bb_counted_line, instructions)},
};

static const struct bb_field counted_call_fields[] = {
	{"name", FIELD_NAME, offsetof(struct bb_counted_call, name)},
	{"calls", FIELD_COUNT, offsetof(struct bb_counted_call, calls)},
};

static const struct bb_field counted_group_fields[] = {
	{"where", FIELD_TEXT, offsetof(struct bb_counted_group, where)},
	{"n_blocks", FIELD_U32, offsetof(struct bb_counted_group, n_blocks)},
	{"n_insns", FIELD_U32, offsetof(struct bb_counted_group, n_insns)},
	{"counts", FIELD_TEXT, offsetof(struct bb_counted_group, counts)},
};

static const struct bb_field flow_fields[] = {
	{"consumed", FIELD_COUNT, offsetof(struct bb_flow, consumed)},
	{"waiting", FIELD_COUNT, offsetof(struct bb_flow, waiting)},
	{"ring_bytes", FIELD_COUNT, offsetof(struct bb_flow, ring_bytes)},
	{"consumer_cpu_s", FIELD_POSITIVE, offsetof(struct bb_flow, consumer_cpu_s)},
};

const struct bb_fields bb_report_fields = FIELDS(report_fields, 0);
const struct bb_fields bb_skip_fields = FIELDS(skip_fields, 0);
const struct bb_fields bb_case_fields = FIELDS(case_fields, 2);
const struct bb_fields bb_series_fields = FIELDS(series_fields, 6);
const struct bb_fields bb_program_fields = FIELDS(program_fields, 0);
const struct bb_fields bb_comparison_fields = FIELDS(comparison_fields, 0);
const struct bb_fields bb_pair_fields = FIELDS(pair_fields, 0);
const struct bb_fields bb_counted_fields = FIELDS(counted_fields, 0);
const struct bb_fields bb_counted_case_fields = FIELDS(counted_case_fields, 0);
const struct bb_fields bb_counted_line_fields = FIELDS(counted_line_fields, 0);
const struct bb_fields bb_counted_call_fields = FIELDS(counted_call_fields, 0);
const struct bb_fields bb_counted_group_fields = FIELDS(counted_group_fields, 0);
const struct bb_fields bb_flow_fields = FIELDS(flow_fields, 0);
