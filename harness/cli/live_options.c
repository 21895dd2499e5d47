/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/live_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/cmd.h"
#include "run/live_scenario.h"

enum { KEY_PROG_ID = 0x400, KEY_PROG_NAME, KEY_PINNED, KEY_SECONDS };

static const struct argp_option options[] = {
	{"prog-id", KEY_PROG_ID, "N", 0, "the program with this id (repeatable)", 0},
	{"prog-name", KEY_PROG_NAME, "GLOB", 0, "all programs whose names match (repeatable)", 0},
	{"pinned", KEY_PINNED, "PATH", 0, "the program pinned there (repeatable)", 0},
	{"seconds", KEY_SECONDS, "S", 0,
	 "how long to watch each of them (default 6, less if there are many); with --trigger "
	 "test-run, bpfbench runs them instead, which changes their maps",
	 0},
	{0},
};

static void add_id(struct bb_live_args *a, const char *text, const struct argp_state *state)
{
	uint32_t *id = bb_append(&a->ids, &a->n_ids, sizeof(*id));

	if (!id)
		argp_failure(state, BB_EXIT_FAILURE, 0, "out of memory");
	*id = bb_option_u32(state, "prog-id", text, 1, UINT32_MAX);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bb_live_args *a = state->input;

	switch (key) {
	case KEY_PROG_ID: add_id(a, arg, state); break;
	case KEY_PROG_NAME: bb_strings_add(&a->globs, arg, state); break;
	case KEY_PINNED: bb_strings_add(&a->pins, arg, state); break;
	case KEY_SECONDS: a->seconds = bb_option_double(state, "seconds", arg, 0.01, 86400); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp bb_live_argp = {.options = options, .parser = parse};

bool bb_live_args__any(const struct bb_live_args *a)
{
	return a->n_ids || a->globs.n || a->pins.n;
}

void bb_live_args__done(struct bb_live_args *a)
{
	free(a->ids);
	free(a->globs.v);
	free(a->pins.v);
}

int bb_live_args__scenario(const struct bb_live_args *a, bool by_test_run,
			   struct bb_scenario **ret_scenario, struct bb_err *err)
{
	const struct bb_live_opts opts = {
		.ids = a->ids,
		.n_ids = a->n_ids,
		.globs = a->globs.v,
		.n_globs = a->globs.n,
		.pins = a->pins.v,
		.n_pins = a->pins.n,
		.by_test_run = by_test_run,
		.seconds = a->seconds,
	};
	char *text = NULL;
	int rc = bb_live_scenario__make(&opts, &text, err);

	if (!rc)
		rc = bb_scenario__parse(text, strlen(text), "(loaded programs)", ret_scenario, err);
	free(text);
	return rc;
}
