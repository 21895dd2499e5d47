/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/groups.h"

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/source.h"

#define MAX_WHERE 100u /* characters after which a list of lines is cut */
#define NO_GROUP UINT32_MAX

/* A block on its way into a group. */
struct member {
	uint32_t block, group;
	uint64_t unit; /* greatest common divisor of its counts; 0: never executed */
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static bool proportional(const uint64_t *counts, size_t n_cases, uint32_t n_blocks,
			 const struct member *a, const struct member *b)
{
	for (size_t i = 0; i < n_cases; i++)
		if (counts[i * n_blocks + a->block] / a->unit !=
		    counts[i * n_blocks + b->block] / b->unit)
			return false;
	return true;
}

/* Says for every block which group it is in; how many there are. */
static size_t assign(const uint64_t *counts, size_t n_cases, struct member *m, uint32_t n_blocks)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < n_blocks; b++) {
		m[b] = (struct member){b, NO_GROUP, 0};
		for (size_t i = 0; i < n_cases; i++)
			m[b].unit = gcd(m[b].unit, counts[i * n_blocks + b]);
		for (uint32_t k = 0; m[b].unit && m[b].group == NO_GROUP && k < b; k++)
			if (m[k].unit && proportional(counts, n_cases, n_blocks, &m[k], &m[b]))
				m[b].group = m[k].group;
		if (m[b].unit && m[b].group == NO_GROUP)
			m[b].group = n++;
	}
	return n;
}

/* --- where they stand --- */

/* A line, or a slot where there are none, that belongs to a group. */
struct spot {
	const char *file;
	uint32_t line;
};

static int by_place(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	int files = strcmp(x->file, y->file);

	return files ? files : x->line < y->line ? -1 : x->line > y->line;
}

/* Of the lines of a group's blocks, or else of their instructions; into spots[code->n]. */
static size_t find_spots(const struct bb_code *code, const struct bb_cfg *g, const struct member *m,
			 uint32_t group, struct spot *spots)
{
	uint32_t record = 0;
	size_t n = 0;

	for (uint32_t at = 0; at < code->n; at++) {
		struct spot s = {"insns ", at};

		while (record + 1 < code->n_lines && code->lines[record + 1].insn_off <= at)
			record++;
		if (m[g->block_of[at]].group != group)
			continue;
		if (code->n_lines) {
			s.file = bb_source_text(code, code->lines[record].file_name_off);
			s.line = BB_SOURCE_LINE(code->lines[record].line_col);
			if (!s.line || !s.file[0])
				continue;
		}
		spots[n++] = s;
	}
	qsort(spots, n, sizeof(*spots), by_place);
	return n;
}

static void put_file(const char *file, bool first, FILE *out)
{
	const char *slash = strrchr(file, '/');

	fprintf(out, "%s%s%s", first ? "" : " ", slash ? slash + 1 : file,
		strcmp(file, "insns ") ? ":" : "");
}

/* Each file once, runs of lines as FIRST-LAST. */
static char *say_spots(const struct spot *s, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0, last; out && i < n; i = last + 1) {
		bool new_file = !i || strcmp(s[i].file, s[i - 1].file);

		for (last = i; last + 1 < n && !strcmp(s[last + 1].file, s[i].file) &&
			       s[last + 1].line <= s[last].line + 1;)
			last++;
		if (ftell(out) > (long)MAX_WHERE) {
			fputs(" ...", out);
			break;
		}
		if (new_file)
			put_file(s[i].file, !i, out);
		fprintf(out, "%s%u", new_file ? "" : ",", s[i].line);
		if (s[last].line != s[i].line)
			fprintf(out, "-%u", s[last].line);
	}
	if (!out || fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* --- groups --- */

static int fill(struct bb_group *out, uint32_t group, const struct bb_cfg *g,
		const struct member *m, const uint64_t *counts, size_t n_cases)
{
	const struct member *rarest = NULL;

	for (uint32_t b = 0; b < g->n_blocks; b++)
		if (m[b].group == group && (!rarest || m[b].unit < rarest->unit))
			rarest = &m[b];
	out->counts = calloc(n_cases, sizeof(*out->counts));
	if (!rarest || !out->counts)
		return -1;
	for (size_t i = 0; i < n_cases; i++)
		out->counts[i] = counts[i * g->n_blocks + rarest->block];
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		if (m[b].group != group)
			continue;
		out->n_blocks++;
		out->n_insns += (uint32_t)((double)g->blocks[b].n_insns * (double)m[b].unit /
					   (double)rarest->unit);
	}
	return 0;
}

int bb_groups__make(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		    size_t n_cases, struct bb_group **ret_groups, size_t *ret_n, struct bb_err *err)
{
	struct member *m = calloc(g->n_blocks, sizeof(*m));
	struct spot *spots = calloc(code->n, sizeof(*spots));
	size_t n = m && spots ? assign(counts, n_cases, m, g->n_blocks) : 0;
	struct bb_group *groups = calloc(n + 1, sizeof(*groups));
	bool failed = !m || !spots || !groups;

	for (uint32_t i = 0; !failed && i < n; i++) {
		failed = fill(&groups[i], i, g, m, counts, n_cases);
		groups[i].where = say_spots(spots, find_spots(code, g, m, i, spots));
		failed |= !groups[i].where;
	}
	free(spots);
	free(m);
	if (failed) {
		bb_groups__free(groups, groups ? n : 0);
		return bb_fail_nomem(err);
	}
	*ret_groups = groups;
	*ret_n = n;
	return 0;
}

void bb_groups__free(struct bb_group *groups, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(groups[i].counts);
		free(groups[i].where);
	}
	free(groups);
}
