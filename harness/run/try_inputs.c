/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/try_inputs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/deadline.h"
#include "base/text.h"
#include "bpf/map_contents.h"
#include "bpf/object_info.h"
#include "drivers/companions.h"
#include "drivers/exact.h"
#include "drivers/test_run_types.h"
#include "drivers/trigger.h"
#include "exact/registers.h"
#include "plan/packet.h"

/* Time limits of the search and of taking back needless changes, s. The rest of BB_TRY_S is for
 * loading. */
#define SEARCH_S 7.0
#define TAKE_BACK_S 2.0
#define NEARLY_ALL 0.9   /* share of executed instructions at which the search ends */
#define MOST_VALUE 4096u /* largest values of maps that the search changes, bytes */
#define MOST_SLOTS 16u   /* most slots of a prog array into which the search puts programs */
#define MOST_INDEXES 4u  /* most elements of one array that are changed */
/* larger arrays are not changed, because restoring takes long (7 s for 33 million elements) */
#define MOST_ELEMENTS (1u << 20)
#define MOST_CONSTANTS 256u

/* blocks[n]: true for each basic block that a run has executed. The blocks of the program and of
 * the programs that were loaded with it are numbered together. Their number n may depend on the
 * values of globals, so there is one such struct for each n. */
struct reached {
	size_t n;
	uint8_t *blocks;
};

struct trying {
	struct bb_session *session;
	size_t variant;
	const struct bb_plan_case *planned;
	struct bb_drive_spec spec;
	struct bb_input input; /* the drive's only input, with the bytes of the present state */
	struct bb_drive_state *state;
	struct bb_drive_slot *slot;
	/* The search loads a program of its own, because the session's program may share its maps
	 * with other programs. */
	struct bb_test_prog prog;
	/* the variant, with the globals and map contents of the present state */
	struct bb_variant_spec with;
	struct bb_arena surroundings; /* holds the lists of `with.maps` and the changes in them */
	struct bb_try_search search;
	struct bb_found_input *found;
	/* Bytes of the states with which the program was last loaded, and its maps were last
	 * filled. is_changed() sets them. May be NULL. */
	char *loaded, *filled;
	size_t n_loaded, n_filled;
	/* all instructions of the programs that the last run entered */
	uint32_t all;
	bool is_found;
	bool jumps_in_vain; /* true if a tail call failed in the last run */
	struct reached *reached;
	size_t n_reached;
	struct bb_err err;
};

static void free_surroundings(struct trying *t)
{
	bb_arena__done(&t->surroundings);
	free(t->with.globals);
	t->with.maps = (struct bb_map_specs){0};
	t->with.globals = NULL;
	t->with.n_globals = 0;
}

/* Adds an entry to the maps of t->with, or only its map if the entry is not set. */
static void add_entry(struct trying *t, const struct bb_try_part *p)
{
	struct bb_arena *a = &t->surroundings;
	/* copies, because the search moves and changes its parts */
	struct bb_map_spec entry_of = {.name = bb_arena__own(a, bb_strdup(p->name))};
	struct bb_map_specs one = {&entry_of, 1};
	struct bb_map_entry e = {.key.self = p->self};

	if (!p->self)
		e.key.bytes = (struct bb_bytes){bb_arena__own(a, bb_memdup(p->key, p->key_len)),
						p->key_len};
	bb_map_specs__inherit(&t->with.maps, &one, a);
	if (!p->is_set || (p->kind == BB_TRY_PROGRAM && !p->bytes[0]))
		return;
	if (p->kind == BB_TRY_PROGRAM)
		e.program = t->found->programs[p->bytes[0] - 1];
	else
		e.value.bytes = (struct bb_bytes){bb_arena__own(a, bb_memdup(p->bytes, p->len)),
						  p->len};
	bb_map_specs__add_entry(&t->with.maps, p->name, &e, a);
}

static void add_part(struct trying *t, struct bb_try_part *p)
{
	struct bb_global_spec g = {.name = p->name, .value = bb_try_part__number(p)};

	if (p->kind == BB_TRY_GLOBAL && p->is_set) {
		BB_PUSH(t->with.globals, t->with.n_globals, g);
	} else if (p->kind == BB_TRY_INPUT) {
		t->input.data = p->bytes;
		t->input.len = p->len;
	} else if (p->kind != BB_TRY_GLOBAL) {
		add_entry(t, p);
	}
}

