/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "run/live.h"

struct bb_live_view {
	/* if false, programs that did not run get no rows, but one paragraph with their names */
	bool all;
	struct bb_doc_look look; /* a narrow table has fewer columns */
	/* the command that loads the programs, which ends in NULL; NULL if none was given */
	char **command;
};

/* A format of `bpfbench live`. Only the table uses `view`. The caller checks `out` for errors. */
struct bb_live_format {
	const char *name;
	void (*print)(const struct bb_live_row *rows, size_t n, const struct bb_live_view *view,
		      FILE *out);
};

enum { BB_LIVE_TABLE, BB_LIVE_JSON, BB_LIVE_OPENMETRICS, BB_N_LIVE_FORMATS };
extern const struct bb_live_format bb_live_formats[BB_N_LIVE_FORMATS];
