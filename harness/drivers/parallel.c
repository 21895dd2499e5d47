/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive `parallel`: test runs of one program on several CPUs at once, one thread on each, with
 * bpf_stats off. The CPUs compete for what they share, such as a lock, as on a busy machine.
 *
 * A sample comes from a window, in which all CPUs run the program. The threads start together. Each
 * thread makes calls of BPF_PROG_TEST_RUN until every thread has made CALLS calls. A call counts
 * only if all threads were running during the whole call. The sample is the mean time of a run: the
 * number of CPUs divided by the sum of their rates (runs per ns). A call makes so many runs that it
 * lasts about CALL_NS. So entering and leaving the kernel takes less than one percent of a call. A
 * window in which another process took one of the CPUs gives no sample.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "base/cpus.h"
#include "drivers/trigger_test_run.h"

#define MAX_REPEAT 1000000u
#define CALL_NS 200000.0 /* planned time of one call, ns */
#define CALLS 4u         /* fewest calls of each thread in a window */
#define KEPT 64u         /* in a window, only the times of a thread's first KEPT calls are kept */
#define STACK_BYTES ((size_t)256 << 10)
/* A batch that wants n samples ends early when more than n * TRIES windows gave no sample. */
#define TRIES 20u

struct state {
	struct bb_drive_state common;
	/* cpus[0] is opts.cpu */
	int cpus[CPU_SETSIZE];
};

struct team;

struct worker {
	struct team *team;
	struct bb_test_call call;
	uint64_t at_ns[KEPT + 1]; /* at_ns[0]: start of the first call; at_ns[i]: end of call i */
	uint32_t n;
	uint32_t retval;
	bool is_disturbed; /* true if another process took the thread's CPU for a time */
	int rc;
	pthread_t thread;
};

struct team {
	struct worker *workers;
	uint32_t n, repeat;
	atomic_uint ready; /* number of threads that have begun */
	atomic_uint done;  /* number of threads that have made CALLS calls */
	atomic_bool is_over;
};

static long switches(void)
{
	struct rusage used;

	return getrusage(RUSAGE_THREAD, &used) ? 0 : used.ru_nivcsw;
}

static void *take_part(void *worker)
{
	struct worker *w = worker;
	struct team *t = w->team;
	long before = switches();
	union bpf_attr attr;
	uint32_t made = 0;

	w->n = 0;
	w->rc = 0;
	w->call.attr.test.repeat = t->repeat;
	atomic_fetch_add(&t->ready, 1);
	while (atomic_load(&t->ready) < t->n && !atomic_load(&t->is_over))
		;
	w->at_ns[0] = bb_now_ns();
	while (atomic_load(&t->done) < t->n && !atomic_load(&t->is_over)) {
		w->rc = bb_test_call__fire(&w->call, &attr);
		if (w->rc) {
			atomic_store(&t->is_over, true);
			break;
		}
		w->retval = attr.test.retval;
		if (w->n < KEPT)
			w->at_ns[++w->n] = bb_now_ns();
		if (++made == CALLS)
			atomic_fetch_add(&t->done, 1);
	}
	w->is_disturbed = switches() != before;
	return NULL;
}

/* Starts a thread on a CPU. The thread blocks all signals, so that signals interrupt only calls of
 * the main thread. Returns 0 or -errno. */
static int start(struct worker *w, int cpu)
{
	sigset_t all, before;
	pthread_attr_t attr;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	int rc = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (!rc)
		rc = pthread_create(&w->thread, &attr, take_part, w);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

/* Runs one window. Returns 0, -EINTR if a signal interrupted a call, or another -errno. */
static int take_window(struct team *t, const int *cpus, struct bb_err *err)
{
	uint32_t started = 1;
	int rc = 0;

	atomic_store(&t->ready, 0);
	atomic_store(&t->done, 0);
	atomic_store(&t->is_over, false);
	for (; !rc && started < t->n; started += !rc)
		rc = start(&t->workers[started], cpus[started]);
	if (rc) {
		atomic_store(&t->is_over, true);
		bb_fail(err, rc, "no thread can be started on CPU %d: %m", cpus[started]);
	} else {
		take_part(t->workers);
	}
	for (uint32_t i = 1; i < started; i++)
		pthread_join(t->workers[i].thread, NULL);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->workers[i].rc && (!rc || rc == -EINTR))
			rc = t->workers[i].rc;
	return rc;
}

/* Returns the mean time of a run while all CPUs ran the program, ns. Returns NAN if another process
 * took one of the CPUs, or if a CPU made no complete call in that time. */
static double run_ns(const struct team *t)
{
	uint64_t begin_ns = 0, end_ns = UINT64_MAX;
	double per_ns = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct worker *w = &t->workers[i];

		begin_ns = w->at_ns[0] > begin_ns ? w->at_ns[0] : begin_ns;
		end_ns = w->at_ns[w->n] < end_ns ? w->at_ns[w->n] : end_ns;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		const struct worker *w = &t->workers[i];
		uint32_t first = 0, last = w->n;

		while (first < last && w->at_ns[first] < begin_ns)
			first++;
		while (last > first && w->at_ns[last] > end_ns)
			last--;
		if (w->is_disturbed || first == last)
			return NAN;
		per_ns += (double)(last - first) * t->repeat /
			  (double)(w->at_ns[last] - w->at_ns[first]);
	}
	return t->n / per_ns;
}

