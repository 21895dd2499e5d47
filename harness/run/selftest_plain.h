/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_SELFTEST_PLAIN_H
#define BB_RUN_SELFTEST_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/scenario.h"
#include "report/report.h"
#include "run/runner.h"

/*
 * How well plain runs repeat on this machine: the scenario of the self-test is run as a plain run
 * again and again, in turns with the other experiments and with runs of its first program alone.
 */
/* Programs differ in the causes that move them between runs. */
enum bb_repeat_class {
	BB_REPEAT_CALM,
	BB_REPEAT_WAKES, /* it interrupts its own CPU */
	BB_REPEAT_COLD,  /* with emptied caches */
	BB_REPEAT_EMPTY, /* the floor: it moves all programs of its drive by as many ns */
	BB_REPEAT_EMPTY_COLD,
	BB_N_REPEAT_CLASSES
};

enum bb_repeat_of { BB_REPEAT_LATENCY, BB_REPEAT_RELATIVE, BB_N_REPEATS };

/* A growing list of figures. */
struct bb_repeat_list {
	double *v;
	size_t n;
};

/* One program under one drive over all runs. */
struct bb_repeat_row {
	const char *program; /* borrowed from the scenario */
	enum bb_repeat_class class;
	struct bb_repeat_list ln[BB_N_REPEATS]; /* by run: of the figure */
	/* by run: ln of the second half of the loads over the first, loads of one place each */
	struct bb_repeat_list halves;
	struct bb_repeat_list
		alone; /* by run: ln of the latency, the program and its floor alone */
};

struct bb_repeat {
	struct bb_repeat_row *rows;
	size_t n_rows;
	struct bb_repeat_list clock, memory; /* ns of the references, by run and round, by run */
};

#define BB_REPEAT_LEAST 4 /* runs, to say how much they differ */

enum bb_repeat_class bb_repeat_class_of(const struct bb_report *r, const struct bb_case *c);

/* One more run of `scenario`, and one of its first program alone; the `turn`-th of each. A run for
 * which there was no time adds nothing. */
int bb_repeat__run(struct bb_repeat *r, const struct bb_scenario *scenario,
		   const struct bb_run_opts *opts, uint32_t turn, struct bb_err *err);
void bb_repeat__done(struct bb_repeat *r);

#endif
