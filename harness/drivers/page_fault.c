/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/page_fault.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/give_way.h"
#include "bpf/perf_event.h"
#include "drivers/cold.h"
#include "workloads/amicable_pairs.h"

#define REGION_PAGES 512u
#define STACK_BYTES (256u << 10) /* 127 frames take about 8 KiB */
#define SEARCH_FIRST 1000u       /* numbers large enough to tick, small enough to be searched */

struct state {
	char *region;
	size_t page_bytes;
	uint32_t next_page; /* first page of the region that is not there yet touched */
	char *stack;
	uint32_t base_frames; /* user frames that a sampler sees with no extra nesting */
	uint32_t seen_frames; /* by the last walk of our own */
	struct bb_driver_opts opts;
	ucontext_t caller, search;
	struct bb_target *target; /* of the run in progress */
	int (*after)(void *arg);
	void *arg;
	uint32_t extra_frames;
	struct bb_cold *cold; /* NULL: caches stay as they are */
	int rc;
};

/* Read one page that is not there: one page fault, one event, one run of the program. */
static inline __attribute__((always_inline)) void fire(struct state *s)
{
	(void)*(volatile char *)(s->region + (size_t)s->next_page * s->page_bytes);
	s->next_page++;
}

static inline int make_room(struct state *s)
{
	if (s->next_page < REGION_PAGES)
		return 0;
	s->next_page = 0;
	return madvise(s->region, REGION_PAGES * s->page_bytes, MADV_DONTNEED) ? -errno : 0;
}

/* Called from the search's innermost loop. Nonzero ends the search. */
static __attribute__((noinline)) int fire_once(void *arg)
{
	struct state *s = arg;

	s->rc = make_room(s);
	if (!s->rc)
		s->rc = bb_target__reset_for_run(s->target);
	if (s->rc)
		return 1;
	if (s->cold)
		bb_cold__empty(s->cold);
	fire(s);
	s->rc = s->after(s->arg);
	return s->rc != 0;
}

/* The functions on whose stack it can fire, as bb_drive_key.choice (core/drive_kind.h). */
static const char *stack_function_name(size_t i)
{
	return i ? NULL : "amicable_pairs";
}

/* Bottom of the private stack. makecontext() passes ints, so the pointer comes in two halves. */
static void search_entry(unsigned int high, unsigned int low)
{
	struct state *s = (struct state *)(((uintptr_t)high << 32) | low);
	struct bb_amicable_search search = {.first = SEARCH_FIRST,
					    .last = BB_AMICABLE_LAST,
					    .tick = fire_once,
					    .arg = s};

	do
		bb_amicable_search_nested(&search, s->extra_frames);
	while (!search.stopped);
}

static int count_frames(void *arg)
{
	struct state *s = arg;
	void *const *frame = __builtin_frame_address(0);

	/* As the kernel walks: the interrupted function itself, then one return address a saved
	 * frame pointer. */
	s->seen_frames = 1;
	while (frame && (const char *)frame >= s->stack &&
	       (const char *)frame < s->stack + STACK_BYTES) {
		s->seen_frames++;
		frame = *frame;
	}
	return 1;
}

static void count_entry(unsigned int high, unsigned int low)
{
	struct state *s = (struct state *)(((uintptr_t)high << 32) | low);
	struct bb_amicable_search search = {.first = SEARCH_FIRST,
					    .last = BB_AMICABLE_LAST,
					    .tick = count_frames,
					    .arg = s};

	bb_amicable_search_nested(&search, s->extra_frames);
}

/* Run `entry` on the private stack, whose chain of frame pointers ends where it begins, and come
 * back. */
static int on_private_stack(struct state *s, void (*entry)(unsigned int, unsigned int))
{
	if (getcontext(&s->search))
		return -errno;
	s->search.uc_stack.ss_sp = s->stack;
	s->search.uc_stack.ss_size = STACK_BYTES;
	s->search.uc_link = &s->caller;
#if defined(__x86_64__)
	s->search.uc_mcontext.gregs[REG_RBP] = 0;
#elif defined(__aarch64__)
	s->search.uc_mcontext.regs[29] = 0;
#endif
	makecontext(&s->search, (void (*)(void))entry, 2, (unsigned int)((uintptr_t)s >> 32),
		    (unsigned int)(uintptr_t)s);
	return swapcontext(&s->caller, &s->search) ? -errno : 0;
}

