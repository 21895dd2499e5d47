/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_JUMPS_H
#define BB_BPF_JUMPS_H

#include <stdbool.h>

#include "bpf/elf_file.h"

/*
 * The programs that a program of an object file can get to: by tail calls through prog arrays whose
 * slots the file fills, by calls of functions, and on from there.
 */
struct bb_jumps {
	struct bb_elf_file file;
	uint32_t maps; /* the section ".maps"; 0: there is none */
	/* functions and maps: sorted by section and place */
	const struct bb_elf_symbol **symbols;
	size_t n;
	/* by symbol: the program gets there. `todo` lists those that were not looked through yet */
	bool *reached;
	size_t *todo, n_todo;
	/* the code has a call that leads nowhere: all could be reached */
	bool is_unknown;
};

/* `elf` outlives the jumps. A file that is broken fills no slots. 0 or -ENOMEM. */
int bb_jumps__open(const char *elf, size_t len, struct bb_jumps *ret_jumps);
void bb_jumps__close(struct bb_jumps *j);

/* Does the file fill a slot of any prog array? */
bool bb_jumps__any(const struct bb_jumps *j);

/* Forget what is reached. Then: the program or map of that name is, and all that it leads to. */
void bb_jumps__restart(struct bb_jumps *j);
void bb_jumps__reach(struct bb_jumps *j, const char *name);

/* The i-th name that is reached, of a function or a map; NULL: there are no more. *i goes on. */
const char *bb_jumps__next(const struct bb_jumps *j, size_t *i);

/* Does the file fill slots of that map, and is nothing of it reached? */
bool bb_jumps__is_spare(const struct bb_jumps *j, const char *map);

#endif
