/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_WORKLOADS_FUNCTIONS_H
#define BB_WORKLOADS_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf_profiler.h"
#include "workloads/process_sample.h"

/*
 * Functions of user space that `with: call` measures. Add one as a row of bb_functions[]; versions
 * of a function are rows with the same name. `run` makes `n` calls in a row and nothing else. The
 * function is in another source file, so the compiler cannot optimise the calls away.
 */
struct bb_function_room { /* buffers of the functions */
	struct bb_sample sample;
	struct bb_sample_log log;
	char text[64u << 10];
	uint32_t sink; /* sum of results, so that they are used */
};

struct bb_function {
	const char *name;    /* the scenario's key `function` */
	const char *variant; /* the variant's key `program` */
	bool sleeps;         /* must not be called in a row, because that could take very long */
	void (*run)(struct bb_function_room *room, uint32_t n);
};

extern const struct bb_function bb_functions[];
extern const size_t bb_n_functions;

/* Returns function names without versions, for bb_drive_key.choice (core/drive_kind.h); NULL
 * after the last. */
const char *bb_function_name(size_t i);

/* Makes a sample with a stack like that of amicable_pairs, and a log without a file. */
void bb_function_room__init(struct bb_function_room *room);

#endif
