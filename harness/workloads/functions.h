/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "perf_profiler.h"
#include "workloads/process_sample.h"

/* Functions of user space that the drive `call` measures, and their buffers. Rows of bb_functions[]
 * with the same name are versions of one function. run() only makes `n` calls. The called function
 * is in another source file, so that the compiler cannot optimise the calls away. */
struct bb_function_room {
	struct bb_sample sample;
	struct bb_sample_log log;
	char text[64u << 10];
	uint32_t sink; /* sum of the results, so that the compiler keeps the calls */
};

struct bb_function {
	const char *name;    /* value of the scenario's key `function` */
	const char *variant; /* version; value of the variant's key `program` */
	bool sleeps;         /* a call may sleep, so each is timed alone */
	void (*run)(struct bb_function_room *room, uint32_t n);
};

extern const struct bb_function bb_functions[];
extern const size_t bb_n_functions;

/* For bb_drive_key.choice (core/drive_kind.h): returns the name of the i-th function, not counting
 * versions; NULL after the last. */
const char *bb_function_name(size_t i);

/* Fills the buffers with a stack sample like those of amicable_pairs. The log has no file. */
void bb_function_room__init(struct bb_function_room *room);
