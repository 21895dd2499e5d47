/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_PLAN_H
#define BB_PLAN_PLAN_H

#include "base/err.h"
#include "base/grow.h"
#include "base/std.h"
#include "plan/scenario.h"

/*
 * The cases of a run of one scenario, decided before anything is loaded: one for every variant
 * under every drive at every parameter. `--dry-run` prints it.
 */
#define BB_DEFAULT_LOADS 28u /* two for each of up to 14 places of a program (run/round.h) */
/* Of drives that go by time or have no program to place: shorter slices hold too few samples. The
 * interval over loads is then their 3rd to 10th. */
#define BB_DEFAULT_SLICES 12u
#define BB_SWEEP_MOST_LOADED 16u /* values of a parameter; a sweep has more, and fewer loads */
#define BB_NO_CASE SIZE_MAX

struct bb_plan_case {
	const struct bb_variant_spec *variant;
	const struct bb_drive_spec *drive;
	const char *param; /* name; NULL: the drive has none */
	/* for reports and plots; tells the cases of a drive and variant apart */
	uint32_t param_value;
	/* the argument of batch(): param_value, but of an input its index */
	uint32_t driver_param;
	/* NULL: the drive has none, or leaves the choice to the driver */
	const struct bb_input *input;
	uint32_t loads;   /* rounds that it takes part in, of the plan's */
	uint32_t samples; /* drives that fire: to be taken, all loads together */
	/* drives that go by time: to be spent, all loads together; 0 elsewhere */
	double seconds;
	size_t floor;   /* index of the case of the floor; BB_NO_CASE */
	char name[512]; /* "scenario/variant/drive/parameter=value"; "…/input=NAME" */
	size_t what;    /* where in it "drive/parameter=value" begins */
	size_t value;   /* and its value, where there is a parameter */
};

/* "drive/parameter=value". */
static inline const char *bb_plan_case__below_variant(const struct bb_plan_case *c)
{
	return c->name + c->what;
}

struct bb_plan {
	const struct bb_scenario *scenario; /* borrowed; outlives the plan */
	uint32_t loads;
	struct bb_plan_case *cases;
	size_t n_cases;
};

/* Is the case there for others to be compared with? */
static inline bool bb_plan_case__is_floor(const struct bb_plan_case *c)
{
	return c->floor == BB_NO_CASE && c->drive->floor;
}

/* Does the case take part in round `load`? The rounds of those that have fewer are spread evenly.
 */
static inline bool bb_plan_case__has_turn(const struct bb_plan *p, const struct bb_plan_case *c,
					  uint32_t load)
{
	return (uint64_t)load * c->loads % p->loads < c->loads;
}

/* Restrictions and overrides of the command line; zeroed: none. */
struct bb_plan_opts {
	struct bb_strings variants; /* names; the floor is kept besides */
	struct bb_strings drives;
	uint32_t samples;
	uint32_t loads;
};

/*
 * The cases of a drive are grouped by parameter, and within by variant. A test run's parameter is
 * "input" if it has two inputs or more; its value is the input's name if the names of all are whole
 * numbers (a sweep's are), else the index.
 *
 * 0, or -ENOENT with the nearest name for an unknown variant or drive; -EINVAL when nothing is left
 * to do, or when two drives of one name make two cases of one name.
 */
int bb_plan__make(const struct bb_scenario *scenario, const struct bb_plan_opts *opts,
		  struct bb_plan *ret_plan, struct bb_err *err);
void bb_plan__done(struct bb_plan *p);

#endif
