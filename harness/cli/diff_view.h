/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/options.h"
#include "export/documents.h"

/* How verdicts are shown, and which verdict makes the command fail. */
struct bb_diff_view {
	const char *sort; /* NULL: unsorted */
	struct bb_strings filters;
	bool details;            /* show percentiles, too */
	enum bb_verdict fail_on; /* verdict that gives exit code 3; inconclusive: none gives it */
};

/* Reads --fail-on into an enum bb_verdict. */
void bb_read_verdict(const struct bb_option *o, const char *text, void *ret_verdict);

/* Sorts, filters and prints the rows. Returns the exit code, or -errno with a message. Rows that
 * were filtered out count for the exit code, too. */
int bb_diff_view__show(const struct bb_diff_view *view, struct bb_diffs *d,
		       struct bb_doc_sides sides, struct bb_err *err);
