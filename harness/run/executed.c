/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/executed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "drivers/exact.h"
#include "exact/counts.h"
#include "run/in_vain.h"

#define OF_THE_TIME 0.1 /* that is left */
#define MORE_RUNS 2u    /* after the first: a program that remembers takes another path then */

struct counter {
	struct bb_session *session;
	const size_t *case_of;
	struct bb_report *report;
};

/* Counts so far: of the blocks, and behind them of calls in vain. */
static void copy_counts(const struct bb_exact *e, uint64_t *ret_counts)
{
	uint32_t n = e->clone.cfg.n_blocks;

	memcpy(ret_counts, e->totals, n * sizeof(*ret_counts));
	memcpy(ret_counts + n, e->in_vain, e->clone.n_vain * sizeof(*ret_counts));
}

static uint32_t all(const struct bb_exact *e)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < e->clone.cfg.n_blocks; b++)
		n += e->clone.cfg.blocks[b].n_insns;
	return n;
}

/* Tail calls that happened since the counts were `before`. */
static uint64_t tail_calls(const struct bb_exact *e, const uint64_t *before)
{
	const uint64_t *vain_before = before + e->clone.cfg.n_blocks;
	uint64_t n = 0;

	for (uint32_t i = 0; i < e->clone.n_vain; i++) {
		uint32_t at = e->clone.vain[i], block = e->clone.cfg.block_of[at];

		if (e->code.insns[at].imm == BPF_FUNC_tail_call)
			n += e->totals[block] - before[block] - (e->in_vain[i] - vain_before[i]);
	}
	return n;
}

/* Instructions of `m` that its runs reached; of itself, those that it reached only when it was
 * called. */
static uint32_t reached_behind(const struct bb_exact *e, const uint64_t *before,
			       const struct bb_exact *m)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < m->clone.cfg.n_blocks; b++)
		if (m->totals[b] && (m->id != e->id || e->totals[b] == before[b]))
			n += m->clone.cfg.blocks[b].n_insns;
	return n;
}

/* The programs behind it that its runs went on to; it goes on where more tail calls happened than
 * led to these. 0 or -ENOMEM. */
static int add_behind(const struct bb_target *target, const struct bb_exact *e,
		      const uint64_t *before, bool is_first, bool notes, struct bb_case *c)
{
	uint64_t happened = tail_calls(e, before), entered = 0;
	int rc = 0;

	for (const struct bb_exact *m = e->behind; !rc && m; m = m->behind) {
		uint32_t n = m->clone.cfg.n_blocks;
		uint64_t *none = calloc((size_t)n + m->clone.n_vain, sizeof(*none));

		if (!none)
			return -ENOMEM;
		if (m->totals[0]) {
			entered += m->totals[0];
			happened += tail_calls(m, none);
			c->executed_insns += reached_behind(e, before, m);
			c->n_insns += m->id == e->id ? 0 : all(m);
			c->n_unwatched += m->id == e->id ? 0 : m->clone.n_unwatched;
			if (notes)
				rc = bb_note_in_vain(target, m, none, none + n, is_first, c);
		}
		free(none);
	}
	c->goes_on = happened > entered;
	return rc;
}

static void forget_behind(const struct bb_exact *e)
{
	for (const struct bb_exact *m = e->behind; m; m = m->behind) {
		memset(m->totals, 0, m->clone.cfg.n_blocks * sizeof(*m->totals));
		memset(m->in_vain, 0, m->clone.n_vain * sizeof(*m->in_vain));
	}
}

/* Once, and again where there is time. The counts after the first run go into ret_counts[]. */
static int run(const struct bb_driver *by, void *state, void *slot, const struct bb_plan_case *cell,
	       uint64_t *ret_counts, struct bb_err *err)
{
	uint64_t ns[MORE_RUNS], paths[MORE_RUNS];
	struct bb_batch b = {.ns = ns,
			     .paths = paths,
			     .want = 1,
			     .drain_each_run = cell->drive->step.consumer == BB_DRAIN_EACH_RUN},
			more = b;
	int rc = by->batch(state, slot, cell->driver_param, &b, err);

	copy_counts(bb_exact__of(slot), ret_counts);
	more.want = MORE_RUNS;
	return rc || bb_must_end() ? rc : by->batch(state, slot, cell->driver_param, &more, err);
}

