/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_RECORDS_H
#define BB_REPORT_RECORDS_H

#include "base/record.h"

/*
 * The descriptions of what a stored run holds: one row a member, in the order in which it is
 * written. All else follows from them; members that are BB_OTHER have functions in
 * store/run_json.c.
 */
extern const struct bb_record bb_report_record, bb_skip_record, bb_timed_record,
	bb_timed_call_record, bb_timed_row_record, bb_counted_record, bb_counted_call_record,
	bb_counted_line_record, bb_counted_case_record, bb_comparison_record, bb_pair_record,
	bb_program_record, bb_case_record, bb_series_record, bb_flow_record, bb_in_vain_record;

#endif
