/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/* A plan lists the cases of a run. It is made from one scenario before anything is loaded. Each
 * variant, drive and value of the parameter gives a case. `--dry-run` prints the plan. */

/* Default loads of a case whose time depends on the place of its program: two for each of up to 14
 * places (run/round.h). */
#define BB_DEFAULT_LOADS 28u
/*
 * Default loads of all other cases. These are the cases of sweeps, and of drives that measure by
 * time, that count, or that load no program. A drive that measures by time has one slice per load.
 * With more loads, its slices would be shorter and would hold too few samples.
 *
 * The interval over 12 slices reaches from the 3rd to the 10th of their sorted values.
 */
#define BB_DEFAULT_SLICES 12u
/* A parameter with more values than this is a sweep. Its cases get BB_DEFAULT_SLICES loads. */
#define BB_SWEEP_MOST_LOADED 16u
#define BB_NO_CASE SIZE_MAX

struct bb_plan_case {
	const struct bb_variant_spec *variant;
	const struct bb_drive_spec *drive;
	const char *param; /* name of the parameter; NULL: none */
	/* identifies the value in reports and plots */
	uint32_t param_value;
	/* value for the driver's batch(): the drive's own parameter, or the index of the input */
	uint32_t driver_param;
	/* input from the scenario; NULL: the scenario gives none */
	const struct bb_input *input;
	uint32_t loads;   /* number of the plan's rounds in which the case takes part */
	uint32_t samples; /* drives that do not measure by time: samples to take, over all loads */
	/* drives that measure by time: seconds to spend, over all loads; 0 for other drives */
	double seconds;
	size_t floor;   /* index of the floor's case, or BB_NO_CASE */
	char name[512]; /* "scenario/variant/drive/parameter=value", "…/input=NAME", or without a
			   parameter "scenario/variant/drive" */
	size_t what;    /* offset in `name` of "drive/parameter=value" */
	size_t value;   /* offset in `name` of the value, if there is a parameter */
};

/* Returns "drive/parameter=value". */
static inline const char *bb_plan_case__below_variant(const struct bb_plan_case *c)
{
	return c->name + c->what;
}

struct bb_plan {
	const struct bb_scenario *scenario; /* borrowed; must outlive the plan */
	uint32_t loads;
	struct bb_plan_case *cases;
	size_t n_cases;
};

/* True if this case is the floor of other cases. */
static inline bool bb_plan_case__is_floor(const struct bb_plan_case *c)
{
	return c->floor == BB_NO_CASE && c->drive->floor;
}

/* True if the case takes part in round `load`, from 0. If it has fewer loads than the plan has
 * rounds, the rounds in which it takes part are spread evenly. */
static inline bool bb_plan_case__has_turn(const struct bb_plan *p, const struct bb_plan_case *c,
					  uint32_t load)
{
	return (uint64_t)load * c->loads % p->loads < c->loads;
}

/* Restrictions and overrides from the command line. A zeroed struct has none. */
struct bb_plan_opts {
	struct bb_strings variants; /* names to keep; floors are kept too */
	struct bb_strings drives;
	uint32_t samples;
	uint32_t loads;
};

/*
 * Makes the plan. The cases of a drive are grouped by value of the parameter, then by variant. If a
 * drive takes two or more inputs that are not a mix, its parameter is "input". The value is the
 * input's name if the names of all inputs are whole numbers, as in a sweep; otherwise it is the
 * input's index, from 0. If maps are filled to several sizes (bb_scenario__spread_fills()), the
 * parameter is "entries".
 *
 * Returns 0; -ENOENT for an unknown variant or drive, with the nearest name; -EINVAL if no case is
 * left, or if two drives make cases with the same name.
 */
int bb_plan__make(const struct bb_scenario *scenario, const struct bb_plan_opts *opts,
		  struct bb_plan *ret_plan, struct bb_err *err);
void bb_plan__done(struct bb_plan *p);
