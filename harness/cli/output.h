/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_OUTPUT_H
#define BB_CLI_OUTPUT_H

#include "base/err.h"
#include "report/exporter.h"
#include "report/report.h"

/* Can `path` (NULL: stdout) be written later? Asked before measuring, so that nothing is measured in vain. */
int bb_output_check(const char *path, struct bb_err *err);

/* A report in a format to stdout or, whole or not at all, to a file. */
int bb_output(const struct bb_report *report, const struct bb_exporter *format, const char *path, struct bb_err *err);

#endif
