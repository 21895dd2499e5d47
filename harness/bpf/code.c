/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/code.h"

#include <stdlib.h>

void bb_code__done(struct bb_code *c)
{
	if (!c)
		return;
	free(c->insns);
	free(c->funcs);
	free(c->lines);
	*c = (struct bb_code){.btf_fd = -1};
}
