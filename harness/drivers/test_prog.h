/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_TEST_PROG_H
#define BB_DRIVERS_TEST_PROG_H

#include "base/err.h"
#include "base/rng.h"
#include "base/std.h"
#include "bpf/target.h"
#include "fire/trigger.h"
#include "plan/scenario.h"

/* How a program is made to run where it is attached. */
struct bb_fire_found {
	const struct bb_trigger *trigger; /* NULL: not looked for yet, or there is none */
	struct bb_attach_point point;
	uint32_t runs_each; /* by one firing */
};

/* A variant that can be loaded again and again: a BPF program, or for the fake driver nothing but
 * its numbers. */
struct bb_test_prog {
	const struct bb_variant_spec *spec; /* borrowed */
	struct bb_target *target;           /* NULL: fake */
	bool in_place;                      /* a function of user space: loading does not move it */
	int jit_mod64;                      /* of the current load; -1 unknown */
	uint32_t seen_mod64[BB_PLACES];     /* loads so far, by their place */
	/* the time of one test run, when first tried; 0: not tried. One that takes long is not
	 * tried again for every drive. */
	double run_s;
	struct bb_fire_found fire;
	/* of the process that will fire it, as far as the scenario asks for them; the target has
	 * their address */
	struct bb_self_values *self; /* NULL: it asks for none */
	pid_t self_pid;              /* reserved; 0: none */
	bool counts_behind;          /* exact: also the programs that it goes on to by tail calls */
	uint32_t live_mean_of; /* live: runs in a window that is a sample; 0: not looked yet */
	/* all of the session, itself among them: those of its object may be attached beside it */
	const struct bb_test_prog *all;
	size_t n_all;
	struct bb_test_prog *companions; /* drivers/companions.h; NULL: not opened */
	size_t n_companions;
};

/* Find the variant's program; nothing is loaded. `object_path` NULL makes a fake program, unless
 * the variant is live. */
int bb_test_prog__open(const struct bb_variant_spec *spec, const char *object_path,
		       struct bb_test_prog *ret_prog, struct bb_err *err);

/* A new load, at one of the places `where` (bpf/target.h). -EAGAIN when max_tries loads did not hit
 * one: the last of them stays; -EINTR, -ETIME: base/deadline.h. */
int bb_test_prog__load(struct bb_test_prog *s, struct bb_rng *rng, uint64_t where,
		       unsigned int max_tries, struct bb_err *err);

/* The maps of the current load get the contents of the scenario, until the program changes them. */
int bb_test_prog__reset_maps(struct bb_test_prog *s, struct bb_err *err);

void bb_test_prog__close(struct bb_test_prog *s);

#endif
