/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/placement.h"

#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "stats/special.h"

#define FIND_LOADS 100u    /* misses a place that gets 1 of 14 loads with P = 0.06 % */
#define FIND_SHARE 0.5     /* of the time for loading */
#define LEAST_EXPECTED 5.0 /* loads a place, for the chi-square test (Cochran 1954) */
#define NORMAL_0_001 3.0902
#define MISSED_MOST 0.05

static int load(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		bool is_extra, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	int rc = bb_test_prog__load(prog, rng, BB_ANYWHERE, 1, err);
	double took_s = bb_seconds_since(began_ns);

	p->load_s = fmax(p->load_s, took_s);
	p->spent_s += is_extra ? took_s : 0;
	return rc;
}

int bb_placement__find(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       double most_s, struct bb_err *err)
{
	int rc = 0;

	*p = (struct bb_placement){.most_s = most_s};
	if (!prog->target || bb_target__is_adopted(prog->target))
		return 0;
	for (unsigned int i = 0; !rc && i < FIND_LOADS; i++) {
		if (p->spent_s + p->load_s > FIND_SHARE * most_s || bb_must_end())
			break;
		rc = load(p, prog, rng, true, err);
		if (prog->jit_mod64 < 0)
			break;
	}
	return rc;
}

/* Is there a place that was seen and had fewer turns than `mod64`? */
static bool is_wanted(const struct bb_placement *p, const struct bb_test_prog *prog, int mod64)
{
	for (int i = 0; i < BB_PLACES; i++)
		if (prog->seen_mod64[i] && p->taken[i] < p->taken[mod64])
			return false;
	return true;
}

int bb_placement__load(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       struct bb_err *err)
{
	int rc = load(p, prog, rng, false, err);

	if (!prog->target || bb_target__is_adopted(prog->target))
		return rc;
	while (!rc && prog->jit_mod64 >= 0 && !is_wanted(p, prog, prog->jit_mod64) &&
	       p->spent_s + p->load_s <= p->most_s && !bb_must_end())
		rc = load(p, prog, rng, true, err);
	if (!rc && prog->jit_mod64 >= 0)
		p->taken[prog->jit_mod64]++;
	return rc;
}

double bb_placement_share(const struct bb_test_prog *prog, int mod64)
{
	double n = 0, places = 0, expected, chi_square = 0;

	if (!prog->target || mod64 < 0 || !prog->seen_mod64[mod64])
		return NAN;
	for (int i = 0; i < BB_PLACES; i++) {
		n += prog->seen_mod64[i];
		places += prog->seen_mod64[i] > 0;
	}
	expected = n / places;
	for (int i = 0; i < BB_PLACES; i++)
		if (prog->seen_mod64[i])
			chi_square += (prog->seen_mod64[i] - expected) *
				      (prog->seen_mod64[i] - expected) / expected;
	if (expected >= LEAST_EXPECTED && places > 1 &&
	    chi_square > bb_chi_square_limit(NORMAL_0_001, places - 1))
		return prog->seen_mod64[mod64] / n;
	/* Of a few loads, who says that there are no other places? One more like these would have
	 * been missed with this probability. */
	return pow(places / (places + 1), n) <= MISSED_MOST ? 1 / places : (double)NAN;
}
