/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/metric.h"

/* The references of a run (core/metric.h): loaded once, and measured by test runs before the turns
 * of every drive in every round. */
struct bb_references;

/* Opens the references. `object_dir` contains references.bpf.o. Returns -ENOTSUP if the kernel
 * lacks a feature, or -errno. */
int bb_references__open(const char *object_dir, struct bb_references **ret_references,
			struct bb_err *err);

/* Measures the present cost of one more piece of each reference, ns (drivers/fit_line.h), in
 * about 4 ms. NAN: it failed. If `r` is NULL all are NAN. */
void bb_references__measure(struct bb_references *r, double ret_ns[BB_N_REFERENCES]);

void bb_references__free(struct bb_references *r); /* takes NULL */

/*
 * Tells whether this CPU is as fast as it was. It times a fixed piece of work in user space with
 * several instructions per cycle. The work slows down when another machine of the host runs on the
 * same core, or when the clock does. No VM can see the host's SMT, nor does steal show it: on an
 * AMD EPYC VM a loop took 1.5 to 2.1 times as long, for 40 ms to a second. A program's turn waits
 * until the CPU is calm. After the time limit it is measured anyway.
 */
struct bb_calm {
	double best_ns;           /* shortest time of the work so far */
	double waited_s, most_s;  /* time waited in this run, and the limit of it, s */
	unsigned int turns, late; /* number of all turns, and of turns that began although the CPU
				     was not calm */
};

/* Begins a run that may wait for a calm CPU for `most_s` in all, s. */
void bb_calm__begin(struct bb_calm *c, double most_s);

/* Waits until the CPU is calm. Returns false if it is not when the waiting time or the deadline
 * is over. */
bool bb_calm__wait(struct bb_calm *c);
