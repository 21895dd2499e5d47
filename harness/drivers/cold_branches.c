/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/cold_branches.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define N_COPIES 64u
#define ALIGN_BYTES 64u

/*
 * The empty statement is one for the compiler, which may not leave it out nor do without the branch
 * around it; no instruction comes of it. A random word does for 64 branches.
 */
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

/* Marsaglia 2003: xorshift64. x is not 0. */
static inline __attribute__((always_inline)) uint64_t next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

/* All that is in its section, the ends of which the linker knows. */
static __attribute__((noinline, section("bb_cold_branches"), no_sanitize("address"),
		      no_sanitize("undefined"))) uint64_t
branches(uint64_t x)
{
	BRANCH64 BRANCH64 BRANCH64 BRANCH64 BRANCH64 BRANCH64 BRANCH64 BRANCH64 return x;
}

extern const char __start_bb_cold_branches[], __stop_bb_cold_branches[];

int bb_cold_branches__open(struct bb_cold_branches *ret_branches, struct bb_err *err)
{
	size_t bytes = (size_t)(__stop_bb_cold_branches - __start_bb_cold_branches);
	struct bb_cold_branches b = {.copy_bytes = (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES *
						   ALIGN_BYTES};

	b.map_bytes = N_COPIES * b.copy_bytes;
	b.copies = mmap(NULL, b.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (b.copies == MAP_FAILED)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < N_COPIES; i++)
		memcpy(b.copies + i * b.copy_bytes, __start_bb_cold_branches, bytes);
	__builtin___clear_cache(b.copies, b.copies + b.map_bytes);
	if (mprotect(b.copies, b.map_bytes, PROT_READ | PROT_EXEC)) {
		int why = errno;

		bb_cold_branches__close(&b);
		return bb_fail(err, -ENOTSUP,
			       "branch history cannot be emptied here, as bpfbench may not run "
			       "code that it has written: %s",
			       strerror(why));
	}
	*ret_branches = b;
	return 0;
}

void bb_cold_branches__run(const struct bb_cold_branches *b, uint64_t random)
{
	ptrdiff_t entry = (const char *)(uintptr_t)branches - __start_bb_cold_branches;
	uint64_t x = random | 1;

	for (size_t i = 0; i < N_COPIES; i++)
		x = ((uint64_t(*)(uint64_t))(uintptr_t)(b->copies + i * b->copy_bytes + entry))(x);
	__asm__ volatile("" : : "r"(x));
}

void bb_cold_branches__close(struct bb_cold_branches *b)
{
	if (b->copies)
		munmap(b->copies, b->map_bytes);
	*b = (struct bb_cold_branches){0};
}
