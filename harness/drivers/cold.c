/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/cold.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/rng.h"
#include "drivers/cold_branches.h"
#include "stats/quantile.h"

#define LINE_BYTES 64u /* where lines are longer, some are written twice */
#define DEFAULT_BYTES ((size_t)4 << 20)
#define PROBE_LINES 256u /* 16 KiB: in every L1 */
#define LOOKS 15u
#define EVICTED 5.0 /* one by one, L2 answers 3 to 4 times as late as L1, L3 15 times */

struct bb_cold {
	char *buffer;
	size_t bytes; /* in use: a power of two */
	struct bb_cold_branches branches;
	struct bb_rng rng;
	/* [i][0]: the line that is read after it */
	void *probe[PROBE_LINES][LINE_BYTES / sizeof(void *)];
};

/* The size of cache `index`; 0: there is none, or it is for instructions only. */
static size_t cache_bytes(const char *root, int cpu, unsigned int index)
{
	static const char *const keys[] = {"type", "size"};
	char *text[2] = {NULL, NULL}, path[512];
	uint64_t kib = 0;
	size_t len;
	bool ok = true;

	for (int i = 0; ok && i < 2; i++) {
		snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/cache/index%u/%s",
			 root, cpu, index, keys[i]);
		ok = !bb_read_file(path, 4096, &text[i], &len, NULL);
		if (ok)
			text[i][strcspn(text[i], "\nK")] =
				'\0'; /* always in K: drivers/base/cacheinfo.c, size_show() */
	}
	if (!ok || !strcmp(text[0], "Instruction") || bb_parse_u64(text[1], &kib) ||
	    kib > SIZE_MAX >> 12)
		kib = 0;
	free(text[0]);
	free(text[1]);
	return (size_t)kib << 10;
}

size_t bb_cold_bytes(const char *root, int cpu)
{
	size_t most = 0, bytes = LINE_BYTES;

	for (unsigned int i = 0; i < 8; i++) {
		size_t twice = 2 * cache_bytes(root, cpu, i);

		if (twice > most && twice <= BB_COLD_MAX_BYTES)
			most = twice;
	}
	if (!most)
		return DEFAULT_BYTES;
	while (bytes < most)
		bytes *= 2;
	return bytes;
}

size_t bb_cold__bytes(const struct bb_cold *c)
{
	return c->bytes;
}

/*
 * Every line once. The step is odd and the number of lines a power of two, so all are met; being
 * the golden section of it, it goes to another page each time, where no prefetcher has been.
 */
static void write_buffer(struct bb_cold *c)
{
	size_t lines = c->bytes / LINE_BYTES, step = (size_t)(0.6180339887 * (double)lines) | 1,
	       at = 0;

	for (size_t i = 0; i < lines; i++) {
		++*(volatile uint64_t *)(c->buffer + at * LINE_BYTES);
		at = (at + step) & (lines - 1);
	}
}

void bb_cold__empty(struct bb_cold *c)
{
	write_buffer(c);
	bb_cold_branches__run(&c->branches, bb_rng_u64(&c->rng));
}

/* The probe as a ring in random order: each line says where the next is, so that no two are read at
 * a time. */
static void link_probe(struct bb_cold *c)
{
	uint32_t order[PROBE_LINES];

	for (uint32_t i = 0; i < PROBE_LINES; i++)
		order[i] = i;
	bb_rng_shuffle(&c->rng, order, PROBE_LINES);
	for (uint32_t i = 0; i < PROBE_LINES; i++)
		c->probe[order[i]][0] = c->probe[order[(i + 1) % PROBE_LINES]];
}

static double read_probe_ns(const struct bb_cold *c)
{
	void *const *at = c->probe[0];
	uint64_t began_ns = bb_now_ns();

	for (uint32_t i = 0; i < PROBE_LINES; i++)
		at = *(void *const *volatile *)at;
	return (double)(bb_now_ns() - began_ns) / PROBE_LINES;
}

/* Medians of how long a line takes to read, hot and after emptying. */
static void look(struct bb_cold *c, double *ret_hot_ns, double *ret_cold_ns)
{
	double hot_ns[LOOKS], cold_ns[LOOKS];

	for (unsigned int i = 0; i < LOOKS; i++) {
		bb_cold__empty(c);
		cold_ns[i] = read_probe_ns(c);
		hot_ns[i] = read_probe_ns(c);
	}
	*ret_hot_ns = bb_median(hot_ns, LOOKS);
	*ret_cold_ns = bb_median(cold_ns, LOOKS);
}

static int find_size(struct bb_cold *c, struct bb_err *err)
{
	double hot_ns, cold_ns;

	for (;;) {
		look(c, &hot_ns, &cold_ns);
		if (cold_ns > EVICTED * hot_ns)
			return 0;
		if (c->bytes == BB_COLD_MAX_BYTES)
			break;
		c->bytes *= 2;
	}
	return bb_fail(err, -ENOTSUP,
		       "caches cannot be emptied here: after writing %zu MiB a line takes %.1f ns "
		       "to read, %.1f ns before",
		       c->bytes >> 20, cold_ns, hot_ns);
}

static int map_buffer(struct bb_cold *c, struct bb_err *err)
{
	c->buffer = mmap(NULL, BB_COLD_MAX_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->buffer == MAP_FAILED) {
		c->buffer = NULL;
		return bb_fail_nomem(err);
	}
	/* Small pages fill the TLB; and a fork must not make them copy-on-write: each would be a
	 * fault, thus an event. */
	madvise(c->buffer, BB_COLD_MAX_BYTES, MADV_NOHUGEPAGE);
	madvise(c->buffer, BB_COLD_MAX_BYTES, MADV_DONTFORK);
	return 0;
}

int bb_cold__open(const char *root, int cpu, struct bb_cold **ret_cold, struct bb_err *err)
{
	struct bb_cold *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return bb_fail_nomem(err);
	bb_rng_seed(&c->rng, 1);
	link_probe(c);
	c->bytes = bb_cold_bytes(root, cpu);
	rc = map_buffer(c, err);
	if (!rc)
		rc = bb_cold_branches__open(&c->branches, err);
	if (!rc)
		rc = find_size(c, err); /* which touches all of what is used */
	if (rc)
		bb_cold__free(c);
	else
		*ret_cold = c;
	return rc;
}

void bb_cold__free(struct bb_cold *c)
{
	if (!c)
		return;
	if (c->buffer)
		munmap(c->buffer, BB_COLD_MAX_BYTES);
	bb_cold_branches__close(&c->branches);
	free(c);
}
