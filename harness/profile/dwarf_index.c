/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/dwarf_index.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "profile/idmap.h"

#define MAX_UNITS 200000u
#define MAX_RANGES 4096    /* of one entry */
#define MAX_DIES 50000000u /* of one file, all look-ups together */
#define MAX_DEPTH 64

static int add_range(struct bb_dwarf_ranges *r, uint64_t start, uint64_t end, uint32_t index)
{
	if (start >= end)
		return 0;
	if (bb_reserve(&r->v, r->n + 1, &r->size, sizeof(*r->v)))
		return -ENOMEM;
	r->v[r->n++] = (struct bb_dwarf_range){.start = start, .end = end, .index = index};
	return 0;
}

static int add_ranges_of(struct bb_dwarf_ranges *r, Dwarf_Die *die, uint32_t index)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (int i = 0; i < MAX_RANGES; i++) {
		at = dwarf_ranges(die, at, &base, &start, &end);
		if (at <= 0)
			break;
		/* What the linker threw away is left at 0 (or 1, or -1). */
		if (start > 1 && start < UINT64_MAX - 1 && add_range(r, start, end, index))
			return -ENOMEM;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct bb_dwarf_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void sort_ranges(struct bb_dwarf_ranges *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_start);
}

static const struct bb_dwarf_range *find_range(const struct bb_dwarf_ranges *r, uint64_t address)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->v[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	/* Ranges do not overlap in a sane file; a few steps back are enough for those that nearly
	 * are. */
	for (size_t back = 0; back < 4 && back < low; back++)
		if (address < r->v[low - 1 - back].end)
			return &r->v[low - 1 - back];
	return NULL;
}

static int add_unit(struct bb_dwarf_index *index, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return 0;
	if (bb_reserve(&index->units, index->n + 1, &index->size, sizeof(*index->units)))
		return -ENOMEM;
	index->units[index->n] = (struct bb_dwarf_unit){.die = *die};
	if (add_ranges_of(&index->ranges, die, (uint32_t)index->n))
		return -ENOMEM;
	index->n++;
	return 0;
}

int bb_dwarf_index__build(struct bb_dwarf_index *index, Dwfl_Module *module, uint64_t *ret_bias)
{
	Dwarf_Addr bias = 0;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	int rc = 0;

	memset(index, 0, sizeof(*index));
	index->dies_left = MAX_DIES;
	if (!dwarf)
		return -ENOENT;
	while (!rc && index->n < MAX_UNITS && index->dies_left-- &&
	       !dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL))
		rc = add_unit(index, &die);
	sort_ranges(&index->ranges);
	*ret_bias = bias;
	return rc;
}

struct bb_dwarf_unit *bb_dwarf_index__unit(struct bb_dwarf_index *index, uint64_t address)
{
	const struct bb_dwarf_range *r = find_range(&index->ranges, address);

	return r ? &index->units[r->index] : NULL;
}

static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* The functions among the children of `parent`, and in the namespaces and types among these. */
static int index_functions(struct bb_dwarf_index *index, struct bb_dwarf_unit *unit,
			   Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die);

		if (!index->dies_left)
			return 0;
		index->dies_left--;
		if (may_hold_functions(tag))
			rc = index_functions(index, unit, &die, depth + 1);
		if (rc || tag != DW_TAG_subprogram)
			continue;
		if (bb_reserve(&unit->functions, unit->n_functions + 1, &unit->functions_size,
			       sizeof(die)))
			return -ENOMEM;
		unit->functions[unit->n_functions] = die;
		rc = add_ranges_of(&unit->ranges, &die, (uint32_t)unit->n_functions++);
	} while (!rc && !dwarf_siblingof(&die, &die));
	return rc;
}

/* The child of `die`, of any that hold code, that the address is in. */
static bool child_at(struct bb_dwarf_index *index, Dwarf_Die *die, uint64_t address,
		     Dwarf_Die *ret_child)
{
	if (dwarf_child(die, ret_child))
		return false;
	do {
		int tag = dwarf_tag(ret_child);

		if (!index->dies_left)
			return false;
		index->dies_left--;
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(ret_child, address) > 0)
			return true;
	} while (!dwarf_siblingof(ret_child, ret_child));
	return false;
}

size_t bb_dwarf_index__scopes(struct bb_dwarf_index *index, struct bb_dwarf_unit *unit,
			      uint64_t address, Dwarf_Die *ret_scopes, size_t max)
{
	const struct bb_dwarf_range *r;
	Dwarf_Die die, child;
	size_t n = 0;

	if (!unit->is_indexed) {
		unit->is_indexed = true;
		if (index_functions(index, unit, &unit->die, 0))
			return 0;
		sort_ranges(&unit->ranges);
	}
	r = find_range(&unit->ranges, address);
	if (!r || !max)
		return 0;
	die = ret_scopes[n++] = unit->functions[r->index];
	for (int depth = 0; depth < MAX_DEPTH && n < max && child_at(index, &die, address, &child);
	     depth++) {
		die = child;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			ret_scopes[n++] = die;
	}
	return n;
}

void bb_dwarf_index__done(struct bb_dwarf_index *index)
{
	for (size_t i = 0; i < index->n; i++) {
		free(index->units[i].functions);
		free(index->units[i].ranges.v);
	}
	free(index->units);
	free(index->ranges.v);
	memset(index, 0, sizeof(*index));
}
