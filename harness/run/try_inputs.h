/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/session.h"
#include "run/try_search.h"

/* What the search of --try-inputs found for one variant. */
struct bb_found_input {
	char *variant;
	/* the input, globals and map entries; `is_set` marks those that the search changed */
	struct bb_try_state state;
	/* programs for prog arrays (bytes[0] of a BB_TRY_PROGRAM is 1 + the index here) */
	char **programs;
	size_t n_programs;
	bool is_context; /* true if the input is a context, false if a packet */
	/* Executed instructions, and all instructions of the entered programs, before and after the
	 * search. n_after is 0 if there was none, for the reason `why_not`. */
	uint32_t before, after, n_before, n_after;
	uint64_t runs;
	char *why_not;
	/* check at which the runs still end early, or NULL */
	char *not_passed;
	uint32_t behind; /* instructions behind this check that no run executed */
};

struct bb_found_inputs {
	struct bb_found_input *v;
	size_t n;
};

/* longest search for one program, s */
#define BB_TRY_S 10.0

/* Searches an input, globals and map entries with which each program executes more of its
 * instructions. Free ret_found also after an error. */
int bb_try_inputs(const struct bb_scenario *scenario, const struct bb_run_opts *opts,
		  struct bb_found_inputs *ret_found, struct bb_err *err);
void bb_found_inputs__done(struct bb_found_inputs *f);

/* Returns true if the search changed the input, a global or a map entry, and this helped. */
bool bb_found_input__is_any(const struct bb_found_input *f);

/* Describes the changes, such as "global debug = 1", or returns "". The caller frees the text. */
char *bb_found_input__words(const struct bb_found_input *f);
