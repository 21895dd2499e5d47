/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/records.h"

#include <stdlib.h>

#include "report/report.h"

#define MEMBER(of, key, type, member)                                                              \
	{                                                                                          \
		key, type, BB_ALWAYS, offsetof(struct of, member), 0, NULL                         \
	}
/* One that runs of older versions lack. */
#define NEWER(of, key, type, member)                                                               \
	{                                                                                          \
		key, type, BB_NEWER, offsetof(struct of, member), 0, NULL                          \
	}
#define IF_SET(of, key, type, member)                                                              \
	{                                                                                          \
		key, type, BB_IF_SET, offsetof(struct of, member), 0, NULL                         \
	}
#define LIST(of, array, presence, record)                                                          \
	{                                                                                          \
#array, BB_RECORDS, presence, offsetof(struct of, array),                          \
			offsetof(struct of, n_##array), &(record)                                  \
	}
#define OTHER(key)                                                                                 \
	{                                                                                          \
		key, BB_OTHER, BB_ALWAYS, 0, 0, NULL                                               \
	}
#define RECORD(of, its_members, its_init, its_done)                                                \
	{                                                                                          \
		.size = sizeof(struct of), BB_MEMBERS(its_members), .init = its_init,              \
		.done = its_done                                                                   \
	}

static void done_flow(void *flow)
{
	free(((struct bb_ring_use *)flow)->points);
}

static const struct bb_member flow_members[] = {
	MEMBER(bb_ring_use, "consumed", BB_COUNT, consumed),
	MEMBER(bb_ring_use, "waiting", BB_COUNT, waiting),
	MEMBER(bb_ring_use, "ring_bytes", BB_COUNT, ring_bytes),
	MEMBER(bb_ring_use, "consumer_cpu_s", BB_POSITIVE, consumer_cpu_s),
	OTHER("backlog"),
};

const struct bb_record bb_flow_record = RECORD(bb_ring_use, flow_members, NULL, done_flow);

static void init_series(void *series)
{
	struct bb_series *s = series;

	bb_hist_init(&s->hist);
}

static void done_series(void *series)
{
	struct bb_series *s = series;

	bb_ring_use__free(s->flow);
	bb_hist_done(&s->hist);
}

static const struct bb_member series_members[] = {
	MEMBER(bb_series, "load", BB_U32, load),
	MEMBER(bb_series, "jit_mod64", BB_MOD64, jit_mod64),
	MEMBER(bb_series, "void", BB_TEXT_OR_NULL, void_why),
	MEMBER(bb_series, "fired", BB_COUNT, fired),
	MEMBER(bb_series, "run_cnt", BB_COUNT, run_cnt),
	MEMBER(bb_series, "run_time_ns", BB_COUNT, run_time_ns),
	MEMBER(bb_series, "misses", BB_COUNT, misses),
	MEMBER(bb_series, "drops", BB_COUNT, drops),
	MEMBER(bb_series, "warmup", BB_COUNT, warmup),
	MEMBER(bb_series, "multi", BB_COUNT, multi),
	MEMBER(bb_series, "elapsed_s", BB_POSITIVE, elapsed_s),
	MEMBER(bb_series, "target_cpu_s", BB_POSITIVE, target_cpu_s),
	MEMBER(bb_series, "steal", BB_SHARE, steal),
	NEWER(bb_series, "intercept_ns", BB_REAL, slope.intercept_ns),
	NEWER(bb_series, "cycles", BB_REAL, slope.cycles),
	NEWER(bb_series, "instructions", BB_REAL, slope.instructions),
	NEWER(bb_series, "llc_misses", BB_REAL, slope.llc_misses),
	NEWER(bb_series, "floor_ns", BB_REAL, floor_ns),
	NEWER(bb_series, "retries", BB_COUNT, retries),
	NEWER(bb_series, "events", BB_COUNT, events),
	NEWER(bb_series, "jit_share", BB_SHARE, jit_share),
	NEWER(bb_series, "instructions_ns", BB_POSITIVE, reference_ns[BB_REFERENCE_INSTRUCTIONS]),
	NEWER(bb_series, "memory_ns", BB_POSITIVE, reference_ns[BB_REFERENCE_MEMORY]),
	NEWER(bb_series, "wakeup_ns", BB_POSITIVE, reference_ns[BB_REFERENCE_WAKEUP]),
	NEWER(bb_series, "line_ns", BB_POSITIVE, line_ns),
	OTHER("flow"),
	OTHER("hist"),
};

const struct bb_record bb_series_record = RECORD(bb_series, series_members, init_series,
						 done_series);

static void init_case(void *a_case)
{
	struct bb_case *c = a_case;

	c->floor = BB_NO_FLOOR;
	for (size_t i = 0; i < bb_n_metrics; i++)
		*bb_metric_at(&c->summary, &bb_metrics[i]) = (struct bb_estimate){NAN, NAN, NAN};
}

static const struct bb_member case_members[] = {
	MEMBER(bb_case, "name", BB_NAME, name),
	MEMBER(bb_case, "scenario", BB_NAME, scenario),
	MEMBER(bb_case, "variant", BB_NAME, variant),
	MEMBER(bb_case, "drive", BB_NAME, drive),
	MEMBER(bb_case, "param", BB_TEXT_OR_NULL, param),
	MEMBER(bb_case, "param_value", BB_U32, param_value),
	MEMBER(bb_case, "anchor", BB_BOOL, is_anchor),
	NEWER(bb_case, "units_per_ns", BB_U32_NOT_0, units_per_ns),
	NEWER(bb_case, "live", BB_BOOL, is_live),
	NEWER(bb_case, "wakeups", BB_POSITIVE, wakeups),
	NEWER(bb_case, "emptied", BB_TEXT_OR_NULL, emptied),
	NEWER(bb_case, "between", BB_POSITIVE, between),
	NEWER(bb_case, "between_relative", BB_POSITIVE, between_relative),
	NEWER(bb_case, "between_floor", BB_POSITIVE, between_floor),
	NEWER(bb_case, "between_runs", BB_U32, between_runs),
	IF_SET(bb_case, "command", BB_NAME, command),
	IF_SET(bb_case, "fired_by", BB_NAME, fired_by),
	IF_SET(bb_case, "executed_insns", BB_U32, executed_insns),
	IF_SET(bb_case, "insns", BB_U32, n_insns),
	OTHER("floor"),
	OTHER("summary"),
	LIST(bb_case, series, BB_ALWAYS, bb_series_record),
};

const struct bb_record bb_case_record = RECORD(bb_case, case_members, init_case, NULL);

static void init_program(void *program)
{
	bb_static_clear(&((struct bb_program *)program)->metrics);
}

static const struct bb_member program_members[] = {
	MEMBER(bb_program, "name", BB_NAME, name),
	MEMBER(bb_program, "scenario", BB_NAME, scenario),
	MEMBER(bb_program, "variant", BB_NAME, variant),
	MEMBER(bb_program, "program", BB_NAME, program),
	MEMBER(bb_program, "object", BB_NAME, object),
	MEMBER(bb_program, "type", BB_NAME, type),
	MEMBER(bb_program, "tag", BB_NAME, tag),
	OTHER("static"),
};

const struct bb_record bb_program_record = RECORD(bb_program, program_members, init_program, NULL);

static const struct bb_member pair_members[] = {
	MEMBER(bb_pair, "matched", BB_BOOL, matched),
	MEMBER(bb_pair, "base_mod64", BB_MOD64, base_mod64),
	MEMBER(bb_pair, "head_mod64", BB_MOD64, head_mod64),
	MEMBER(bb_pair, "blocks", BB_U32, blocks),
	MEMBER(bb_pair, "d", BB_REAL, d),
	MEMBER(bb_pair, "d_net", BB_REAL, d_net),
	MEMBER(bb_pair, "shift_ns", BB_REAL, shift_ns),
	MEMBER(bb_pair, "base_ns", BB_POSITIVE, base_ns),
	MEMBER(bb_pair, "head_ns", BB_POSITIVE, head_ns),
	MEMBER(bb_pair, "floor_ns", BB_POSITIVE, floor_ns),
	MEMBER(bb_pair, "void", BB_TEXT_OR_NULL, void_why),
};

const struct bb_record bb_pair_record = RECORD(bb_pair, pair_members, NULL, NULL);

static void init_comparison(void *comparison)
{
	struct bb_comparison *c = comparison;

	c->threshold = c->alpha = c->injected = 0;
}

static const struct bb_member comparison_members[] = {
	MEMBER(bb_comparison, "name", BB_NAME, name),
	MEMBER(bb_comparison, "base", BB_NAME, base),
	MEMBER(bb_comparison, "head", BB_NAME, head),
	MEMBER(bb_comparison, "threshold", BB_POSITIVE, threshold),
	MEMBER(bb_comparison, "alpha", BB_SHARE, alpha),
	MEMBER(bb_comparison, "injected", BB_REAL, injected),
	OTHER("summary"),
	LIST(bb_comparison, pairs, BB_ALWAYS, bb_pair_record),
};

const struct bb_record bb_comparison_record = RECORD(bb_comparison, comparison_members,
						     init_comparison, NULL);

static const struct bb_member counted_case_members[] = {
	MEMBER(bb_counted_case, "name", BB_NAME, name),
	MEMBER(bb_counted_case, "param", BB_TEXT_OR_NULL, param),
	MEMBER(bb_counted_case, "param_value", BB_U32, param_value),
	MEMBER(bb_counted_case, "runs", BB_COUNT, runs),
	MEMBER(bb_counted_case, "least", BB_COUNT, least),
	MEMBER(bb_counted_case, "most", BB_COUNT, most),
	MEMBER(bb_counted_case, "instructions", BB_COUNT, instructions),
	MEMBER(bb_counted_case, "paths", BB_COUNT, paths),
	MEMBER(bb_counted_case, "void", BB_TEXT_OR_NULL, void_why),
};

const struct bb_record bb_counted_case_record = RECORD(bb_counted_case, counted_case_members, NULL,
						       NULL);

static const struct bb_member counted_line_members[] = {
	MEMBER(bb_counted_line, "file", BB_TEXT, file),
	MEMBER(bb_counted_line, "line", BB_U32, line),
	MEMBER(bb_counted_line, "text", BB_TEXT, text),
	MEMBER(bb_counted_line, "n_insns", BB_U32, n_insns),
	MEMBER(bb_counted_line, "executions", BB_COUNT, executions),
	MEMBER(bb_counted_line, "instructions", BB_COUNT, instructions),
};

const struct bb_record bb_counted_line_record = RECORD(bb_counted_line, counted_line_members, NULL,
						       NULL);

static const struct bb_member counted_call_members[] = {
	MEMBER(bb_counted_call, "name", BB_NAME, name),
	MEMBER(bb_counted_call, "calls", BB_COUNT, calls),
};

const struct bb_record bb_counted_call_record = RECORD(bb_counted_call, counted_call_members, NULL,
						       NULL);

static const struct bb_member counted_members[] = {
	MEMBER(bb_counted, "name", BB_NAME, name),
	MEMBER(bb_counted, "scenario", BB_NAME, scenario),
	MEMBER(bb_counted, "variant", BB_NAME, variant),
	MEMBER(bb_counted, "n_insns", BB_U32, n_insns),
	MEMBER(bb_counted, "n_blocks", BB_U32, n_blocks),
	MEMBER(bb_counted, "clone_insns", BB_U32, clone_insns),
	MEMBER(bb_counted, "runs", BB_COUNT, runs),
	MEMBER(bb_counted, "instructions", BB_COUNT, instructions),
	MEMBER(bb_counted, "paths", BB_COUNT, paths),
	MEMBER(bb_counted, "tail_calls", BB_COUNT, tail_calls),
	LIST(bb_counted, cases, BB_ALWAYS, bb_counted_case_record),
	LIST(bb_counted, lines, BB_ALWAYS, bb_counted_line_record),
	LIST(bb_counted, calls, BB_ALWAYS, bb_counted_call_record),
};

const struct bb_record bb_counted_record = RECORD(bb_counted, counted_members, NULL, NULL);

static const struct bb_member timed_row_members[] = {
	MEMBER(bb_timed_row, "file", BB_TEXT, file),
	MEMBER(bb_timed_row, "line", BB_U32, line),
	MEMBER(bb_timed_row, "last_line", BB_U32, last_line),
	MEMBER(bb_timed_row, "insn", BB_U32, insn),
	MEMBER(bb_timed_row, "text", BB_TEXT, text),
	MEMBER(bb_timed_row, "call", BB_TEXT, call),
	MEMBER(bb_timed_row, "loop", BB_BOOL, is_loop),
	MEMBER(bb_timed_row, "turns", BB_COUNT, turns),
	MEMBER(bb_timed_row, "ns", BB_TEXT, ns),
	MEMBER(bb_timed_row, "first_ns", BB_TEXT, first_ns),
	NEWER(bb_timed_row, "from", BB_TEXT, from),
	NEWER(bb_timed_row, "enters", BB_BOOL, enters),
};

const struct bb_record bb_timed_row_record = RECORD(bb_timed_row, timed_row_members, NULL, NULL);

static const struct bb_member timed_members[] = {
	MEMBER(bb_timed, "name", BB_NAME, name),
	MEMBER(bb_timed, "scenario", BB_NAME, scenario),
	MEMBER(bb_timed, "variant", BB_NAME, variant),
	MEMBER(bb_timed, "drive", BB_NAME, drive),
	MEMBER(bb_timed, "param", BB_TEXT_OR_NULL, param),
	MEMBER(bb_timed, "param_value", BB_U32, param_value),
	MEMBER(bb_timed, "cuts", BB_U32, cuts),
	MEMBER(bb_timed, "refused", BB_U32, refused),
	MEMBER(bb_timed, "refused_why", BB_TEXT_OR_NULL, refused_why),
	MEMBER(bb_timed, "passed", BB_COUNT, passed),
	MEMBER(bb_timed, "runs", BB_COUNT, runs),
	MEMBER(bb_timed, "other_ways", BB_COUNT, other_ways),
	MEMBER(bb_timed, "check_ns", BB_POSITIVE, check_ns),
	MEMBER(bb_timed, "leaves", BB_BOOL, leaves),
	MEMBER(bb_timed, "program_ns", BB_TEXT, program_ns),
	MEMBER(bb_timed, "empty_ns", BB_TEXT, empty_ns),
	MEMBER(bb_timed, "rest_ns", BB_TEXT, rest_ns),
	NEWER(bb_timed, "points", BB_U32, points),
	NEWER(bb_timed, "thinned_why", BB_TEXT_OR_NULL, thinned_why),
	NEWER(bb_timed, "measured", BB_COUNT, measured),
	NEWER(bb_timed, "processes", BB_U32, processes),
	NEWER(bb_timed, "sweeps", BB_COUNT, sweeps),
	NEWER(bb_timed, "disturbed", BB_COUNT, disturbed),
	NEWER(bb_timed, "hidden_ns", BB_TEXT_OR_NULL, hidden_ns),
	LIST(bb_timed, rows, BB_ALWAYS, bb_timed_row_record),
};

const struct bb_record bb_timed_record = RECORD(bb_timed, timed_members, NULL, NULL);

static const struct bb_member skip_members[] = {
	MEMBER(bb_skip, "what", BB_TEXT, what),
	MEMBER(bb_skip, "why", BB_TEXT, why),
};

const struct bb_record bb_skip_record = RECORD(bb_skip, skip_members, NULL, NULL);

static void init_report(void *report)
{
	bb_fingerprint_init(&((struct bb_report *)report)->fingerprint);
}

static const struct bb_member report_members[] = {
	MEMBER(bb_report, "id", BB_NAME, id),
	MEMBER(bb_report, "started", BB_TEXT_OR_NULL, started),
	MEMBER(bb_report, "command", BB_TEXT_OR_NULL, command),
	MEMBER(bb_report, "seed", BB_SEED, seed),
	MEMBER(bb_report, "elapsed_s", BB_POSITIVE, elapsed_s),
	MEMBER(bb_report, "steal", BB_SHARE, steal),
	MEMBER(bb_report, "incomplete", BB_TEXT_OR_NULL, incomplete),
	OTHER("fingerprint"),
	LIST(bb_report, skips, BB_ALWAYS, bb_skip_record),
	LIST(bb_report, programs, BB_IF_SET, bb_program_record),
	LIST(bb_report, comparisons, BB_IF_SET, bb_comparison_record),
	LIST(bb_report, counted, BB_IF_SET, bb_counted_record),
	LIST(bb_report, timed, BB_IF_SET, bb_timed_record),
	LIST(bb_report, cases, BB_ALWAYS, bb_case_record),
};

const struct bb_record bb_report_record = RECORD(bb_report, report_members, init_report, NULL);
