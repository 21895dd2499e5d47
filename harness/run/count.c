/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/count.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/deadline.h"
#include "base/text.h"
#include "drivers/exact.h"
#include "drivers/lines.h"
#include "exact/source.h"
#include "plan/field.h"
#include "run/record.h"

/* smallest time limit of a case, s (fast programs need less) */
#define CASE_LEAST_S 1.0
/* runs before the counted runs. Timed drives have them, too, so maps are in the same state. */
#define WARMUP 100u

struct counting {
	struct bb_session *session;
	size_t drive, variant;
	struct bb_counted *out;
	struct bb_drive_slot *slot;
	uint64_t *paths; /* hash of each run's path, for all runs so far */
	size_t n_paths;
	uint64_t *ns; /* not times, but the instructions of each run of a batch */
	size_t n_cases;
	double case_s; /* time limit of a case, s (0 means no limit) */
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return BB_ORDER(x, y);
}

/* Sorts x, and returns its number of distinct values. */
static uint64_t distinct(uint64_t *x, size_t n)
{
	uint64_t seen = 0;

	qsort(x, n, sizeof(*x), by_value);
	for (size_t i = 0; i < n; i++)
		seen += !i || x[i] != x[i - 1];
	return seen;
}

static bool is_ours(const struct counting *k, const struct bb_plan_case *c)
{
	return bb_session__drive(k->session, c) == k->drive &&
	       bb_session__variant(k->session, c) == k->variant;
}

static struct bb_phrase why_left_out(const struct bb_session *s)
{
	struct bb_phrase why;

	snprintf(why.text, sizeof(why.text), "not counted within the budget of %g s; %s gives more",
		 s->opts->budget_s, bb_run_opts__budget_option(s->opts));
	return why;
}

static int count_case(struct counting *k, const struct bb_plan_case *planned, struct bb_err *err)
{
	const struct bb_target *target = k->session->progs[k->variant].target;
	int drops = k->session->plan->scenario->expect_drops;
	uint64_t before = 0, after = 0;
	struct bb_batch b = {.ns = k->ns,
			     .paths = k->paths + k->n_paths,
			     .want = planned->samples,
			     .warmup = WARMUP,
			     .max_s = k->case_s,
			     .drain_each_run = planned->drive->step.consumer == BB_DRAIN_EACH_RUN};
	int rc = bb_test_prog__reset_maps(&k->session->progs[k->variant], err);

	if (!rc)
		rc = bb_target__drops(target, &before);
	if (!rc)
		rc = bb_driver__batch(k->slot, planned->driver_param, &b, err);
	if (!rc)
		rc = bb_target__drops(target, &after);
	if (rc || !b.n) /* without a counted run, the time was over */
		return rc;
	/* unexpected drops make the runs invalid, as in timed drives */
	if (drops >= 0 && after - before != (uint64_t)drops && !b.void_why[0])
		snprintf(b.void_why, sizeof(b.void_why), "%llu drops, %d expected",
			 (unsigned long long)(after - before), drops);
	if (b.n < b.want)
		bb_record__skip(k->session->report, why_left_out(k->session).text,
				"%s: %zu of %u runs", planned->name, planned->samples - b.n,
				planned->samples);
	struct bb_counted_case *c = BB_ADD(bb_counted_case_record, k->out, cases);
	c->name = bb_strdup(planned->name);
	c->param = planned->param ? bb_strdup(planned->param) : NULL;
	c->param_text = planned->param ? bb_strdup(planned->name + planned->value) : NULL;
	c->void_why = b.void_why[0] ? bb_strdup(b.void_why) : NULL;
	c->param_value = planned->param_value;
	c->runs = b.n;
	c->least = UINT64_MAX;
	for (size_t i = 0; i < b.n; i++) {
		c->least = b.ns[i] < c->least ? b.ns[i] : c->least;
		c->most = b.ns[i] > c->most ? b.ns[i] : c->most;
		c->instructions += b.ns[i];
	}
	c->paths = distinct(b.paths, b.n);
	k->n_paths += b.n;
	k->out->runs += c->runs;
	k->out->instructions += c->instructions;
	return 0;
}

