/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of a perf_event program after the other, by page faults.
 *
 * The event is a page-fault software event of period 1 on this thread; a firing is one read of a
 * page that is not there. Pages are dropped 512 at a time, and read faults get the shared zero
 * page, so that a firing costs a third of madvise-and-write (0.85 against 2.6 us here). It fires
 * from the innermost loop of the amicable-pairs search, on a stack of its own whose depth in frames
 * is the parameter.
 */

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/deadline.h"
#include "base/give_way.h"
#include "base/stop.h"
#include "bpf/attach.h"
#include "drivers/trigger.h"
#include "workloads/amicable_pairs.h"

#define REGION_PAGES 512u
#define STACK_BYTES (256u << 10) /* 127 frames take about 8 KiB */
#define SEARCH_FIRST 1000u       /* numbers large enough to tick, small enough to be searched */

struct attached {
	struct bb_attached common;
	int event_fd; /* of this thread, disabled but while it is fired */
};

struct state {
	struct bb_trigger_state common;
	char *region;
	size_t page_bytes;
	uint32_t next_page; /* first page of the region that is not there yet touched */
	char *stack;
	uint32_t base_frames; /* user frames that a sampler sees with no extra nesting */
	uint32_t seen_frames; /* by the last walk of our own */
	ucontext_t caller, search;
	/* of the batch in progress */
	const struct attached *attached;
	const struct bb_instrument_part *part;
	struct bb_batch *batch;
	uint32_t extra_frames;
	int rc;
};

/* Read one page that is not there: one page fault, one event, one run of the program. */
static inline __attribute__((always_inline)) void read_page(struct state *s)
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
		s->rc = bb_target__reset_for_run(s->attached->common.target);
	if (s->rc)
		return 1;
	if (s->common.cold)
		bb_cold__empty(s->common.cold);
	read_page(s);
	s->rc = s->part->after(&s->attached->common, s->part->arg, s->batch, true);
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

static void close_faults(void *state)
{
	struct state *s = state;

	if (s->region)
		munmap(s->region, REGION_PAGES * s->page_bytes);
	if (s->stack)
		munmap(s->stack, STACK_BYTES);
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

static int open_faults(void *state, struct bb_err *err)
{
	struct state *s = state;
	int rc;

	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->region = map_pages(REGION_PAGES * s->page_bytes);
	s->stack = map_pages(STACK_BYTES);
	if (!s->region || !s->stack)
		return bb_fail_nomem(err);
	memset(s->stack, 1, STACK_BYTES); /* no fault of the stack's own may fire the event */
	/* a huge page would fault once */
	madvise(s->region, REGION_PAGES * s->page_bytes, MADV_NOHUGEPAGE);
	s->next_page = REGION_PAGES;
	rc = on_private_stack(s, count_entry);
	if (rc)
		return bb_fail(err, rc, "cannot switch to a private stack: %s", strerror(-rc));
	s->base_frames = s->seen_frames;
	return check_depths(s->common.spec, s->base_frames, err);
}

static int attach(void *attached, struct bb_test_prog *prog, struct bb_err *err)
{
	struct attached *a = attached;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		/* faults that the harness's own system calls take are not ours */
		.exclude_kernel = 1,
	};

	(void)prog;
	return bb_perf_event__open(&attr, 0, -1, a->common.prog_fd, &a->event_fd, err);
}

static void detach(void *attached)
{
	close(((struct attached *)attached)->event_fd);
}

/* A batch's beginning: pinned to the CPU, the stack `depth` frames deep, every page there that is
 * not to be an event. */
static int aim(struct state *s, uint32_t depth, struct bb_err *err)
{
	int rc = bb_pin_to_cpu(s->common.opts.cpu, err);

	if (rc)
		return rc;
	s->extra_frames = depth > s->base_frames ? depth - s->base_frames : 0;
	/*
	 * Once without firing: every page that it writes to is then ours again, should
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
	if (s->common.cold) /* its pages, too */
		bb_cold__empty(s->common.cold);
	return 0;
}

/* With the event on: all that the search does but the firings is without a page fault. */
static int search(struct state *s)
{
	int rc = bb_target__reset_for_run(s->attached->common.target);

	if (!rc)
		rc = bb_perf_event__enable(s->attached->event_fd);
	if (rc)
		return rc;
	rc = on_private_stack(s, search_entry);
	bb_perf_event__disable(s->attached->event_fd);
	return rc ? rc : s->rc < 0 ? s->rc : 0;
}

static int fire(void *attached, uint32_t depth, const struct bb_instrument_part *part,
		struct bb_batch *b, struct bb_err *err)
{
	const struct bb_attached *a = attached;
	struct state *s = (struct state *)a->state;
	int rc = aim(s, depth, err);

	if (rc)
		return rc;
	s->attached = attached;
	s->part = part;
	s->batch = b;
	rc = part->begin(a, part->arg, b);
	if (!rc)
		rc = search(s);
	if (rc)
		return bb_fail(err, rc, "firing '%s': %s", a->target->source->program,
			       strerror(-rc));
	return bb_stop_signal ? -EINTR : 0;
}

const struct bb_drive_trigger bb_trigger_page_fault = {
	.by = "page-fault",
	.doc = "fire one synthetic perf event at a time",
	.keys = {{.name = "trigger"},
		 {.name = "inside", .choice = stack_function_name},
		 {.name = "stack_depth"},
		 {.name = "consumer"},
		 {.name = "caches"},
		 {.name = "samples"}},
	.param = "stack_depth",
	.param_default = 8,
	.fires = true,
	.state_bytes = sizeof(struct state),
	.attached_bytes = sizeof(struct attached),
	.open = open_faults,
	.attach = attach,
	.fire = fire,
	.detach = detach,
	.close = close_faults,
};
