/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"
#include "run/object_scenario.h"

/*
 * Loads each wanted program of the object file `path`, one after the other, and runs no program.
 * Adds to the report the kernel's facts about each program or, if the kernel refuses the program, a
 * skip with the reason. Returns 0, or -errno with a message if the file cannot be read.
 */
int bb_object_loads(const char *path, const struct bb_object_opts *opts, struct bb_report *report,
		    struct bb_err *err);
