/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sched.h>

#include "bench.h"

/* Processes that keep every CPU busy, for benches whose bounds must hold on a busy machine. */
#define MAX_HOGS 64
#define HOG_BYTES (4u << 20)

struct hogs {
	pid_t pids[MAX_HOGS];
	size_t n;
};

/* Keeps a CPU busy until killed. If `walks`, it also goes through memory, which takes caches away
 * from the program under test. */
static inline __attribute__((noreturn)) void hog(int cpu, bool walks)
{
	volatile char *memory = walks ? malloc(HOG_BYTES) : NULL;
	volatile uint64_t x = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	bb_pin_to_cpu(cpu, NULL);
	for (size_t i = 0;; i = (i + 64) % HOG_BYTES) {
		if (memory)
			memory[i]++;
		else
			x = x * 2862933555777941757ULL + 1;
	}
}

/* Starts two hogs on every CPU that we may use. */
static inline struct hogs start_hogs(void)
{
	struct hogs h = {.n = 0};
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set)) {
		perror("sched_getaffinity");
		exit(1);
	}
	for (unsigned int i = 0; i < 2 * CPU_SETSIZE && h.n < MAX_HOGS; i++) {
		if (!CPU_ISSET(i / 2, &set))
			continue;
		h.pids[h.n] = fork();
		if (!h.pids[h.n])
			hog((int)i / 2, i % 2);
		if (h.pids[h.n] > 0)
			h.n++;
	}
	return h;
}

static inline void stop_hogs(const struct hogs *h)
{
	for (size_t i = 0; i < h->n; i++) {
		kill(h->pids[i], SIGKILL);
		waitpid(h->pids[i], NULL, 0);
	}
}
