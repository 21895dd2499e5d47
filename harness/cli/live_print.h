/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "run/live.h"

/*
 * A format of `bpfbench live`. print() writes rows[n], and the caller checks `out` for errors of
 * writing. Without `all`, the table has no rows for programs that did not run, but one paragraph
 * with their names. On a narrow terminal it has fewer columns. The other formats have all rows and
 * columns.
 */
struct bb_live_format {
	const char *name;
	const char *doc;
	void (*print)(const struct bb_live_row *rows, size_t n, bool all,
		      const struct bb_doc_look *look, FILE *out);
};

enum { BB_LIVE_TABLE, BB_LIVE_JSON, BB_LIVE_OPENMETRICS, BB_N_LIVE_FORMATS };
extern const struct bb_live_format bb_live_formats[BB_N_LIVE_FORMATS];
