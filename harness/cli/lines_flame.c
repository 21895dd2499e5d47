/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/lines_flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "export/table_cells.h"
#include "profile/flame.h"

#define DEPTH 3u /* program, line, call */

/* A frame of that name, into *ret_frame. */
static int add_frame(struct bb_stacks *s, const char *name, enum bb_frame_kind kind,
		     uint32_t *ret_frame)
{
	struct bb_frame f = {.file = BB_NO_ID, .kind = kind};
	char clean[200];
	int rc;

	snprintf(clean, sizeof(clean), "%s", name);
	bb_make_clean(clean);
	rc = bb_names__add(&s->names, clean, strlen(clean), &f.name);
	*ret_frame = (uint32_t)s->n_frames;
	return rc ? rc : bb_stacks__add_frame(s, &f);
}

static int add_part(struct bb_stacks *s, uint32_t program, uint32_t line,
		    const struct bb_line_part *p)
{
	uint32_t frames[DEPTH] = {program, line};
	uint32_t n = 2;
	int rc = 0;

	if (p->ns.value < 0.5)
		return 0;
	if (p->row->call[0])
		rc = add_frame(s, p->row->call,
			       strchr(p->row->call, '(') ? BB_FRAME_JIT : BB_FRAME_KERNEL,
			       &frames[n++]);
	return rc ? rc : bb_stacks__add(s, frames, n, p->ns.value);
}

static int add_line(struct bb_stacks *s, uint32_t program, const struct bb_line_time *l)
{
	uint32_t line;
	char name[200];
	int rc;

	if (l->row->line)
		snprintf(name, sizeof(name), "%.60s:%u %.100s", bb_timed_row__file(l->row),
			 l->row->line, l->row->text);
	else
		snprintf(name, sizeof(name), "instruction %u", l->row->insn);
	rc = add_frame(s, name, BB_FRAME_JIT, &line);
	for (size_t i = 0; !rc && i < l->n_parts; i++)
		rc = add_part(s, program, line, &l->parts[i]);
	return rc;
}

int bb_lines_flame__stacks(const struct bb_by_line *lines, struct bb_stacks *ret_stacks)
{
	uint32_t frames[2];
	int rc;

	*ret_stacks = (struct bb_stacks){0};
	rc = add_frame(ret_stacks, lines->timed->variant, BB_FRAME_COMM, &frames[0]);
	if (!rc)
		rc = add_frame(ret_stacks, "[calling and timing]", BB_FRAME_NOTE, &frames[1]);
	if (!rc && lines->empty.value >= 0.5)
		rc = bb_stacks__add(ret_stacks, frames, 2, lines->empty.value);
	if (!rc && lines->timed->leaves && lines->rest.value >= 0.5) {
		rc = add_frame(ret_stacks, "[tail call]", BB_FRAME_NOTE, &frames[1]);
		if (!rc)
			rc = bb_stacks__add(ret_stacks, frames, 2, lines->rest.value);
	}
	for (size_t i = 0; !rc && i < lines->n_lines; i++)
		rc = add_line(ret_stacks, frames[0], &lines->lines[i]);
	if (!rc)
		rc = bb_stacks__sort_frames(ret_stacks);
	if (!rc)
		bb_stacks__sort(ret_stacks);
	return rc;
}

int bb_lines_flame__write(const struct bb_by_line *lines, bool as_html, FILE *out)
{
	char title[300];
	const struct bb_flame_opts opts = {.title = title, .unit = "ns"};
	struct bb_stacks stacks;
	int rc = bb_lines_flame__stacks(lines, &stacks);

	snprintf(title, sizeof(title), "%.250s: one run", lines->timed->name);
	if (!rc)
		rc = as_html ? bb_flame__write_html(&stacks, &opts, out)
			     : bb_flame__write(&stacks, &opts, out);
	bb_stacks__done(&stacks);
	return rc;
}
