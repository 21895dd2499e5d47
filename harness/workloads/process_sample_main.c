/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_sample: hands one sample of perf_profiler to its consumer's function N times, for heap profilers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "workloads/functions.h"

/* The buffer of the log is on the heap, as a consumer's is, and lines go to stdout. */
static int process(const struct bb_sample_processor *p, uint64_t samples)
{
	struct bb_function_room *room = malloc(sizeof(*room));
	int rc = room ? 0 : -1;

	if (!rc) {
		bb_function_room__init(room);
		room->log.fd = STDOUT_FILENO;
	}
	for (uint64_t i = 0; !rc && i < samples; i++)
		rc = p->process(&room->sample, sizeof(room->sample), &room->log);
	if (!rc)
		rc = bb_sample_log__flush(&room->log);
	free(room);
	return rc;
}

int main(int argc, char **argv)
{
	const struct bb_sample_processor *p = argc == 3 ? bb_sample_processor_find(argv[1]) : NULL;
	uint64_t samples;

	if (!p || bb_parse_u64(argv[2], &samples)) {
		fputs("usage: process_sample fixed|oops SAMPLES\n", stderr);
		return 2;
	}
	if (process(p, samples)) {
		fputs("process_sample: out of memory, or stdout cannot be written\n", stderr);
		return 1;
	}
	return 0;
}