static void unload_state(struct trying *t)
{
	bb_driver__detach(t->slot);
	t->slot = NULL;
}

/* Loads the program with the globals of t->with, and attaches a clone that counts. */
static int load_state(struct trying *t)
{
	struct bb_session *s = t->session;
	bool fires = !strcmp(bb_driver_of(t->spec.kind)->trigger->by, "fire");
	char *path = bb_object_path(s->plan->scenario, &t->with, s->opts->driver.object_dir);

	unload_state(t);
	bb_test_prog__close(&t->prog);
	int rc = bb_test_prog__open(&t->with, path, &t->prog, &t->err);
	free(path);
	t->prog.fire = s->progs[t->variant].fire;
	t->prog.fire.point.self_pid = t->prog.self_pid;
	if (!rc)
		rc = bb_test_prog__load(&t->prog, &s->rng, BB_ANYWHERE, 1, &t->err);
	t->prog.counts_behind = t->prog.logs_keys = true;
	if (!rc && fires)
		bb_companions__open(&t->prog, s->opts->driver.allow_system_wide);
	if (!rc)
		rc = bb_driver__attach(t->state, &t->prog, &t->slot, &t->err);
	return rc;
}

/* Compares some parts of the present state with the bytes in *kept, and keeps the new bytes there.
 * Returns true if they differ. With `values`, the parts are values in maps. Otherwise they are
 * globals and entries of prog arrays, whose change needs a new load. */
static bool is_changed(const struct trying *t, bool values, char **kept, size_t *n_kept)
{
	size_t n;
	char *bytes;
	FILE *out = bb_open_memstream(&bytes, &n);

	for (size_t i = 0; i < t->search.now.n; i++) {
		const struct bb_try_part *p = &t->search.now.v[i];

		if (p->kind == BB_TRY_INPUT || (p->kind == BB_TRY_VALUE) != values)
			continue;
		fputc(p->is_set, out);
		fwrite(p->bytes, 1, p->is_set ? p->len : 0, out);
	}
	bb_close_memstream(out);
	bool changed = n != *n_kept || (n && memcmp(bytes, *kept, n) != 0);
	free(*kept);
	*kept = bytes;
	*n_kept = n;
	return changed;
}

/* Returns how many different instructions the last runs executed in the program and in the programs
 * that it tail-called. *ret_all is the number of all instructions of these programs. */
static uint32_t sum_executed(const struct bb_exact *e, uint32_t *ret_all)
{
	uint32_t n = bb_counts__reached(&e->clone.cfg, NULL, e->totals);

	*ret_all = e->clone.cfg.n_insns;
	for (const struct bb_exact *m = e->behind; m; m = m->behind) {
		if (!m->totals[0])
			continue;
		*ret_all += m->id == e->id ? 0 : m->clone.cfg.n_insns;
		for (uint32_t b = 0; b < m->clone.cfg.n_blocks; b++)
			if (m->totals[b] && (m->id != e->id || !e->totals[b]))
				n += m->clone.cfg.blocks[b].n_insns;
	}
	return n;
}

/* Returns true if the last run executed a basic block that no remembered run executed. Compares
 * only runs whose programs have the same number of blocks together. The first run with another
 * number than before is remembered, and counts as not new. If `note` is true, remembers the blocks
 * of the last run. */
static bool reaches_new(struct trying *t, const struct bb_exact *e, bool note)
{
	bool is_new = false, is_first;
	size_t n = 0, at = 0;

	for (const struct bb_exact *m = e; m; m = m->behind)
		n += m->clone.cfg.n_blocks;
	struct reached *r = BB_FIND(t->reached, t->n_reached, it->n == n);
	is_first = !r && t->n_reached > 0;
	if (!r) {
		r = bb_append(&t->reached, &t->n_reached, sizeof(*r));
		*r = (struct reached){n, bb_calloc(n, 1)};
	}
	for (const struct bb_exact *m = e; m; m = m->behind)
		for (uint32_t b = 0; b < m->clone.cfg.n_blocks; b++, at++) {
			is_new |= m->totals[b] && !r->blocks[at];
			r->blocks[at] |= (note || is_first) && m->totals[b];
		}
	return is_new && !is_first;
}

