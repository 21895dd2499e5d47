/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_IN_VAIN_H
#define BB_REPORT_IN_VAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Calls of a program that came to nothing in nearly all runs of a case: lookups in one map that
 * found nothing, or a tail call that did not happen. The figure of the case is then that of the
 * path without an entry, which is seldom the path that matters.
 */
struct bb_in_vain {
	char *map;         /* its name; NULL: not known which map it is */
	char *type;        /* "lpm_trie"; NULL: likewise */
	bool is_inner;     /* the map was looked up in `map` */
	bool is_tail_call; /* else lookups */
	bool is_captured;  /* the map is a copy from a captured command */
	/* in the map after the runs, up to BB_IN_VAIN_MANY; the index of the tail call. NAN: not
	 * known */
	double entries, index;
	uint64_t calls, in_vain;
	char *file; /* of the first such call; NULL: no line is known */
	uint32_t line;
	uint32_t places; /* calls in the program that are meant */
};

#define BB_IN_VAIN_MANY 1000

/* "map 'blocked' (lpm_trie) is empty: its lookups (fw.bpf.c:31) found nothing". Names come from
 * objects: what shows the text makes it clean (export/table_cells.h). NULL when out of memory;
 * free() it. */
char *bb_in_vain__words(const struct bb_in_vain *v);

/* The remedy, for a user: a sentence without a full stop. */
const char *bb_in_vain__remedy(const struct bb_in_vain *v);

#endif