/* Finds the t->repeat with which a call lasts about CALL_NS. This also warms up the program. */
static int calibrate(struct team *t, const int *cpus, struct bb_err *err)
{
	int rc = 0;

	t->repeat = 1;
	while (!rc && !bb_must_end()) {
		const struct worker *w = t->workers;

		rc = take_window(t, cpus, err);
		if (rc == -EINTR && !bb_must_end())
			rc = 0;
		if (rc || !w->n)
			continue;
		double call_ns = (double)(w->at_ns[w->n] - w->at_ns[0]) / w->n;
		if (call_ns >= CALL_NS / 2 || t->repeat >= MAX_REPEAT)
			break;
		t->repeat = (uint32_t)fmin(t->repeat * fmin(CALL_NS / call_ns, 8) + 1, MAX_REPEAT);
	}
	return rc;
}

static int take_windows(struct team *t, const int *cpus, struct bb_batch *b, struct bb_err *err)
{
	struct bb_target *target = t->workers->call.target;
	uint64_t began_ns = bb_now_ns();
	size_t lost = 0;

	while (bb_batch__goes_on(b, began_ns)) {
		int rc = take_window(t, cpus, err);

		bb_target__drain(target, false);
		if (rc && (rc != -EINTR || bb_must_end()))
			return rc;
		if (rc) {
			b->retries++;
			continue;
		}
		double ns = run_ns(t);
		for (uint32_t i = 0; i < t->n; i++)
			bb_test_call__judge_retval(&t->workers[i].call, t->workers[i].retval, b);
		if (!isnan(ns)) {
			b->fired++;
			b->ns[b->n++] = (uint64_t)(ns * BB_PS_PER_NS + 0.5);
		} else if (++lost > b->want * TRIES) {
			snprintf(b->void_why, sizeof(b->void_why),
				 "other processes took one of the CPUs in %zu of %zu windows", lost,
				 lost + b->n);
			break;
		}
		if (isnan(ns))
			bb_give_way();
	}
	return 0;
}

/* With `same_input`, all CPUs run the program on the first input. Otherwise CPU i runs it on input
 * number i modulo the number of inputs. */
static int batch(void *slot_, uint32_t n_cpus, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_drive_slot *slot = slot_;
	const struct state *state = (const struct state *)slot->state;
	size_t n_inputs = state->common.spec->same_input ? 1 : state->common.spec->inputs.n;
	struct team team = {.n = n_cpus, .workers = bb_calloc(n_cpus, sizeof(*team.workers))};
	int rc = 0;

	b->warmup = 0;
	for (uint32_t i = 0; !rc && i < n_cpus; i++) {
		struct worker *w = &team.workers[i];

		w->team = &team;
		rc = bb_test_run__aim(slot->attached, n_inputs ? i % (uint32_t)n_inputs : 0,
				      &w->call, err);
		if (rc)
			break;
		rc = bb_test_call__fire_checked(&w->call, b);
		if (rc && (rc != -EINTR || bb_must_end()))
			rc = bb_test_call__say_failed(&w->call, rc, err);
		else
			rc = 0;
	}
	if (!rc)
		rc = calibrate(&team, state->cpus, err);
	if (!rc)
		rc = take_windows(&team, state->cpus, b, err);
	for (uint32_t i = 0; rc && rc != -EINTR && i < n_cpus; i++)
		if (team.workers[i].rc == rc) {
			rc = bb_test_call__say_failed(&team.workers[i].call, rc, err);
			break;
		}
	for (uint32_t i = 0; i < n_cpus; i++)
		bb_test_call__close(&team.workers[i].call);
	free(team.workers);
	return rc == -EINTR && !bb_stop_signal ? 0 : rc;
}

static int open_parallel(void *state, struct bb_err *err)
{
	struct state *s = state;
	const struct bb_u32_list *values = &s->common.spec->values;
	const int *cpus;
	int n = bb_usable_cpus(&cpus), n_taken = 0;

	for (size_t i = 0; i < values->n; i++)
		if (values->v[i] > (uint32_t)n)
			return bb_fail(err, -EINVAL,
				       "the drive 'parallel' asks for %u CPUs, and %d %s online "
				       "and allowed here; take %d at most, or 'all'",
				       values->v[i], n, n == 1 ? "is" : "are", n);
	s->cpus[n_taken++] = s->common.opts.cpu;
	for (int i = 0; i < n; i++)
		if (cpus[i] != s->common.opts.cpu && n_taken < n)
			s->cpus[n_taken++] = cpus[i];
	((struct bb_test_run *)s->common.fired)->repeats = true;
	return 0;
}

static void fired_by(const struct bb_input *, const struct bb_test_prog *, char *ret_words,
		     size_t size)
{
	snprintf(ret_words, size, "test runs on each CPU at once");
}

const struct bb_driver bb_driver_parallel = {
	.kind.with = "parallel",
	.kind.doc = "test runs on several CPUs at once, bpf_stats off: the cost of a "
		    "run while other CPUs run the same program",
	.kind.same_name = "parallel-same",
	.kind.keys = {{"cpus"}, {"inputs"}, {"same_input"}, {"samples"}},
	.kind.param = "cpus",
	.kind.param_default = 1,
	.kind.pace = {.samples = 200,
		      .turn = 20,
		      .pair_turn = 4,
		      .warmup_first = 1,
		      .warmup_turn = 1,
		      .pair_warmup = 1,
		      .sample_s = 1e-3},
	.kind.sample = BB_SAMPLE_RUN,
	.kind.units_per_ns = BB_PS_PER_NS,
	.kind.fills = BB_FILLS_THROUGHPUT,
	.kind.needs_bpf = true,
	.kind.fires = true,
	.kind.read_only = true,
	.kind.stats_off = true,
	.trigger = &bb_trigger_test_run,
	.state_bytes = sizeof(struct state),
	.open = open_parallel,
	.batch = batch,
	.fired_by = fired_by,
};