/* What was counted since `before`, and since the first run. 0 or -ENOMEM. */
static int note_counts(const struct bb_target *target, const struct bb_exact *e,
		       const uint64_t *before, const uint64_t *first, struct bb_case *c)
{
	const uint64_t *from = e->totals[0] > first[0] ? first : before;
	bool notes = !c->n_in_vain;
	int rc = 0;

	c->executed_insns = bb_counts__reached(&e->clone.cfg, before, e->totals);
	c->n_insns = all(e);
	c->n_unwatched = e->clone.n_unwatched;
	if (notes)
		rc = bb_note_in_vain(target, e, from, from + e->clone.cfg.n_blocks, from == before,
				     c);
	if (!rc)
		rc = add_behind(target, e, before, from == before, notes, c);
	return rc;
}

static int count_cell(const struct counter *k, const struct bb_driver *by, void *state, void *slot,
		      struct bb_test_prog *subject, size_t cell, struct bb_err *err)
{
	const struct bb_exact *e = bb_exact__of(slot);
	struct bb_case *c = &k->report->cases[k->case_of[cell]];
	size_t n = (size_t)e->clone.cfg.n_blocks + e->clone.n_vain;
	uint64_t *before = calloc(2 * n, sizeof(*before)), *first = before + n;
	int rc = before ? bb_test_prog__reset_maps(subject, err) : bb_fail_nomem(err);

	if (rc) {
		free(before);
		return rc;
	}
	copy_counts(e, before);
	forget_behind(e);
	bb_exact__swap(e, true);
	rc = run(by, state, slot, &k->session->plan->cases[cell], first, err);
	bb_exact__swap(e, false);
	/* none: there was no time for one. One that was counted is told, also where the time was
	 * over in the midst of those that follow it. */
	if (bb_counts__reached(&e->clone.cfg, before, e->totals) &&
	    note_counts(subject->target, e, before, first, c))
		rc = bb_fail_nomem(err);
	free(before);
	return rc;
}

static bool is_of(const struct counter *k, size_t cell, size_t drive, size_t variant)
{
	const struct bb_plan_case *c = &k->session->plan->cases[cell];

	return k->case_of[cell] != SIZE_MAX && bb_session__drive(k->session, c) == drive &&
	       bb_session__variant(k->session, c) == variant;
}

static bool any_of(const struct counter *k, size_t drive, size_t variant)
{
	for (size_t i = 0; i < k->session->plan->n_cases; i++)
		if (is_of(k, i, drive, variant))
			return true;
	return false;
}

/* All cells of a program under a drive. What fails is left out: it is no figure that was asked for,
 * and the drive itself says what there is to say. */
static void count_variant(const struct counter *k, const struct bb_driver *by, void *state,
			  size_t drive, size_t variant)
{
	struct bb_test_prog *subject = &k->session->subjects[variant];
	struct bb_err unsaid = {0};
	void *slot = NULL;
	int rc;

	if (!subject->target || bb_variant_is_live(subject->spec) || !any_of(k, drive, variant))
		return;
	subject->counts_behind = true;
	rc = by->attach(state, subject, &slot, &unsaid);
	subject->counts_behind = false;
	if (rc)
		return;
	for (size_t i = 0; !rc && !bb_must_end() && i < k->session->plan->n_cases; i++)
		if (is_of(k, i, drive, variant))
			rc = count_cell(k, by, state, slot, subject, i, &unsaid);
	by->detach(state, slot);
}

static void count_drive(const struct counter *k, size_t drive)
{
	const struct bb_scenario *sc = k->session->plan->scenario;
	const struct bb_driver *by = bb_driver__executed_by(k->session->drives[drive].driver);
	struct bb_drive_spec spec = sc->drives[drive];
	struct bb_err unsaid = {0};
	void *state;

	spec.caches = BB_CACHES_HOT; /* nothing is timed */
	if (by->open(&spec, &k->session->opts->driver, &state, &unsaid))
		return;
	for (size_t v = 0; v < sc->n_variants && !bb_must_end(); v++)
		count_variant(k, by, state, drive, v);
	by->close(state);
}

int bb_note_executed(struct bb_session *s, const size_t *case_of, struct bb_report *report)
{
	struct counter k = {.session = s, .case_of = case_of, .report = report};
	double left_s = bb_deadline_left_s();
	struct bb_deadline share;

	bb_deadline__begin(&share, isfinite(left_s) ? left_s * OF_THE_TIME : 0);
	for (size_t d = 0; d < s->plan->scenario->n_drives && !bb_must_end(); d++)
		if (s->drives[d].driver && bb_driver__executed_by(s->drives[d].driver))
			count_drive(&k, d);
	bb_deadline__end(&share);
	return bb_stop_signal ? -EINTR : 0;
}
