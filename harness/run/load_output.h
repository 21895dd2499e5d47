/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Figures that a load generator prints about its requests. NAN: it does not print this figure. */
struct bb_load_figures {
	double mean_s, p50_s, p99_s; /* latency */
	double per_s;                /* requests a second */
};

/* A load generator whose output we can read. */
struct bb_load_generator {
	const char *name, *doc;
	/* Reads the generator's output, a string. Returns 0, or -EPROTO if it has no number of
	 * requests a second. */
	int (*read)(const char *text, struct bb_load_figures *ret_figures);
};

#define BB_N_LOAD_GENERATORS 3
extern const struct bb_load_generator bb_load_generators[BB_N_LOAD_GENERATORS];