static void sum_up(struct counting *k)
{
	const struct bb_exact *e = bb_exact__of(k->slot);
	const struct bb_cfg *cfg = &e->clone.cfg;
	struct bb_counted *out = k->out;

	out->n_insns = cfg->n_insns;
	out->n_blocks = cfg->n_blocks;
	out->clone_insns = e->clone.n_insns;
	out->paths = distinct(k->paths, k->n_paths);
	for (uint32_t b = 0; b < cfg->n_blocks; b++) {
		const struct bpf_insn *last = &e->code.insns[cfg->blocks[b].last];

		/* A successful tail call does not return. It ends its basic block, so the next
		 * block is executed less often by the number of successful tail calls. */
		if (b + 1 < cfg->n_blocks && bb_insn_is_tail_call(last) &&
		    e->totals[b] > e->totals[b + 1])
			out->tail_calls += e->totals[b] - e->totals[b + 1];
	}
	bb_source_lines(&e->code, cfg, e->totals, &out->lines, &out->n_lines);
	bb_source_calls(&e->code, cfg, e->totals, &out->calls, &out->n_calls);
}

static int count_variant(struct counting k, struct bb_err *err)
{
	struct bb_session *s = k.session;
	const struct bb_scenario *sc = s->plan->scenario;
	const char *variant = sc->variants[k.variant].name;
	size_t want = 0, all = 0;

	for (size_t i = 0; i < s->plan->n_cases; i++) {
		const struct bb_plan_case *c = &s->plan->cases[i];

		if (!is_ours(&k, c))
			continue;
		want = c->samples > want ? c->samples : want;
		all += c->samples;
		k.n_cases++;
	}
	k.ns = bb_calloc(want, sizeof(*k.ns));
	k.paths = bb_calloc(all, sizeof(*k.paths));
	k.out = BB_ADD(bb_counted_record, s->report, counted);
	k.out->name = bb_asprintf("%s/%s/%s", sc->name, variant, sc->drives[k.drive].kind->with);
	k.out->scenario = bb_strdup(sc->name);
	k.out->variant = bb_strdup(variant);
	int rc = bb_unless_broken_off(
		bb_driver__attach(s->drives[k.drive].state, &s->progs[k.variant], &k.slot, err));
	for (size_t i = 0; !rc && i < s->plan->n_cases && !bb_must_end(); i++)
		if (is_ours(&k, &s->plan->cases[i]))
			rc = bb_unless_broken_off(count_case(&k, &s->plan->cases[i], err));
	if (rc == -ETIME) /* not an error: the timed drives have time of their own */
		rc = 0;
	if (!rc && bb_stop_signal)
		rc = -EINTR;
	if (!rc && k.out->n_cases < k.n_cases)
		bb_record__skip(s->report, why_left_out(s).text, "%s: %zu of %zu cases",
				k.out->name, k.n_cases - k.out->n_cases, k.n_cases);
	if (!rc && k.out->n_cases)
		sum_up(&k);
	else if (!k.out->n_cases)
		bb_record__done(&bb_counted_record, &s->report->counted[--s->report->n_counted]);
	bb_driver__detach(k.slot);
	free(k.ns);
	free(k.paths);
	return rc;
}

