/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/code.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>

#include "bpf/insn.h"

void bb_code__done(struct bb_code *c)
{
	if (!c)
		return;
	free(c->insns);
	free(c->funcs);
	free(c->lines);
	*c = (struct bb_code){.btf_fd = -1};
}

int bb_code__check(const struct bb_code *c, struct bb_err *err)
{
	if (c->type == BPF_PROG_TYPE_EXT)
		return bb_fail(err, -ENOTSUP,
			       "'%s' replaces a function of another program; count that program "
			       "instead",
			       c->name);
	for (uint32_t i = 0; i < c->n; i++)
		if (!bb_insn_is_second_half(c->insns, i) && bb_insn_is_kfunc_call(&c->insns[i]) &&
		    c->insns[i].off)
			return bb_fail(err, -ENOTSUP,
				       "instruction %u of '%s' calls a function of a kernel "
				       "module; such programs cannot be loaded a second time",
				       i, c->name);
	return 0;
}

bool bb_code__calls_kfuncs(const struct bb_code *c)
{
	for (uint32_t at = 0; at < c->n; at++)
		if (!bb_insn_is_second_half(c->insns, at) && bb_insn_is_kfunc_call(&c->insns[at]))
			return true;
	return false;
}

const char *bb_code__text(const struct bb_code *code, uint32_t offset)
{
	const char *text = btf__name_by_offset(code->btf, offset);

	return text ? text : "";
}

const struct bpf_line_info *bb_code__line_at(const struct bb_code *code, uint32_t slot)
{
	uint32_t lo = 0, hi = code->n_lines;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (code->lines[mid].insn_off <= slot)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &code->lines[lo - 1] : NULL;
}
