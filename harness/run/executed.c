/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/executed.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "bpf/source.h"
#include "drivers/exact.h"
#include "exact/cfg.h"
#include "exact/registers.h"
#include "exact/source.h"
#include "report/report.h"

#define NEARLY_ALL 0.9

/* Up to BB_IN_VAIN_MANY. The slots of prog arrays and of maps of maps are always there: those that
 * are filled count. */
static double count_entries(int fd, const struct bpf_map_info *info)
{
	bool holds_ids = info->type == BPF_MAP_TYPE_PROG_ARRAY ||
			 info->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
			 info->type == BPF_MAP_TYPE_HASH_OF_MAPS;
	char *key = calloc(2, info->key_size), *next = key ? key + info->key_size : NULL;
	uint32_t n = 0, id;

	if (!key)
		return NAN;
	for (uint32_t i = 0; i <= info->max_entries && n < BB_IN_VAIN_MANY; i++) {
		if (bpf_map_get_next_key(fd, i ? key : NULL, next))
			break;
		memcpy(key, next, info->key_size);
		n += !holds_ids || !bpf_map_lookup_elem(fd, key, &id);
	}
	free(key);
	return n;
}

/* The map that the call has in register `reg`. 0 or -ENOMEM. */
static int describe_map(const struct bb_target *target, const struct bb_exact *e, uint32_t at,
			uint8_t reg, struct bb_in_vain *v)
{
	const struct bpf_object *obj = bb_source_object__get(bb_target__source(target));
	struct bb_origin from = bb_origin_of(&e->code, &e->clone.cfg, at, reg);
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);
	const char *name = info.name, *type;
	const struct bpf_map *map;

	v->entries = NAN;
	if ((from.kind != BB_ORIGIN_MAP && from.kind != BB_ORIGIN_INNER_MAP) ||
	    bpf_obj_get_info_by_fd(from.value, &info, &len))
		return 0;
	/* whole, where libbpf knows it; the kernel keeps 15 characters */
	for (map = obj ? bpf_object__next_map(obj, NULL) : NULL; map;
	     map = bpf_object__next_map(obj, map))
		if (bpf_map__fd(map) == from.value)
			name = bpf_map__name(map);
	v->is_captured = !obj;
	v->is_inner = from.kind == BB_ORIGIN_INNER_MAP;
	type = libbpf_bpf_map_type_str((enum bpf_map_type)info.type);
	v->map = strdup(name);
	v->type = type ? strdup(type) : NULL;
	if (!v->map || (type && !v->type))
		return -ENOMEM;
	if (!v->is_inner)
		v->entries = count_entries(from.value, &info);
	return 0;
}

static int describe(const struct bb_target *target, const struct bb_exact *e, uint32_t at,
		    struct bb_in_vain *v)
{
	bool is_tail_call = e->code.insns[at].imm == BPF_FUNC_tail_call;
	const struct bpf_line_info *line = bb_code__line_at(&e->code, at);
	struct bb_origin index = {BB_ORIGIN_UNKNOWN, 0};

	if (is_tail_call)
		index = bb_origin_of(&e->code, &e->clone.cfg, at, BPF_REG_3);
	v->is_tail_call = is_tail_call;
	v->index = index.kind == BB_ORIGIN_NUMBER ? (double)(uint32_t)index.value : (double)NAN;
	v->places = 1;
	if (line) {
		v->line = BB_SOURCE_LINE(line->line_col);
		v->file = strdup(bb_code__text(&e->code, line->file_name_off));
		if (!v->file)
			return -ENOMEM;
	}
	return describe_map(target, e, at, is_tail_call ? BPF_REG_2 : BPF_REG_1, v);
}

/* Adds it to one that is noted already and has the same words but for the line. */
static int add(struct bb_case *c, struct bb_in_vain *v)
{
	struct bb_in_vain *new;

	for (size_t i = 0; i < c->n_in_vain; i++) {
		struct bb_in_vain *o = &c->in_vain[i];

		if (o->is_tail_call != v->is_tail_call || o->is_inner != v->is_inner ||
		    (o->index != v->index && o->is_tail_call) || !o->map ||
		    !bb_same_text(o->map, v->map))
			continue;
		o->calls += v->calls;
		o->in_vain += v->in_vain;
		o->places++;
		bb_record__done(&bb_in_vain_record, v);
		return 0;
	}
	new = bb_record__append(&bb_in_vain_record, &c->in_vain, &c->n_in_vain);
	if (new)
		*new = *v;
	else
		bb_record__done(&bb_in_vain_record, v);
	return new ? 0 : -ENOMEM;
}

/*
 * Note in the case which lookups and tail calls of the clone came to nothing in nine of ten calls
 * or more, of those since the counts were totals[n_blocks] and in_vain[n_vain]. `is_first`: these
 * are of the program's first run, which may find what it stores itself later on; then only empty
 * maps count. 0 or -ENOMEM.
 */
static int note_in_vain(const struct bb_target *target, const struct bb_exact *e,
			const uint64_t *totals, const uint64_t *in_vain, bool is_first,
			struct bb_case *c)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < e->clone.n_vain; i++) {
		uint32_t at = e->clone.vain[i], block = e->clone.cfg.block_of[at];
		struct bb_in_vain v = {.calls = e->totals[block] - totals[block],
				       .in_vain = e->in_vain[i] - in_vain[i]};

		if (!v.calls || (double)v.in_vain < NEARLY_ALL * (double)v.calls)
			continue;
		rc = describe(target, e, at, &v);
		if (rc || (is_first && !v.is_tail_call && v.entries))
			bb_record__done(&bb_in_vain_record, &v);
		else
			rc = add(c, &v);
	}
	return rc;
}

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

