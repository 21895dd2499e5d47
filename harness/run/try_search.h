/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "plan/scenario.h"

/* The search of --try-inputs changes a program's input, globals and map entries, and keeps the
 * changes with which it executes more instructions. It knows no BPF, because the caller runs the
 * program. The same seed and results of run() give the same result. */

enum bb_try_kind {
	/* entry of a prog array (bytes[0] is its program's number from 1, or 0 if it is empty) */
	BB_TRY_PROGRAM,
	BB_TRY_VALUE, /* entry of another map */
	BB_TRY_INPUT,
	BB_TRY_GLOBAL, /* a global variable (each change needs a new load) */
};

struct bb_try_part {
	enum bb_try_kind kind;
	char name[128]; /* name of the map or global; empty for the input */
	uint8_t key[64];
	uint32_t key_len;
	/* If not BB_SELF_NONE, the entry's key is this value of the process that fires the program,
	 * such as its pid. All bytes of `key` are then 0xff - `self`, which no such value has. */
	enum bb_self self;
	uint8_t *bytes; /* bytes[len]: present contents, owned */
	uint32_t len;
	uint8_t n_choices; /* number of programs, for BB_TRY_PROGRAM */
	bool is_absent;    /* true if the map has the entry only if the search sets it */
	bool is_set;
	/* true if a branch with an unexecuted side compares this global with `near` */
	bool is_wanted;
	/* true if the search changes this global only if `is_wanted` */
	bool is_state;
	int64_t near;
};

/* Returns the part's first 8 bytes as a little-endian number. */
static inline int64_t bb_try_part__number(const struct bb_try_part *p)
{
	int64_t number = 0;

	memcpy(&number, p->bytes, p->len < sizeof(number) ? p->len : sizeof(number));
	return number;
}

struct bb_try_state {
	struct bb_try_part *v;
	size_t n;
};

void bb_try_state__done(struct bb_try_state *s);

/* Adds a part of `len` zero bytes and returns it. Returns NULL if the state has a part with this
 * kind, name and key, or if the name or key is too long. */
struct bb_try_part *bb_try_state__offer(struct bb_try_state *s, enum bb_try_kind kind,
					const char *name, const void *key, uint32_t key_len,
					uint32_t len);

struct bb_try_search {
	struct bb_try_state now; /* the present state; at the end, the best one */
	struct bb_rng rng;
	/* starts[n_starts]: inputs to start from besides the one in `now`; owned */
	struct bb_bytes *starts;
	size_t n_starts;
	/* constants that branches with an unexecuted side compare with */
	int64_t *constants;
	size_t n_constants;
	/* instructions executed in `now` before the change that is being tried */
	uint32_t level;
	uint32_t best;
	uint64_t runs;
	/* Runs the program in `now`. Returns the number of executed instructions, or 0 if it could
	 * not run. Sets *ret_is_new if it reached a basic block for the first time. */
	uint32_t (*run)(void *arg, bool *ret_is_new);
	/* Learns from the last run: sets `constants`, and adds parts to `now`. */
	void (*look)(void *arg);
	/* Shows the progress. Returns true if the search must end. */
	bool (*must_end)(void *arg);
	void *arg;
	/* states from which the search may continue; private to try_search.c */
	struct bb_try_waiting *waiting;
	size_t n_waiting;
};

/* Searches until no change helps or must_end() returns true. The best state is in s->now. */
void bb_try_search__go(struct bb_try_search *s);

/* Takes back each change that is not needed to execute as many instructions as now. Keeps changes
 * of the input. Ends early if must_end() returns true. */
void bb_try_search__take_back(struct bb_try_search *s);
