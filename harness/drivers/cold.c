/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/cold.h"

#include "base/io.h"
#include "base/parse.h"
#include "base/rng.h"
#include "stats/quantile.h"

/* Code that fills the instruction caches and branch predictors: a function of 512 conditional
 * branches, copied N_COPIES times. Each branch is taken at random in half of the runs. These are
 * more branches than any branch target buffer holds (Intel's Golden Cove: 12288 targets), and more
 * code than an L1 instruction cache holds. The function is copied, because compiling 32768 branches
 * would take half a minute. A copy runs at any address, because the function refers to nothing
 * outside itself. */
#define N_COPIES 64u
#define ALIGN_BYTES 64u

/* The empty asm statement is no instruction, but the compiler must keep it and the branch around
 * it. Each bit of a random word decides one branch. */
#define BRANCH                                                                                     \
	do {                                                                                       \
		if (bits & 1)                                                                      \
			__asm__ volatile("" : "+r"(x));                                            \
		bits >>= 1;                                                                        \
	} while (0);
#define BRANCH4 BRANCH BRANCH BRANCH BRANCH
#define BRANCH16 BRANCH4 BRANCH4 BRANCH4 BRANCH4
#define BRANCH64                                                                                   \
	do {                                                                                       \
		uint64_t bits = x = next(x);                                                       \
		BRANCH16 BRANCH16 BRANCH16 BRANCH16                                                \
	} while (0);

/* Marsaglia 2003: xorshift64. `x` must not be 0. */
static inline __attribute__((always_inline)) uint64_t next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

/* This function is alone in its section, because the linker defines symbols for the start and the
 * end of a section. */
static __attribute__((noinline, section("bb_cold_branches"), no_sanitize("address"),
		      no_sanitize("undefined"))) uint64_t
branches(uint64_t x)
{
	BRANCH64 BRANCH64 BRANCH64 BRANCH64 BRANCH64 BRANCH64 BRANCH64 BRANCH64 return x;
}

extern const char __start_bb_cold_branches[], __stop_bb_cold_branches[];

/* assumed size of a cache line; on a CPU with longer lines, some lines are written twice */
#define LINE_BYTES 64u
#define MOST_CACHES 8u
#define DEFAULT_BYTES ((size_t)4 << 20)
/* The test of whether the caches are empty reads this many cache lines. Each line is in its own
 * page, because the CPU might prefetch several lines of one page together. */
#define PROBE_LINES 128u
#define PROBE_PAGE 4096u
#define LOOKS 15u
#define LOOKS_A_TURN 3u
/* The caches count as emptied if reading a line takes more than this many times as long as with hot
 * caches. A read from L3 with a TLB miss takes 5 times as long as a read from L1 or L2. */
#define EVICTED 3.0

struct bb_cold {
	char *buffer;
	size_t bytes; /* part of `buffer` that is written: a power of two */
	char *copies; /* N_COPIES of branches(), each in copy_bytes bytes; executable */
	size_t copy_bytes;
	struct bb_rng rng;
	/* read by the test of the caches: each cache line holds the address of the next */
	char *probe;
	void **first;
	char emptied[200];
};