/* Instructions that it has. */
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
		bool is_itself = m->id == e->id;

		if (!none)
			return -ENOMEM;
		if (m->totals[0]) {
			entered += m->totals[0];
			happened += tail_calls(m, none);
			/* of itself, those that it reached only when it was called */
			for (uint32_t b = 0; b < n; b++)
				if (m->totals[b] && (!is_itself || e->totals[b] == before[b]))
					c->executed_insns += m->clone.cfg.blocks[b].n_insns;
			c->n_insns += is_itself ? 0 : all(m);
			c->n_unwatched += is_itself ? 0 : m->clone.n_unwatched;
			if (notes)
				rc = note_in_vain(target, m, none, none + n, is_first, c);
		}
		free(none);
	}
	c->goes_on = happened > entered;
	return rc;
}

/* Once, and again where there is time. The counts after the first run go into ret_counts[]. */
static int run(const struct bb_driver *by, void *state, void *slot,
	       const struct bb_plan_case *planned, uint64_t *ret_counts, struct bb_err *err)
{
	uint64_t ns[MORE_RUNS], paths[MORE_RUNS];
	struct bb_batch b = {.ns = ns,
			     .paths = paths,
			     .want = 1,
			     .drain_each_run = planned->drive->step.consumer == BB_DRAIN_EACH_RUN},
			more = b;
	int rc = by->batch(state, slot, planned->driver_param, &b, err);

	copy_counts(bb_exact__of(slot), ret_counts);
	more.want = MORE_RUNS;
	return rc || bb_must_end() ? rc : by->batch(state, slot, planned->driver_param, &more, err);
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
		rc = note_in_vain(target, e, from, from + e->clone.cfg.n_blocks, from == before, c);
	if (!rc)
		rc = add_behind(target, e, before, from == before, notes, c);
	return rc;
}

static int count_case(const struct counter *k, const struct bb_driver *by, void *state, void *slot,
		      struct bb_test_prog *prog, size_t planned, struct bb_err *err)
{
	const struct bb_exact *e = bb_exact__of(slot);
	struct bb_case *c = &k->report->cases[k->case_of[planned]];
	size_t n = (size_t)e->clone.cfg.n_blocks + e->clone.n_vain;
	uint64_t *before = calloc(2 * n, sizeof(*before)), *first = before + n;
	int rc = before ? bb_test_prog__reset_maps(prog, err) : bb_fail_nomem(err);

	if (rc) {
		free(before);
		return rc;
	}
	copy_counts(e, before);
	for (const struct bb_exact *m = e->behind; m; m = m->behind) {
		memset(m->totals, 0, m->clone.cfg.n_blocks * sizeof(*m->totals));
		memset(m->in_vain, 0, m->clone.n_vain * sizeof(*m->in_vain));
	}
	bb_exact__swap(e, true);
	rc = run(by, state, slot, &k->session->plan->cases[planned], first, err);
	bb_exact__swap(e, false);
	/* none: there was no time for one. One that was counted is told, also where the time was
	 * over in the midst of those that follow it. */
	if (bb_counts__reached(&e->clone.cfg, before, e->totals) &&
	    note_counts(prog->target, e, before, first, c))
		rc = bb_fail_nomem(err);
	free(before);
	return rc;
}

static bool is_of(const struct counter *k, size_t planned, size_t drive, size_t variant)
{
	const struct bb_plan_case *c = &k->session->plan->cases[planned];

	return k->case_of[planned] != SIZE_MAX && bb_session__drive(k->session, c) == drive &&
	       bb_session__variant(k->session, c) == variant;
}

/* All cases of a program under a drive. What fails is left out: it is no figure that was asked for,
 * and the drive itself says what there is to say. */
static void count_variant(const struct counter *k, const struct bb_driver *by, void *state,
			  size_t drive, size_t variant)
{
	struct bb_test_prog *prog = &k->session->progs[variant];
	size_t first = 0, n = k->session->plan->n_cases;
	struct bb_err unsaid = {0};
	void *slot = NULL;
	int rc;

	while (first < n && !is_of(k, first, drive, variant))
		first++;
	if (!prog->target || bb_variant_is_live(prog->spec) || first == n)
		return;
	prog->counts_behind = true;
	rc = by->attach(state, prog, &slot, &unsaid);
	prog->counts_behind = false;
	if (rc)
		return;
	for (size_t i = first; !rc && !bb_must_end() && i < n; i++)
		if (is_of(k, i, drive, variant))
			rc = count_case(k, by, state, slot, prog, i, &unsaid);
	by->detach(state, slot);
}

/* As another driver counts them that does nothing but count. */
static void count_drive(const struct counter *k, size_t drive, const struct bb_driver *by)
{
	const struct bb_scenario *sc = k->session->plan->scenario;
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
	for (size_t d = 0; d < s->plan->scenario->n_drives && !bb_must_end(); d++) {
		const struct bb_driver *driver = s->drives[d].driver,
				       *by = driver ? bb_driver__executed_by(driver) : NULL;

		if (by)
			count_drive(&k, d, by);
	}
	bb_deadline__end(&share);
	return bb_stop_signal ? -EINTR : 0;
}