int bb_count_all(struct bb_session *s, double share, struct bb_err *err)
{
	double limit_s = share * bb_deadline_left_s(), case_s,
	       n_all = (double)BB_SUM(s->plan->cases, s->plan->n_cases, it->drive->kind->counts);
	const struct bb_scenario *sc = s->plan->scenario;
	struct bb_deadline deadline;
	size_t n_late = 0;
	int rc = 0;

	case_s = isinf(limit_s) ? 0 : fmax(limit_s / fmax(n_all, 1), CASE_LEAST_S);
	bb_deadline__begin(&deadline, isinf(limit_s) ? 0 : fmax(limit_s, 1e-3));
	for (size_t d = 0; !rc && d < sc->n_drives; d++) {
		if (!s->drives[d].driver || !s->drives[d].driver->kind.counts)
			continue;
		rc = bb_session__stats_for(s, d, err);
		for (size_t v = 0; !rc && v < sc->n_variants; v++) {
			const struct bb_plan_case *c = bb_session__find_case(s, d, v);

			if (!c || !bb_session__can(s, c))
				continue;
			if (bb_must_end())
				n_late++;
			else
				rc = count_variant((struct counting){.session = s,
								     .drive = d,
								     .variant = v,
								     .case_s = case_s},
						   err);
		}
	}
	bb_deadline__end(&deadline);
	if (!rc && bb_stop_signal)
		rc = -EINTR;
	if (!rc && n_late)
		bb_record__skip(s->report, why_left_out(s).text,
				"%s: the instructions of %zu programs", sc->name, n_late);
	return rc;
}

#define NEARLY_ALL 0.9
#define HALF 0.5
#define OF_THE_TIME 0.1 /* bb_note_executed() takes at most this share of the time left */
/* more runs, because the first one may store map entries that change the path */
#define MORE_RUNS 2u
#define RUNS_OF_MIX 1000u /* batch size of a case with several inputs */

/* `state` belongs to the driver that counts, not to the drive whose programs are counted. */
struct noting {
	struct bb_session *session;
	const size_t *case_of;
	struct bb_drive_state *state;
	struct bb_test_prog *prog;
	bool of_shares; /* true to note only the maps that the program writes and all CPUs share */
};

static const char *map_name(const struct bb_target *target, int fd, const struct bpf_map_info *info)
{
	const struct bpf_object *obj = bb_source_object__get(target);
	const struct bpf_map *map;

	/* prefers libbpf's full name, because the kernel keeps only 15 characters */
	for (map = obj ? bpf_object__next_map(obj, NULL) : NULL; map;
	     map = bpf_object__next_map(obj, map))
		if (bpf_map__fd(map) == fd)
			return bpf_map__name(map);
	return info->name;
}

static void describe(const struct bb_target *target, const struct bb_exact *e, uint32_t at,
		     struct bb_in_vain *v)
{
	bool is_tail_call = e->code.insns[at].imm == BPF_FUNC_tail_call;
	struct bb_origin from = bb_origin_of(&e->code, &e->clone.cfg, at,
					     is_tail_call ? BPF_REG_2 : BPF_REG_1),
			 index = {BB_ORIGIN_UNKNOWN, 0, 0};
	const struct bpf_line_info *line = bb_code__line_at(&e->code, at);
	struct bpf_map_info info = {0};
	const char *type;

	if (is_tail_call)
		index = bb_origin_of(&e->code, &e->clone.cfg, at, BPF_REG_3);
	v->is_tail_call = is_tail_call;
	v->index = index.kind == BB_ORIGIN_NUMBER ? (double)(uint32_t)index.value : (double)NAN;
	v->places = 1;
	v->entries = NAN;
	v->line = line ? BB_SOURCE_LINE(line->line_col) : 0;
	if (line)
		v->file = bb_strdup(bb_code__text(&e->code, line->file_name_off));
	if ((from.kind != BB_ORIGIN_MAP && from.kind != BB_ORIGIN_INNER_MAP) ||
	    bb_info__read(from.value, &info))
		return;
	v->is_captured = !bb_source_object__get(target);
	v->is_inner = from.kind == BB_ORIGIN_INNER_MAP;
	type = libbpf_bpf_map_type_str((enum bpf_map_type)info.type);
	v->map = bb_strdup(map_name(target, from.value, &info));
	v->type = type ? bb_strdup(type) : NULL;
	if (!v->is_inner)
		v->entries = bb_map_entries(from.value, &info, BB_IN_VAIN_MANY);
}

/* Adds to the case the lookups and tail calls that failed in at least 90 % of their calls since the
 * earlier counts totals[] and in_vain[]. `is_first` means that these are the calls of the program's
 * first run. A lookup of the first run is added only if its map is empty, because a later run may
 * find entries that the first run stored. */
