/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/diff.h"

/* The findings of `bpfbench gate`: the programs of two revisions, their measurements, and the
 * verdicts. */

enum bb_gate_state {
	BB_GATE_COMPARED,
	BB_GATE_SAME, /* the object has the same bytes in base and head: nothing to measure */
	BB_GATE_NEW,  /* the program or object is only in head */
	BB_GATE_GONE, /* the program or object is only in base */
	/* nothing on this machine makes the program run, or head's version loads and base's does
	 * not */
	BB_GATE_SKIPPED,
	BB_GATE_FAILED, /* base's version loads and head's does not */
};

struct bb_gate_program {
	char *object;  /* path of the object in the tree */
	char *program; /* function, or variant of the scenario; NULL: the object as a whole */
	/* "object.program"; the names of the program's cases and comparisons begin with it */
	char *label;
	size_t program_at; /* offset of the program in `label` */
	enum bb_gate_state state;
	bool is_late; /* true: the program was not measured for lack of time */
	char *why;    /* reason for the state; NULL: the state needs none */
};

struct bb_gate {
	char *base, *head; /* revisions as the user named them; head NULL: the work tree */
	char base_commit[BB_GIT_COMMIT_SIZE], head_commit[BB_GIT_COMMIT_SIZE];
	/* true: the work tree has uncommitted changes, which are measured too */
	bool dirty;
	/* folder in which base and head were built; the paths of source files begin with this
	 * folder. Borrowed */
	const char *tree;
	/* the command, such as "make prog.bpf.o", if the build made only the objects needed; else
	 * NULL. Contains no character that has a meaning in a code span of Markdown. */
	char *base_made, *head_made;
	double threshold, alpha;
	/* The most verified instructions that a program of head may have. complexity: as a share of
	 * the verifier's limit. grow: as an increase over base's instructions, 0.1 is 10 %. 0: not
	 * judged */
	double complexity, grow;
	/* limit: time for each program, s. A program gets less time if its share of the budget is
	 * less */
	double each_s;
	/* budget_s: the budget, s; 0 means none. spent_s: how much of the budget captures and the
	 * search for programs took, s. Builds do not count towards the budget. */
	double budget_s, spent_s;
	struct bb_gate_program *programs;
	size_t n_programs;
	/* true: one more instruction is a regression; false: it is only reported */
	bool exact;
	/* executed instructions counted in the first and in the second measurement; both members
	 * point into the reports of these measurements */
	struct bb_exact_diff counted, counted_again;
	/* time by line in the second measurement, for the lines of confirmed regressions; points
	 * into the report of that measurement */
	struct bb_time_diff timed;
};

enum bb_gate_verdict {
	BB_GATE_NOT_REGRESSED, /* improved, same or inconclusive */
	BB_GATE_UNCONFIRMED, /* regressed in the first measurement; not in the second, or there was
				no second */
	BB_GATE_REGRESSED,   /* regressed in both measurements */
};

/* Appends a program with copies of the texts (`program` may be NULL); its other members are
 * zero. */
struct bb_gate_program *bb_gate__add(struct bb_gate *g, const char *object, const char *program,
				     enum bb_gate_state state);
void bb_gate__done(struct bb_gate *g);

/* True if the comparison `name`, such as "xdp_fw.drop/step/input=0", is of the program
 * "xdp_fw.drop". */
bool bb_gate__owns(const struct bb_gate_program *p, const char *name);

/* Returns the final verdict on a comparison of the first measurement. `again` is the second
 * measurement; NULL: there was none. */
enum bb_gate_verdict bb_gate__verdict(const struct bb_comparison *c, const struct bb_report *again);

/* Returns the final verdict on an instruction count of the first measurement. If g->exact is false,
 * no count is regressed. */
enum bb_gate_verdict bb_gate__exact_verdict(const struct bb_gate *g,
					    const struct bb_exact_row *row);
size_t bb_gate__count_exact(const struct bb_gate *g, enum bb_gate_verdict verdict);

size_t bb_gate__count(const struct bb_report *first, const struct bb_report *again,
		      enum bb_gate_verdict verdict);
bool bb_gate__any(const struct bb_gate *g, enum bb_gate_state state);

/* Returns the exit code of a gate with these two measurements. `again` is NULL if there was no
 * second measurement. */
enum bb_exit bb_gate__exit(const struct bb_gate *g, const struct bb_report *first,
			   const struct bb_report *again);

/* The verified instructions of a program that was compared; NAN: not known. */
struct bb_gate_verified {
	double base, head;
	/* too_many: true if head needs more than g->complexity allows. grew: true if head grew
	 * by more than g->grow */
	bool too_many, grew;
};

#define BB_VERIFIER_LIMIT 1e6 /* BPF_COMPLEXITY_LIMIT_INSNS of include/linux/bpf.h */

/* Finds and judges the verified instructions of a program in the report of a measurement. */
struct bb_gate_verified bb_gate__verified(const struct bb_gate *g, const struct bb_gate_program *p,
					  const struct bb_report *r);

/* Returns how many programs fail because of their verified instructions, or because only head's
 * version does not load. Returns 0 if neither complexity nor growth is judged. */
size_t bb_gate__count_complex(const struct bb_gate *g, const struct bb_report *r);

/*
 * Makes a report of one side (variant "base" or "head") of the measurement `r`, for exporters. Its
 * cases have the names that a plain run gives: "object/program/drive/parameter=value". Its other
 * texts and figures belong to `r`. Free with bb_gate__side_done().
 */
void bb_gate__side(const struct bb_gate *g, const struct bb_report *r, const char *variant,
		   struct bb_report *ret_side);
void bb_gate__side_done(struct bb_report *side);