static bool jumps_in_vain(const struct bb_exact *e)
{
	for (; e; e = e->behind)
		for (uint32_t i = 0; i < e->clone.n_vain; i++)
			if (e->in_vain[i] &&
			    e->code.insns[e->clone.vain[i]].imm == BPF_FUNC_tail_call)
				return true;
	return false;
}

/* Finds a map of the program by its name or, if `name` is NULL, by its descriptor. */
static bool find_map(const struct trying *t, const char *name, int fd,
		     struct bb_contents_map *ret_map)
{
	const struct bb_target *of = t->prog.target;

	for (size_t i = 0; of->ops->map && of->ops->map(of, i, ret_map); i++)
		if (name ? !strcmp(ret_map->name, name) : ret_map->fd == fd)
			return true;
	return false;
}

/* Reads a value of a map or, if `writes` is true, writes it for all CPUs. */
static int move_value(int fd, const void *key, uint8_t *value, uint32_t len, bool writes)
{
	struct bpf_map_info info = {0};
	int rc = bb_info__read(fd, &info);
	bool is_each = bb_map_type__is_per_cpu(info.type);
	size_t n_cpus = is_each ? (size_t)libbpf_num_possible_cpus() : 1,
	       each = (len + 7UL) / 8 * 8;

	if (rc || info.value_size != len)
		return rc ? rc : -EINVAL;
	uint8_t *all = bb_calloc(n_cpus, each);
	for (size_t i = 0; writes && i < n_cpus; i++)
		memcpy(all + i * each, value, len);
	if (writes ? bpf_map_update_elem(fd, key, all, BPF_ANY) : bpf_map_lookup_elem(fd, key, all))
		rc = -errno;
	if (!rc && !writes)
		memcpy(value, all, len);
	free(all);
	return rc;
}

/* Returns which value of the firing process (its pid or cgroup) equals the key, or BB_SELF_NONE. */
static enum bb_self self_in(const struct trying *t, const uint8_t *key, uint32_t len)
{
	static const enum bb_self selves[] = {BB_SELF_PID, BB_SELF_PID_TGID, BB_SELF_CGROUP};
	uint8_t own[BB_KEY_BYTES];
	int64_t number;

	for (size_t i = 0; t->prog.self && i < BB_LEN(selves); i++)
		if (bb_self__number(selves[i], t->prog.self, &number) &&
		    bb_put_integer(number, own, len) && !memcmp(own, key, len))
			return selves[i];
	return BB_SELF_NONE;
}

/* Writes the entries of the present state into the maps, and deletes those that only an earlier
 * state had. Ignores errors, because they show when the maps are restored. */
static void write_entries(struct trying *t)
{
	for (size_t i = 0; i < t->search.now.n; i++) {
		const struct bb_try_part *p = &t->search.now.v[i];
		struct bb_contents_map map;
		uint8_t key[sizeof(p->key)];
		int64_t number;

		if (p->kind != BB_TRY_VALUE || !find_map(t, p->name, -1, &map))
			continue;
		memcpy(key, p->key, p->key_len);
		/* the key may stand for a value of the firing process */
		if (p->self && t->prog.self && bb_self__number(p->self, t->prog.self, &number))
			bb_put_integer(number, key, p->key_len);
		if (p->is_set || !p->is_absent)
			move_value(map.fd, key, p->bytes, p->len, true);
		else
			bpf_map_delete_elem(map.fd, key);
	}
}

/* Loads the program or writes map entries if the present state differs from the last one in a way
 * that needs it. *is_reset becomes true if the maps were restored, because the program was loaded
 * or `resets` is true. */