static void note_in_vain(const struct bb_target *target, const struct bb_exact *e,
			 const uint64_t *totals, const uint64_t *in_vain, bool is_first,
			 struct bb_case *c)
{
	for (uint32_t i = 0; i < e->clone.n_vain; i++) {
		uint32_t at = e->clone.vain[i], block = e->clone.cfg.block_of[at];
		struct bb_in_vain v = {.calls = e->totals[block] - totals[block],
				       .in_vain = e->in_vain[i] - in_vain[i]},
				  *same;

		if (!v.calls || (double)v.in_vain < NEARLY_ALL * (double)v.calls)
			continue;
		describe(target, e, at, &v);
		bool is_ignored = is_first && !v.is_tail_call && v.entries;
		/* an entry that differs only in its line gets the counts instead of a new entry */
		same = BB_FIND(c->in_vain, c->n_in_vain,
			       it->is_tail_call == v.is_tail_call && it->is_inner == v.is_inner &&
				       (it->index == v.index || !it->is_tail_call) && it->map &&
				       bb_same_text(it->map, v.map));
		if (!is_ignored && !same) {
			*BB_ADD(bb_in_vain_record, c, in_vain) = v;
			continue;
		}
		if (!is_ignored) {
			same->calls += v.calls;
			same->in_vain += v.in_vain;
			same->places++;
		}
		bb_record__done(&bb_in_vain_record, &v);
	}
}

/* Returns true if the jump at `at` tests a map lookup of its basic block that failed since
 * copy_counts() gave `before`. `before` is NULL if all earlier counts are 0. */
static bool tests_lookup_in_vain(const struct bb_exact *e, const uint64_t *before, uint32_t at)
{
	const struct bb_cfg *cfg = &e->clone.cfg;
	const struct bpf_insn *jump = &e->code.insns[at];

	if (BPF_SRC(jump->code) != BPF_K || jump->imm)
		return false;
	for (uint32_t i = 0; i < e->clone.n_vain; i++)
		if (cfg->block_of[e->clone.vain[i]] == cfg->block_of[at] &&
		    e->in_vain[i] > (before ? before[cfg->n_blocks + i] : 0))
			return true;
	return false;
}

struct source_line {
	const char *file, *text;
	uint32_t number; /* 0 if the instruction has no source line */
};

static struct source_line source_line_at(const struct bb_exact *e, uint32_t at)
{
	const struct bpf_line_info *line = bb_code__line_at(&e->code, at);
	const char *file = line ? bb_code__text(&e->code, line->file_name_off) : "",
		   *text = line ? bb_code__text(&e->code, line->line_off) : "";

	return (struct source_line){file, text + strspn(text, " \t"),
				    *file ? BB_SOURCE_LINE(line->line_col) : 0};
}

/* Stores in the case the check at which the runs since `before` left the program early. If the case
 * already has a check in another program, keeps the check with more instructions after it. */
static void note_turned_away(const struct bb_exact *e, const uint64_t *before, struct bb_case *c)
{
	uint32_t at = 0,
		 n = bb_counts__turned_away(&e->clone.cfg, &e->code, before, e->totals, &at);
	struct source_line line = n ? source_line_at(e, at) : (struct source_line){0};

	if (!line.number || n <= c->turned_insns ||
	    (c->n_in_vain && tests_lookup_in_vain(e, before, at)))
		return;
	free(c->turned_file);
	free(c->turned_text);
	c->turned_insns = n;
	c->turned_line = line.number;
	c->turned_file = bb_strdup(line.file);
	c->turned_text = *line.text ? bb_strdup(line.text) : NULL;
}

/* Copies first the executions of each block, then the failures of each lookup and tail call. */
static void copy_counts(const struct bb_exact *e, uint64_t *ret_counts)
{
	uint32_t n = e->clone.cfg.n_blocks;

	memcpy(ret_counts, e->totals, n * sizeof(*ret_counts));
	memcpy(ret_counts + n, e->in_vain, e->clone.n_vain * sizeof(*ret_counts));
}

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

