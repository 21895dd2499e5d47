/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/round.h"

#include <bpf/bpf.h>

#include "base/deadline.h"
#include "drivers/fit_line.h"
#include "stats/quantile.h"

/* A reference is measured by fitting this many lines. The result is the median of their slopes. */
#define LINES 5u
#define FRAME_BYTES 64 /* a test run of a socket filter needs at least 14 bytes */

/* Runs in the longer test run of each reference. Such a test run takes 10 to 60 us, so a profiler
 * that interrupts the CPU at 10 kHz disturbs only a minority of them. It disturbed all when they
 * took 84 us (docs/methods/history.md). */
static const unsigned int runs_of[BB_N_REFERENCES] = {
	[BB_REFERENCE_INSTRUCTIONS] = 64,
	[BB_REFERENCE_MEMORY] = 8,
	[BB_REFERENCE_WAKEUP] = 8,
};

struct bb_references {
	struct bb_target *target[BB_N_REFERENCES];
};

int bb_references__open(const char *object_dir, struct bb_references **ret_references,
			struct bb_err *err)
{
	struct bb_references *r = bb_calloc(1, sizeof(*r));
	struct bb_err unsaid = {0};
	char *path = bb_asprintf("%s/references.bpf.o", object_dir);
	int rc = 0;

	for (int i = 0; !rc && i < BB_N_REFERENCES; i++) {
		rc = bb_must_end_why();
		if (!rc)
			rc = bb_target__open(&(struct bb_source_spec){.path = path,
								      .program = bb_reference_name((
									      enum bb_reference)i)},
					     &r->target[i], err);
		/* leaves out references that do not load: Linux 5.10 refuses large arrays */
		if (!rc && bb_target__load(r->target[i], &unsaid)) {
			bb_target__free(r->target[i]);
			r->target[i] = NULL;
			rc = bb_must_end_why();
		}
	}
	free(path);
	if (rc)
		bb_references__free(r);
	else
		*ret_references = r;
	return rc;
}

/* Uses the clock, because the kernel's own figure is rounded to whole ns per run. */
static int time_call(void *arg, uint32_t runs, double *ret_ns)
{
	static const uint8_t frame[FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = (int)runs);
	struct bb_target *t = arg;
	uint64_t began_ns = bb_now_ns();
	int rc = bpf_prog_test_run_opts(t->prog_fd, &opts);

	*ret_ns = (double)(bb_now_ns() - began_ns);
	bb_target__drain(t, false);
	return rc;
}

void bb_references__measure(struct bb_references *r, double ret_ns[BB_N_REFERENCES])
{
	for (int i = 0; i < BB_N_REFERENCES; i++) {
		struct bb_target *target = r ? r->target[i] : NULL;
		struct bb_fitted_line line;
		double ns[LINES];
		size_t n = 0;

		for (unsigned int k = 0; target && k < LINES && !bb_must_end(); k++)
			if (!bb_fit_line__take(time_call, target, runs_of[i], &line) &&
			    line.slope_ns > 0)
				ns[n++] = line.slope_ns;
		ret_ns[i] = n ? bb_median(ns, n) : (double)NAN;
	}
}

void bb_references__free(struct bb_references *r)
{
	for (int i = 0; r && i < BB_N_REFERENCES; i++)
		bb_target__free(r->target[i]);
	free(r);
}

#define STEPS 4000u /* steps of the fixed work, which takes about 2 us */
/* A look tests whether the CPU is calm (as fast as at its best). It repeats the work this many
 * times and takes the shortest time, because an interrupt disturbs only one repetition. */
#define REPEATS_OF_LOOK 3u
/* The CPU is calm if a look takes at most this many times as long as the shortest look. On a calm
 * CPU, less than 1.01 times was measured. */
#define CALM 1.04
#define NAP_S 2e-3
#define FIRST_LOOKS 20 /* looks at the start of a run, which find the shortest time */

static volatile uint64_t sink;

/* Does the fixed work and returns its time, ns. Each step has six independent operations, so
 * another thread on the same core slows them down. It would not slow down a chain of dependent
 * operations, or branches that are compiled to conditional moves. */
static __attribute__((noinline)) double work_ns(void)
{
	uint64_t began_ns = bb_now_ns(), a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

	for (uint64_t i = 0; i < STEPS; i++) {
		a += i;
		b ^= i;
		c += i;
		d ^= i;
		e += i;
		f ^= i;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	}
	sink = a + b + c + d + e + f;
	return (double)(bb_now_ns() - began_ns);
}

static double look_ns(struct bb_calm *c)
{
	double ns = INFINITY;

	for (unsigned int i = 0; i < REPEATS_OF_LOOK; i++)
		ns = fmin(ns, work_ns());
	c->best_ns = fmin(c->best_ns, ns);
	return ns;
}

static void nap(struct bb_calm *c)
{
	struct timespec t = {.tv_nsec = (long)(NAP_S * 1e9)};
	uint64_t began_ns = bb_now_ns();

	nanosleep(&t, NULL);
	c->waited_s += bb_seconds_since(began_ns);
}

void bb_calm__begin(struct bb_calm *c, double most_s)
{
	*c = (struct bb_calm){.best_ns = INFINITY, .most_s = most_s};
	for (unsigned int i = 0; i < FIRST_LOOKS && c->waited_s < most_s && !bb_must_end(); i++) {
		look_ns(c);
		nap(c);
	}
}

void bb_calm__wait(struct bb_calm *c)
{
	while (look_ns(c) > CALM * c->best_ns && c->waited_s < c->most_s && !bb_must_end())
		nap(c);
}
