/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the drive `lines`: finds the cuts of a program, and the path that runs take. */
#include "drivers/lines.h"

#include "base/io.h"

/* the search for the cuts that the verifier refuses gives up after this many loads of the clone */
#define MOST_TRIES 200u
/* If the verifier refuses a clone with more cuts than this, every second cut is left out. From a
 * clone with fewer cuts, the refused cuts and then whole kinds of cuts are left out. */
#define MANY 400u
#define TRIES_SHARE 0.1 /* share of the remaining time for finding the refused cuts */
#define DOUBLED 6u      /* the most positions at which the clone with doubled checks is measured */
/* the most runs whose path is logged; the most frequent path is measured */
#define LOGGED 25u
#define LOG_S 0.2
/* the most logged runs to discard because other processes made the program run */
#define IN_VAIN 1000u
#define MOST_MEASURED 240u
#define SWEEP_SHARE 0.02 /* share of the remaining time for one sweep over all positions */

static const int32_t removers[] = {
	BPF_FUNC_map_delete_elem,      BPF_FUNC_map_pop_elem,        BPF_FUNC_sk_storage_delete,
	BPF_FUNC_inode_storage_delete, BPF_FUNC_task_storage_delete, BPF_FUNC_kptr_xchg,
};

int bb_lines_plan__read(struct bb_lines_plan *p, const struct bb_target *target, struct bb_err *err)
{
	struct bb_cut_parts *of = &p->parts;

	bb_lines_plan__forget(p);
	int rc = bb_target__code(target, target->prog_fd, &of->code, err);
	if (!rc)
		rc = bb_cfg__make(&of->code, &of->cfg, err);
	if (!rc) {
		bb_registers__find(&of->code, &of->cfg, &of->live);
		bb_helds__find(&of->code, &of->cfg, &of->helds);
		of->stack_bytes = bb_calloc(of->cfg.n_funcs, sizeof(*of->stack_bytes));
		rc = bb_load__stack_bytes(&of->code, &of->cfg, of->stack_bytes, err);
	}
	if (!rc)
		p->removes = bb_code__calls(&of->code, removers, BB_LEN(removers));
	return rc;
}

void bb_lines_plan__forget(struct bb_lines_plan *p)
{
	bb_helds__done(&p->parts.helds);
	bb_registers__done(&p->parts.live);
	bb_cfg__done(&p->parts.cfg);
	bb_code__done(&p->parts.code);
	free(p->parts.stack_bytes);
	p->parts.stack_bytes = NULL;
}

static int try_load(const struct bb_lines_plan *p, struct bb_err *err)
{
	int fd = -1, rc = bb_must_end_why();

	if (!rc)
		rc = bb_cut_clone__load(&p->parts, &p->form, &fd, err);
	bb_close(&fd);
	return rc;
}

/* Tries the two longer forms of the clone: with doubled checks, and with the log of passed cuts. */
static int try_longer(struct bb_lines_plan *p, struct bb_err *err)
{
	const struct bb_cut_form form = p->form;

	p->form.doubled = true;
	int rc = try_load(p, err);
	p->form = (struct bb_cut_form){.logs = true};
	rc = rc ? rc : try_load(p, err);
	p->form = form;
	return rc;
}

/* Tries the simplest form of the clone, and then the one that the verifier's message suggests. */
static int try_forms(struct bb_lines_plan *p, struct bb_err *err)
{
	int rc = try_load(p, err);

	if (rc == -ENOTSUP && err &&
	    (strstr(err->msg, "too complex") || strstr(err->msg, "too large"))) {
		p->form.stub_first = true;
		rc = try_load(p, err);
	}
	if (rc == -ENOTSUP && err && (strstr(err->msg, "R0") || strstr(err->msg, "return"))) {
		p->form.retval = 1;
		rc = try_load(p, err);
		p->form.retval = rc == -ENOTSUP ? 0 : 1;
	}
	return rc;
}

struct tries {
	unsigned int n;
	uint64_t began_ns;
	double most_s;
};

