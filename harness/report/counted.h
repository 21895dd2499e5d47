/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_COUNTED_H
#define BB_REPORT_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/metric.h"

/*
 * The counts of the exact drive for one program: instructions executed, no time. Members are sums
 * over `runs` runs (all cases, equally many of each) unless they say "of one run". Owns everything
 * that it points to.
 */

/* One input or stack depth. Exact when all runs executed the same number. */
struct bb_counted_case {
	char *name;  /* "scenario/variant/exact/input=NAME": the benchmark in BMF */
	char *param; /* NULL: the drive has none */
	uint32_t param_value;
	char *param_text; /* as in struct bb_case */
	uint64_t runs;
	uint64_t least, most;  /* instructions of one run; equal: exact */
	uint64_t instructions; /* of all runs */
	uint64_t paths;        /* different paths that they took */
	char *void_why; /* why it does not count: an unexpected result of the program; NULL: it
			   counts */
};

/* A line of the source, by the line information in the BTF. */
struct bb_counted_line {
	char *file, *text;   /* text: "" when the BTF has none */
	uint32_t line;       /* 0: instructions of the compiler's own */
	uint32_t n_insns;    /* that stand in the program for it */
	uint64_t executions; /* the most of any of its instructions; 0: never executed */
	uint64_t instructions;
};

struct bb_counted_call {
	/* "map_lookup_elem", "bpf_iter_num_new"; "kfunc 1234" where the kernel's BTF lacks it */
	char *name;
	uint64_t calls;
};

struct bb_counted {
	char *name; /* "scenario/variant/exact" */
	char *scenario, *variant;
	uint32_t n_insns, n_blocks; /* of the program */
	uint32_t clone_insns;       /* of the one that was run, with its counters */
	uint64_t runs, instructions;
	uint64_t paths;      /* different paths over all cases */
	uint64_t tail_calls; /* that were taken: the programs that they led to are not counted */
	struct bb_counted_case *cases;
	size_t n_cases;
	/* by file and line; none without BTF line information */
	struct bb_counted_line *lines;
	size_t n_lines;
	struct bb_counted_call *calls;
	size_t n_calls;
};

static inline bool bb_counted_case__counts(const struct bb_counted_case *c)
{
	return c->runs && !c->void_why;
}

static inline bool bb_counted_case__is_exact(const struct bb_counted_case *c)
{
	return c->runs && !c->void_why && c->least == c->most;
}

/* Instructions of one run: the number if it is exact, else the mean with the least and the most;
 * NAN if void. */
struct bb_estimate bb_counted_case__instructions(const struct bb_counted_case *c);

/* The extremes of one run over all cases of a program that count. */
struct bb_counted_range {
	const struct bb_counted_case *least, *most; /* NULL: no case counts */
	size_t n_exact;
};

struct bb_counted_range bb_counted__range(const struct bb_counted *c);

/* Append to one of the lists; zeroed, valid until the next call. NULL when out of memory. */
struct bb_counted_case *bb_counted__add_case(struct bb_counted *c);
struct bb_counted_line *bb_counted__add_line(struct bb_counted *c);
struct bb_counted_call *bb_counted__add_call(struct bb_counted *c);

#endif
