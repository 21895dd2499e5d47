/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trigger page-fault: runs a perf_event program again and again.
 *
 * The event is a page-fault software event of period 1 on this thread. A firing is one read of a
 * page that is not present. The pages are dropped 512 at a time, and a read maps the shared zero
 * page. So a firing takes 0.85 us here. madvise() and a write for each page would take 2.6 us.
 *
 * The firings come from the innermost loop of a search for amicable pairs, which runs on a private
 * stack. The parameter is the depth of this stack, in frames.
 */

#include <linux/perf_event.h>
#include <ucontext.h>

#include "base/deadline.h"
#include "bpf/attach.h"
#include "drivers/trigger.h"
#include "workloads/amicable_pairs.h"

#define REGION_PAGES 512u
#define STACK_BYTES (256u << 10) /* 127 frames take about 8 KiB */
/* The search for amicable pairs begins at this number, which is small enough for a fast search, and
 * large enough that the search calls tick(), which fires. */
#define SEARCH_FIRST 1000u

struct attached {
	struct bb_attached common;
	int event_fd; /* enabled during a batch */
};

struct state {
	struct bb_trigger_state common;
	char *region;
	size_t page_bytes;
	/* first page that is not present; REGION_PAGES if all are present */
	uint32_t next_page;
	char *stack;
	/* user frames in a stack sample while the search has no extra frames */
	uint32_t base_frames;
	uint32_t seen_frames; /* set by count_frames() */
	ucontext_t caller, search;
	int (*tick)(void *state);
	/* the batch in progress: */
	const struct attached *attached;
	const struct bb_instrument_part *part;
	struct bb_batch *batch;
	uint32_t extra_frames;
	int rc;
};

/* Fires once. A result other than 0 ends the search. */
static __attribute__((noinline)) int fire_once(void *arg)
{
	struct state *s = arg;

	s->rc = 0;
	if (s->next_page == REGION_PAGES) {
		s->next_page = 0;
		if (madvise(s->region, REGION_PAGES * s->page_bytes, MADV_DONTNEED))
			s->rc = -errno;
	}
	if (!s->rc)
		s->rc = bb_target__reset_for_run(s->attached->common.target);
	if (s->rc)
		return 1;
	if (s->common.cold)
		bb_cold__empty(s->common.cold);
	/* this page is not present: one page fault, one event, one run of the program */
	(void)*(volatile char *)(s->region + (size_t)s->next_page * s->page_bytes);
	s->next_page++;
	s->rc = s->part->after(&s->attached->common, s->part->arg, s->batch, true);
	return s->rc != 0;
}

/* values of the key `inside` */
static const char *stack_function_name(size_t i)
{
	return i ? NULL : "amicable_pairs";
}

/* makecontext() passes only ints, so the pointer comes as two halves. */
static void search_entry(unsigned int high, unsigned int low)
{
	struct state *s = (struct state *)(((uintptr_t)high << 32) | low);
	struct bb_amicable_search search = {.first = SEARCH_FIRST,
					    .last = BB_AMICABLE_LAST,
					    .tick = s->tick,
					    .arg = s};

	do
		bb_amicable_search_nested(&search, s->extra_frames);
	while (!search.stopped);
}

static int count_frames(void *arg)
{
	struct state *s = arg;
	void *const *frame = __builtin_frame_address(0);

	/* a stack sample has the interrupted function, and a return address for each frame */
	s->seen_frames = 1;
	while (frame && (const char *)frame >= s->stack &&
	       (const char *)frame < s->stack + STACK_BYTES) {
		s->seen_frames++;
		frame = *frame;
	}
	return 1;
}

/* Runs the search on the private stack, so that the chain of frame pointers ends there. The
 * innermost loop calls `tick`. Returns 0 when `tick` has ended the search, or -errno. */
static int search_on_private_stack(struct state *s, int (*tick)(void *state))
{
	s->tick = tick;
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
	makecontext(&s->search, (void (*)(void))search_entry, 2, (unsigned int)((uintptr_t)s >> 32),
		    (unsigned int)(uintptr_t)s);
	return swapcontext(&s->caller, &s->search) ? -errno : 0;
}

static void close_faults(void *state)
{
	struct state *s = state;

	if (s->region)
		munmap(s->region, REGION_PAGES * s->page_bytes);
	if (s->stack)
		munmap(s->stack, STACK_BYTES);
}

