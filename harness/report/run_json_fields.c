/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/run_json_fields.h"

#include "report/report.h"

#define FIELDS(array, n_newer) {(array), sizeof(array) / sizeof((array)[0]), (n_newer)}

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
	{"intercept_ns", FIELD_REAL, offsetof(struct bb_series, intercept_ns)},
	{"cycles", FIELD_REAL, offsetof(struct bb_series, cycles)},
	{"instructions", FIELD_REAL, offsetof(struct bb_series, instructions)},
	{"llc_misses", FIELD_REAL, offsetof(struct bb_series, llc_misses)},
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

const struct bb_fields bb_report_fields = FIELDS(report_fields, 0);
const struct bb_fields bb_skip_fields = FIELDS(skip_fields, 0);
const struct bb_fields bb_case_fields = FIELDS(case_fields, 2);
const struct bb_fields bb_series_fields = FIELDS(series_fields, 4);
const struct bb_fields bb_program_fields = FIELDS(program_fields, 0);
const struct bb_fields bb_comparison_fields = FIELDS(comparison_fields, 0);
const struct bb_fields bb_pair_fields = FIELDS(pair_fields, 0);
