/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_TIMED_H
#define BB_REPORT_TIMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The measurements of the drive `lines` for one case: the time of each line of one run and of each
 * call in it, by load. Owns what it points to. Times by load are texts of numbers, ns, "47.62 48.10
 * -", one a load, "-" where that load has none.
 */
struct bb_timed_row {
	char *file, *text; /* "" without line information; text: of the first line */
	char *call;        /* "bpf_ktime_get_ns", "parse()"; "": the program's own code */
	/* how the function that it is in was come to, the main one's call first: "97 parse();45
	 * inner()", each with the line of the call; "": it is in the main one */
	char *from;
	bool enters; /* a call whose function has rows of its own: what the call itself takes */
	uint32_t line, last_line; /* equal, but for a loop, or what is not divided further */
	uint32_t insn;            /* the slot where it begins */
	bool is_loop;
	uint64_t turns; /* in one run */
	char *ns;       /* by load, of all turns */
	char *first_ns; /* by load, of the first turn */
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
	uint64_t other_ways; /* that took another way than the one that is shown */
	double check_ns;     /* the price of a check at a cut, which is taken out */
	bool leaves;         /* a run ends by a tail call */
	/* that measured it, one after the other, as many loads each; 0: an older run, one did */
	uint32_t processes;
	uint64_t sweeps;    /* over all places, in all loads; 0: an older run */
	uint64_t disturbed; /* that are left out: the program took longer than it does here */
	char *program_ns;   /* by load: the program itself */
	char *empty_ns;     /* by load: an empty program, called and timed as it is */
	char *hidden_ns;    /* by load, as in struct bb_lines; NULL: an older run */
	/* by load: by other ways, with cold caches what no cut shows; of older runs behind a tail
	 * call */
	char *rest_ns;
	struct bb_timed_row *rows; /* in the order in which a run comes to them first */
	size_t n_rows;
};

struct bb_timed_row *bb_timed__add_row(struct bb_timed *t);
bool bb_timed__is_cold(const struct bb_timed *t); /* caches were emptied before each run */

/* Have they the same rows? */
bool bb_timed__same_rows(const struct bb_timed *a, const struct bb_timed *b);

/* Append the loads of another process, with the same rows. 0 or -ENOMEM. */
int bb_timed__take_loads(struct bb_timed *into, const struct bb_timed *from);

/* x[n] as such a text; NAN is "-". NULL when out of memory. */
char *bb_timed_text(const double *x, size_t n);

/* How many loads a text has, and its numbers into ret_x[n]; NAN for "-" and for what is none. */
size_t bb_timed_loads(const char *text);
void bb_timed_numbers(const char *text, double *ret_x, size_t n);

#endif