static int prepare_state(struct trying *t, bool resets, bool *is_reset)
{
	bool must_load = is_changed(t, false, &t->loaded, &t->n_loaded) || !t->slot;
	bool must_write = is_changed(t, true, &t->filled, &t->n_filled);
	const struct bb_variant_spec *own = &t->session->plan->scenario->variants[t->variant];
	int rc = 0;

	*is_reset = resets || must_load;
	if (!*is_reset) {
		if (must_write)
			write_entries(t);
		return 0;
	}
	/* gives t->with the variant's globals and maps, with the changes of the present state */
	free_surroundings(t);
	bb_map_specs__inherit(&t->with.maps, &own->maps, &t->surroundings);
	for (size_t i = 0; i < own->n_globals; i++)
		BB_PUSH(t->with.globals, t->with.n_globals, own->globals[i]);
	for (size_t i = 0; i < t->search.now.n; i++)
		add_part(t, &t->search.now.v[i]);
	if (must_load) {
		rc = load_state(t);
		if (rc) /* the next run then loads the program again */
			unload_state(t);
	} else {
		t->prog.spec = &t->with;
		bb_target__say_maps(t->prog.target, &t->with.maps);
	}
	return rc ? rc : bb_target__reset_maps(t->prog.target, &t->err);
}

static uint32_t run_once(struct trying *t, bool resets, bool *is_reset)
{
	uint64_t ns[2], paths[2];
	struct bb_batch b = {.ns = ns, .paths = paths, .want = 2, .max_s = 0.1};

	for (size_t i = 0; i < t->search.now.n; i++)
		if (t->search.now.v[i].kind == BB_TRY_INPUT)
			add_part(t, &t->search.now.v[i]);
	int rc = prepare_state(t, resets, is_reset);
	if (rc)
		return 0;
	const struct bb_exact *e = bb_exact__of(t->slot);
	bb_exact__clear(e);
	bb_exact__swap(e, true);
	rc = bb_driver__batch(t->slot, t->planned->driver_param, &b, &t->err);
	bb_exact__swap(e, false);
	return rc ? 0 : sum_executed(e, &t->all);
}

/* Runs the program in the present state. Restoring the maps may take much longer than a run. So the
 * maps are restored only to repeat a run that seems to execute more instructions. */
static uint32_t run_state(void *arg, bool *ret_is_new)
{
	struct trying *t = arg;
	bool is_reset;
	uint32_t n = run_once(t, false, &is_reset);

	*ret_is_new = false;
	if (n && !is_reset && (n > t->search.level || reaches_new(t, bb_exact__of(t->slot), false)))
		n = run_once(t, true, &is_reset);
	if (!n)
		return 0;
	*ret_is_new = is_reset && reaches_new(t, bb_exact__of(t->slot), true);
	t->jumps_in_vain = jumps_in_vain(bb_exact__of(t->slot));
	return n;
}

static void add_constant(struct trying *t, int64_t number)
{
	struct bb_try_search *s = &t->search;

	if (BB_ANY(s->constants, s->n_constants, *it == number))
		return;
	if (s->n_constants < MOST_CONSTANTS)
		BB_PUSH(s->constants, s->n_constants, number);
}

/* Marks the global at `from` as wanted, because a branch compares it with the number `near`. */
static void want_global(struct trying *t, const struct bb_origin *from, int64_t near)
{
	const struct bb_target *of = t->prog.target;

	for (size_t i = 0; of->ops->global && i < t->search.now.n; i++) {
		struct bb_try_part *p = &t->search.now.v[i];

		if (p->kind != BB_TRY_GLOBAL || p->is_wanted)
			continue;
		struct bb_source_global g = of->ops->global(of, p->name, p->len);
		if (g.map_fd != from->value || from->offset < 0 ||
		    (uint32_t)from->offset - g.offset >= p->len)
			continue;
		p->is_wanted = true;
		p->near = near;
	}
}

/* Adds the constant with which a jump compares to the constants to try. If the jump tests for less
 * or greater, also adds the constant - 1 and + 1. Marks compared globals as wanted, so that the
 * search changes them. */
