/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drive `exact`: counts the instructions that each run executes. A clone of the program runs in
 * its place, with a counter in every basic block (exact/clone.h). The counters are read and reset
 * between runs. Nothing is timed. Inputs and warm-up are those that the drive `step` uses. */
#include "drivers/exact.h"

#include <bpf/bpf.h>

#include "drivers/trigger.h"

#define MOST_ARRAYS 64
/* larger prog arrays keep the original programs, because swapping reads every entry */
#define MOST_ENTRIES 65536

/* Longest time of the warm-up, s. It is long, so that a fast program makes all its warm-up runs
 * even if other processes take CPU time. A count may depend on how often the program has run. */
#define WARMUP_S 1.0

/* A firing gives no sample if other processes made the program run meanwhile. The batch ends after
 * this many firings in a row without a sample. */
#define IN_VAIN 1000u

static size_t counter_bytes(const struct bb_clone *clone)
{
	return (2 * (size_t)clone->cfg.n_blocks + clone->n_vain) * sizeof(uint64_t);
}

static void close_one(struct bb_exact *e)
{
	if (e->totals)
		munmap(e->totals, counter_bytes(&e->clone));
	bb_clone__done(&e->clone);
	bb_code__done(&e->code);
}

static uint32_t id_of(int prog_fd)
{
	struct bpf_prog_info info = {0};

	return bb_info__read(prog_fd, &info) ? 0 : info.id;
}

static int open_one(const struct bb_target *target, int prog_fd, bool logs_keys, struct bb_exact *e,
		    struct bb_err *err)
{
	e->prog_fd = prog_fd;
	e->clone.prog_fd = -1;
	int rc = bb_target__code(target, prog_fd, &e->code, err);
	if (!rc)
		rc = bb_clone__load(&e->code, logs_keys, &e->clone, err);
	if (rc) {
		close_one(e);
		return rc;
	}
	e->id = id_of(prog_fd);
	e->clone_id = id_of(e->clone.prog_fd);
	/* shared, because a child process may fire */
	e->totals = bb_map_pages(counter_bytes(&e->clone), MAP_SHARED);
	e->now = e->totals + e->clone.cfg.n_blocks;
	e->in_vain = e->now + e->clone.cfg.n_blocks;
	return 0;
}

/* If the program has tail calls, fills the list e->behind: a second clone of the program itself,
 * and one of every program that was loaded with it. Leaves out programs that cannot be cloned or
 * for which no time is left. bb_exact__swap() lets tail calls reach these clones. */
static void open_behind(const struct bb_target *target, bool logs_keys, struct bb_exact *e)
{
	struct bb_exact **end = &e->behind;
	int fd;

	if (!bb_code__calls(&e->code, (int32_t[]){BPF_FUNC_tail_call}, 1))
		return;
	for (size_t i = 0; !bb_must_end() && bb_target__loaded(target, i, &fd); i++) {
		struct bb_exact *m = bb_calloc(1, sizeof(*m));

		if (fd < 0 || open_one(target, fd, logs_keys, m, NULL)) {
			free(m);
			continue;
		}
		*end = m;
		end = &m->behind;
	}
}

struct arrays {
	int fd[MOST_ARRAYS];
	uint32_t entries[MOST_ARRAYS];
	size_t n;
};

static void take_array(struct arrays *a, int fd)
{
	struct bpf_map_info info = {0};

	if (BB_ANY(a->fd, a->n, *it == fd))
		return;
	if (a->n == MOST_ARRAYS || bb_info__read(fd, &info) ||
	    info.type != BPF_MAP_TYPE_PROG_ARRAY || info.max_entries > MOST_ENTRIES)
		return;
	a->fd[a->n] = fd;
	a->entries[a->n++] = info.max_entries;
}