/* Adds the executed instructions of the tail-called programs to the case, and, if `notes` is true,
 * their failed lookups and tail calls. Sets c->goes_on if more tail calls succeeded than programs
 * were entered, because some programs were then not counted. */
static void add_behind(const struct bb_target *target, const struct bb_exact *e,
		       const uint64_t *before, bool is_first, bool notes, struct bb_case *c)
{
	uint64_t happened = tail_calls(e, before), entered = 0;

	for (const struct bb_exact *m = e->behind; m; m = m->behind) {
		uint32_t n = m->clone.cfg.n_blocks;
		uint64_t *none = bb_calloc((size_t)n + m->clone.n_vain, sizeof(*none));
		bool is_itself = m->id == e->id;

		if (m->totals[0]) {
			entered += m->totals[0];
			happened += tail_calls(m, none);
			/* after a tail call to itself, blocks that the program executed before are
			 * counted already */
			for (uint32_t b = 0; b < n; b++)
				if (m->totals[b] && (!is_itself || e->totals[b] == before[b]))
					c->executed_insns += m->clone.cfg.blocks[b].n_insns;
			c->n_insns += is_itself ? 0 : m->clone.cfg.n_insns;
			c->n_unwatched += is_itself ? 0 : m->clone.n_unwatched;
			if (notes)
				note_in_vain(target, m, none, none + n, is_first, c);
		}
		free(none);
	}
	c->goes_on = happened > entered;
}

/* Stores the check at which runs left early if they executed less than half of the program. */
static void note_turn(const struct bb_exact *e, const uint64_t *before, struct bb_case *c)
{
	if (c->executed_insns >= HALF * c->n_insns)
		return;
	note_turned_away(e, before, c);
	for (const struct bb_exact *m = e->behind; m; m = m->behind)
		if (m->totals[0] && m->id != e->id)
			note_turned_away(m, NULL, c);
}

/* Stores the source line at which the run between `before` and `counts` returned. */
static void note_return(const struct bb_exact *e, const uint64_t *before, const uint64_t *counts,
			struct bb_case *c)
{
	struct source_line line = {0};
	uint32_t at;

	if (bb_counts__returned_at(&e->clone.cfg, &e->code, before, counts, &at))
		line = source_line_at(e, at);
	if (!line.number)
		return;
	free(c->returned_at);
	c->returned_at = bb_asprintf("%s:%u%s%.100s%s", basename(line.file), line.number,
				     *line.text ? " \"" : "", line.text, *line.text ? "\"" : "");
}

#define MOST_PLACES 8u

/* Returns the register with the address or map that `i` writes to, or BPF_REG_10 if `i` writes
 * nothing that CPUs could share. The register may also point to the stack or a packet:
 * note_shares() finds out where its value comes from. */
static uint8_t written_by(const struct bpf_insn *i)
{
	static const int32_t helpers[] = {BPF_FUNC_map_update_elem, BPF_FUNC_map_delete_elem,
					  BPF_FUNC_map_push_elem,   BPF_FUNC_map_pop_elem,
					  BPF_FUNC_ringbuf_output,  BPF_FUNC_ringbuf_reserve,
					  BPF_FUNC_spin_lock};
	unsigned int class = BPF_CLASS(i->code);

	if (class == BPF_STX || class == BPF_ST)
		return i->dst_reg;
	if (bb_insn_is_helper_call(i) && BB_ANY(helpers, BB_LEN(helpers), i->imm == *it))
		return BPF_REG_1;
	return BPF_REG_10;
}

/* Stores the names of the maps that executed instructions write and that all CPUs share. Adds the
 * first source line that writes each map. */