static void look_at_jump(struct trying *t, const struct bb_exact *m, uint32_t at)
{
	const struct bpf_insn *i = &m->code.insns[at];
	uint8_t op = BPF_OP(i->code);
	bool is_equal = op == BPF_JEQ || op == BPF_JNE || op == BPF_JSET;
	struct bb_origin sides[2] = {bb_origin_of(&m->code, &m->clone.cfg, at, i->dst_reg),
				     {BB_ORIGIN_NUMBER, i->imm, 0}};

	if (BPF_SRC(i->code) == BPF_X)
		sides[1] = bb_origin_of(&m->code, &m->clone.cfg, at, i->src_reg);
	for (int side = 0; side < 2; side++) {
		const struct bb_origin *from = &sides[side], *other = &sides[!side];

		if (from->kind == BB_ORIGIN_GLOBAL)
			want_global(t, from, other->kind == BB_ORIGIN_NUMBER ? other->value : 0);
		if (from->kind != BB_ORIGIN_NUMBER)
			continue;
		for (int64_t k = is_equal ? 0 : -1; k <= !is_equal; k++)
			add_constant(t, from->value + k);
		if (from->value < 0)
			add_constant(t, (uint32_t)from->value);
	}
	/* constants of more than 31 bits are loaded into a register before the jump */
	for (uint32_t k = m->clone.cfg.blocks[m->clone.cfg.block_of[at]].first; k < at; k++)
		if (bb_insn_is_wide(&m->code.insns[k]) && !m->code.insns[k].src_reg)
			add_constant(t,
				     (int64_t)((uint64_t)(uint32_t)m->code.insns[k + 1].imm << 32 |
					       (uint32_t)m->code.insns[k].imm));
}

/* Lets the search change a map entry. Returns NULL if the search may change this entry already, or
 * if the map or its values are too large. */
static struct bb_try_part *offer_value(struct trying *t, const struct bb_contents_map *map,
				       const void *key, const struct bpf_map_info *info,
				       bool is_absent)
{
	if (info->value_size > MOST_VALUE || (!is_absent && info->max_entries > MOST_ELEMENTS))
		return NULL;
	struct bb_try_part *p = bb_try_state__offer(&t->search.now, BB_TRY_VALUE, map->name, key,
						    info->key_size, info->value_size);
	if (p)
		p->is_absent = is_absent;
	if (p && !is_absent)
		move_value(map->fd, key, p->bytes, p->len, false);
	return p;
}

static void offer_programs(struct trying *t, const struct bb_exact *m, uint32_t at, const char *map,
			   const struct bpf_map_info *info)
{
	struct bb_origin index = bb_origin_of(&m->code, &m->clone.cfg, at, BPF_REG_3);
	bool is_known = index.kind == BB_ORIGIN_NUMBER;

	for (uint32_t i = 0; i < info->max_entries && (is_known || i < MOST_SLOTS); i++) {
		if (is_known && i != (uint32_t)index.value)
			continue;
		struct bb_try_part *p = bb_try_state__offer(&t->search.now, BB_TRY_PROGRAM, map, &i,
							    sizeof(i), 1);
		if (p)
			p->n_choices = t->found->n_programs < 255 ? (uint8_t)t->found->n_programs
								  : 255;
	}
}

/* Lets the search change entries of the map that the lookup or tail call `nth` uses. */
static void look_at_call(struct trying *t, const struct bb_exact *m, uint32_t nth)
{
	uint32_t at = m->clone.vain[nth],
		 key_bytes = m->clone.key_bytes ? m->clone.key_bytes[nth] : 0;
	bool is_tail_call = m->code.insns[at].imm == BPF_FUNC_tail_call;
	struct bb_origin from = bb_origin_of(&m->code, &m->clone.cfg, at,
					     is_tail_call ? BPF_REG_2 : BPF_REG_1);
	uint8_t key[BB_KEY_BYTES] = {0};
	struct bb_contents_map map;
	struct bpf_map_info info = {0};
	struct bb_try_part *p;
	enum bb_self self;

	if (!m->totals[m->clone.cfg.block_of[at]] || from.kind != BB_ORIGIN_MAP ||
	    !find_map(t, NULL, from.value, &map) || map.is_variables ||
	    bb_info__read(from.value, &info))
		return;
	if (is_tail_call && m->in_vain[nth]) {
		offer_programs(t, m, at, map.name, &info);
	} else if (info.type == BPF_MAP_TYPE_ARRAY || info.type == BPF_MAP_TYPE_PERCPU_ARRAY) {
		for (uint32_t i = 0; i < info.max_entries && i < MOST_INDEXES; i++)
			offer_value(t, &map, &i, &info, false);
	} else if (bb_map_type__is_table(info.type) && m->in_vain[nth] && key_bytes) {
		for (uint32_t i = 0; i < key_bytes; i++)
			key[i] = m->clone.keys[nth * BB_KEY_BYTES + i];
		self = self_in(t, key, key_bytes);
		if (self)
			/* a key that stands for a value of the firing process */
			memset(key, 0xff - (int)self, sizeof(key));
		p = offer_value(t, &map, key, &info, true);
		if (p)
			p->self = self;
	}
}

