/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For `make heap` and `make flame`: processes one sample of perf_profiler many times. */

#include "base/parse.h"
#include "workloads/functions.h"

/* The log's buffer is on the heap, as in a real consumer. */
static int process_samples(const struct bb_sample_processor *p, uint64_t samples, int log_fd)
{
	struct bb_function_room *room = malloc(sizeof(*room));
	int rc = room ? 0 : -1;

	if (!rc) {
		bb_function_room__init(room);
		room->log.fd = log_fd;
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
	const struct bb_sample_processor *p = argc == 3 || argc == 4
						      ? bb_sample_processor_find(argv[1])
						      : NULL;
	int log_fd = STDOUT_FILENO;
	uint64_t samples;

	if (!p || bb_parse_u64(argv[2], &samples)) {
		fputs("usage: process_sample fixed|oops SAMPLES [LOG]\n", stderr);
		return 2;
	}
	if (argc == 4)
		log_fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (log_fd < 0 || process_samples(p, samples, log_fd)) {
		fprintf(stderr, "process_sample: out of memory, or %s cannot be written\n",
			argc == 4 ? argv[3] : "stdout");
		return 1;
	}
	return 0;
}