/* Returns 0 if there is no such cache or it holds instructions only. */
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
			/* the unit is always K (drivers/base/cacheinfo.c, size_show()) */
			text[i][strcspn(text[i], "\nK")] = '\0';
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

	for (unsigned int i = 0; i < MOST_CACHES; i++) {
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

/* Writes every line of the buffer once. All lines are reached, because the step is odd and the
 * number of lines is a power of two. The step is 0.618 (golden ratio) of the number of lines. So
 * successive writes are far apart, and no prefetcher expects them. Then runs the branches. */
void bb_cold__empty(struct bb_cold *c)
{
	size_t lines = c->bytes / LINE_BYTES, step = (size_t)(0.6180339887 * (double)lines) | 1,
	       at = 0;
	const char *entry = c->copies +
			    ((const char *)(uintptr_t)branches - __start_bb_cold_branches);

	for (size_t i = 0; i < lines; i++) {
		++*(volatile uint64_t *)(c->buffer + at * LINE_BYTES);
		at = (at + step) & (lines - 1);
	}
	uint64_t x = bb_rng_u64(&c->rng) | 1;
	for (size_t i = 0; i < N_COPIES; i++)
		x = ((uint64_t(*)(uint64_t))(uintptr_t)(entry + i * c->copy_bytes))(x);
	__asm__ volatile("" : : "r"(x));
}

static double read_probe_ns(const struct bb_cold *c)
{
	void *const *at = (void *const *)c->first;
	uint64_t began_ns = bb_now_ns();

	for (uint32_t i = 0; i < PROBE_LINES; i++)
		at = *(void *const *volatile *)at;
	return (double)(bb_now_ns() - began_ns) / PROBE_LINES;
}

double bb_cold__line_ns(struct bb_cold *c)
{
	double ns[LOOKS_A_TURN];

	for (unsigned int i = 0; i < LOOKS_A_TURN; i++) {
		bb_cold__empty(c);
		ns[i] = read_probe_ns(c);
	}
	return bb_median(ns, LOOKS_A_TURN);
}

const char *bb_cold__emptied(const struct bb_cold *c)
{
	return c->emptied;
}

static int find_size(const char *root, int cpu, struct bb_cold *c, struct bb_err *err)
{
	double hot[LOOKS], cold[LOOKS], hot_ns, cold_ns;
	size_t at = 0;

	for (;; c->bytes *= 2) {
		for (unsigned int i = 0; i < LOOKS; i++) {
			bb_cold__empty(c);
			cold[i] = read_probe_ns(c);
			hot[i] = read_probe_ns(c);
		}
		hot_ns = bb_median(hot, LOOKS);
		cold_ns = bb_median(cold, LOOKS);
		if (cold_ns > EVICTED * hot_ns)
			break;
		if (c->bytes == BB_COLD_MAX_BYTES)
			return bb_fail(err, -ENOTSUP,
				       "caches cannot be emptied here: after writing %zu MiB a "
				       "line takes %.1f ns to read, %.1f ns before",
				       c->bytes >> 20, cold_ns, hot_ns);
	}
	/* the emptied caches are those up to half of the buffer's size */
	for (unsigned int i = 0; i < MOST_CACHES && at < sizeof(c->emptied); i++) {
		size_t bytes = cache_bytes(root, cpu, i);

		if (bytes && 2 * bytes <= c->bytes)
			at += (size_t)snprintf(c->emptied + at, sizeof(c->emptied) - at,
					       "caches of %zu KiB, ", bytes >> 10);
	}
	if (at < sizeof(c->emptied))
		snprintf(c->emptied + at, sizeof(c->emptied) - at,
			 "TLB and branch history by writing %zu KiB: a line took %.1f ns to read "
			 "then, %.1f before",
			 c->bytes >> 10, cold_ns, hot_ns);
	return 0;
}

static char *map_pages(size_t bytes)
{
	char *pages = bb_map_pages(bytes, MAP_PRIVATE);

	/* Small pages fill the TLB. MADV_DONTFORK keeps a fork from making the pages copy-on-write.
	 * Otherwise the next write to each page would cause a page fault, and page faults may be
	 * the events that run the measured program. */
	madvise(pages, bytes, MADV_NOHUGEPAGE);
	madvise(pages, bytes, MADV_DONTFORK);
	return pages;
}

static void map_all(struct bb_cold *c)
{
	uint32_t at[PROBE_LINES];

	c->buffer = map_pages(BB_COLD_MAX_BYTES);
	c->probe = map_pages(PROBE_LINES * PROBE_PAGE);
	/* Link the lines of the probe to a ring in random order. The CPU finds the address of the
	 * next line only in the line itself, so it cannot read two at a time. */
	for (uint32_t i = 0; i < PROBE_LINES; i++)
		at[i] = i * PROBE_PAGE +
			LINE_BYTES * (uint32_t)bb_rng_below(&c->rng, PROBE_PAGE / LINE_BYTES);
	bb_rng_shuffle(&c->rng, at, PROBE_LINES);
	for (uint32_t i = 0; i < PROBE_LINES; i++)
		*(void **)(void *)(c->probe + at[i]) = c->probe + at[(i + 1) % PROBE_LINES];
	c->first = (void **)(void *)(c->probe + at[0]);
}

void bb_cold__after_fork(struct bb_cold *c)
{
	map_all(c);
	/* touch every page now, so that no page fault comes while we measure */
	bb_cold__empty(c);
}

int bb_cold__open(const char *root, int cpu, struct bb_cold **ret_cold, struct bb_err *err)
{
	struct bb_cold *c = bb_calloc(1, sizeof(*c));
	size_t bytes = (size_t)(__stop_bb_cold_branches - __start_bb_cold_branches);
	int rc = 0;

	bb_rng_seed(&c->rng, 1);
	c->bytes = bb_cold_bytes(root, cpu);
	map_all(c);
	c->copy_bytes = (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
	c->copies = bb_map_pages(N_COPIES * c->copy_bytes, MAP_PRIVATE);
	for (size_t i = 0; i < N_COPIES; i++)
		memcpy(c->copies + i * c->copy_bytes, __start_bb_cold_branches, bytes);
	__builtin___clear_cache(c->copies, c->copies + N_COPIES * c->copy_bytes);
	if (mprotect(c->copies, N_COPIES * c->copy_bytes, PROT_READ | PROT_EXEC))
		rc = bb_fail(err, -ENOTSUP,
			     "branch history cannot be emptied here, as bpfbench may not run "
			     "code that it has written: %s",
			     strerror(errno));
	if (!rc)
		/* find_size() touches all memory, so that no page fault comes while we measure */
		rc = find_size(root, cpu, c, err);
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
	munmap(c->buffer, BB_COLD_MAX_BYTES);
	munmap(c->probe, PROBE_LINES * PROBE_PAGE);
	munmap(c->copies, N_COPIES * c->copy_bytes);
	free(c);
}