static void look_at_run(void *arg)
{
	struct trying *t = arg;
	const struct bb_exact *e = t->slot ? bb_exact__of(t->slot) : NULL;

	free(t->search.constants);
	t->search.constants = NULL;
	t->search.n_constants = 0;
	for (size_t i = 0; i < t->search.now.n; i++)
		t->search.now.v[i].is_wanted = false;
	for (const struct bb_exact *m = e; m; m = m->behind) {
		const struct bb_cfg *g = &m->clone.cfg;
		uint32_t at = 0;

		if (!m->totals[0] || (m != e && m->id == e->id))
			continue;
		/* begins with the branch with the most instructions on a side that did not run */
		if (bb_counts__turned_away(g, &m->code, NULL, m->totals, &at))
			look_at_jump(t, m, at);
		for (uint32_t b = g->n_blocks; b-- > 0;)
			if (m->totals[b] && g->blocks[b].n_next == 2 &&
			    BB_ANY(g->blocks[b].next, 2, !m->totals[*it]))
				look_at_jump(t, m, g->blocks[b].last);
		for (uint32_t i = 0; i < m->clone.n_vain; i++)
			look_at_call(t, m, i);
	}
}

static bool search_must_end(void *arg)
{
	const struct trying *t = arg;
	const struct bb_progress *p = t->session->opts->progress;
	char what[200];

	if (p && p->update && !(t->search.runs % 64)) {
		snprintf(what, sizeof(what), "trying inputs of %s: %u of %u instructions",
			 t->found->variant, t->search.best, t->all);
		p->update(p->arg, fmax(BB_TRY_S - bb_deadline_left_s(), 0), BB_TRY_S, what);
	}
	return bb_must_end() ||
	       (!t->is_found && t->search.best >= NEARLY_ALL * t->all && !t->jumps_in_vain);
}

/* Offers the input and the globals for change, and lists the programs for prog arrays. */
static void offer_all(struct trying *t, const struct bb_object_info *info)
{
	const struct bb_inputs *given = &t->planned->drive->inputs;
	const struct bb_test_run_type *type = NULL;
	struct bb_try_search *s = &t->search;
	uint8_t frame[BB_USUAL_FRAME_BYTES];
	struct bb_try_part *p;
	uint32_t prog_type = 0;

	if (!strcmp(bb_driver_of(t->planned->drive->kind)->trigger->by, "test-run") &&
	    !bb_target__prog_type(t->session->progs[t->variant].target, &prog_type, &t->err) &&
	    !bb_test_run_type__find(prog_type, &type, &t->err)) {
		t->input = given->n ? given->v[0] : *type->otherwise;
		t->found->is_context = type->takes_context;
		p = bb_try_state__offer(&s->now, BB_TRY_INPUT, "", NULL, 0, (uint32_t)t->input.len);
		memcpy(p->bytes, t->input.data ? t->input.data : p->bytes, t->input.len);
		t->spec.inputs = (struct bb_inputs){&t->input, 1};
		for (size_t len;
		     !type->takes_context && (len = bb_packet__usual(s->n_starts, frame));) {
			BB_PUSH(s->starts, s->n_starts,
				(struct bb_bytes){.data = bb_memdup(frame, len), .len = len});
		}
	}
	for (size_t i = 0; i < info->n_globals; i++) {
		const struct bb_object_global *g = &info->globals[i];

		if (g->is_text || g->size_bytes > 8 || __builtin_popcount(g->size_bytes) != 1)
			continue;
		p = bb_try_state__offer(&s->now, BB_TRY_GLOBAL, g->name, NULL, 0, g->size_bytes);
		if (p)
			p->is_state = g->is_state;
	}
	for (size_t i = 0; i < info->n_programs; i++)
		if (info->programs[i].type == prog_type)
			BB_PUSH(t->found->programs, t->found->n_programs,
				bb_strdup(info->programs[i].name));
}