/* Enables the cuts [first, end) if the clone then loads. If it does not, tries each half of them. A
 * single cut with which the clone does not load stays off, and p->refused counts it. Returns -E2BIG
 * after too many tries or too much time. */
static int allow_cuts(struct bb_lines_plan *p, uint32_t first, uint32_t end, struct tries *t,
		      struct bb_err *err)
{
	uint32_t middle = first + (end - first) / 2;

	if (++t->n > MOST_TRIES || bb_seconds_since(t->began_ns) > t->most_s)
		return -E2BIG;
	for (uint32_t i = first; i < end; i++)
		p->parts.cuts.v[i].is_off = false;
	int rc = try_load(p, err);
	if (rc != -ENOTSUP)
		return rc;
	for (uint32_t i = first; i < end; i++)
		p->parts.cuts.v[i].is_off = true;
	if (end - first == 1) {
		if (!p->refused++)
			snprintf(p->refused_why, sizeof(p->refused_why), "%.299s", err->msg);
		return 0;
	}
	rc = allow_cuts(p, first, middle, t, err);
	return rc ? rc : allow_cuts(p, middle, end, t, err);
}

/* Returns -ENOTSUP and leaves `err` as it was if no cut is allowed or the search takes too long. */
static int try_cuts(struct bb_lines_plan *p, struct bb_err *err)
{
	struct tries t = {.began_ns = bb_now_ns(), .most_s = bb_deadline_left_s() * TRIES_SHARE};
	struct bb_err all = *err;

	p->refused = 0;
	for (uint32_t i = 0; i < p->parts.cuts.n; i++)
		p->parts.cuts.v[i].is_off = true;
	int rc = allow_cuts(p, 0, p->parts.cuts.n, &t, err);
	if (rc == -E2BIG || (!rc && p->refused == p->parts.cuts.n)) {
		*err = all;
		rc = -ENOTSUP;
	}
	return rc;
}

static void keep_reason(struct bb_lines_plan *p, const char *why)
{
	if (!p->thinned_why[0])
		snprintf(p->thinned_why, sizeof(p->thinned_why), "%.*s", (int)strcspn(why, "\n"),
			 why);
}

/* Lowers p->detail by one step. Returns false if it is already the lowest. */
static bool coarsen(struct bb_lines_plan *p, const char *why)
{
	if (p->detail == BB_CUT_CALLS)
		return false;
	keep_reason(p, why);
	p->detail--;
	return true;
}

/* Lowers p->detail until the verifier allows some cuts. Returns -ENOTSUP if it allows none. */
static int settle(struct bb_lines_plan *p, int memory_fd, struct bb_err *err)
{
	struct bb_err local = {0};
	struct bb_cuts all = {0};
	uint32_t every = 1;
	int rc = 0;

	err = err ? err : &local;
	p->parts.memory_fd = memory_fd;
	bb_cuts__find(&p->parts.code, &p->parts.cfg, BB_CUT_ALL, 1, &all);
	p->points = all.n;
	bb_cuts__done(&all);
	while (!rc) {
		bb_cuts__done(&p->parts.cuts);
		p->form = (struct bb_cut_form){0};
		p->refused = 0;
		bb_cuts__find(&p->parts.code, &p->parts.cfg, p->detail, every, &p->parts.cuts);
		rc = try_forms(p, err);
		if (!rc && p->parts.cuts.n > MANY)
			rc = try_longer(p, err);
		if (rc == -ENOTSUP && p->parts.cuts.n > MANY) {
			/* leave out every second cut: a row then covers several lines */
			every *= 2;
			keep_reason(p, err->msg);
			rc = 0;
			continue;
		}
		if (rc == -ENOTSUP)
			rc = try_cuts(p, err);
		if (rc != -ENOTSUP || !coarsen(p, err->msg))
			return rc;
		rc = 0;
	}
	return rc;
}

/* cuts[n]: the cuts that a run passes, in order; owned */
struct path {
	uint32_t *cuts, n;
	unsigned int times;
	double ns; /* time of the first logged run, ns */
};

/* Logs one run, after `before` others. Returns -EAGAIN if another process made the program run, and
 * -E2BIG if the log is too short for the path. */
