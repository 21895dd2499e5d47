/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_IN_VAIN_NOTES_H
#define BB_EXPORT_IN_VAIN_NOTES_H

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"

/* One note; the remedy stands behind those that it is for. Text of objects: not clean yet. */
typedef void bb_put_note(const char *text, bool is_remedy, FILE *out);

/*
 * What the programs of a run looked for in vain (report/in_vain.h), each note once: of the table
 * that `table` is in, by its variants; NULL: of all cases, by their programs, and in a comparison
 * once for both sides. 0 or -ENOMEM.
 */
int bb_put_in_vain(const struct bb_report *r, const struct bb_case *table, bb_put_note *put,
		   FILE *out);

#endif
