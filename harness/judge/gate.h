/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_GATE_H
#define BB_JUDGE_GATE_H

#include "base/std.h"
#include "env/fingerprint.h"
#include "judge/exact_diff.h"
#include "judge/time_diff.h"
#include "report/report.h"

/* The findings of `bpfbench gate`: the programs of two revisions, their measurements, and the
 * verdicts. */

enum bb_gate_state {
	BB_GATE_COMPARED,
	BB_GATE_SAME,    /* a whole object, the same to the last byte: nothing to measure */
	BB_GATE_NEW,     /* only in head */
	BB_GATE_GONE,    /* only in base */
	BB_GATE_SKIPPED, /* nothing here makes it run, or base does not load */
	BB_GATE_FAILED,  /* head does not load, and base does */
};

struct bb_gate_program {
	char *object;  /* its path in the tree */
	char *program; /* function, or the scenario's variant; NULL: the object as a whole */
	/* "object.program": the first part of the names of its cases and comparisons */
	char *label;
	size_t program_at; /* where in it the program begins */
	enum bb_gate_state state;
	char *why; /* NULL: the state says it all */
};

struct bb_gate {
	char *base, *head; /* revisions as they were named; head NULL: the work tree */
	char base_commit[BB_GIT_COMMIT_SIZE], head_commit[BB_GIT_COMMIT_SIZE];
	/* the work tree has uncommitted changes, which were measured too */
	bool dirty;
	/* "make prog.bpf.o", where the build made no more than the objects needed; NULL. Nothing in
	 * it has a meaning in Markdown's code. */
	char *base_made, *head_made;
	double threshold, alpha;
	double each_s; /* time for each program; the share of the budget may be less */
	struct bb_gate_program *programs;
	size_t n_programs;
	/* an instruction more is a regression, too; if not, it is only reported */
	bool exact;
	/* of the two measurements, as long as their reports live */
	struct bb_exact_diff counted, counted_again;
	/* likewise, of the second: the lines that confirmed regressions are in */
	struct bb_time_diff timed;
};

enum bb_gate_verdict {
	BB_GATE_NOT_REGRESSED, /* improved, same, inconclusive */
	BB_GATE_UNCONFIRMED,   /* regressed, but not when measured once more */
	BB_GATE_REGRESSED,     /* in both */
};

/* A program more, zeroed but for copies of the texts (program may be NULL). NULL when out of
 * memory. */
struct bb_gate_program *bb_gate__add(struct bb_gate *g, const char *object, const char *program,
				     enum bb_gate_state state);
void bb_gate__done(struct bb_gate *g);

/* "xdp_fw.drop" of the comparison "xdp_fw.drop/step/input=0"? */
bool bb_gate__owns(const struct bb_gate_program *p, const char *name);

/* The final verdict on a comparison of the first measurement, `again` being the second; NULL: there
 * was no alert. */
enum bb_gate_verdict bb_gate__verdict(const struct bb_comparison *c, const struct bb_report *again);

/* Likewise for the counts of the first one; without `exact` nothing is regressed. */
enum bb_gate_verdict bb_gate__exact_verdict(const struct bb_gate *g,
					    const struct bb_exact_row *row);
size_t bb_gate__count_exact(const struct bb_gate *g, enum bb_gate_verdict verdict);

size_t bb_gate__count(const struct bb_report *first, const struct bb_report *again,
		      enum bb_gate_verdict verdict);
bool bb_gate__any(const struct bb_gate *g, enum bb_gate_state state);

/*
 * One side of a measurement (variant "base" or "head") as a report of its own, under the names that
 * a plain run would give: "object/program/drive/parameter=value". For exporters, and valid as long
 * as `r` is. 0 or -ENOMEM; side_done() it.
 */
int bb_gate__side(const struct bb_gate *g, const struct bb_report *r, const char *variant,
		  struct bb_report *ret_side);
void bb_gate__side_done(struct bb_report *side);

#endif
