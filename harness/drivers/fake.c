/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive `fake`: seeded random samples instead of a kernel, to test the whole tool without root,
 * BPF or noise. The `globals` of a variant are the script (default values in parentheses):
 *
 * - location_ns (1000), spread_ns (5): mean and standard deviation of the cost of a run
 * - tail_permille (0), tail_ns (10000): share of slower runs, and their largest extra cost
 * - layout_permille (0): amplitude of the cost over the JIT address modulo 64
 * - fail_after (0): the batches from this number on fail, as if a workload died
 * - lose_after (0): the batches from this number on lose one event, so their samples must not count
 * - silent (0): 1 means that the program never runs
 */

#include "base/deadline.h"
#include "drivers/driver.h"

struct fake_state {
	struct bb_drive_state common;
	uint64_t batches;
};

static double knob(const struct bb_variant_spec *v, const char *name, double otherwise)
{
	for (size_t i = 0; i < v->n_globals; i++)
		if (!strcmp(v->globals[i].name, name))
			return (double)v->globals[i].value;
	return otherwise;
}

static int fake_batch(void *slot, uint32_t, struct bb_batch *b, struct bb_err *err)
{
	struct fake_state *s = (struct fake_state *)((struct bb_drive_slot *)slot)->state;
	const struct bb_test_prog *prog = ((struct bb_drive_slot *)slot)->prog;
	const struct bb_variant_spec *v = prog->spec;
	double fail_after = knob(v, "fail_after", 0), lose_after = knob(v, "lose_after", 0);
	double swing = knob(v, "layout_permille", 0) * 1e-3 * sin(2 * M_PI * prog->jit_mod64 / 64);
	struct bb_rng *rng = &s->common.rng;

	s->batches++;
	if (bb_must_end())
		return bb_stop_signal ? -EINTR : 0;
	if (fail_after > 0 && (double)s->batches >= fail_after)
		return bb_fail(err, -ECHILD,
			       "fake workload of '%s' died midway, as its script says", v->name);
	b->fired = b->want;
	b->n = b->want;
	if (knob(v, "silent", 0) > 0)
		b->n = 0;
	else if (lose_after > 0 && (double)s->batches >= lose_after)
		b->n = b->want - 1;
	for (size_t i = 0; i < b->n; i++) {
		double ns = knob(v, "location_ns", 1000) * (1 + swing) +
			    knob(v, "spread_ns", 5) * bb_rng_normal(rng);

		if (bb_rng_double(rng) < knob(v, "tail_permille", 0) * 1e-3)
			ns += knob(v, "tail_ns", 10000) * bb_rng_double(rng);
		b->ns[i] = ns < 1 ? 1 : (uint64_t)(ns + 0.5);
		b->run_time_ns += b->ns[i];
	}
	b->run_cnt = b->n;
	b->elapsed_s = (double)b->run_time_ns * 1e-9;
	return 0;
}

const struct bb_driver bb_driver_fake = {
	.kind.with = "fake",
	.kind.doc = "seeded samples from the scenario instead of a kernel: for trying "
		    "the tool and for its tests",
	.kind.keys = {{"samples"}},
	.kind.pace = BB_STEP_PACE,
	.kind.sample = BB_SAMPLE_RUN,
	.kind.synthetic = true,
	.kind.fires = true,
	.kind.one_by_one = true,
	.state_bytes = sizeof(struct fake_state),
	.batch = fake_batch,
};