static int log_run(const struct bb_lines_state *s, struct bb_lines_slot *slot, uint32_t param,
		   unsigned int before, struct path *ret_path, struct bb_err *err)
{
	const struct bb_lines_burst burst = {
		.thing = &slot->things[BB_LINES_LOGGER],
		.nth = UINT64_MAX,
		.ends_at = -2,
		.batch = {.want = 1,
			  .warmup = before,
			  .drain_each_run = s->common.spec->step.consumer == BB_DRAIN_EACH_RUN},
	};
	uint32_t n = 0;

	bb_cut_memory__begin_log(&s->memory);
	int rc = bb_lines_burst__fire(s, &burst, param, err);
	if (rc)
		return rc;
	if (bb_must_end())
		return bb_must_end_why();
	if (!s->burst->batch.n)
		return -EAGAIN;
	uint64_t logged = bb_cut_memory__logged(&s->memory);
	/* search backwards for cut 0, with which every run begins */
	while (n < logged && n < BB_CUT_LOG &&
	       (!n || bb_cut_memory__log(&s->memory, logged - n) != 0))
		n++;
	if (n == BB_CUT_LOG)
		return -E2BIG;
	*ret_path = (struct path){.cuts = bb_calloc(n, sizeof(uint32_t)),
				  .n = n,
				  .ns = (double)s->burst->ns[0]};
	for (uint32_t i = 0; i < n; i++)
		ret_path->cuts[i] = bb_cut_memory__log(&s->memory, logged - n + i);
	return 0;
}

/* Returns -E2BIG if the log is too short for the path. */
static int find_path(const struct bb_lines_state *s, struct bb_lines_slot *slot, uint32_t param,
		     struct path *ret_path, struct bb_err *err)
{
	struct path paths[LOGGED], now;
	unsigned int n = 0, most = 0, runs = 0, in_vain = 0;
	uint64_t began_ns = bb_now_ns();
	int rc = 0;

	/* the first logged run is a warm-up and does not count, because maps may be empty */
	while (runs <= LOGGED && in_vain < IN_VAIN &&
	       (runs < 3 || bb_seconds_since(began_ns) < LOG_S)) {
		unsigned int k = 0;

		/* At least one run comes before the logged run, because attaching the program and
		 * reading its counters make some programs run. The number of these runs varies,
		 * because some programs alternate between paths. */
		rc = log_run(s, slot, param, 1 + (runs + in_vain) % 3, &now, err);
		if (rc == -EAGAIN) {
			in_vain++;
			continue;
		}
		if (rc)
			break;
		if (!runs++) {
			free(now.cuts);
			continue;
		}
		while (k < n && (paths[k].n != now.n ||
				 memcmp(paths[k].cuts, now.cuts, now.n * sizeof(*now.cuts))))
			k++;
		if (k == n)
			paths[n++] = now;
		else
			free(now.cuts);
		paths[k].times++;
		most = paths[k].times > paths[most].times ? k : most;
	}
	if (!n && (!rc || rc == -EAGAIN))
		rc = bb_fail(err, -ENOTSUP,
			     "no run of '%s' was alone: others make it run all the time",
			     slot->variant->plan.parts.code.name);
	if (rc == -EAGAIN)
		rc = 0;
	if (!rc) {
		*ret_path = paths[most];
		paths[most].cuts = NULL;
	}
	for (unsigned int i = 0; i < n; i++)
		free(paths[i].cuts);
	return rc;
}

static void add_item(struct bb_lines_case *p, enum bb_lines_thing thing, uint32_t position,
		     bool is_bare)
{
	p->items[p->n_items++] = (struct bb_lines_item){thing, position, is_bare};
}

static int plan_param(const struct bb_lines_state *s, struct bb_lines_slot *slot, uint32_t param,
		      struct bb_err *err)
{
	struct bb_lines_variant *v = slot->variant;
	struct path path = {0};
	int rc = find_path(s, slot, param, &path, err);
	const uint32_t *measured;
	uint32_t n;

