/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "fire/trigger.h"

/* The trigger that was found for a program, and the point where the program is attached. */
struct bb_fire_found {
	const struct bb_trigger *trigger; /* NULL: no trigger was searched for, or none was found */
	struct bb_attach_point point;
	uint32_t runs_each; /* runs that one firing causes */
};

/* A variant that can be loaded again and again: a BPF program, or (drive `fake`) only numbers. */
struct bb_test_prog {
	const struct bb_variant_spec *spec; /* borrowed */
	struct bb_target *target;           /* NULL: the program is only numbers (drive `fake`) */
	/* true: the variant is a function of user space, which keeps its address */
	bool in_place;
	int jit_mod64;                  /* JIT address of the current load modulo 64; -1: unknown */
	uint32_t seen_mod64[BB_PLACES]; /* number of loads so far, by JIT address modulo 64 */
	/* Time of the first test run, s; 0: there was no test run. If it is long, other drives do
	 * not try the program again before they measure it. */
	double run_s;
	struct bb_fire_found fire;
	/* Values of the process that will fire the program, for `{pid: self}` and the like in the
	 * scenario. `pid` is set only if the scenario asks for it. The target keeps a pointer to
	 * these values. NULL: the scenario asks for none. */
	struct bb_self_values *self;
	pid_t self_pid; /* pid that the process that fires must have; 0: any */
	/* true (drive `exact`): also count the programs that this program tail-calls */
	bool counts_behind;
	bool logs_keys; /* true (drive `exact`): also log the keys of failed lookups */
	/* drive `live`: number of runs that a window must have to give a sample; 0: unknown */
	uint32_t live_mean_of;
	/* all[n_all]: all programs of the session, including this one. Programs of the same object
	 * may be attached beside it. */
	const struct bb_test_prog *all;
	size_t n_all;
	/* companions[n_companions]; NULL: not loaded yet */
	struct bb_test_prog *companions;
	size_t n_companions;
	/* prepare[spec->n_prepare]: programs that run before a series; NULL: they are not loaded */
	struct bb_target **prepare;
};

/* Finds the program of a variant, and loads nothing. If `object_path` is NULL, the program is only
 * numbers, unless the variant is live. `spec` must outlive *ret_prog. Returns 0, or -errno with a
 * message. */
int bb_test_prog__open(const struct bb_variant_spec *spec, const char *object_path,
		       struct bb_test_prog *ret_prog, struct bb_err *err);

/* Loads the program again, at one of the JIT addresses modulo 64 in the set `where` (bb_place()).
 * Returns 0; -EAGAIN if none of `max_tries` loads got such an address (the last of these loads then
 * stays); -EINTR or -ETIME (base/deadline.h); or another -errno. */
int bb_test_prog__load(struct bb_test_prog *s, struct bb_rng *rng, uint64_t where,
		       unsigned int max_tries, struct bb_err *err);

/* Sets the maps of the current load to the contents that the scenario gives, and then runs the
 * programs of the key `prepare`. Returns 0 or -errno. */
int bb_test_prog__reset_maps(struct bb_test_prog *s, struct bb_err *err);

void bb_test_prog__close(struct bb_test_prog *s);
