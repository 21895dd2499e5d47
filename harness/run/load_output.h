/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A load generator's own figures of its requests. NAN: it does not print the figure. */
struct bb_load_figures {
	double mean_s, p50_s, p99_s; /* latency */
	double per_s;                /* requests a second */
};

/* A load generator whose output we can read. */
struct bb_load_generator {
	const char *name, *doc;
	/* Reads what it printed, which ends in a null byte. Returns 0, or -EPROTO if the requests a
	 * second are missing. */
	int (*read)(const char *text, struct bb_load_figures *ret_figures);
};

#define BB_N_LOAD_GENERATORS 3
extern const struct bb_load_generator bb_load_generators[BB_N_LOAD_GENERATORS];
