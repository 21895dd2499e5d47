/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/* A plan lists the cases of a run, one for each variant, drive and value of the drive's parameter.
 * It is made from one scenario before anything is loaded. */

/* Default number of loads if the time depends on the program's JIT address modulo 64: two loads for
 * each of up to 14 such addresses (run/round.h). */
#define BB_DEFAULT_LOADS 28u
/* Default number of loads of sweeps, and of drives that measure for a given time, that count, or
 * that load no program. A given time is divided among the loads, so more loads would have too few
 * samples. With 12 loads, the interval reaches from the 3rd to the 10th of the sorted values. */
#define BB_DEFAULT_SLICES 12u
/* A parameter with more values is a sweep, and its cases get BB_DEFAULT_SLICES loads. */
#define BB_SWEEP_MOST_LOADED 16u
#define BB_NO_CASE SIZE_MAX

/* Loads, and samples of a case, that are enough for a verdict on each of a thousand lines. */
#define BB_LINES_LOADS 16u
#define BB_LINES_SAMPLES 6400u

struct bb_plan_case {
	const struct bb_variant_spec *variant;
	const struct bb_drive_spec *drive;
	const char *param;    /* name of the parameter, or NULL */
	uint32_t param_value; /* identifies the parameter's value in reports and plots */
	/* for the driver's batch(): the parameter of the drive's kind, or the index of the input */
	uint32_t driver_param;
	const struct bb_input *input; /* NULL if the case has no input from the scenario */
	uint32_t loads;   /* number of the plan's rounds in which the case is measured */
	uint32_t samples; /* over all loads; used if `seconds` is 0 */
	double seconds;   /* over all loads, s; 0 if the drive measures by number of samples */
	size_t floor;   /* index in bb_plan.cases of the case of the empty program, or BB_NO_CASE */
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
	struct bb_plan_case *cases;
	size_t n_cases;
};

/* True if other cases subtract this case, the empty program, as their floor. */
static inline bool bb_plan_case__is_floor(const struct bb_plan_case *c)
{
	return c->floor == BB_NO_CASE && c->drive->floor;
}

/* The rounds of a case with fewer loads are spread evenly over the plan's rounds. */
static inline bool bb_plan_case__has_turn(const struct bb_plan *p, const struct bb_plan_case *c,
					  uint32_t load)
{
	return (uint64_t)load * c->loads % p->loads < c->loads;
}

/* Restrictions and overrides from the command line. A zeroed struct has none. */
struct bb_plan_opts {
	/* names of variants to keep besides floors; n is 0 to keep all */
	struct bb_strings variants;
	struct bb_strings drives; /* names of drives to keep; n is 0 to keep all */
	uint32_t samples, loads;  /* of each case; 0 to keep the scenario's */
};

/* Makes the plan. The cases of a drive are grouped by value of the parameter, then by variant.
 * Inputs make the parameter "input" if there are several and no mix. Its value is the input's name
 * if all names are whole numbers, otherwise the index. Several sizes of maps
 * (bb_scenario__spread_fills()) make the parameter "entries". Returns 0, or -ENOENT for an unknown
 * variant or drive, with a message that suggests the nearest name. Returns -EINVAL if no case is
 * left, or if two cases have the same name. Free the plan with bb_plan__done(). */
int bb_plan__make(const struct bb_scenario *scenario, const struct bb_plan_opts *opts,
		  struct bb_plan *ret_plan, struct bb_err *err);
void bb_plan__done(struct bb_plan *p);
