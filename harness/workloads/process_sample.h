/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The consumer of perf_profiler's ring buffer. It checks each stack sample (bpf/perf_profiler.h)
 * and logs a line: "SECONDS.NANOSECONDS pid N tid N frames N 0xINNERMOST..0xOUTERMOST". */
#define BB_SAMPLE_LINE_BYTES 160u /* longest line, with a margin */

/* Buffer of logged lines. When it is full, it is written to the file, if any, and emptied. */
struct bb_sample_log {
	char *text; /* text[size], borrowed; `size` is at least BB_SAMPLE_LINE_BYTES */
	size_t size, used;
	int fd; /* -1 if there is no file */
	uint64_t lines;
};

/* Writes the buffer to the file and empties it. Returns 0 or -errno. */
int bb_sample_log__flush(struct bb_sample_log *log);

struct bb_sample_processor {
	const char *name;
	/* Checks the sample data[size] and logs a line. Returns 0; -EINVAL, without a line, if the
	 * sample is invalid; or -errno if the log cannot be written. */
	int (*process)(const void *data, size_t size, struct bb_sample_log *log);
	const char *doc;
};

/* Two versions of the consumer. `fixed` is correct. `oops` has a planted bug: before it logs a
 * line, it sleeps for as many milliseconds as have passed in the current second. It keeps this
 * number on the heap. */
extern const struct bb_sample_processor bb_process_sample_fixed, bb_process_sample_oops;

/* Returns NULL if there is no consumer of that name. */
const struct bb_sample_processor *bb_sample_processor_find(const char *name);
