/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_INSIDE_FIGURES_H
#define BB_INSIDE_FIGURES_H

#include "base/std.h"
#include "core/hist.h"
#include "inside/instrument.h"

/* The figures of a path, or of all runs of a program: sums over the stripes of its memory. */
struct bb_inside_path {
	uint64_t key;            /* 0: the rest, for which the table had no room */
	uint64_t runs;           /* that ended */
	uint64_t timed;          /* and were timed */
	double sum_ns, worst_ns; /* of the timed ones, with the clock's own cost */
	uint64_t retval;         /* of one run */
	bool varies;             /* other runs returned other values */
	uint32_t exit;           /* index of clone->exits */
	uint64_t turns;          /* of its loops, in one of its runs */
	uint64_t *words;         /* words[clone->n_words]: the marks that it sets */
	uint64_t buckets[BB_INSIDE_BUCKETS];
};

struct bb_inside_figures {
	uint64_t began; /* runs that began: exact */
	struct bb_inside_path all;
	struct bb_inside_path *paths; /* the most frequent one first */
	size_t n_paths;
};

/* -ENOMEM. The clone may run on meanwhile. */
int bb_inside_figures__read(const struct bb_inside_clone *c, struct bb_inside_figures *ret_figures);
void bb_inside_figures__done(struct bb_inside_figures *f);

/* The time that a share (0..1) of the timed runs did not exceed, ns; the bucket is interpolated.
 * NAN: no run was timed. The clock's cost is taken out. */
double bb_inside_path__quantile(const struct bb_inside_path *p, double share, double clock_ns);
double bb_inside_path__mean(const struct bb_inside_path *p, double clock_ns);
/* The longest timed run; NAN: no run was timed. */
double bb_inside_path__worst(const struct bb_inside_path *p, double clock_ns);

/* Adds the timed runs to *hist, spread evenly over each bucket; one of them is the longest. The
 * clock's cost is taken out. 0 or -ENOMEM. */
int bb_inside_path__samples(const struct bb_inside_path *p, double clock_ns, struct bb_hist *hist);

/* Of all timed runs, with the clock's own cost; NAN: none was timed. */
double bb_inside_figures__median_ns(const struct bb_inside_clone *c);

/* Does the path set the mark of that block? */
bool bb_inside_path__marks(const struct bb_inside_clone *c, const struct bb_inside_path *p,
			   uint32_t block);

#endif
