/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/repeats.h"

#include "base/io.h"
#include "stats/loads.h"
#include "store/run_index.h"
#include "store/store.h"

/* Logarithms of the figures of one case, from the stored runs that repeat it. */
struct repeats {
	struct bb_numbers latency, relative;
};

/* True if two ids, TIME-NAME-NUMBER, have the same NAME. */
static bool same_name(const char *a, const char *b)
{
	const char *name_a = strchr(a, '-'), *name_b = strchr(b, '-');
	const char *end_a = strrchr(a, '-'), *end_b = strrchr(b, '-');

	return name_a && name_b && end_a - name_a == end_b - name_b &&
	       !memcmp(name_a, name_b, (size_t)(end_a - name_a));
}

/* True if both cases have the same program, executed instructions and emptied caches. */
static bool repeats_case(const struct bb_report *of_a, const struct bb_case *a,
			 const struct bb_report *of_b, const struct bb_case *b)
{
	const struct bb_program *p = bb_report__program_of(of_a, a),
				*q = bb_report__program_of(of_b, b);

	return p && q && p->tag && bb_same_text(p->tag, q->tag) &&
	       a->executed_insns == b->executed_insns && bb_same_text(a->emptied, b->emptied);
}

static void add_ln(struct bb_numbers *list, double x)
{
	x = log(x);
	if (isfinite(x))
		bb_numbers__append(list, &x, 1);
}

/* Returns true if the stored run repeats a case of `r`. */
static bool add_run(const struct bb_report *r, const struct bb_report *stored,
		    struct repeats *repeats)
{
	bool any = false;

	if (stored->n_comparisons || stored->incomplete ||
	    bb_fingerprint_differences(&r->fingerprint, &stored->fingerprint, NULL, 0))
		return false;
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = bb_report__find_case(stored, r->cases[i].name);
		struct bb_run_point p;

		if (!c || c->is_live || !repeats_case(r, &r->cases[i], stored, c))
			continue;
		bb_run_point__make(stored, (size_t)(c - stored->cases), &p);
		add_ln(&repeats[i].latency, p.figure[BB_BY_LATENCY].value);
		add_ln(&repeats[i].relative, p.figure[BB_BY_RELATIVE].value);
		any = true;
	}
	return any;
}

/* Sets *half_width to how far one more value may be from the mean, if there are enough values. */
static bool set_spread(const struct bb_numbers *ln, double *half_width)
{
	if (ln->n < BB_REPEATS_LEAST)
		return false;
	struct bb_spread spread = bb_spread_of(ln->x, ln->n);
	*half_width = bb_pool_spreads(&spread, 1, NULL, 0, BB_ALPHA).half_width;
	return true;
}

void bb_repeats__note(const char *dir, struct bb_report *r)
{
	struct repeats *repeats = bb_calloc(r->n_cases + 1, sizeof(*repeats));
	char **ids = NULL;
	size_t n = 0, used = 0;

	bb_store__list(dir, &ids, &n, NULL);
	for (size_t i = n; i-- > 0 && used < BB_REPEATS_READ;) {
		struct bb_report *stored;

		if (!same_name(r->id, ids[i]) || bb_store__read(ids[i], dir, &stored, NULL))
			continue;
		used += add_run(r, stored, repeats);
		bb_report__free(stored);
	}
	for (size_t i = 0; i < r->n_cases; i++) {
		struct bb_case *c = &r->cases[i];

		if (set_spread(&repeats[i].latency, &c->between)) {
			set_spread(&repeats[i].relative, &c->between_relative);
			c->between_runs = (uint32_t)repeats[i].latency.n;
			/* the spread of the latencies already includes the floor's */
			c->between_floor = NAN;
		}
		free(repeats[i].latency.x);
		free(repeats[i].relative.x);
	}
	free(repeats);
	bb_names_free(ids, n);
}
