/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step: fire one event, read the counters, again and again: a per-invocation distribution from bpf_stats alone.
 *
 * The event is a page-fault software event of period 1 on this thread; the trigger is one read of a page that is
 * not there. Pages are dropped 512 at a time, and read faults get the shared zero page, so that a trigger costs a
 * third of madvise-and-write (0.85 against 2.6 us here). It fires from the innermost loop of the amicable-pairs
 * search, on a stack of its own whose depth in frames is the parameter.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stop.h"
#include "drivers/cold.h"
#include "drivers/driver.h"
#include "bpf/perf_event.h"
#include "workloads/amicable_pairs.h"

#define REGION_PAGES 512u
#define STACK_BYTES (256u << 10)	/* 127 frames take about 8 KiB */
#define SEARCH_FIRST 1000u		/* numbers large enough to tick, small enough to be searched */

struct step_state {
	char *region;
	size_t page_bytes;
	uint32_t next_page;		/* first page of the region that is not there yet touched */
	char *stack;
	uint32_t base_frames;		/* user frames that a sampler sees with no extra nesting */
	uint32_t seen_frames;		/* by the last walk of our own */
	struct bb_driver_opts opts;
	struct bb_cold *cold;		/* NULL: caches stay as they are */
	ucontext_t caller, search;
	struct step_slot *slot;		/* what the search in progress works for */
	struct bb_batch *batch;
	uint32_t extra_frames;
	size_t warmup_left;
	int rc;
};

struct step_slot {
	struct bb_target *target;
	int event_fd;
	struct bb_prog_stats last;
};

/* Read one page that is not there: one page fault, one event, one run of the program. */
static inline __attribute__((always_inline)) void fire(struct step_state *s)
{
	(void)*(volatile char *)(s->region + (size_t)s->next_page * s->page_bytes);
	s->next_page++;
}

static inline int make_room(struct step_state *s)
{
	if (s->next_page < REGION_PAGES)
		return 0;
	s->next_page = 0;
	return madvise(s->region, REGION_PAGES * s->page_bytes, MADV_DONTNEED) ? -errno : 0;
}

/* Called from the search's innermost loop: one sample. Nonzero ends the search. */
static __attribute__((noinline)) int sample_once(void *arg)
{
	struct step_state *s = arg;
	struct step_slot *slot = s->slot;
	struct bb_batch *b = s->batch;
	struct bb_prog_stats now;

	s->rc = make_room(s);
	if (!s->rc)
		s->rc = bb_target__reset_for_run(slot->target);
	if (s->rc)
		return 1;
	if (s->cold)
		bb_cold__empty(s->cold);
	fire(s);
	if (s->warmup_left > 1) {	/* nothing to read yet */
		s->warmup_left--;
		bb_target__drain(slot->target, !b->drain_always);
		return 0;
	}
	s->rc = bb_stats_reader__info(bb_target__reader(slot->target), &now);
	if (s->rc)
		return 1;
	bb_target__drain(slot->target, !b->drain_always);
	if (s->warmup_left) {
		s->warmup_left = 0;
	} else {
		uint64_t runs = now.run_cnt - slot->last.run_cnt, ns = now.run_time_ns - slot->last.run_time_ns;

		b->fired++;
		b->run_cnt += runs;
		b->run_time_ns += ns;
		if (runs == 1)
			b->ns[b->n++] = ns;
		else
			b->multi += runs;
	}
	slot->last = now;
	return b->fired == b->want;
}

/* Bottom of the private stack. makecontext() passes ints, so the pointer comes in two halves. */
static void search_entry(unsigned int high, unsigned int low)
{
	struct step_state *s = (struct step_state *)(((uintptr_t)high << 32) | low);
	struct bb_amicable_search search = {.first = SEARCH_FIRST, .last = BB_AMICABLE_LAST, .tick = sample_once, .arg = s};

	do
		bb_amicable_search_nested(&search, s->extra_frames);
	while (!search.stopped);
}

static int count_frames(void *arg)
{
	struct step_state *s = arg;
	void *const *frame = __builtin_frame_address(0);

	/* As the kernel walks: the interrupted function itself, then one return address a saved frame pointer. */
	s->seen_frames = 1;
	while (frame && (const char *)frame >= s->stack && (const char *)frame < s->stack + STACK_BYTES) {
		s->seen_frames++;
		frame = *frame;
	}
	return 1;
}

static void count_entry(unsigned int high, unsigned int low)
{
	struct step_state *s = (struct step_state *)(((uintptr_t)high << 32) | low);
	struct bb_amicable_search search = {.first = SEARCH_FIRST, .last = BB_AMICABLE_LAST, .tick = count_frames, .arg = s};

	bb_amicable_search_nested(&search, s->extra_frames);
}

