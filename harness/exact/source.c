/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/source.h"

#include <bpf/btf.h>

#include "exact/registers.h"

static int by_line(const void *a, const void *b)
{
	const struct bb_counted_line *x = a, *y = b;

	return strcmp(x->file, y->file) ?: BB_ORDER(x->line, y->line);
}

void bb_source_lines(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		     struct bb_counted_line **ret_lines, size_t *ret_n)
{
	struct bb_counted_line *lines = NULL, *into = NULL;
	size_t n = 0, merged = 0;

	for (uint32_t i = 0; i < code->n_lines; i++) {
		const struct bpf_line_info *r = &code->lines[i];
		struct bb_counted_line *line = bb_append(&lines, &n, sizeof(*line));
		/* a record covers the instructions up to the next record */
		uint32_t end = i + 1 < code->n_lines ? code->lines[i + 1].insn_off : code->n;

		line->file = bb_strdup(bb_code__text(code, r->file_name_off));
		line->text = bb_strdup(bb_code__text(code, r->line_off));
		line->line = BB_SOURCE_LINE(r->line_col);
		for (uint32_t at = r->insn_off; at < end && at < code->n;
		     at += bb_insn_slots(&code->insns[at])) {
			uint64_t executed = counts[g->block_of[at]];

			line->n_insns++;
			line->instructions += executed;
			if (executed > line->executions)
				line->executions = executed;
		}
	}
	if (n)
		qsort(lines, n, sizeof(*lines), by_line);
	for (struct bb_counted_line *line = lines; line < lines + n; line++) {
		if (!into || by_line(into, line)) {
			into = &lines[merged++];
			*into = *line;
			continue;
		}
		into->n_insns += line->n_insns;
		into->instructions += line->instructions;
		/* executions of inlined copies are not added up */
		if (line->executions > into->executions)
			into->executions = line->executions;
		free(line->file);
		free(line->text);
	}
	*ret_lines = lines;
	*ret_n = merged;
}

struct call {
	int32_t id; /* number of the helper, or BTF id of the kfunc */
	bool is_kfunc;
	uint64_t calls;
};

static int by_id(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return BB_ORDER(x->is_kfunc, y->is_kfunc) ?: BB_ORDER(x->id, y->id);
}

void bb_source_calls(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		     struct bb_counted_call **ret_calls, size_t *ret_n)
{
	struct bb_counted_call *into = NULL;
	struct call *calls = NULL;
	struct btf *kernel = NULL;
	size_t n = 0;

	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at])) {
		const struct bpf_insn *i = &code->insns[at];
		bool is_kfunc = bb_insn_is_kfunc_call(i);

		if (is_kfunc || bb_insn_is_helper_call(i))
			BB_PUSH(calls, n, (struct call){i->imm, is_kfunc, counts[g->block_of[at]]});
	}
	if (n)
		qsort(calls, n, sizeof(*calls), by_id);
	/* reading the kernel's BTF takes some ten milliseconds, so we do it only if kfuncs are
	 * called */
	if (n && calls[n - 1].is_kfunc)
		kernel = btf__load_vmlinux_btf();
	*ret_calls = NULL;
	*ret_n = 0;
	for (struct call *c = calls; c < calls + n; c++) {
		const char *name = c->is_kfunc ? bb_btf_name(kernel, (uint32_t)c->id)
					       : bb_helper__name(c->id);

		if (c == calls || by_id(c - 1, c)) {
			into = bb_append(ret_calls, ret_n, sizeof(*into));
			into->name = name ? bb_strdup(name)
					  : bb_asprintf("%s %d", c->is_kfunc ? "kfunc" : "helper",
							c->id);
		}
		into->calls += c->calls;
	}
	btf__free(kernel);
	free(calls);
}
