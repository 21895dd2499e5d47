/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/records.h"

struct bb_counted_case *bb_counted__add_case(struct bb_counted *c)
{
	return bb_record__append(&bb_counted_case_record, &c->cases, &c->n_cases);
}

struct bb_counted_line *bb_counted__add_line(struct bb_counted *c)
{
	return bb_record__append(&bb_counted_line_record, &c->lines, &c->n_lines);
}

struct bb_counted_call *bb_counted__add_call(struct bb_counted *c)
{
	return bb_record__append(&bb_counted_call_record, &c->calls, &c->n_calls);
}

struct bb_estimate bb_counted_case__instructions(const struct bb_counted_case *c)
{
	struct bb_estimate e = {NAN, NAN, NAN};

	if (c->void_why || !c->runs)
		return e;
	e.value = (double)c->instructions / (double)c->runs;
	if (!bb_counted_case__is_exact(c)) {
		e.lo = (double)c->least;
		e.hi = (double)c->most;
	}
	return e;
}

struct bb_counted_range bb_counted__range(const struct bb_counted *c)
{
	struct bb_counted_range g = {0};

	for (size_t i = 0; i < c->n_cases; i++) {
		const struct bb_counted_case *k = &c->cases[i];

		if (k->void_why || !k->runs)
			continue;
		g.n_exact += bb_counted_case__is_exact(k);
		if (!g.least || k->least < g.least->least)
			g.least = k;
		if (!g.most || k->most > g.most->most)
			g.most = k;
	}
	return g;
}
