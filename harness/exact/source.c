/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/source.h"

#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "exact/helper.h"
#include "exact/insn.h"

#define LINE_OF(line_col) ((line_col) >> 10)	/* BPF_LINE_INFO_LINE_NUM */

static const char *text_at(const struct bb_code *code, uint32_t offset)
{
	const char *text = btf__name_by_offset(code->btf, offset);

	return text ? text : "";
}

/* One record: the instructions from its own to the next record's. */
static struct bb_source_line line_of(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts, uint32_t i)
{
	const struct bpf_line_info *r = &code->lines[i];
	uint32_t end = i + 1 < code->n_lines ? code->lines[i + 1].insn_off : code->n;
	struct bb_source_line line = {
		.file = text_at(code, r->file_name_off), .text = text_at(code, r->line_off), .line = LINE_OF(r->line_col),
	};

	for (uint32_t at = r->insn_off; at < end && at < code->n; at++) {
		uint64_t n = counts[g->block_of[at]];

		if (bb_insn_is_second_half(code->insns, at))
			continue;
		line.n_insns++;
		line.instructions += n;
		line.executions = n > line.executions ? n : line.executions;
	}
	return line;
}

static int by_place(const void *a, const void *b)
{
	const struct bb_source_line *x = a, *y = b;
	int files = strcmp(x->file, y->file);

	return files ? files : x->line < y->line ? -1 : x->line > y->line;
}

int bb_source_lines(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		    struct bb_source_line **ret_lines, size_t *ret_n, struct bb_err *err)
{
	struct bb_source_line *lines = calloc(code->n_lines + 1, sizeof(*lines));
	size_t n = 0;

	if (!lines)
		return bb_fail_nomem(err);
	for (uint32_t i = 0; i < code->n_lines; i++)
		lines[i] = line_of(code, g, counts, i);
	qsort(lines, code->n_lines, sizeof(*lines), by_place);
	for (uint32_t i = 0; i < code->n_lines; i++) {
		if (!n || by_place(&lines[n - 1], &lines[i])) {
			lines[n++] = lines[i];
			continue;
		}
		lines[n - 1].n_insns += lines[i].n_insns;
		lines[n - 1].instructions += lines[i].instructions;
		if (lines[i].executions > lines[n - 1].executions)
			lines[n - 1].executions = lines[i].executions;
	}
	*ret_lines = lines;
	*ret_n = n;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct bb_source_call *x = a, *y = b;

	if (!x->name != !y->name)
		return x->name ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

int bb_source_calls(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		    struct bb_source_call **ret_calls, size_t *ret_n, struct bb_err *err)
{
	struct bb_source_call *calls = NULL;
	size_t n = 0, merged = 0;

	for (int pass = 0; pass < 2; pass++) {
		n = 0;
		for (uint32_t at = 0; at < code->n; at++) {
			const struct bpf_insn *i = &code->insns[at];
			bool helper = bb_insn_is_helper_call(i);

			if (bb_insn_is_second_half(code->insns, at) || !(helper || bb_insn_is_kfunc_call(i)))
				continue;
			if (calls)
				calls[n] = (struct bb_source_call){i->imm, helper ? bb_helper__name(i->imm) : NULL,
								   counts[g->block_of[at]]};
			n++;
		}
		if (!calls && !(calls = calloc(n + 1, sizeof(*calls))))
			return bb_fail_nomem(err);
	}
	qsort(calls, n, sizeof(*calls), by_id);
	for (size_t i = 0; i < n; i++) {
		if (merged && !by_id(&calls[merged - 1], &calls[i]))
			calls[merged - 1].calls += calls[i].calls;
		else
			calls[merged++] = calls[i];
	}
	*ret_calls = calls;
	*ret_n = merged;
	return 0;
}