static int search_variant(struct trying *t)
{
	struct bb_found_input *f = t->found;
	bool unused;

	f->before = run_state(t, &unused);
	if (!t->slot)
		return -EINVAL;
	f->n_before = t->all;
	if (!f->before || (f->before >= NEARLY_ALL * f->n_before && !t->jumps_in_vain)) {
		f->after = f->before;
		f->n_after = f->n_before;
		return 0;
	}
	bb_try_search__go(&t->search);
	return 0;
}

/* Loads the program again, as later runs do, and counts what it executes in the best state. */
static int confirm_found(struct trying *t)
{
	struct bb_found_input *f = t->found;
	bool unused;

	if (!t->search.runs)
		return 0;
	unload_state(t);
	f->after = run_state(t, &unused);
	if (!t->slot)
		return -EINVAL;
	f->n_after = t->all;
	f->runs = t->search.runs;
	const struct bb_exact *e = bb_exact__of(t->slot);
	/* finds the check at which the runs still end early */
	for (const struct bb_exact *m = e; m; m = m->behind) {
		uint32_t at = 0, n;

		if (!m->totals[0] || (m != e && m->id == e->id))
			continue;
		n = bb_counts__turned_away(&m->clone.cfg, &m->code, NULL, m->totals, &at);
		const struct bpf_line_info *line = n > f->behind ? bb_code__line_at(&m->code, at)
								 : NULL;
		if (!line)
			continue;
		free(f->not_passed);
		const char *text = bb_code__text(&m->code, line->line_off);
		f->behind = n;
		f->not_passed = bb_asprintf("%s:%u \"%.100s\"",
					    basename(bb_code__text(&m->code, line->file_name_off)),
					    BB_SOURCE_LINE(line->line_col),
					    text + strspn(text, " \t"));
	}
	return 0;
}

static void close_trying(struct trying *t)
{
	unload_state(t);
	t->found->state = t->search.now;
	/* closed before free_surroundings(), because the program points into t->with */
	bb_test_prog__close(&t->prog);
	free_surroundings(t);
	bb_driver__close(t->state);
	for (size_t i = 0; i < t->search.n_starts; i++)
		free(t->search.starts[i].data);
	free(t->search.starts);
	free(t->search.constants);
	free(t->loaded);
	free(t->filled);
	for (size_t i = 0; i < t->n_reached; i++)
		free(t->reached[i].blocks);
	free(t->reached);
}

static void try_variant(struct bb_session *s, size_t variant, const struct bb_plan_case *planned,
			struct bb_found_input *found)
{
	struct trying t = {.session = s,
			   .variant = variant,
			   .planned = planned,
			   .spec = *planned->drive,
			   .with = *planned->variant,
			   .found = found};
	char *path = bb_object_path(s->plan->scenario, planned->variant,
				    s->opts->driver.object_dir);
	struct bb_object_info info = {0};
	struct bb_deadline limit;
	int rc = bb_object_info__read(path, &info, &t.err);