	if (rc)
		return rc;
	if (!path.n) {
		free(path.cuts);
		return bb_fail(err, -EPROTO, "a clone of '%s' passes none of its cuts",
			       v->plan.parts.code.name);
	}
	struct bb_lines_case *p = bb_append(&v->cases, &v->n_cases, sizeof(*p));
	p->param = param;
	p->is_cold = s->common.spec->caches == BB_CACHES_COLD;
	/* number of positions with which a sweep takes SWEEP_SHARE of the remaining time */
	double most = bb_deadline_left_s() * SWEEP_SHARE /
		      (path.ns * 1e-9 * (BB_LINES_BURST + BB_LINES_WARMUP));
	bb_line_path__make(&v->plan.parts.code, &v->plan.parts.cfg, &v->plan.parts.cuts, path.cuts,
			   path.n, (uint32_t)fmin(most, MOST_MEASURED), &p->path);
	measured = p->path.measured;
	n = p->path.n_measured;
	p->items = bb_calloc(BB_LINES_ITEM_FIRST_CUT + (size_t)n + 2 + DOUBLED, sizeof(*p->items));
	add_item(p, BB_LINES_PROGRAM, p->path.n, false);
	add_item(p, BB_LINES_EMPTY, p->path.n, false);
	for (uint32_t i = 0; i < n; i++)
		add_item(p, BB_LINES_CLONE, measured[i], false);
	p->first_bare = p->n_items;
	add_item(p, BB_LINES_CLONE, measured[0], true);
	add_item(p, BB_LINES_CLONE, measured[n - 1], true);
	p->first_doubled = p->n_items;
	for (uint32_t i = 0, last = UINT32_MAX; i < DOUBLED; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * (n - 1) / (DOUBLED - 1));

		if (at != last)
			add_item(p, BB_LINES_DOUBLED_CLONE, measured[at], false);
		last = at;
	}
	return 0;
}

void bb_lines_variant__done(struct bb_lines_variant *v)
{
	for (size_t i = 0; i < v->n_cases; i++) {
		struct bb_lines_case *p = &v->cases[i];

		for (size_t k = 0; p->means && k < (size_t)p->n_loads * p->n_items; k++)
			free(p->means[k].v);
		free(p->means);
		free(p->items);
		free(p->ns);
		bb_line_path__done(&p->path);
	}
	free(v->cases);
	v->cases = NULL;
	v->n_cases = 0;
}

/* Enables bpf_stats meanwhile, because it is still off when programs are probed. */
int bb_lines_variant__plan(struct bb_lines_slot *slot, struct bb_err *err)
{
	const struct bb_lines_state *s = (const struct bb_lines_state *)slot->common.state;
	struct bb_lines_variant *v = slot->variant;
	bool has_inputs = s->common.spec->kind->takes_inputs;
	const struct bb_u32_list *values = &s->common.spec->values;
	size_t n = has_inputs ? s->common.spec->inputs.n : values->n;
	struct bb_stats_enable stats;
	struct bb_err too_many;
	int rc = bb_stats_enable__on(&stats, err);

	if (rc)
		return rc;
	for (;;) {
		rc = settle(&v->plan, s->memory.fd, err);
		if (!rc)
			rc = bb_lines_slot__load(slot, err);
		if (!rc)
			rc = bb_lines_slot__load_logger(slot, err);
		for (uint32_t i = 0; !rc && i < (n ? n : 1); i++)
			rc = plan_param(s, slot, n && !has_inputs ? values->v[i] : i, err);
		if (rc)
			bb_lines_variant__done(v);
		bb_lines_slot__unload(slot, BB_LINES_LOGGER);
		if (rc != -E2BIG)
			break;
		for (enum bb_lines_thing i = 0; i < BB_LINES_N_THINGS; i++)
			bb_lines_slot__unload(slot, i);
		bb_fail(&too_many, -ENOTSUP, "a run of '%s' passes more than %u cuts",
			v->plan.parts.code.name, BB_CUT_LOG);
		if (!coarsen(&v->plan, too_many.msg)) {
			rc = bb_fail(err, -ENOTSUP, "%s", too_many.msg);
			break;
		}
	}
	bb_stats_enable__off(&stats);
	return rc;
}
