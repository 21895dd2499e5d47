/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_GATE_MARKDOWN_H
#define BB_EXPORT_GATE_MARKDOWN_H

#include <stdio.h>

#include "base/err.h"
#include "judge/gate.h"
#include "report/report.h"

/*
 * Markdown for a job summary or a comment: the outcome, the verdicts, the exact metrics of the
 * programs that moved, and the programs that were not compared, with the reasons. `first` may have
 * no comparison. 0 or -ENOMEM; whether the bytes got out is for the caller to ask `out`.
 */
int bb_gate__markdown(const struct bb_gate *g, const struct bb_report *first,
		      const struct bb_report *again, FILE *out, struct bb_err *err);

#endif