void bb_exact__swap(const struct bb_exact *e, bool in)
{
	struct arrays a = {.n = 0};
	uint32_t id;

	for (const struct bb_exact *m = e; m && e->behind; m = m->behind)
		for (uint32_t at = 0; at < m->code.n; at++)
			if (bb_insn_is_wide(&m->code.insns[at]) &&
			    m->code.insns[at].src_reg == BPF_PSEUDO_MAP_FD)
				take_array(&a, m->code.insns[at].imm);
	for (size_t i = 0; i < a.n; i++)
		for (uint32_t key = 0; key < a.entries[i]; key++) {
			const struct bb_exact *m = e->behind;

			if (bpf_map_lookup_elem(a.fd[i], &key, &id))
				continue;
			while (m && id != (in ? m->id : m->clone_id))
				m = m->behind;
			if (m)
				bpf_map_update_elem(a.fd[i], &key,
						    in ? &m->clone.prog_fd : &m->prog_fd, BPF_ANY);
		}
}

void bb_exact__clear(const struct bb_exact *e)
{
	for (; e; e = e->behind) {
		memset(e->totals, 0, e->clone.cfg.n_blocks * sizeof(*e->totals));
		memset(e->in_vain, 0, e->clone.n_vain * sizeof(*e->in_vain));
	}
}

struct slot {
	struct bb_drive_slot common;
	struct bb_exact exact;
	uint64_t began_ns;
	size_t warmed;
	size_t in_vain; /* firings in a row that gave no sample */
	uint64_t *in;   /* in[block]: scratch memory of bb_counts__are_whole() */
	bool is_warm;
};

const struct bb_exact *bb_exact__of(const void *slot)
{
	return &((const struct slot *)slot)->exact;
}

void bb_exact__sort_by_set(void *slot, struct bb_exact_sets *sets)
{
	((struct slot *)slot)->exact.sets = sets;
}

static void detach(void *slot)
{
	struct slot *s = slot;

	if (!s->in)
		return;
	for (struct bb_exact *e = s->exact.behind, *next; e; e = next) {
		next = e->behind;
		close_one(e);
		free(e);
	}
	close_one(&s->exact);
	free(s->in);
}

static int attach(void *slot, struct bb_err *err)
{
	struct slot *s = slot;
	struct bb_test_prog *prog = s->common.prog;
	int rc = open_one(prog->target, prog->target->prog_fd, prog->logs_keys, &s->exact, err);

	if (rc)
		return rc;
	if (prog->counts_behind)
		open_behind(prog->target, prog->logs_keys, &s->exact);
	s->in = bb_calloc(s->exact.clone.cfg.n_blocks, sizeof(*s->in));
	return bb_trigger__attach(s->common.state->fired, prog, s->exact.clone.prog_fd,
				  &s->common.attached, err);
}

static int probe(void *state, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bb_drive_slot *slot;
	int rc = bb_driver__attach(state, prog, &slot, err);

	if (!rc)
		bb_driver__detach(slot);
	return rc;
}

static void reset_counters(struct bb_exact *e)
{
	for (; e; e = e->behind)
		bb_clone__reset(&e->clone);
}

static int begin(const struct bb_attached *, void *arg, struct bb_batch *b)
{
	struct slot *s = arg;

	s->began_ns = bb_now_ns();
	s->warmed = s->in_vain = 0;
	s->is_warm = !b->warmup;
	/* touch the memory now, because a page fault during the batch may run the program */
	memset(s->exact.now, 0, s->exact.clone.cfg.n_blocks * sizeof(*s->exact.now));
	reset_counters(&s->exact);
	return 0;
}

/* True if the counters can come from our firing alone. now[0] counts the first basic block, so it
 * is the number of runs that began. */
static bool are_ours(const struct bb_attached *a, struct slot *s)
{
	const struct bb_exact *e = &s->exact;

	if (!a->state->trigger->shares_events)
		return true;
	bb_clone__read(&e->clone, e->now);
	return e->now[0] >= a->runs_each &&
	       bb_counts__are_whole(&e->clone.cfg, &e->code, a->runs_each, e->now, s->in);
}

