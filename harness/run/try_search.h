/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "base/std.h"
#include "plan/scenario.h"

/*
 * The search of --try-inputs: changes the surroundings of a program (its input, its globals,
 * entries of its maps) and keeps the changes with which the program executes more instructions. It
 * knows no BPF: the caller runs the program. The same seed and the same runs give the same result.
 */

enum bb_try_kind {
	BB_TRY_PROGRAM, /* entry of a prog array; bytes[0] is a program's number from 1, or 0 for
			   none */
	BB_TRY_VALUE,   /* entry of another map */
	BB_TRY_INPUT,   /* the packet or context */
	BB_TRY_GLOBAL,  /* a global variable; each change needs a new load */
};

struct bb_try_part {
	enum bb_try_kind kind;
	char name[128]; /* name of the map or the global; "" for the input */
	uint8_t key[64];
	uint32_t key_len;
	uint8_t *bytes; /* owned */
	uint32_t len;
	uint8_t n_choices; /* BB_TRY_PROGRAM: number of programs */
	bool is_absent;    /* an entry that the map does not have before the search sets it */
	bool is_set;       /* changed by the search */
	/* BB_TRY_GLOBAL: a branch of which one side was not executed compares it with `near` */
	bool is_wanted;
	bool is_state; /* BB_TRY_GLOBAL: changed only if it is wanted */
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

/* Adds a part of `len` zero bytes unless the state has one of this kind, name and key. Returns it,
 * or NULL: it is there already. */
struct bb_try_part *bb_try_state__offer(struct bb_try_state *s, enum bb_try_kind kind,
					const char *name, const void *key, uint32_t key_len,
					uint32_t len);

struct bb_try_search {
	struct bb_try_state now; /* the state that `run` uses; in the end the best one */
	struct bb_rng rng;
	/* inputs to start from besides the present one, starts[n_starts]; owned */
	struct bb_bytes *starts;
	size_t n_starts;
	/* constants that the program compares with at branches of which one side was not executed
	 */
	int64_t *constants;
	size_t n_constants;
	uint32_t level; /* executed instructions of `now` without the change that is tried */
	uint32_t best;  /* most executed instructions so far */
	uint64_t runs;
	/* Runs the program in `now`. Returns the number of instructions that it executed, 0 if it
	 * could not run. Sets *ret_is_new if it reached a basic block that no run reached before.
	 */
	uint32_t (*run)(void *arg, bool *ret_is_new);
	/* Learns from the last run: sets `constants`, and adds the parts of `now` that may be
	 * changed. */
	void (*look)(void *arg);
	/* Returns true if the search must end, and shows its progress. */
	bool (*must_end)(void *arg);
	void *arg;
	/* states to continue from, private */
	struct bb_try_waiting *waiting;
	size_t n_waiting;
};

/* Searches until nothing helps any more or must_end(). Leaves the best state in s->now. */
void bb_try_search__go(struct bb_try_search *s);

/* Takes back each change without which the program still executes as much, until must_end(). */
void bb_try_search__take_back(struct bb_try_search *s);
