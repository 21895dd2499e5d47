/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "perf_profiler.h"
#include "workloads/process_sample.h"

/*
 * Functions of user space that the drive `call` measures, and their buffers. bb_functions[] lists
 * the functions; rows with the same name are versions of one function. run() makes `n` calls in
 * succession and nothing else. The function that it calls is in another source file, so that the
 * compiler cannot optimise the calls away.
 */
struct bb_function_room {
	struct bb_sample sample;
	struct bb_sample_log log;
	char text[64u << 10];
	uint32_t sink; /* sum of the results, so that the compiler keeps the calls */
};

struct bb_function {
	const char *name;    /* name of the function: value of the scenario's key `function` */
	const char *variant; /* name of the version: value of the variant's key `program` */
	bool sleeps;         /* true: a call may sleep, so a sample is the time of one call */
	void (*run)(struct bb_function_room *room, uint32_t n);
};

extern const struct bb_function bb_functions[];
extern const size_t bb_n_functions;

/* For bb_drive_key.choice (core/drive_kind.h): returns the name of the i-th function; NULL after
 * the last. All versions of a function count as one. */
const char *bb_function_name(size_t i);

/* Fills the buffers with a stack sample like those of amicable_pairs, and with a log that has no
 * file. */
void bb_function_room__init(struct bb_function_room *room);
