/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/lines_flame.h"

#define MOST_CALLS 8u /* a stack has at most this number of the calls that lead to a row */
/* frames of a stack: the program, a line and a call for each of MOST_CALLS calls, the innermost
 * line and its call */
#define DEPTH (3 + 2 * MOST_CALLS)

/* The graph uses the kinds of frames of a profile, which have these meanings here. */
static const char *const legend[BB_N_FRAME_KINDS] = {
	[BB_FRAME_COMM] = "program",  [BB_FRAME_USER] = "line",    [BB_FRAME_JIT] = "function",
	[BB_FRAME_KERNEL] = "helper", [BB_FRAME_NOTE] = "no line",
};

static uint32_t add_call(struct bb_stacks *s, const char *name)
{
	return bb_stacks__frame(s, name, strchr(name, '(') ? BB_FRAME_JIT : BB_FRAME_KERNEL);
}

static uint32_t add_line_frame(struct bb_stacks *s, const struct bb_timed_row *row)
{
	char name[200];

	if (row->line)
		snprintf(name, sizeof(name), "%u %.100s (%.60s)", row->line, row->text,
			 basename(row->file));
	else
		snprintf(name, sizeof(name), "instruction %u", row->insn);
	return bb_stacks__frame(s, name, BB_FRAME_USER);
}

/* Adds the frame of the line that contains call i of the calls that lead to the row `like`. */
static uint32_t add_calling_line(struct bb_stacks *s, const struct bb_timed *t,
				 const struct bb_timed_row *like, size_t i)
{
	uint32_t line = like->from[i].line;
	const struct bb_timed_row *row = BB_FIND(t->rows, t->n_rows,
						 it->line == line && it->n_from == i &&
							 !bb_timed_row__compare_from(it, like, i));
	char name[32];

	if (row)
		return add_line_frame(s, row);
	snprintf(name, sizeof(name), "line %u", line);
	return bb_stacks__frame(s, name, BB_FRAME_USER);
}

void bb_lines_flame__make(const struct bb_by_line *lines, struct bb_lines_flame *ret_flame)
{
	struct bb_stacks *stacks = &ret_flame->stacks;
	uint32_t frames[DEPTH];

	*ret_flame = (struct bb_lines_flame){
		.opts = {.title = ret_flame->title,
			 .unit = lines->timed->counts_instructions ? "instructions" : "ns",
			 .legend = legend},
	};
	snprintf(ret_flame->title, sizeof(ret_flame->title), "%.250s: one run", lines->timed->name);
	frames[0] = bb_stacks__frame(stacks, lines->timed->variant, BB_FRAME_COMM);
	frames[1] = bb_stacks__frame(stacks, "[the call and its timing]", BB_FRAME_NOTE);
	if (lines->calling.value >= 0.5)
		bb_stacks__add(stacks, frames, 2, lines->calling.value);
	if (lines->rest.value >= 0.5) {
		frames[1] = bb_stacks__frame(stacks,
					     bb_by_line__other_ways(lines) > 0 ? "[other ways]"
					     : bb_timed__is_cold(lines->timed) ? "[not attributed]"
									       : "[tail call]",
					     BB_FRAME_NOTE);
		bb_stacks__add(stacks, frames, 2, lines->rest.value);
	}
	for (size_t i = 0; i < lines->n_parts; i++) {
		const struct bb_timed_row *row = lines->parts[i].row;
		double ns = lines->parts[i].ns.value;
		uint32_t n = 1;

		if (ns < 0.5)
			continue;
		for (size_t k = 0; k < row->n_from && k < MOST_CALLS; k++) {
			frames[n++] = add_calling_line(stacks, lines->timed, row, k);
			frames[n++] = add_call(stacks, row->from[k].call);
		}
		frames[n++] = add_line_frame(stacks, row);
		if (row->call[0])
			frames[n++] = add_call(stacks, row->call);
		bb_stacks__add(stacks, frames, n, ns);
	}
	bb_stacks__sort(stacks);
}
