/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_INSIDE_SUPERVISE_H
#define BB_INSIDE_SUPERVISE_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "capture/capture.h"
#include "inside/instrument.h"

/* A load of the command: the clone that it got in its place, or why it got none. */
struct bb_inside_program {
	char name[16];
	uint32_t type, id; /* id: of the clone; 0: it was not replaced */
	uint32_t n_insns;
	int32_t taken; /* index of the program in the capture; BB_CAPTURE_NONE: it is not there */
	struct bb_inside_clone clone;
	char why[256]; /* it was not replaced, or has fewer instruments; empty: it has all */
	struct bb_code code;
	struct bb_cfg cfg;
	uint32_t btf_id; /* of its type information; 0: none */
	uint64_t began_ns;
	uint64_t mask;      /* runs are timed if (number & mask) is 0 */
	uint64_t seen_runs; /* at the last bb_inside__turn() */
};

/* The clock readings of a clone. */
struct bb_inside_price {
	double clock_ns;   /* that a timed run shows too much */
	double timed_ns;   /* that a clone with clock and paths adds to a timed run */
	double untimed_ns; /* and to one that is counted only */
	double counted_ns; /* that a clone with paths alone adds to a run */
};

struct bb_inside {
	struct bb_inside_program *programs;
	size_t n_programs;
	double time_at_most; /* timed runs of a program a second */
	unsigned int with;   /* enum bb_inside_with: what is tried first */
	/* that is taken meanwhile: its last program is the one that is loaded; NULL: none is */
	const struct bb_capture *capture;
	struct bb_inside_price price;
	uint64_t turned_ns;
	uint64_t spent_ns; /* in all loads, while the command waited */
	size_t n_loads;
};

/*
 * Answer a load that waits at the listener with a clone's descriptor; bb_watched.load. Returns
 * false where the load is to go on as it is: tests of a loader, loads that want the verifier's log,
 * are signed, or would fail, and attributes that are unknown here.
 */
struct seccomp_notif;
bool bb_inside__load(void *inside, int listener_fd, const struct seccomp_notif *call);

/* To be called several times a second: how often each program is timed follows its rate. */
void bb_inside__turn(struct bb_inside *in);

/* What the instruments cost on this machine, by test runs of an empty program. */
int bb_inside_price__measure(struct bb_inside_price *ret_price, struct bb_err *err);

void bb_inside__done(struct bb_inside *in);

#endif
