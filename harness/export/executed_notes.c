/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/executed_notes.h"

#include <inttypes.h>

#define SMALL_SHARE 0.25

bool bb_is_little_executed(const struct bb_case *c)
{
	return c->n_insns && c->executed_insns < SMALL_SHARE * c->n_insns;
}

void bb_put_little_executed(const struct bb_report *r, void (*put)(FILE *out, const char *text),
			    FILE *out)
{
	const char *between = "little executed: ";

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!bb_is_little_executed(c))
			continue;
		fputs(between, out);
		put(out, c->name);
		fprintf(out, " (%" PRIu32 " of %" PRIu32 " instructions)", c->executed_insns,
			c->n_insns);
		between = ", ";
	}
	fputs(": a filter turned the event away, or the input takes a short way; "
	      "`bpfbench init OBJECT` lists globals that filter, `annotate` the lines",
	      out);
}
