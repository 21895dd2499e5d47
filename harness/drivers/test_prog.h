/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "fire/trigger.h"

/* How a program is made to run where it is attached. */
struct bb_fire_found {
	const struct bb_trigger *trigger; /* NULL: not searched yet, or there is none */
	struct bb_attach_point point;
	uint32_t runs_each; /* runs that one firing causes */
};

/* A variant that can be loaded again and again: a BPF program, or only numbers for the fake
 * driver. */
struct bb_test_prog {
	const struct bb_variant_spec *spec; /* borrowed */
	struct bb_target *target;           /* NULL: fake */
	bool in_place;                      /* a function of user space, which keeps its address */
	int jit_mod64;                  /* JIT address of the current load modulo 64; -1: unknown */
	uint32_t seen_mod64[BB_PLACES]; /* number of loads so far at each place */
	/* Time of the first test run, s; 0: there was none. A slow program is not tried again for
	 * every drive. */
	double run_s;
	struct bb_fire_found fire;
	/* Values of the process that will fire the program. `pid` is set only if the scenario asks
	 * for it. The target keeps a pointer to them. */
	struct bb_self_values *self; /* NULL: the scenario asks for none */
	pid_t self_pid;        /* pid that the process that runs the program will have; 0: any */
	bool counts_behind;    /* exact: also count the programs that it reaches by tail calls */
	bool logs_keys;        /* exact: also log the keys of failed lookups */
	uint32_t live_mean_of; /* live: a window of this many runs is a sample; 0: not found yet */
	/* all programs of the session, including this one; those of the same object may be
	 * attached beside it */
	const struct bb_test_prog *all;
	size_t n_all;
	struct bb_test_prog *companions; /* drivers/companions.h; NULL: not opened */
	size_t n_companions;
	struct bb_target **prepare; /* [spec->n_prepare]: programs that run before a series; NULL:
				       not opened */
};

/* Finds the variant's program; loads nothing. If `object_path` is NULL, the program is fake,
 * unless the variant is live. Returns 0, or -errno with a message. */
int bb_test_prog__open(const struct bb_variant_spec *spec, const char *object_path,
		       struct bb_test_prog *ret_prog, struct bb_err *err);

/* Loads the program again, at one of the places `where` (bpf/target.h). Returns 0; -EAGAIN if
 * max_tries loads did not get such a place, and the last load stays; -EINTR or -ETIME
 * (base/deadline.h); or another -errno. */
int bb_test_prog__load(struct bb_test_prog *s, struct bb_rng *rng, uint64_t where,
		       unsigned int max_tries, struct bb_err *err);

/* Sets the maps of the current load to the contents that the scenario gives, and then runs the
 * programs of the key `prepare`. */
int bb_test_prog__reset_maps(struct bb_test_prog *s, struct bb_err *err);

void bb_test_prog__close(struct bb_test_prog *s);
