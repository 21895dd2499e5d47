/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of a sample of the step drive, against a bare loop with the same trigger and read. The bare
 * loop has the same program on the same kind of event and as many stack frames; for each sample it
 * touches a page of a dropped region, calls BPF_OBJ_GET_INFO_BY_FD into zeroed memory and empties
 * the ring. Only the drive's figure includes the rest: the search, the switch to the private stack
 * and back, the checks, the warm-up at the start of every block. A second row compares the trigger
 * with the usual one, a madvise and a write for every sample.
 */
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "bench.h"
#include "bpf/attach.h"

#define BLOCKS 500u
#define REGION_PAGES 512u /* dropped together, as in drivers/trigger_page_fault.c */
#define STACK_BYTES (64u << 10)

struct bare {
	struct bench_step step;
	char *region;
	size_t page_bytes, next_page;
	int prog_fd, event_fd;
	char *stack;
	ucontext_t caller, loop;
	uint64_t took_ns, ns[BENCH_BLOCK];
};

static void bare_open(struct bare *b, const char *program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.exclude_kernel = 1,
	};
	struct bb_err err = {0};

	bench_step__open(&b->step, program);
	b->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	b->region = mmap(NULL, REGION_PAGES * b->page_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->region == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	madvise(b->region, REGION_PAGES * b->page_bytes, MADV_NOHUGEPAGE);
	b->next_page = REGION_PAGES;
	b->prog_fd = b->step.prog.target->prog_fd;
	if (bb_perf_event__open(&attr, 0, -1, b->prog_fd, &b->event_fd, &err))
		bench_die(program, &err);
	b->stack = bench_alloc(1, STACK_BYTES);
	memset(b->stack, 1, STACK_BYTES); /* so that the stack causes no page fault later */
	memset(b->ns, 1, sizeof(b->ns));
}

static void bare_close(struct bare *b)
{
	close(b->event_fd);
	free(b->stack);
	munmap(b->region, REGION_PAGES * b->page_bytes);
	bench_step__close(&b->step);
}

static inline __attribute__((always_inline)) void touch(struct bare *b)
{
	if (b->next_page == REGION_PAGES) {
		b->next_page = 0;
		madvise(b->region, REGION_PAGES * b->page_bytes, MADV_DONTNEED);
	}
	(void)*(volatile char *)(b->region + b->next_page++ * b->page_bytes);
}

static inline __attribute__((always_inline)) uint64_t read_counters(const struct bare *b,
								    uint64_t *ret_run_cnt)
{
	struct bpf_prog_info info;
	union bpf_attr attr;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (__u32)b->prog_fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (__u64)(uintptr_t)&info;
	if (syscall(__NR_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr))) {
		perror("BPF_OBJ_GET_INFO_BY_FD");
		exit(1);
	}
	*ret_run_cnt = info.run_cnt;
	return info.run_time_ns;
}

/* The number of frames that the sampler will see: this function, then one per frame pointer. */
static inline __attribute__((always_inline)) uint32_t frames_here(const struct bare *b)
{
	void *const *frame = __builtin_frame_address(0);
	uint32_t n = 1;

	for (; (const char *)frame >= b->stack && (const char *)frame < b->stack + STACK_BYTES;
	     frame = *frame)
		n++;
	return n;
}

static __attribute__((noinline)) void bare_loop(struct bare *b)
{
	uint64_t began_ns, last, now, first_cnt, cnt = 0;

	if (frames_here(b) != b->step.depth) {
		fprintf(stderr, "the bare loop is %u frames deep, not %u\n", frames_here(b),
			b->step.depth);
		exit(1);
	}
	last = read_counters(b, &first_cnt);
	began_ns = bb_now_ns();
	for (size_t i = 0; i < BENCH_BLOCK; i++) {
		touch(b);
		now = read_counters(b, &cnt);
		bb_target__drain(b->step.prog.target, false);
		b->ns[i] = now - last;
		last = now;
	}
	b->took_ns = bb_now_ns() - began_ns;
	if (cnt - first_cnt != BENCH_BLOCK) {
		fprintf(stderr, "the bare loop's %u page faults made %llu runs\n", BENCH_BLOCK,
			(unsigned long long)(cnt - first_cnt));
		exit(1);
	}
}

