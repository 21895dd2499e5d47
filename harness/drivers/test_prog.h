/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "fire/trigger.h"

struct bb_fire_found {
	const struct bb_trigger *trigger; /* NULL if none was searched for or found */
	struct bb_attach_point point;
	uint32_t runs_each; /* runs that one firing causes */
};

/* A variant that can be loaded again and again. In the drive `fake`, it is only numbers. */
struct bb_test_prog {
	const struct bb_variant_spec *spec; /* borrowed */
	struct bb_target *target;           /* NULL in the drive `fake` */
	/* true if the variant is a function of user space, which keeps its address */
	bool in_place;
	int jit_mod64; /* JIT address modulo 64 of the current load; -1 if unknown */
	uint32_t seen_mod64[BB_PLACES]; /* loads so far at each JIT address modulo 64 */
	/* Time of the first test run, s; 0 if there was none. If it is long, other drives do not
	 * try the program before they measure it. */
	double run_s;
	struct bb_fire_found fire;
	/* Values of the process that fires the program, for `{pid: self}` and the like in the
	 * scenario, or NULL. `pid` is set only if the scenario asks for it. */
	struct bb_self_values *self;
	pid_t self_pid; /* pid that the process that fires must have; 0 means any */
	/* drive `exact`: also count the programs that this program tail-calls */
	bool counts_behind;
	bool logs_keys; /* drive `exact`: log the keys of failed lookups */
	/* drive `live`: runs that must come between two readings to give a sample; 0 if unknown */
	uint32_t live_mean_of;
	/* all[n_all]: all measured programs, this one included */
	const struct bb_test_prog *all;
	size_t n_all;
	/* NULL if they are not loaded yet */
	struct bb_test_prog *companions;
	size_t n_companions;
	/* prepare[spec->n_prepare], for the key `prepare`; NULL if not loaded */
	struct bb_target **prepare;
};

/* Finds the program of a variant, and loads nothing. If `object_path` is NULL, there is no program
 * unless the variant is live. `spec` must outlive *ret_prog. Returns 0 or -errno. */
int bb_test_prog__open(const struct bb_variant_spec *spec, const char *object_path,
		       struct bb_test_prog *ret_prog, struct bb_err *err);

/* Loads the program again, at one of the JIT addresses modulo 64 in the set `where` (bb_place()).
 * Returns 0; -EAGAIN if none of `max_tries` loads got such an address (the last of these loads then
 * stays); -EINTR or -ETIME (base/deadline.h); or another -errno. */
int bb_test_prog__load(struct bb_test_prog *s, struct bb_rng *rng, uint64_t where,
		       unsigned int max_tries, struct bb_err *err);

/* Sets the maps to the scenario's contents, and runs the programs of the key `prepare`. */
int bb_test_prog__reset_maps(struct bb_test_prog *s, struct bb_err *err);

void bb_test_prog__close(struct bb_test_prog *s);
