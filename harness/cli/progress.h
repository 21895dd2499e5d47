/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_PROGRESS_H
#define BB_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "run/runner.h"

/* A bar with the time left on stderr, ten times a second; nothing at all when stderr is not a
 * terminal. */
struct bb_progress_bar {
	bool on;
	uint64_t began_ns, drawn_ns;
	struct bb_progress callbacks; /* hand this to bb_run_plan() */
};

void bb_progress_bar__begin(struct bb_progress_bar *bar, bool quiet);
void bb_progress_bar__end(struct bb_progress_bar *bar); /* wipe the line */

#endif