	t.with.globals = NULL;
	t.with.n_globals = 0;
	t.with.maps = (struct bb_map_specs){0};
	/* The drive "lines" cannot time a program that needs a reserved pid. So no pid is reserved
	 * for the firing process if the scenario has this drive. */
	t.with.knows_pid = !t.with.fired_by.run &&
			   !BB_ANY(s->plan->scenario->drives, s->plan->scenario->n_drives,
				   it->kind->by_line);
	t.spec.kind = &bb_driver__executed_by(bb_driver_of(planned->drive->kind))->kind;
	t.spec.caches = BB_CACHES_HOT;
	t.search.run = run_state;
	t.search.look = look_at_run;
	t.search.must_end = search_must_end;
	t.search.arg = &t;
	bb_rng_seed(&t.search.rng, s->opts->seed);
	if (!rc)
		offer_all(&t, &info);
	if (!rc)
		rc = bb_driver__open(&t.spec, &s->opts->driver, &t.state, &t.err);
	bb_deadline__begin(&limit, SEARCH_S);
	if (!rc)
		rc = search_variant(&t);
	bb_deadline__end(&limit);
	t.is_found = true;
	bb_deadline__begin(&limit, TAKE_BACK_S);
	if (!rc)
		bb_try_search__take_back(&t.search);
	bb_deadline__end(&limit);
	if (!rc)
		rc = confirm_found(&t);
	if (rc)
		found->why_not = bb_strdup(t.err.msg);
	close_trying(&t);
	bb_object_info__done(&info);
	free(path);
}

int bb_try_inputs(const struct bb_scenario *scenario, const struct bb_run_opts *opts,
		  struct bb_found_inputs *ret_found, struct bb_err *err)
{
	struct bb_report *scratch = bb_report__new();
	struct bb_session session = {0};
	struct bb_plan plan = {0};
	int rc = bb_plan__make(scenario, &(struct bb_plan_opts){0}, &plan, err);

	if (!rc)
		rc = bb_session__open(&plan, opts, scratch, &session, err);
	for (size_t v = 0; !rc && v < scenario->n_variants; v++) {
		const struct bb_plan_case *c = bb_session__find_case(&session, 0, v);
		const struct bb_map_specs *maps = &scenario->variants[v].maps;

		for (size_t d = 1; !c && d < scenario->n_drives; d++)
			c = bb_session__find_case(&session, d, v);
		/* variants of --per-cpu get the input of the program that they are compared with */
		if (!c || bb_plan_case__is_floor(c) ||
		    BB_ANY(maps->v, maps->n, it->shape.per_cpu) || !bb_session__can(&session, c) ||
		    !bb_driver__executed_by(bb_driver_of(c->drive->kind)))
			continue;
		struct bb_found_input *f = bb_append(&ret_found->v, &ret_found->n, sizeof(*f));
		f->variant = bb_strdup(scenario->variants[v].name);
		try_variant(&session, v, c, f);
		rc = bb_stop_signal ? -EINTR : 0;
	}
	bb_session__close(&session);
	bb_plan__done(&plan);
	bb_report__free(scratch);
	return rc;
}

void bb_found_inputs__done(struct bb_found_inputs *f)
{
	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; k < f->v[i].n_programs; k++)
			free(f->v[i].programs[k]);
		free(f->v[i].programs);
		bb_try_state__done(&f->v[i].state);
		free(f->v[i].variant);
		free(f->v[i].why_not);
		free(f->v[i].not_passed);
	}
	free(f->v);
	*f = (struct bb_found_inputs){0};
}

bool bb_found_input__is_any(const struct bb_found_input *f)
{
	return BB_ANY(f->state.v, f->after > f->before ? f->state.n : 0, it->is_set);
}

char *bb_found_input__words(const struct bb_found_input *f)
{
	char *text = NULL;

	for (size_t i = 0; i < f->state.n; i++) {
		const struct bb_try_part *p = &f->state.v[i];

		if (!p->is_set)
			continue;
		if (p->kind == BB_TRY_INPUT)
			bb_add_words(&text, ", ", "a %s of %u bytes",
				     f->is_context ? "context" : "packet", p->len);
		else if (p->kind == BB_TRY_GLOBAL)
			bb_add_words(&text, ", ", "global %s = %lld", p->name,
				     (long long)bb_try_part__number(p));
		else if (p->kind == BB_TRY_PROGRAM)
			bb_add_words(&text, ", ", "program %s in map %s",
				     f->programs[p->bytes[0] - 1], p->name);
		else
			bb_add_words(&text, ", ", "an entry of map %s", p->name);
	}
	return text ? text : bb_strdup("");
}