/* Run `entry` on the private stack, whose chain of frame pointers ends where it begins, and come back. */
static int on_private_stack(struct step_state *s, void (*entry)(unsigned int, unsigned int))
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

static void step_close(void *state)
{
	struct step_state *s = state;

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
	for (size_t i = 0; i < spec->stack_depth.n; i++)
		if (spec->stack_depth.v[i] < base_frames)
			return bb_fail(err, -EINVAL, "stack_depth: %u is less than the %u frames that the search itself has",
				       spec->stack_depth.v[i], base_frames);
	return 0;
}

static int step_open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts, void **ret_state,
		     struct bb_err *err)
{
	struct step_state *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return bb_fail_nomem(err);
	s->opts = *opts;
	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->region = map_pages(REGION_PAGES * s->page_bytes);
	s->stack = map_pages(STACK_BYTES);
	if (!s->region || !s->stack) {
		step_close(s);
		return bb_fail_nomem(err);
	}
	memset(s->stack, 1, STACK_BYTES);		/* no fault of the stack's own may fire the event */
	madvise(s->region, REGION_PAGES * s->page_bytes, MADV_NOHUGEPAGE);	/* a huge page would fault once */
	s->next_page = REGION_PAGES;
	rc = on_private_stack(s, count_entry);
	if (rc)
		bb_fail(err, rc, "switching to a private stack: %s", strerror(-rc));
	else
		rc = check_depths(spec, s->base_frames = s->seen_frames, err);
	if (!rc && spec->caches == BB_CACHES_COLD)
		rc = bb_cold__open("", opts->cpu, &s->cold, err);
	if (rc) {
		step_close(s);
		return rc;
	}
	*ret_state = s;
	return 0;
}

static void step_detach(void *state, void *slot)
{
	struct step_slot *st = slot;

	(void)state;
	if (!st)
		return;
	close(st->event_fd);
	free(st);
}

static int step_attach(void *state, struct bb_subject *subject, void **ret_slot, struct bb_err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.exclude_kernel = 1,	/* faults that the harness's own system calls take are not ours */
	};
	struct step_slot *slot = calloc(1, sizeof(*slot));
	int rc;

	(void)state;
	if (!slot)
		return bb_fail_nomem(err);
	slot->target = subject->target;
	rc = bb_perf_event__open(&attr, 0, -1, bb_target__prog_fd(subject->target), &slot->event_fd, err);
	if (rc) {
		free(slot);
		return rc;
	}
	*ret_slot = slot;
	return 0;
}

static int step_batch(void *state, void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	struct step_state *s = state;
	struct step_slot *st = slot;
	uint64_t began_ns = bb_now_ns();
	int rc;

	b->target_cpu_s = NAN;
	s->slot = st;
	s->batch = b;
	s->extra_frames = param > s->base_frames ? param - s->base_frames : 0;
	s->warmup_left = b->warmup;
	memset(b->ns, 0, b->want * sizeof(*b->ns));	/* its pages are to be there before the event is on */
	rc = bb_pin_to_cpu(s->opts.cpu, err);
	if (rc)
		return rc;
	/*
	 * The same way once without firing: every page that it writes to is then ours again, should a fork (of the
	 * in-situ workload) have left it copy-on-write, which would be an event too. And the depth is seen, not assumed.
	 */
	rc = on_private_stack(s, count_entry);
	if (!rc && s->seen_frames != param)
		return bb_fail(err, -EPROTO, "the search's stack is %u frames deep, not %u", s->seen_frames, param);
	if (s->cold)
		bb_cold__empty(s->cold);
	if (!rc)
		rc = bb_target__reset_for_run(st->target);
	if (!rc)
		rc = bb_stats_reader__info(bb_target__reader(st->target), &st->last);
	if (!rc)
		rc = bb_perf_event__enable(st->event_fd);
	if (!rc) {
		rc = on_private_stack(s, search_entry);
		bb_perf_event__disable(st->event_fd);
	}
	if (!rc)
		rc = s->rc;
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc)
		return bb_fail(err, rc, "stepping '%s': %s", bb_target__program(st->target), strerror(-rc));
	return bb_stop_signal ? -EINTR : 0;
}

const struct bb_driver bb_driver_step_page_fault = {
	.name = "step",
	.trigger = "page-fault",
	.doc = "fire one synthetic perf event at a time and read the counters after each: every run is a sample",
	.needs_bpf = true,
	.fires = true,
	.open = step_open,
	.attach = step_attach,
	.batch = step_batch,
	.detach = step_detach,
	.close = step_close,
};
