/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/session.h"
#include "run/try_search.h"

/* The result of the search of --try-inputs for one variant. */
struct bb_found_input {
	char *variant;
	/* the input, globals and entries of maps; those with `is_set` differ from those in the
	 * object */
	struct bb_try_state state;
	/* names of programs for prog arrays; a BB_TRY_PROGRAM names programs[i] by the number i
	 * + 1 */
	char **programs;
	size_t n_programs;
	bool is_context; /* the input in `state` is a context; false: it is a packet */
	/* before, after: executed instructions before and after the search; n_before, n_after: all
	 * instructions of the entered programs at these times. n_after == 0: there was no search,
	 * for the reason `why_not` */
	uint32_t before, after, n_before, n_after;
	uint64_t runs;
	char *why_not;
	/* check at which the runs still end early after the search; NULL: there is none */
	char *not_passed;
	uint32_t behind; /* number of instructions after this check that no run executed */
};

struct bb_found_inputs {
	struct bb_found_input *v;
	size_t n;
};

/* limit: time for the search for one program, s */
#define BB_TRY_S 10.0

/* Searches, for each program of the scenario, an input, globals and entries of maps with which it
 * executes more of its instructions. Measures nothing. The caller frees ret_found, which is filled
 * even after an error. Returns 0, or -errno with a message. */
int bb_try_inputs(const struct bb_scenario *scenario, const struct bb_run_opts *opts,
		  struct bb_found_inputs *ret_found, struct bb_err *err);
void bb_found_inputs__done(struct bb_found_inputs *f);

/* True if the search changed the input, a global or an entry of a map. */
bool bb_found_input__is_any(const struct bb_found_input *f);

/* Describes the changes that the search made: "global debug = 1", or "" for none; free() it. */
char *bb_found_input__words(const struct bb_found_input *f);
