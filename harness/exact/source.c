/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/source.h"

#include <bpf/btf.h>

#include "exact/registers.h"

static int by_line(const void *a, const void *b)
{
	const struct bb_source_line *x = a, *y = b;

	return strcmp(x->file, y->file) ?: BB_ORDER(x->line, y->line);
}

void bb_source_lines(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		     struct bb_source_line **ret_lines, size_t *ret_n)
{
	struct bb_source_line *lines = bb_calloc(code->n_lines + 1, sizeof(*lines));
	size_t n = 0;

	for (uint32_t i = 0; i < code->n_lines; i++) {
		const struct bpf_line_info *r = &code->lines[i];
		struct bb_source_line *line = &lines[i];
		/* a record covers the instructions up to the next record */
		uint32_t end = i + 1 < code->n_lines ? code->lines[i + 1].insn_off : code->n;

		line->file = bb_code__text(code, r->file_name_off);
		line->text = bb_code__text(code, r->line_off);
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
	qsort(lines, code->n_lines, sizeof(*lines), by_line);
	for (uint32_t i = 0; i < code->n_lines; i++) {
		if (!n || by_line(&lines[n - 1], &lines[i])) {
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
}

static int by_id(const void *a, const void *b)
{
	const struct bb_source_call *x = a, *y = b;

	return BB_ORDER(x->is_kfunc, y->is_kfunc) ?: BB_ORDER(x->id, y->id);
}

void bb_source_calls(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		     struct bb_source_call **ret_calls, size_t *ret_n)
{
	struct bb_source_call *calls = NULL, *call;
	struct btf *kernel = NULL;
	size_t n = 0, merged = 0;

	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at])) {
		const struct bpf_insn *i = &code->insns[at];
		bool is_kfunc = bb_insn_is_kfunc_call(i);

		if (!is_kfunc && !bb_insn_is_helper_call(i))
			continue;
		BB_PUSH(calls, n,
			(struct bb_source_call){.id = i->imm,
						.is_kfunc = is_kfunc,
						.calls = counts[g->block_of[at]]});
	}
	if (n)
		qsort(calls, n, sizeof(*calls), by_id);
	for (size_t i = 0; i < n; i++) {
		if (merged && !by_id(&calls[merged - 1], &calls[i]))
			calls[merged - 1].calls += calls[i].calls;
		else
			calls[merged++] = calls[i];
	}
	/* reading the kernel's BTF takes some ten milliseconds, so we do it only if kfuncs are
	 * called */
	if (merged && calls[merged - 1].is_kfunc)
		kernel = btf__load_vmlinux_btf();
	for (call = calls; call < calls + merged; call++) {
		const char *name = call->is_kfunc ? bb_btf_name(kernel, (uint32_t)call->id)
						  : bb_helper__name(call->id);

		if (name)
			snprintf(call->name, sizeof(call->name), "%s", name);
		else
			snprintf(call->name, sizeof(call->name), "%s %d",
				 call->is_kfunc ? "kfunc" : "helper", call->id);
	}
	btf__free(kernel);
	*ret_calls = calls;
	*ret_n = merged;
}