static bool executes_these(const struct bb_exact *e, const uint8_t *executes)
{
	for (uint32_t i = 0; i < e->clone.cfg.n_blocks; i++)
		if (executes[i] != (e->now[i] > 0))
			return false;
	return true;
}

/* Returns the index in e->sets of the set of basic blocks that the run executed. Adds a new set.
 * Returns BB_MIX_MOST_PATHS if there is no room for it. */
static uint64_t set_of(const struct bb_exact *e)
{
	struct bb_exact_sets *sets = e->sets;

	for (size_t i = 0; i < sets->n; i++)
		if (executes_these(e, sets->executes[i]))
			return i;
	if (sets->n == BB_MIX_MOST_PATHS)
		return BB_MIX_MOST_PATHS;
	sets->executes[sets->n] = bb_calloc(e->clone.cfg.n_blocks, 1);
	for (uint32_t i = 0; i < e->clone.cfg.n_blocks; i++)
		sets->executes[sets->n][i] = e->now[i] > 0;
	return sets->n++;
}

static void take_counts(const struct bb_attached *a, struct slot *s, struct bb_batch *b)
{
	struct bb_exact *e = &s->exact;

	for (struct bb_exact *m = e; m; m = m->behind) {
		const volatile uint64_t *in_vain = m->clone.counts.v + m->clone.cfg.n_blocks;

		bb_clone__read(&m->clone, m->now);
		for (uint32_t i = 0; i < m->clone.cfg.n_blocks; i++)
			m->totals[i] += m->now[i];
		for (uint32_t i = 0; i < m->clone.n_vain; i++)
			m->in_vain[i] += __atomic_load_n(&in_vain[i], __ATOMIC_RELAXED);
	}
	b->paths[b->n] = e->sets ? set_of(e) : bb_counts__path(&e->clone.cfg, e->now);
	b->ns[b->n++] = bb_counts__instructions(&e->clone.cfg, e->now) / a->runs_each;
	b->fired++;
}

/* Stores the counts of a firing, unless it is a warm-up or other processes made the program run. */
static int after(const struct bb_attached *a, void *arg, struct bb_batch *b, bool is_whole)
{
	struct slot *s = arg;

	s->in_vain = !is_whole || are_ours(a, s) ? 0 : s->in_vain + 1;
	bb_target__drain(a->target, !b->drain_each_run);
	if (is_whole && !s->in_vain && s->is_warm) {
		take_counts(a, s, b);
	} else if (is_whole && !s->in_vain) {
		s->is_warm = !bb_batch__warms_up(b, ++s->warmed, s->began_ns, WARMUP_S);
		if (s->is_warm)
			b->warmup = s->warmed;
	}
	bool is_last = !bb_batch__goes_on(b, s->began_ns);
	/* reset last, so that other processes hardly ever make the program run in between */
	reset_counters(&s->exact);
	return is_last || s->in_vain == IN_VAIN;
}

static int batch(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_instrument_part part = {begin, after, slot, .reads_counters = false};
	const struct bb_drive_slot *s = slot;

	/* touch the memory now, because a page fault during the batch may run the program */
	memset(b->ns, 0, b->want * sizeof(*b->ns));
	memset(b->paths, 0, b->want * sizeof(*b->paths));
	return s->state->driver->trigger->fire(s->attached, param, &part, b, err);
}

const struct bb_driver bb_driver_exact = {
	.kind.with = "exact",
	.kind.doc = "count the instructions of every run, by a clone of the program "
		    "with counters in it",
	.kind.pace = {.samples = 10,
		      .turn = 100,
		      .warmup_first = 100,
		      .warmup_turn = 8,
		      .sample_s = 5e-6},
	.kind.sample = {"run", "instructions per run", false},
	.kind.needs_bpf = true,
	.kind.counts = true,
	.kind.stats_off = true,
	.kind.whole_object = true,
	.is_instrument = true,
	.slot_bytes = sizeof(struct slot),
	.probe = probe,
	.attach = attach,
	.batch = batch,
	.detach = detach,
};
