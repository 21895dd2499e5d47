/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_WORKLOADS_FUNCTIONS_H
#define BB_WORKLOADS_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf_profiler.h"
#include "workloads/process_sample.h"

/*
 * The functions of user space that `with: call` measures. Another one is a row of bb_functions[],
 * versions of one function side by side:
 * `run` makes `n` calls in a row and nothing else, each of a function in another source file, which
 * the compiler cannot look into.
 */
struct bb_function_room { /* their buffers */
	struct bb_sample sample;
	struct bb_sample_log log;
	char text[64u << 10];
	uint32_t sink; /* a use of their results */
};

struct bb_function {
	const char *name;    /* the scenario's `function` */
	const char *variant; /* the variant's `program` */
	bool sleeps;         /* it is never called in a row: that could take for ever */
	void (*run)(struct bb_function_room *room, uint32_t n);
};

extern const struct bb_function bb_functions[];
extern const size_t bb_n_functions;

/* The names without their versions, as bb_drive_key.choice (core/drive_kind.h). */
const char *bb_function_name(size_t i);

/* A sample with a stack like amicable_pairs', a log without a file. */
void bb_function_room__init(struct bb_function_room *room);

#endif