/* Runs the loop `more` frames below the caller. */
static __attribute__((noinline)) void nest(struct bare *b, uint32_t more)
{
	if (more > 1)
		nest(b, more - 1);
	else
		bare_loop(b);
	/* without work after it, the call would become a jump */
	__asm__ volatile("" ::: "memory");
}

/* Bottom of the private stack. Three frames are not nest()'s: this one, the loop's, and the one
 * that the event interrupts. */
static void bare_entry(unsigned int high, unsigned int low)
{
	struct bare *b = (struct bare *)(((uintptr_t)high << 32) | low);

	nest(b, b->step.depth - 3);
	__asm__ volatile("" ::: "memory");
}

static double bare_block(void *arg)
{
	struct bare *b = arg;

	getcontext(&b->loop);
	b->loop.uc_stack.ss_sp = b->stack;
	b->loop.uc_stack.ss_size = STACK_BYTES;
	b->loop.uc_link = &b->caller;
#if defined(__x86_64__)
	b->loop.uc_mcontext.gregs[REG_RBP] = 0;
#elif defined(__aarch64__)
	b->loop.uc_mcontext.regs[29] = 0;
#endif
	makecontext(&b->loop, (void (*)(void))bare_entry, 2, (unsigned int)((uintptr_t)b >> 32),
		    (unsigned int)(uintptr_t)b);
	bb_perf_event__enable(b->event_fd);
	swapcontext(&b->caller, &b->loop);
	bb_perf_event__disable(b->event_fd);
	return (double)b->took_ns / BENCH_BLOCK;
}

static double step_block(void *arg)
{
	struct bare *b = arg;
	uint64_t began_ns = bb_now_ns();
	struct bb_batch batch = bench_step__block(&b->step, BENCH_BLOCK);
	uint64_t took_ns = bb_now_ns() - began_ns;

	if (batch.n != BENCH_BLOCK) {
		fprintf(stderr, "the step drive took %zu samples of %u\n", batch.n, BENCH_BLOCK);
		exit(1);
	}
	return (double)took_ns / BENCH_BLOCK;
}

/* Times the triggers alone: the event is on, nothing is read. */
static double touch_block(void *arg)
{
	struct bare *b = arg;
	uint64_t began_ns;

	bb_perf_event__enable(b->event_fd);
	began_ns = bb_now_ns();
	for (size_t i = 0; i < BENCH_BLOCK; i++)
		touch(b);
	began_ns = bb_now_ns() - began_ns;
	bb_perf_event__disable(b->event_fd);
	return (double)began_ns / BENCH_BLOCK;
}

static double madvise_block(void *arg)
{
	struct bare *b = arg;
	uint64_t began_ns;

	bb_perf_event__enable(b->event_fd);
	began_ns = bb_now_ns();
	for (size_t i = 0; i < BENCH_BLOCK; i++) {
		madvise(b->region, b->page_bytes, MADV_DONTNEED);
		*(volatile char *)b->region = 1;
	}
	began_ns = bb_now_ns() - began_ns;
	bb_perf_event__disable(b->event_fd);
	return (double)began_ns / BENCH_BLOCK;
}

static void bench_sample(struct bare *b, const char *program)
{
	char what[128], measured[128];
	struct bench_medians m;
	struct bench_duel d;

	bare_open(b, program);
	d = bench_duel(step_block, bare_block, b, BLOCKS);
	m = bench_decide(&d);
	snprintf(what, sizeof(what), "step: a sample of `%s` / bare trigger and read", program);
	snprintf(measured, sizeof(measured), "%.3f (%.0f / %.0f ns)", m.ratio, m.a, m.b);
	bench_judge(what, "<= 1.15", measured, m.ratio <= 1.15);
	bare_close(b);
}

static void bench_trigger(struct bare *b)
{
	struct bench_medians m;
	struct bench_duel d;
	char measured[128];

	bare_open(b, "empty");
	d = bench_duel(madvise_block, touch_block, b, BLOCKS);
	m = bench_decide(&d);
	snprintf(measured, sizeof(measured), "%.2f (%.0f / %.0f ns)", m.ratio, m.a, m.b);
	bench_judge("step: madvise and write a sample / its trigger", "> 1", measured, m.ratio > 1);
	bare_close(b);
}

int main(void)
{
	struct bare *b = bench_alloc(1, sizeof(*b));

	bench_sample(b, "empty");
	bench_sample(b, "ringbuf_nowakeup");
	bench_trigger(b);
	free(b);
	return 0;
}
