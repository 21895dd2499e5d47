/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history of stored runs, an SQLite database. */
#include "fuzz/fuzz.h"

#include "store/run_index.h"

static void touch_text(const char *text)
{
	if (text)
		fuzz_touch(text, strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_run_index x;
	char *copy;

	if (size < 512) /* SQLite's smallest page */
		return 0;
	copy = fuzz_text(data, size);
	bb_history_db__parse(copy, size, &x);
	for (size_t i = 0; i < x.n_runs; i++) {
		const struct bb_index_run *run = &x.runs[i];

		touch_text(run->name);
		touch_text(run->id);
		touch_text(run->started);
		touch_text(run->incomplete);
		touch_text(run->commit);
		fuzz_touch(&x.machines[run->machine], sizeof(*x.machines));
		for (size_t k = 0; k < run->n_points; k++)
			touch_text(x.cases[x.points[run->first_point + k].what].name);
	}
	bb_run_index__done(&x);
	free(copy);
	return 0;
}
