/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_WORKLOADS_PROCESS_SAMPLE_H
#define BB_WORKLOADS_PROCESS_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The user-space half of perf_profiler: the work of its consumer on one sample of the ring buffer
 * (bpf/perf_profiler.h). It checks the sample and logs a line, "SECONDS.NANOSECONDS pid N tid N
 * frames N 0xINNERMOST..0xOUTERMOST".
 */
#define BB_SAMPLE_LINE_BYTES 160u /* the longest line, with room to spare */

/* Where lines go: memory that is written out whenever it is full, or begun anew where there is no
 * file. */
struct bb_sample_log {
	char *text; /* borrowed; text[size], size >= BB_SAMPLE_LINE_BYTES */
	size_t size, used;
	int fd;         /* -1: none */
	uint64_t lines; /* logged so far */
};

/* Write out the rest of the buffer. 0 or -errno. */
int bb_sample_log__flush(struct bb_sample_log *log);

struct bb_sample_processor {
	const char *name;
	/* 0; -EINVAL, and nothing is logged, when data[size] is no sample; -errno when the log
	 * cannot be written out. */
	int (*process)(const void *data, size_t size, struct bb_sample_log *log);
	const char *doc;
};

/*
 * fixed: as it should be. oops: with the bug that was planted there, a sleep before the line is
 * logged, of as many milliseconds as the current second is old (0 to 999), the number kept on the
 * heap.
 */
extern const struct bb_sample_processor bb_process_sample_fixed, bb_process_sample_oops;

/* By name; NULL: there is none. */
const struct bb_sample_processor *bb_sample_processor_find(const char *name);

#endif