static int open_faults(void *state, struct bb_err *err)
{
	struct state *s = state;
	const struct bb_u32_list *depths = &s->common.spec->values;

	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->region = bb_map_pages(REGION_PAGES * s->page_bytes, MAP_PRIVATE);
	s->stack = bb_map_pages(STACK_BYTES, MAP_PRIVATE);
	/* make the pages of the stack present, so that they cause no event */
	memset(s->stack, 1, STACK_BYTES);
	/* no huge pages, because a huge page causes only one page fault */
	madvise(s->region, REGION_PAGES * s->page_bytes, MADV_NOHUGEPAGE);
	s->next_page = REGION_PAGES;
	int rc = search_on_private_stack(s, count_frames);
	if (rc)
		return bb_fail(err, rc, "cannot switch to a private stack: %m");
	s->base_frames = s->seen_frames;
	for (size_t i = 0; i < depths->n; i++)
		if (depths->v[i] < s->base_frames)
			return bb_fail(err, -EINVAL,
				       "stack_depth: %u is less than the %u frames that the search "
				       "itself has",
				       depths->v[i], s->base_frames);
	return 0;
}

static int attach(void *attached, struct bb_test_prog *, struct bb_err *err)
{
	struct attached *a = attached;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		/* page faults inside system calls must cause no event */
		.exclude_kernel = 1,
	};

	return bb_perf_event__open(&attr, 0, -1, a->common.prog_fd, &a->event_fd, err);
}

static void detach(void *attached)
{
	close(((struct attached *)attached)->event_fd);
}

static int fire(void *attached, uint32_t depth, const struct bb_instrument_part *part,
		struct bb_batch *b, struct bb_err *err)
{
	const struct bb_attached *a = attached;
	struct state *s = (struct state *)a->state;
	int rc = bb_pin_to_cpu(s->common.opts.cpu, err);

	if (rc)
		return rc;
	s->extra_frames = depth > s->base_frames ? depth - s->base_frames : 0;
	/* Search once without firing, to write to every page that the search needs. A fork may have
	 * made them copy-on-write, and a write would then cause an event. */
	rc = search_on_private_stack(s, count_frames);
	if (rc)
		return bb_fail(err, rc, "cannot switch to a private stack: %m");
	if (s->seen_frames != depth)
		return bb_fail(err, -EPROTO, "the search's stack is %u frames deep, not %u",
			       s->seen_frames, depth);
	/* touch memory that is used between slow runs and at the end of a budget */
	bb_give_way_touch();
	bb_deadline_touch();
	if (s->common.cold) /* touches the pages of its buffer, too */
		bb_cold__empty(s->common.cold);
	s->attached = attached;
	s->part = part;
	s->batch = b;
	rc = part->begin(a, part->arg, b);
	if (!rc)
		rc = bb_target__reset_for_run(a->target);
	if (!rc)
		rc = bb_perf_event__enable(s->attached->event_fd);
	if (!rc) {
		/* from here to bb_perf_event__disable(), only the firings cause page faults */
		rc = search_on_private_stack(s, fire_once);
		bb_perf_event__disable(s->attached->event_fd);
		if (!rc && s->rc < 0)
			rc = s->rc;
	}
	if (rc)
		return bb_fail(err, rc, "firing '%s': %m", a->target->program);
	return bb_stop_signal ? -EINTR : 0;
}

static void say_fired_by(const struct bb_input *, const struct bb_test_prog *, char *ret_words,
			 size_t size)
{
	snprintf(ret_words, size, "a perf event of page faults");
}

const struct bb_drive_trigger bb_trigger_page_fault = {
	.by = "page-fault",
	.doc = "fire one synthetic perf event at a time",
	.keys = {{"trigger"},
		 {"inside", stack_function_name},
		 {"stack_depth"},
		 {"consumer"},
		 {"caches"},
		 {"samples"}},
	.param = "stack_depth",
	.param_default = 8,
	.fires = true,
	.state_bytes = sizeof(struct state),
	.attached_bytes = sizeof(struct attached),
	.open = open_faults,
	.attach = attach,
	.fire = fire,
	.detach = detach,
	.fired_by = say_fired_by,
	.close = close_faults,
};
