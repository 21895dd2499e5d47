/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/diff.h"

/* The findings of `bpfbench gate` on the programs of two revisions, base and head. */

enum bb_gate_state {
	BB_GATE_COMPARED,
	BB_GATE_SAME, /* base and head have the same bytes of the object, so it is not measured */
	BB_GATE_NEW,  /* only head has the program or object */
	BB_GATE_GONE, /* only base has the program or object */
	/* nothing on this machine makes the program run, or only base's version does not load */
	BB_GATE_SKIPPED,
	BB_GATE_FAILED, /* base's version loads and head's does not */
};

struct bb_gate_program {
	char *object;  /* path in the tree */
	char *program; /* function, or variant of the scenario; NULL means the whole object */
	/* "object.program", the beginning of the names of the program's cases and comparisons */
	char *label;
	size_t program_at;
	enum bb_gate_state state;
	bool is_late; /* true if there was no time left to measure the program */
	char *why;    /* reason for the state, or NULL */
};

struct bb_gate {
	char *base, *head; /* revisions as the user named them; `head` is NULL for the work tree */
	char base_commit[BB_GIT_COMMIT_SIZE], head_commit[BB_GIT_COMMIT_SIZE];
	bool dirty; /* true if the work tree has uncommitted changes, which are measured too */
	/* folder in which base and head were built; source paths begin with it; borrowed */
	const char *tree;
	/* The command, such as "make prog.bpf.o", if the build made only the objects needed, else
	 * NULL. It is safe inside a code span of Markdown. */
	char *base_made, *head_made;
	double threshold, alpha;
	/* The most verified instructions that a program of head may have, 0 for no limit.
	 * `complexity` is a share of the verifier's limit. `grow` is an increase over base's
	 * instructions, 0.1 is 10 %. */
	double complexity, grow;
	/* limit of the time for each program, s; a smaller share of the budget shortens it */
	double each_s;
	/* budget, s (0 for none), and what was spent of it before measuring, without builds */
	double budget_s, spent_s;
	struct bb_gate_program *programs;
	size_t n_programs;
	bool exact; /* true if one more instruction is a regression, false if it is only reported */
	/* first and second measurement; both point into the reports of these measurements */
	struct bb_exact_diff counted, counted_again;
	/* second measurement, for the lines of confirmed regressions; points into its report */
	struct bb_time_diff timed;
};

enum bb_gate_verdict {
	BB_GATE_NOT_REGRESSED, /* improved, same or inconclusive */
	BB_GATE_UNCONFIRMED,   /* regressed in the first measurement only, or not measured again */
	BB_GATE_REGRESSED,     /* regressed in both measurements */
};

/* Appends a program with copies of the texts. `program` may be NULL. Other members are zero. */
struct bb_gate_program *bb_gate__add(struct bb_gate *g, const char *object, const char *program,
				     enum bb_gate_state state);
void bb_gate__done(struct bb_gate *g);

/* True if a comparison such as "xdp_fw.drop/step/input=0" is of the program "xdp_fw.drop". */
bool bb_gate__owns(const struct bb_gate_program *p, const char *name);

/* Final verdict on a comparison of the first measurement. `again` is the second one, or NULL. */
enum bb_gate_verdict bb_gate__verdict(const struct bb_comparison *c, const struct bb_report *again);

/* Final verdict on an instruction count. If g->exact is false, no count is regressed. */
enum bb_gate_verdict bb_gate__exact_verdict(const struct bb_gate *g,
					    const struct bb_exact_row *row);
size_t bb_gate__count_exact(const struct bb_gate *g, enum bb_gate_verdict verdict);

size_t bb_gate__count(const struct bb_report *first, const struct bb_report *again,
		      enum bb_gate_verdict verdict);
bool bb_gate__any(const struct bb_gate *g, enum bb_gate_state state);

/* `again` is the second measurement, or NULL. */
enum bb_exit bb_gate__exit(const struct bb_gate *g, const struct bb_report *first,
			   const struct bb_report *again);

struct bb_gate_verified {
	double insns[2]; /* verified instructions in base and head; NAN if unknown */
	/* head needs more than g->complexity allows; head grew by more than g->grow */
	bool too_many, grew;
};

#define BB_VERIFIER_LIMIT 1e6 /* BPF_COMPLEXITY_LIMIT_INSNS of include/linux/bpf.h */

/* Judges v->insns by the limits of `g`: sets v->too_many and v->grew. */
void bb_gate__judge_verified(const struct bb_gate *g, struct bb_gate_verified *v);
struct bb_gate_verified bb_gate__verified(const struct bb_gate *g, const struct bb_gate_program *p,
					  const struct bb_report *r);

/* Returns how many programs fail because of their verified instructions, or because only head's
 * version does not load. Returns 0 if neither complexity nor growth is judged. */
size_t bb_gate__count_complex(const struct bb_gate *g, const struct bb_report *r);

/* Makes a report of one side (variant "base" or "head") of the measurement `r`, for exporters. Its
 * cases have the names that a plain run gives: "object/program/drive/parameter=value". Its other
 * texts and figures belong to `r`. Free with bb_gate__side_done(). */
void bb_gate__side(const struct bb_gate *g, const struct bb_report *r, const char *variant,
		   struct bb_report *ret_side);
void bb_gate__side_done(struct bb_report *side);
