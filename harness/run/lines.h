/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_LINES_H
#define BB_RUN_LINES_H

#include "report/report.h"
#include "run/session.h"

/* Put the measurements of the drives `lines` into the report, when all loads are done. 0 or
 * -ENOMEM. */
int bb_note_lines(struct bb_session *s, struct bb_report *report, struct bb_err *err);

#endif
