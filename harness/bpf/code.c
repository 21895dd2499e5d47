/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/code.h"

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
