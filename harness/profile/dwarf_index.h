/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_DWARF_INDEX_H
#define BB_PROFILE_DWARF_INDEX_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where in DWARF the code at an address is described. Compilation units are indexed at once, by
 * their own ranges (clang writes no .debug_aranges), and the functions of a unit when an address of
 * it is asked for.
 */
struct bb_dwarf_range {
	uint64_t start, end; /* as in DWARF */
	uint32_t index;      /* of the unit, or the function within it */
};

struct bb_dwarf_ranges {
	struct bb_dwarf_range *v;
	size_t n, size;
};

struct bb_dwarf_unit {
	Dwarf_Die die;
	bool is_indexed;
	Dwarf_Die *functions;
	size_t n_functions, functions_size;
	struct bb_dwarf_ranges ranges; /* of the functions */
};

struct bb_dwarf_index {
	struct bb_dwarf_unit *units;
	size_t n, size;
	struct bb_dwarf_ranges ranges; /* of the units */
	/* how many more entries may be looked at: damaged files can go in circles */
	size_t dies_left;
};

/* Index the units of the module. 0, -ENOENT without DWARF, -ENOMEM. ret_bias: module address -
 * DWARF address. */
int bb_dwarf_index__build(struct bb_dwarf_index *index, Dwfl_Module *module, uint64_t *ret_bias);

/* The unit of a DWARF address; NULL. */
struct bb_dwarf_unit *bb_dwarf_index__unit(struct bb_dwarf_index *index, uint64_t address);

/*
 * The function that the address is in, and then those inlined there, outermost first: their number,
 * 0 for none. Of a function of the source text, the entry says where it was called:
 * DW_AT_call_line.
 */
size_t bb_dwarf_index__scopes(struct bb_dwarf_index *index, struct bb_dwarf_unit *unit,
			      uint64_t address, Dwarf_Die *ret_scopes, size_t max);

void bb_dwarf_index__done(struct bb_dwarf_index *index);

#endif
