/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_ANNOTATE_H
#define BB_EXPORT_ANNOTATE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "report/report.h"

struct bb_annotate_opts {
	/* the lines that execute most instructions first, instead of all in their places */
	bool hottest;
	bool colour; /* ANSI colours for lines never executed, and for lines with a tenth of the
			instructions or more */
};

/*
 * The program's own source with the counts of each line per run, and the helpers it called. The
 * texts are those of judge/annotated.h. 0 or -ENOMEM; missing source is named in place.
 */
int bb_annotate(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out,
		struct bb_err *err);

#endif
