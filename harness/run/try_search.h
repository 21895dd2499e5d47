/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "plan/scenario.h"

/* The search of --try-inputs changes a program's input, globals and map entries. It keeps each
 * change with which the program executes more instructions. The search itself knows nothing of BPF,
 * because its caller runs the program. With the same seed and the same results of run(), the search
 * has the same result. */

enum bb_try_kind {
	/* entry of a prog array; bytes[0] is the number of its program, counted from 1, or 0 if the
	 * entry is empty */
	BB_TRY_PROGRAM,
	BB_TRY_VALUE, /* entry of another map */
	BB_TRY_INPUT,
	BB_TRY_GLOBAL, /* a global variable; each change needs a new load of the program */
};

struct bb_try_part {
	enum bb_try_kind kind;
	char name[128]; /* name of the map or global; empty for the input */
	uint8_t key[64];
	uint32_t key_len;
	/* If not BB_SELF_NONE, the entry's key is this value of the process that fires the program,
	 * such as its pid. All bytes of `key` are then 0xff - `self`, because no such value has
	 * these bytes. */
	enum bb_self self;
	uint8_t *bytes; /* bytes[len]: present contents, owned */
	uint32_t len;
	uint8_t n_choices; /* number of programs, for BB_TRY_PROGRAM */
	bool is_absent;    /* true for a map entry that does not exist until the search adds it */
	bool is_set;
	/* true if a branch with an unexecuted side compares this global with `near` */
	bool is_wanted;
	/* true if the search must not change this global while `is_wanted` is false */
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

/* Adds a part of `len` zero bytes and returns it. Returns NULL if the state already has a part with
 * this kind, name and key, or if the name or key is too long. */
struct bb_try_part *bb_try_state__offer(struct bb_try_state *s, enum bb_try_kind kind,
					const char *name, const void *key, uint32_t key_len,
					uint32_t len);

struct bb_try_search {
	struct bb_try_state now; /* the present state; at the end, the best one */
	struct bb_rng rng;
	/* starts[n_starts]: inputs from which the search starts, besides that in `now`; owned */
	struct bb_bytes *starts;
	size_t n_starts;
	/* constants with which a branch compares a value while one of its sides is unexecuted */
	int64_t *constants;
	size_t n_constants;
	/* number of instructions that the program executed before the change that is now tried */
	uint32_t level;
	uint32_t best;
	uint64_t runs;
	/* Runs the program in the state `now`. Returns the number of executed instructions, or 0 if
	 * the program could not run. Sets *ret_is_new to whether the run reached a basic block that
	 * no earlier run reached. */
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

/* Searches until no change helps or must_end() returns true. s->now is then the best state. */
void bb_try_search__go(struct bb_try_search *s);

/* Takes back each change without which the program still executes as many instructions. Keeps
 * changes of the input. Ends early if must_end() returns true. */
void bb_try_search__take_back(struct bb_try_search *s);