void bb_page_fault__close(void *state)
{
	struct state *s = state;

	if (!s)
		return;
	if (s->region)
		munmap(s->region, REGION_PAGES * s->page_bytes);
	if (s->stack)
		munmap(s->stack, STACK_BYTES);
	bb_cold__free(s->cold);
	free(s);
}

static void *map_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int check_depths(const struct bb_drive_spec *spec, uint32_t base_frames, struct bb_err *err)
{
	for (size_t i = 0; i < spec->values.n; i++)
		if (spec->values.v[i] < base_frames)
			return bb_fail(err, -EINVAL,
				       "stack_depth: %u is less than the %u frames that the search "
				       "itself has",
				       spec->values.v[i], base_frames);
	return 0;
}

int bb_page_fault__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
			void **ret_state, struct bb_err *err)
{
	struct state *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return bb_fail_nomem(err);
	s->opts = *opts;
	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->region = map_pages(REGION_PAGES * s->page_bytes);
	s->stack = map_pages(STACK_BYTES);
	if (!s->region || !s->stack) {
		bb_page_fault__close(s);
		return bb_fail_nomem(err);
	}
	memset(s->stack, 1, STACK_BYTES); /* no fault of the stack's own may fire the event */
	/* a huge page would fault once */
	madvise(s->region, REGION_PAGES * s->page_bytes, MADV_NOHUGEPAGE);
	s->next_page = REGION_PAGES;
	rc = on_private_stack(s, count_entry);
	if (rc)
		bb_fail(err, rc, "cannot switch to a private stack: %s", strerror(-rc));
	else
		rc = check_depths(spec, s->base_frames = s->seen_frames, err);
	if (!rc && spec->caches == BB_CACHES_COLD)
		rc = bb_cold__open("", opts->cpu, &s->cold, err);
	if (rc) {
		bb_page_fault__close(s);
		return rc;
	}
	*ret_state = s;
	return 0;
}

int bb_page_fault__attach(int prog_fd, int *ret_event_fd, struct bb_err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		/* faults that the harness's own system calls take are not ours */
		.exclude_kernel = 1,
	};

	return bb_perf_event__open(&attr, 0, -1, prog_fd, ret_event_fd, err);
}

int bb_page_fault__aim(void *state, uint32_t depth, struct bb_err *err)
{
	struct state *s = state;
	int rc = bb_pin_to_cpu(s->opts.cpu, err);

	if (rc)
		return rc;
	s->extra_frames = depth > s->base_frames ? depth - s->base_frames : 0;
	/*
	 * The same way once without firing: every page that it writes to is then ours again, should
	 * a fork (of the in-situ workload) have left it copy-on-write, which would be an event too.
	 * And the depth is seen, not assumed.
	 */
	rc = on_private_stack(s, count_entry);
	if (rc)
		return bb_fail(err, rc, "cannot switch to a private stack: %s", strerror(-rc));
	if (s->seen_frames != depth)
		return bb_fail(err, -EPROTO, "the search's stack is %u frames deep, not %u",
			       s->seen_frames, depth);
	/* what comes between runs of a slow program, and at the end of a budget */
	bb_give_way_touch();
	bb_deadline_touch();
	if (s->cold) /* its pages, too */
		bb_cold__empty(s->cold);
	return 0;
}

void bb_page_fault__look_cold(void *state, struct bb_batch *b)
{
	struct state *s = state;

	bb_batch__look_cold(b, s->cold);
}

int bb_page_fault__run(void *state, struct bb_target *target, int event_fd, int (*after)(void *arg),
		       void *arg)
{
	struct state *s = state;
	int rc = bb_target__reset_for_run(target);

	s->target = target;
	s->after = after;
	s->arg = arg;
	if (!rc)
		rc = bb_perf_event__enable(event_fd);
	if (rc)
		return rc;
	rc = on_private_stack(s, search_entry);
	bb_perf_event__disable(event_fd);
	return rc ? rc : s->rc < 0 ? s->rc : 0;
}

const struct bb_drive_key bb_page_fault_keys[] = {
	{.name = "trigger"},
	{.name = "inside", .choice = stack_function_name},
	{.name = "stack_depth"},
	{.name = "consumer"},
	{.name = "caches"},
	{.name = "samples"},
	{0},
};
