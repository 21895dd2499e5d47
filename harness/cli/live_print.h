/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "run/live.h"

/* How the table of `bpfbench live` is printed. */
struct bb_live_view {
	/* false: programs that did not run have no rows, but one paragraph with their names */
	bool all;
	struct bb_doc_look look; /* width, colours; a narrow table has fewer columns */
	/* words of the command that loads the programs, with a NULL at the end; NULL: no command
	 * was given */
	char **command;
};

/*
 * A format of `bpfbench live`. print() writes rows[n], and the caller checks `out` for errors of
 * writing. Only the table needs the view; the other formats have all rows and columns.
 */
struct bb_live_format {
	const char *name;
	void (*print)(const struct bb_live_row *rows, size_t n, const struct bb_live_view *view,
		      FILE *out);
};

enum { BB_LIVE_TABLE, BB_LIVE_JSON, BB_LIVE_OPENMETRICS, BB_N_LIVE_FORMATS };
extern const struct bb_live_format bb_live_formats[BB_N_LIVE_FORMATS];