static void note_shares(const struct bb_target *target, const struct bb_exact *e,
			const uint64_t *before, struct bb_case *c)
{
	const struct bb_cfg *g = &e->clone.cfg;
	bool known = c->shares; /* true if an earlier session found the maps */
	int32_t seen[MOST_PLACES];
	size_t n = 0;

	for (uint32_t at = 0; !known && at < e->code.n && n < MOST_PLACES;
	     at += bb_insn_slots(&e->code.insns[at])) {
		uint8_t reg = written_by(&e->code.insns[at]);
		struct bb_origin from = {BB_ORIGIN_UNKNOWN, 0, 0};
		struct bpf_map_info info = {0};
		char place[PATH_MAX] = "";

		if (reg != BPF_REG_10 && e->totals[g->block_of[at]] > before[g->block_of[at]])
			from = bb_origin_of(&e->code, g, at, reg);
		if (from.kind == BB_ORIGIN_UNKNOWN || from.kind == BB_ORIGIN_NUMBER ||
		    BB_ANY(seen, n, *it == from.value) || from.kind == BB_ORIGIN_GLOBAL ||
		    from.kind == BB_ORIGIN_CONTEXT_AT || bb_info__read(from.value, &info) ||
		    bb_map_type__is_per_cpu(info.type) ||
		    info.type == BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE)
			continue;
		seen[n++] = from.value;
		struct source_line line = source_line_at(e, at);
		if (line.number)
			snprintf(place, sizeof(place), " (%s:%u)", basename(line.file),
				 line.number);
		bb_add_words(&c->shares, ", ", "map '%s'%s", map_name(target, from.value, &info),
			     place);
	}
}

#define UNKNOWN UINT8_MAX
/* no paths are stored if more than this share of repeated runs take another path than before */
#define SELDOM 0.01

/* Returns the first source line of a basic block that is in `has` and not in `lacks`. */
static struct source_line line_in_one(const struct bb_exact *e, const uint8_t *has,
				      const uint8_t *lacks)
{
	for (uint32_t at = 0; at < e->code.n; at += bb_insn_slots(&e->code.insns[at])) {
		uint32_t block = e->clone.cfg.block_of[at];
		struct source_line line = has[block] && !lacks[block] ? source_line_at(e, at)
								      : (struct source_line){0};

		if (line.number)
			return line;
	}
	return (struct source_line){0};
}

/* Describes how each path differs from the most frequent one: "through FILE:LINE". */
static void describe_paths(const struct bb_exact *e, struct bb_exact_sets *sets,
			   struct bb_mix_paths *paths)
{
	size_t n_of[UINT8_MAX + 1] = {0}, most = 0;

	for (size_t i = 0; i < paths->n_places; i++)
		n_of[paths->path_of[i]]++;
	for (size_t i = 1; i < sets->n; i++)
		most = n_of[i] > n_of[most] ? i : most;
	for (size_t i = 0; i < sets->n; i++) {
		const uint8_t *path = sets->executes[i], *frequent = sets->executes[most];
		struct source_line own = line_in_one(e, path, frequent),
				   missing = line_in_one(e, frequent, path);

		if (own.number)
			paths->words[i] = bb_asprintf("through %s:%u", basename(own.file),
						      own.number);
		else if (missing.number)
			paths->words[i] = bb_asprintf("not through %s:%u", basename(missing.file),
						      missing.number);
		else
			paths->words[i] = bb_strdup(i == most ? "most frequent" : "another");
	}
}

/* Stores each run's path. Returns how many differ from an earlier run on the same input. */
static size_t store_paths(const struct bb_batch *b, struct bb_mix_paths *paths)
{
	size_t n_other = 0;

	for (size_t i = 0; i < b->n; i++) {
		uint32_t place = b->places[i];

		while (place >= paths->n_places)
			BB_PUSH(paths->path_of, paths->n_places, UNKNOWN);
		n_other += paths->path_of[place] != UNKNOWN && paths->path_of[place] != b->paths[i];
		paths->path_of[place] = (uint8_t)b->paths[i];
	}
	return n_other;
}

/* Finds the path that the program takes on each input of the drive. Runs it on all inputs in their
 * order, and again on the first inputs. Stores no paths if the time is too short. Stores none
 * either if one input leads to several paths, because the path then depends on map contents. */
