/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_TIMED_H
#define BB_REPORT_TIMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"

/*
 * The measurements of the drive `lines` for one case: the time of each line of one run and of each
 * call in it. Owns what it points to. Times are lists, ns, of one number a load; NAN: that load has
 * none.
 */
struct bb_timed_call {
	uint32_t line; /* where the call is; 0: not known */
	char *call;    /* "parse()" */
};

struct bb_timed_row {
	char *file, *text; /* "" without line information; text: of the first line */
	char *call;        /* "bpf_ktime_get_ns", "parse()"; "": the program's own code */
	/* the calls that led to the function that it is in, the main one's first; none: it is in
	 * the main one */
	struct bb_timed_call *from;
	size_t n_from;
	bool enters; /* a call whose function has rows of its own: what the call itself takes */
	uint32_t line, last_line; /* equal, but for a loop, or what is not divided further */
	uint32_t insn;            /* the slot where it begins */
	bool is_loop;
	uint64_t turns;                 /* in one run */
	struct bb_numbers ns, first_ns; /* by load: of all turns, of the first one */
};

struct bb_timed {
	char *name; /* "scenario/variant/lines/stack_depth=32": of its case, too */
	char *scenario, *variant, *drive;
	char *param; /* NULL: the drive has none */
	uint32_t param_value;
	uint32_t cuts;       /* at which the clone can end */
	uint32_t points;     /* at which a clone could; 0: an older run that does not say */
	char *thinned_why;   /* the cuts are fewer than those; NULL: they are all */
	uint32_t refused;    /* of them, those that the verifier does not allow */
	char *refused_why;   /* in its words, of one of them; NULL: none */
	uint64_t passed;     /* cuts that a run passes */
	uint64_t measured;   /* of them, those that runs ended at; 0: does not say */
	uint64_t runs;       /* of the clone to its last cut, that count */
	uint64_t other_ways; /* that took another path than the one that is shown */
	double check_ns;     /* the price of a check at a cut, which is taken out */
	bool leaves;         /* a run ends by a tail call */
	/* that measured it, one after the other, as many loads each; 0: an older run, one did */
	uint32_t processes;
	uint64_t sweeps;    /* over all places, in all loads; 0: an older run */
	uint64_t disturbed; /* that are left out: the program took longer than it does here */
	/* by load: the program itself; an empty program, called and timed as it is */
	struct bb_numbers program_ns, empty_ns;
	struct bb_numbers hidden_ns; /* by load, as in struct bb_lines; none: an older run */
	/* by load: by other paths, with cold caches what no cut shows; of older runs behind a tail
	 * call */
	struct bb_numbers rest_ns;
	struct bb_timed_row *rows; /* in the order in which a run comes to them first */
	size_t n_rows;
};

struct bb_timed_row *bb_timed__add_row(struct bb_timed *t);
/* The calls that led to it, from "97 parse();45 inner()", as older runs have them. 0 or -ENOMEM. */
int bb_timed_row__set_from(struct bb_timed_row *row, const char *text);
/* The order of two rows by the first n of those calls: below 0, 0: they are the same, above 0. */
int bb_timed_row__compare_from(const struct bb_timed_row *a, const struct bb_timed_row *b,
			       size_t n);

bool bb_timed__is_cold(const struct bb_timed *t); /* caches were emptied before each run */

/* Have they the same rows? */
bool bb_timed__same_rows(const struct bb_timed *a, const struct bb_timed *b);

/* Append the loads of another process, with the same rows. 0 or -ENOMEM. */
int bb_timed__take_loads(struct bb_timed *into, const struct bb_timed *from);

#endif
