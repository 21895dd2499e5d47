/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/in_vain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_map(const struct bb_in_vain *v, FILE *mem)
{
	if (!v->map) {
		fputs("a map", mem);
		return;
	}
	fprintf(mem, "%s '%s'", v->is_inner ? "an inner map of" : "map", v->map);
	if (v->type)
		fprintf(mem, " (%s)", v->type);
}

static void put_entries(const struct bb_in_vain *v, FILE *mem)
{
	if (v->entries == 0)
		fputs(" is empty", mem);
	else if (v->entries > 0)
		fprintf(mem, " has %.0f%s entr%s", v->entries,
			v->entries >= BB_IN_VAIN_MANY ? " or more" : "",
			v->entries > 1 ? "ies" : "y");
}

static void put_place(const struct bb_in_vain *v, FILE *mem)
{
	if (v->file)
		fprintf(mem, " (%s:%" PRIu32, basename(v->file), v->line);
	if (v->file && v->places > 1)
		fprintf(mem, " and %" PRIu32 " more", v->places - 1);
	if (v->file)
		putc(')', mem);
}

static void put_lookups(const struct bb_in_vain *v, FILE *mem)
{
	put_map(v, mem);
	put_entries(v, mem);
	fputs(isnan(v->entries) ? ": " : ", and ", mem);
	if (v->in_vain == v->calls)
		fputs("its lookups", mem);
	else
		fprintf(mem, "%.0f %% of its lookups", 100 * (double)v->in_vain / (double)v->calls);
	put_place(v, mem);
	fputs(" found nothing", mem);
}

static void put_tail_call(const struct bb_in_vain *v, FILE *mem)
{
	fputs("the tail call into ", mem);
	put_map(v, mem);
	if (!isnan(v->index))
		fprintf(mem, " at index %.0f", v->index);
	put_place(v, mem);
	fputs(" did not happen", mem);
	if (!isnan(v->entries))
		fputs(": the map", mem);
	put_entries(v, mem);
}

char *bb_in_vain__words(const struct bb_in_vain *v)
{
	char *text = NULL;
	size_t len;
	FILE *mem = open_memstream(&text, &len);

	if (!mem)
		return NULL;
	if (v->is_tail_call)
		put_tail_call(v, mem);
	else
		put_lookups(v, mem);
	if (fclose(mem)) {
		free(text);
		return NULL;
	}
	return text;
}

const char *bb_in_vain__remedy(const struct bb_in_vain *v)
{
	if (v->entries > 0 && !v->is_tail_call)
		return "this is the cost of not finding; give the program inputs whose keys are in "
		       "the map (--packet FILE, --ctx FILE; inputs: of a scenario), or fill the "
		       "map "
		       "in a scenario (maps:)";
	return v->is_captured
		       ? "this is the cost without these entries; let the command fill the map "
			 "before its capture ends (--for, --until), or fill it in a scenario "
			 "(maps:)"
		       : "this is the cost without these entries; measure what your loader fills "
			 "(bpfbench -- LOADER; gate --capture LOADER), or fill the map in a "
			 "scenario (maps:)";
}
