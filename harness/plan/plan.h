/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/* A plan lists the cases of a run, one for each variant, drive and value of the drive's parameter.
 * It is made from one scenario before anything is loaded. `--dry-run` prints it. */

/* Default number of loads of a case whose time depends on the place of its program (its address
 * modulo 64): two loads for each of up to 14 places (run/round.h). */
#define BB_DEFAULT_LOADS 28u
/* Default number of loads of all other cases: of sweeps, and of drives that measure by time, that
 * count, or that load no program. A drive that measures by time divides its time among the loads,
 * so more loads would leave too few samples for each. With 12 loads, the interval reaches from the
 * 3rd to the 10th of the sorted values. */
#define BB_DEFAULT_SLICES 12u
/* A parameter with more values than this is a sweep, and its cases get BB_DEFAULT_SLICES loads. */
#define BB_SWEEP_MOST_LOADED 16u
#define BB_NO_CASE SIZE_MAX

struct bb_plan_case {
	const struct bb_variant_spec *variant;
	const struct bb_drive_spec *drive;
	const char *param; /* name of the parameter; NULL: the case has no parameter */
	/* number that identifies the parameter's value in reports and plots */
	uint32_t param_value;
	/* value that the driver's batch() gets: the value of the parameter that belongs to the
	 * drive's kind, or the index of the input */
	uint32_t driver_param;
	/* input from the scenario; NULL: the case has no such input */
	const struct bb_input *input;
	/* number of the plan's rounds in which the case is measured */
	uint32_t loads;
	uint32_t samples; /* number of samples over all loads; used if `seconds` is 0 */
	/* time to measure over all loads, s; 0: the drive does not measure by time */
	double seconds;
	size_t floor;   /* index in bb_plan.cases of the floor of this case, or BB_NO_CASE */
	char name[512]; /* "scenario/variant/drive", with "/parameter=value" if there is one */
	size_t what;    /* offset in `name` of "drive/parameter=value" */
	size_t value;   /* offset in `name` of the value, if there is a parameter */
};

/* Returns the name of the case without scenario and variant: "drive/parameter=value". */
static inline const char *bb_plan_case__below_variant(const struct bb_plan_case *c)
{
	return c->name + c->what;
}

struct bb_plan {
	const struct bb_scenario *scenario; /* borrowed; must outlive the plan */
	uint32_t loads;                     /* number of rounds: the largest `loads` of all cases */
	struct bb_plan_case *cases;         /* cases[n_cases] */
	size_t n_cases;
};

/* True if this case is the floor of other cases. */
static inline bool bb_plan_case__is_floor(const struct bb_plan_case *c)
{
	return c->floor == BB_NO_CASE && c->drive->floor;
}

/* True if the case is measured in round `load`, from 0. The rounds of a case with fewer loads
 * than the plan are spread evenly over the plan's rounds. */
static inline bool bb_plan_case__has_turn(const struct bb_plan *p, const struct bb_plan_case *c,
					  uint32_t load)
{
	return (uint64_t)load * c->loads % p->loads < c->loads;
}

/* Restrictions and overrides from the command line. A zeroed struct has none. */
struct bb_plan_opts {
	struct bb_strings variants; /* names of variants to keep besides floors; n == 0: all */
	struct bb_strings drives;   /* names of drives to keep; n == 0: all drives */
	/* numbers of samples and loads of each case; 0: as in the scenario */
	uint32_t samples, loads;
};

/*
 * Makes the plan. The cases of a drive are grouped by value of the parameter, then by variant. If a
 * drive takes two or more inputs that are not a mix, its parameter is "input". The value is the
 * input's name if the names of all inputs are whole numbers, as in a sweep; otherwise it is the
 * input's index, from 0. If maps are filled to several sizes (bb_scenario__spread_fills()), the
 * parameter is "entries".
 *
 * Returns 0; -ENOENT for an unknown variant or drive, with a message that suggests the nearest
 * name; -EINVAL if no case is left, or if two drives make cases with the same name. Free the plan
 * with bb_plan__done().
 */
int bb_plan__make(const struct bb_scenario *scenario, const struct bb_plan_opts *opts,
		  struct bb_plan *ret_plan, struct bb_err *err);
void bb_plan__done(struct bb_plan *p);
