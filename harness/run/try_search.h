/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "plan/scenario.h"

/*
 * The search of --try-inputs: changes the surroundings of a program (its input, its globals,
 * entries of its maps) and keeps the changes with which the program executes more instructions. It
 * knows no BPF: the caller runs the program. With the same seed and the same results of run(), the
 * search gives the same result.
 */

enum bb_try_kind {
	BB_TRY_PROGRAM, /* entry of a prog array; bytes[0] is the number of its program, from 1 on,
			   or 0 if it is empty */
	BB_TRY_VALUE,   /* entry of a map that is no prog array */
	BB_TRY_INPUT,   /* the packet or context */
	BB_TRY_GLOBAL,  /* a global variable; each change needs a new load */
};

struct bb_try_part {
	enum bb_try_kind kind;
	char name[128]; /* name of the map or the global; "" for the input */
	uint8_t key[64];
	uint32_t key_len;
	/* BB_SELF_NONE: the key of the entry is `key`. Otherwise the key of the entry is this value
	 * of the process that fires, and all bytes of `key` are 0xff - `self`, which no such value
	 * has. */
	enum bb_self self;
	uint8_t *bytes; /* bytes[len]: present contents of the part; owned */
	uint32_t len;
	uint8_t n_choices; /* BB_TRY_PROGRAM: number of programs */
	bool is_absent;    /* true: an entry that the map has only if the search sets it */
	bool is_set;       /* true: the search changed the part */
	/* BB_TRY_GLOBAL: a branch of which one side was not executed compares it with `near` */
	bool is_wanted;
	/* true (only BB_TRY_GLOBAL): the search changes this global only if `is_wanted` */
	bool is_state;
	int64_t near;
};

/* Returns the part's first 8 bytes as a number, the least significant byte first. */
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

/* Adds a part of `len` zero bytes and returns it; NULL: the state has it (kind, name, key). */
struct bb_try_part *bb_try_state__offer(struct bb_try_state *s, enum bb_try_kind kind,
					const char *name, const void *key, uint32_t key_len,
					uint32_t len);

struct bb_try_search {
	struct bb_try_state now; /* the present state; at the end, the best one */
	struct bb_rng rng;
	/* starts[n_starts]: inputs to start from, in addition to the one in `now`; owned */
	struct bb_bytes *starts;
	size_t n_starts;
	/* constants in comparisons of branches of which one side was not executed */
	int64_t *constants;
	size_t n_constants;
	/* number of instructions executed in `now` without the change that is being tried */
	uint32_t level;
	uint32_t best; /* largest number of executed instructions so far */
	uint64_t runs;
	/* Runs the program in `now`. Returns the number of instructions that it executed, 0 if it
	 * could not run. Sets *ret_is_new if it reached a basic block that no run reached before.
	 */
	uint32_t (*run)(void *arg, bool *ret_is_new);
	/* Learns from the last run: sets `constants`, and adds parts that may change to `now`. */
	void (*look)(void *arg);
	/* Shows the progress of the search. Returns true if the search must end. */
	bool (*must_end)(void *arg);
	void *arg;
	/* states from which the search may continue; only try_search.c uses them */
	struct bb_try_waiting *waiting;
	size_t n_waiting;
};

/* Searches until no change makes the program execute more instructions, or must_end() returns true.
 * Leaves the best state in s->now. */
void bb_try_search__go(struct bb_try_search *s);

/* Takes back each change without which the program executes as many instructions as with it. Keeps
 * changes of the input. Ends early if must_end() returns true. */
void bb_try_search__take_back(struct bb_try_search *s);
