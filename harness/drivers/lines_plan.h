/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_LINES_PLAN_H
#define BB_DRIVERS_LINES_PLAN_H

#include "bpf/target.h"
#include "lines/cut_clone.h"

/* At which cuts a clone of a program may end: found once, with the verifier's help, and used in all
 * loads. */

struct bb_lines_plan {
	enum bb_cut_detail detail;
	struct bb_cut_form form;
	struct bb_cuts cuts;
	uint32_t points;       /* at which the program could be cut */
	char thinned_why[300]; /* the cuts are fewer; "": they are all */
	uint32_t refused;      /* of them, cuts that are off */
	char refused_why[300]; /* in the verifier's words, of the first */
	/* a run takes things out of maps: cut short it would leave them there */
	bool removes;
	/* of the current load, from __read() to __forget() */
	struct bb_code code;
	struct bb_cfg cfg;
	struct bb_liveness live;
	struct bb_helds helds;
	uint32_t *stack_bytes;
	int memory_fd;
};

/* The parts of the current load of the target. */
int bb_lines_plan__read(struct bb_lines_plan *p, const struct bb_target *target,
			struct bb_err *err);
void bb_lines_plan__forget(struct bb_lines_plan *p);

/*
 * Find the cuts of p->detail, or less detail, that the verifier allows. -ENOTSUP, in its words,
 * when it allows none.
 */
int bb_lines_plan__settle(struct bb_lines_plan *p, int memory_fd, struct bb_err *err);

/* Less detail than that; `why` is kept, if it is the first reason. false: there is no less. */
bool bb_lines_plan__coarsen(struct bb_lines_plan *p, const char *why);

int bb_lines_plan__load(const struct bb_lines_plan *p, const struct bb_cut_form *form,
			int *ret_prog_fd, struct bb_err *err);
void bb_lines_plan__done(struct bb_lines_plan *p);

#endif