static int find_paths(struct bb_drive_slot *slot, const struct bb_plan_case *planned,
		      uint32_t param, struct bb_batch *b, struct bb_mix_paths *ret_paths,
		      struct bb_err *err)
{
	/* enough for the drive's samples and warm-up, with a reserve */
	size_t want = planned->samples / 4 * 5 + 2 * WARMUP * (size_t)planned->loads;
	size_t runs = 0, again = 0, n_other = 0;
	struct bb_exact_sets sets = {0};
	struct bb_mix_paths found = {0};
	uint32_t places[RUNS_OF_MIX];
	int rc = 0;

	b->places = places;
	bb_exact__sort_by_set(slot, &sets);
	while (!rc && again < 2 * RUNS_OF_MIX) {
		bool is_again = runs >= want || runs > found.n_places;

		b->n = 0;
		b->rewinds = !runs || (is_again && !again);
		rc = bb_must_end() ? -ETIME : bb_driver__batch(slot, param, b, err);
		n_other += rc ? 0 : store_paths(b, &found);
		runs += b->n;
		again += is_again ? b->n : 0;
	}
	bb_exact__sort_by_set(slot, NULL);
	if (!rc && sets.n > 1 && (double)n_other <= SELDOM * (double)again)
		describe_paths(bb_exact__of(slot), &sets, &found);
	else
		bb_mix_paths__done(&found);
	for (size_t i = 0; i < sets.n; i++)
		free(sets.executes[i]);
	*ret_paths = found;
	return rc == -ETIME ? 0 : rc;
}

/* Runs the program once, and copies the counts. Then runs it MORE_RUNS times, or by find_paths() if
 * the case has several inputs. *ret_is_wrong tells if the first run returned a wrong value. */
static int run(struct bb_drive_slot *slot, const struct bb_plan_case *planned, uint32_t param,
	       uint64_t *ret_counts, bool *ret_is_wrong, struct bb_mix_paths *ret_paths,
	       struct bb_err *err)
{
	uint64_t ns[RUNS_OF_MIX], paths[RUNS_OF_MIX];
	struct bb_batch b = {.ns = ns,
			     .paths = paths,
			     .want = 1,
			     .drain_each_run = planned->drive->step.consumer == BB_DRAIN_EACH_RUN},
			more = b;
	int rc = bb_driver__batch(slot, param, &b, err);

	copy_counts(bb_exact__of(slot), ret_counts);
	*ret_is_wrong = b.void_why[0];
	if (rc || bb_must_end())
		return rc;
	more.want = planned->drive->order == BB_ORDER_NONE ? MORE_RUNS : RUNS_OF_MIX;
	return planned->drive->order == BB_ORDER_NONE || bb_plan_case__is_floor(planned)
		       ? bb_driver__batch(slot, param, &more, err)
		       : find_paths(slot, planned, param, &more, ret_paths, err);
}

static int note_case(const struct noting *k, struct bb_drive_slot *slot, size_t planned,
		     struct bb_err *err)
{
	const struct bb_exact *e = bb_exact__of(slot);
	const struct bb_cfg *cfg = &e->clone.cfg;
	struct bb_case *c = &k->session->report->cases[k->case_of[planned]];
	size_t n = (size_t)cfg->n_blocks + e->clone.n_vain;
	uint64_t *before = bb_calloc(2 * n, sizeof(*before)), *first = before + n, *from;
	bool notes = !c->n_in_vain, is_wrong = false;
	int rc = bb_test_prog__reset_maps(k->prog, err);

	if (rc) {
		free(before);
		return rc;
	}
	copy_counts(e, before);
	bb_exact__clear(e->behind);
	bb_exact__swap(e, true);
	rc = run(slot, &k->session->plan->cases[planned],
		 k->of_shares ? 0 : k->session->plan->cases[planned].driver_param, first, &is_wrong,
		 &k->session->mix_paths[planned], err);
	bb_exact__swap(e, false);
	/* executed_insns stays 0 if the time was over before the first run */
	if (k->of_shares)
		note_shares(k->prog->target, e, before, c);
	else
		c->executed_insns = bb_counts__reached(cfg, before, e->totals);
	if (c->executed_insns) {
		from = e->totals[0] > first[0] ? first : before;
		c->n_insns = cfg->n_insns;
		c->n_unwatched = e->clone.n_unwatched;
		c->first_run_only = from == before;
		if (notes)
			note_in_vain(k->prog->target, e, from, from + cfg->n_blocks, from == before,
				     c);
		add_behind(k->prog->target, e, before, from == before, notes, c);
		note_turn(e, before, c);
		if (is_wrong)
			note_return(e, before, first, c);
	}
	free(before);
	return rc;
}

