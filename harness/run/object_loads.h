/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"
#include "run/object_scenario.h"

/*
 * Loads each wanted program of the object file `path`, one after the other, and runs none. Adds the
 * kernel's facts of each to the report, or a skip with the reason why the kernel refuses it. Errors
 * are those of reading the file.
 */
int bb_object_loads(const char *path, const struct bb_object_opts *opts, struct bb_report *report,
		    struct bb_err *err);
