/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drive `call`: times a function of user space (workloads/functions.h). A sample is the slope
 * of a line through the times of many calls in a row (drivers/fit_line.h), without the cost of
 * reading the clock. For a function that sleeps, a sample is the time of one call. */

#include "base/deadline.h"
#include "base/text.h"
#include "drivers/driver.h"
#include "drivers/fit_line.h"
#include "workloads/functions.h"

#define FIRST_CALLS 16u
#define MAX_CALLS 1000000u

struct call_slot {
	struct bb_drive_slot common;
	const struct bb_function *function;
	struct bb_function_room room;
	bool has_begun;
	struct bb_batch *batch; /* the batch in progress */
};

static const struct bb_function *find_function(const char *name, const char *variant)
{
	return BB_FIND(bb_functions, bb_n_functions,
		       !strcmp(it->name, name) && !strcmp(it->variant, variant));
}

static int probe(void *state, struct bb_test_prog *prog, struct bb_err *err)
{
	const struct bb_drive_state *s = state;
	const char *name = s->spec->call.function, *variant = prog->spec->program;
	char have[256] = "";

	if (find_function(name, variant)) {
		prog->in_place = true;
		return 0;
	}
	for (size_t i = 0; i < bb_n_functions; i++)
		if (!strcmp(bb_functions[i].name, name))
			bb_list_words(have, sizeof(have), ", ", "%s", bb_functions[i].variant);
	return bb_fail(err, -ENOENT, "function '%s' has no version '%s'; it has: %s", name, variant,
		       have);
}

/* The linker has fixed the function's address, so all its loads have the same address. */
static int attach(void *slot, struct bb_err *)
{
	struct call_slot *s = slot;

	s->function = find_function(s->common.state->spec->call.function,
				    s->common.prog->spec->program);
	bb_function_room__init(&s->room);
	return 0;
}

static int time_calls(void *arg, uint32_t n, double *ret_ns)
{
	struct call_slot *s = arg;
	uint64_t before_ns = bb_now_ns(), took_ns;

	s->function->run(&s->room, n);
	took_ns = bb_now_ns() - before_ns;
	s->batch->run_cnt += n;
	s->batch->run_time_ns += took_ns;
	*ret_ns = (double)took_ns;
	return bb_must_end_why();
}

static int batch(void *slot, uint32_t, struct bb_batch *b, struct bb_err *err)
{
	struct call_slot *s = slot;
	struct timespec pause = {0};
	uint32_t calls = 0;
	double ns = 0;
	int rc = bb_pin_to_cpu(s->common.state->opts.cpu, err);

	s->batch = b;
	/* A function may sleep until a fixed point of the clock's second, so its calls depend on
	 * each other. With a random pause before the first call, the loads are independent. */
	if (s->function->sleeps && !s->has_begun) {
		pause.tv_nsec = (long)bb_rng_below(&s->common.state->rng, 1000000000);
		nanosleep(&pause, NULL);
	}
	s->has_begun = true;
	uint64_t began_ns = bb_now_ns();
	/* only the third result counts, because the first two measurements warm up the function */
	for (int i = 0; !rc && !s->function->sleeps && i < 3; i++)
		rc = time_calls(s, FIRST_CALLS, &ns);
	/* the counts are without the warm-up (struct bb_batch) */
	b->run_cnt = b->run_time_ns = 0;
	if (!rc && !s->function->sleeps)
		calls = bb_fit_line_longer(fmax(ns / FIRST_CALLS, 0.1), MAX_CALLS);
	for (size_t i = 0; !rc && i < b->want && (!i || bb_seconds_since(began_ns) < b->max_s);
	     i++) {
		struct bb_fitted_line line = {0};

		rc = calls ? bb_fit_line__take(time_calls, s, calls, &line)
			   : time_calls(s, 1, &line.slope_ns);
		if (rc)
			break;
		if (line.slope_ns >= 0)
			b->ns[b->n++] = (uint64_t)(line.slope_ns * BB_PS_PER_NS + 0.5);
		else
			snprintf(b->void_why, sizeof(b->void_why),
				 "%u calls took less time than %u: the clock or the machine is too "
				 "unsteady",
				 calls, bb_fit_line_shorter(calls));
	}
	b->elapsed_s = bb_seconds_since(began_ns);
	/* not an error: the time is over, and the unfinished line gives no sample */
	return rc == -ETIME ? 0 : rc;
}

const struct bb_driver bb_driver_call = {
	.kind.with = "call",
	.kind.doc = "a function of user space, timed by the clock: call by call, or a "
		    "fast one by lines through many calls",
	.kind.keys = {{"function", bb_function_name}, {"seconds"}},
	.kind.seconds = 3,
	/* enough for the seven pairs of loads that a verdict needs, even if the function sleeps */
	.kind.compare_s = 30,
	/* One sample in each turn. With several, the time limit would cut off the turns of slow
	 * functions, and slow functions would have fewer samples in a turn than fast ones. */
	.kind.pace = {.pair_turn = 1},
	.kind.sample = {"call", "ns per call", false},
	.kind.units_per_ns = BB_PS_PER_NS,
	.slot_bytes = sizeof(struct call_slot),
	.probe = probe,
	.attach = attach,
	.batch = batch,
};