/* Stores the executed instructions of each case of a program under a drive. Ignores errors, because
 * these figures are optional and the drive itself reports its errors. */
static void note_variant(struct noting *k, size_t drive, size_t variant)
{
	const struct bb_session *s = k->session;
	struct bb_err unsaid = {0};
	struct bb_drive_slot *slot = NULL;
	int rc = 0;

	k->prog = &s->progs[variant];
	if (!k->prog->target || bb_variant_is_live(k->prog->spec))
		return;
	for (size_t i = 0; !rc && !bb_must_end() && i < s->plan->n_cases; i++) {
		const struct bb_plan_case *c = &s->plan->cases[i];

		if (k->case_of[i] == SIZE_MAX || bb_session__drive(s, c) != drive ||
		    bb_session__variant(s, c) != variant)
			continue;
		if (!slot) {
			k->prog->counts_behind = true;
			rc = bb_driver__attach(k->state, k->prog, &slot, &unsaid);
			k->prog->counts_behind = false;
		}
		if (rc)
			return;
		rc = note_case(k, slot, i, &unsaid);
	}
	bb_driver__detach(slot);
}

int bb_note_executed(struct bb_session *s, const size_t *case_of)
{
	const struct bb_scenario *sc = s->plan->scenario;
	double left_s = bb_deadline_left_s();
	struct bb_deadline share;

	s->mix_paths = bb_calloc(s->plan->n_cases, sizeof(*s->mix_paths));
	bb_deadline__begin(&share, isfinite(left_s) ? left_s * OF_THE_TIME : 0);
	for (size_t d = 0; d < sc->n_drives && !bb_must_end(); d++) {
		struct noting k = {.session = s, .case_of = case_of};
		const struct bb_driver *by = s->drives[d].driver
						     ? bb_driver__executed_by(s->drives[d].driver)
						     : NULL;
		struct bb_drive_spec spec = sc->drives[d];
		struct bb_err unsaid = {0};

		if (!by && s->drives[d].driver) {
			by = bb_driver__first_executed_by(s->drives[d].driver);
			k.of_shares = true;
		}
		if (!by)
			continue;
		spec.kind = &by->kind;
		/* nothing is timed, so the caches need not be emptied */
		spec.caches = BB_CACHES_HOT;
		if (bb_driver__open(&spec, &s->opts->driver, &k.state, &unsaid))
			continue;
		for (size_t v = 0; v < sc->n_variants && !bb_must_end(); v++)
			note_variant(&k, d, v);
		bb_driver__close(k.state);
	}
	bb_deadline__end(&share);
	return bb_stop_signal ? -EINTR : 0;
}

void bb_note_lines(struct bb_session *s)
{
	for (size_t i = 0; i < s->plan->n_cases; i++) {
		const struct bb_plan_case *planned = &s->plan->cases[i];
		const struct bb_open_drive *d = &s->drives[bb_session__drive(s, planned)];
		const struct bb_case *c = bb_report__find_case(s->report, planned->name);
		struct bb_timed t;

		if (!c || !d->driver || !d->driver->kind.by_line || bb_plan_case__is_floor(planned))
			continue;
		if (bb_lines__of(d->state, planned->variant, planned->driver_param, &t))
			continue;
		t.name = bb_strdup(c->name);
		t.scenario = bb_strdup(c->scenario);
		t.variant = bb_strdup(c->variant);
		t.drive = bb_strdup(c->drive);
		t.param = c->param ? bb_strdup(c->param) : NULL;
		t.param_value = c->param_value;
		BB_PUSH(s->report->timed, s->report->n_timed, t);
	}
}
