/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_EXECUTED_NOTES_H
#define BB_EXPORT_EXECUTED_NOTES_H

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"

/* Its runs returned early: its figures are of a small part of it. */
bool bb_is_little_executed(const struct bb_case *c);

/* One note on all such cases, their names by `put`. There is one at least. */
void bb_put_little_executed(const struct bb_report *r, void (*put)(FILE *out, const char *text),
			    FILE *out);

#endif
