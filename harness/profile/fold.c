/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From samples to a tree, without a look-up for each of its nodes: addresses become points, points with the same functions
 * become one rank, and stacks are sorted by the ranks of their points. Each then shares its outer part with the one before,
 * or with none.
 */
#include "profile/fold.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OWN_FRAMES 8u
#define MAX_DEPTH (2 * BB_PROFILE_FRAMES + 8)	/* of a stack: its process and notes included */

/* A distinct stack, outermost first: `n` of folding.parts from `first` on, points and later ranks. */
struct stack {
	size_t first;
	uint32_t n;
	bool is_off_cpu;
	double weight;
};

struct folding {
	const struct bb_samples *samples;
	const struct bb_fold_opts *opts;
	struct bb_profile *profile;
	struct bb_points points;
	struct bb_idmap processes;	/* (name, 0) -> point */
	uint32_t cut, lost, off_cpu;	/* points */
	uint32_t *parts;
	size_t n_parts;
	struct stack *stacks;
	size_t n_stacks;
	uint32_t *rank_of;		/* of each point: its place in the order of their functions, alike for alike */
	uint32_t *point_of;		/* of each rank: one such point */
};

static int process_point(struct folding *f, const struct bb_sampled_stack *s, uint32_t *ret_point)
{
	char process[BB_PROFILE_COMM + 32];
	uint32_t name;
	int len, rc;

	if (f->opts->with_pid)
		len = snprintf(process, sizeof(process), "%.*s (%u)", BB_PROFILE_COMM, s->comm, s->pid);
	else
		len = snprintf(process, sizeof(process), "%.*s", BB_PROFILE_COMM, s->comm);
	if (bb_names__add(f->points.names, process, (size_t)len, &name))
		return -ENOMEM;
	*ret_point = bb_idmap__get(&f->processes, name, 0);
	if (*ret_point != BB_NO_ID)
		return 0;
	rc = bb_points__text(&f->points, process, BB_FRAME_COMM, ret_point);
	return rc ? rc : bb_idmap__put(&f->processes, name, 0, *ret_point);
}

/* All frames but the innermost are return addresses: the call is before them, perhaps in another line or function. */
static uint64_t code_address(const uint64_t *addresses, size_t nth)
{
	return nth ? addresses[nth] - 1 : addresses[0];
}

/* The sample's points, outermost first. */
static int add_stack(struct folding *f, const struct bb_sampled_stack *s)
{
	const uint64_t *kernel = f->samples->addresses + s->first, *user = kernel + s->n_kernel;
	struct stack *stack = &f->stacks[f->n_stacks++];
	uint32_t *parts = f->parts + f->n_parts, space = bb_spaces__of(f->points.spaces, s->pid, s->comm);
	size_t n = 0;
	int rc = process_point(f, s, &parts[n++]);

	if (s->is_user_cut)
		parts[n++] = f->cut;
	if (s->is_lost)
		parts[n++] = f->lost;
	for (size_t i = s->n_user; i-- > 0 && !rc;)
		rc = bb_points__user(&f->points, s->pid, space, code_address(user, i), &parts[n++]);
	if (s->is_kernel_cut)
		parts[n++] = f->cut;
	for (size_t i = s->n_kernel; i-- > 0 && !rc;)
		rc = bb_points__kernel(&f->points, code_address(kernel, i), &parts[n++]);
	if (s->is_off_cpu)
		parts[n++] = f->off_cpu;
	*stack = (struct stack){
		.first = f->n_parts, .n = (uint32_t)n, .is_off_cpu = s->is_off_cpu,
		.weight = s->is_off_cpu ? (double)s->weight / 1000 : (double)s->weight * f->opts->on_cpu_weight,
	};
	f->n_parts += n;
	return rc;
}

static int add_stacks(struct folding *f)
{
	const size_t notes = 5;		/* the process, and what is said of a stack */
	int rc = 0;

	f->parts = malloc((f->samples->n_addresses + notes * f->samples->n + 1) * sizeof(*f->parts));
	f->stacks = malloc((f->samples->n + 1) * sizeof(*f->stacks));
	if (!f->parts || !f->stacks || bb_points__text(&f->points, BB_NOTE_CUT, BB_FRAME_NOTE, &f->cut) ||
	    bb_points__text(&f->points, BB_NOTE_LOST, BB_FRAME_NOTE, &f->lost) ||
	    bb_points__text(&f->points, BB_NOTE_OFF_CPU, BB_FRAME_OFF_CPU, &f->off_cpu))
		return -ENOMEM;
	for (size_t i = 0; i < f->samples->n && !rc; i++)
		rc = add_stack(f, &f->samples->v[i]);
	return rc;
}

/* Functions of a point before those of another that begin alike but have more: [f] before [f, inlined g]. */
static int by_functions(const void *a, const void *b, void *arg)
{
	const struct bb_points *ps = arg;
	const struct bb_point *x = &ps->v[*(const uint32_t *)a], *y = &ps->v[*(const uint32_t *)b];

	for (uint32_t i = 0; i < x->n && i < y->n; i++) {
		const struct bb_frame *p = &ps->frames.v[x->first + i], *q = &ps->frames.v[y->first + i];

		if (p->name != q->name)
			return p->name < q->name ? -1 : 1;
		if (p->kind != q->kind)
			return p->kind < q->kind ? -1 : 1;
	}
	return (x->n > y->n) - (x->n < y->n);
}

static int rank_points(struct folding *f)
{
	struct bb_points *ps = &f->points;
	uint32_t *order = malloc((ps->n + 1) * sizeof(*order)), rank = 0;

	f->rank_of = malloc((ps->n + 1) * sizeof(*f->rank_of));
	f->point_of = malloc((ps->n + 1) * sizeof(*f->point_of));
	if (!order || !f->rank_of || !f->point_of) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < ps->n; i++)
		order[i] = i;
	qsort_r(order, ps->n, sizeof(*order), by_functions, ps);
	for (size_t i = 0; i < ps->n; i++) {
		if (i && by_functions(&order[i - 1], &order[i], ps))
			rank++;
		f->rank_of[order[i]] = rank;
		f->point_of[rank] = order[i];
	}
	free(order);
	return 0;
}

/* A frame that is our own looking at a switch: the tracepoint, and what it calls. */
static bool is_own(const struct folding *f, uint32_t point)
{
	const struct bb_frame *frame = &f->points.frames.v[f->points.v[point].first];
	const char *name = bb_names__text(f->points.names, frame->name);

	return frame->kind == BB_FRAME_KERNEL &&
	       (!strncmp(name, "bpf_", 4) || !strncmp(name, "__bpf_trace_", 12) || !strncmp(name, "__traceiter_", 12));
}

/* [off-CPU] goes to where the kernel switched. */
static void drop_own_frames(const struct folding *f, struct stack *s)
{
	uint32_t *parts = f->parts + s->first, n = s->n - 1, keep = n;	/* without [off-CPU] */

	for (uint32_t i = 1; i <= MAX_OWN_FRAMES && i <= n; i++)
		if (is_own(f, parts[n - i]))
			keep = n - i;
	parts[keep] = parts[n];
	s->n = keep + 1;
}

static uint64_t hash_of(const uint32_t *parts, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = (h ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
	return h;
}

/* From points to ranks, and of stacks that are alike only the first, with the weight of all. */
static int merge_stacks(struct folding *f)
{
	struct bb_idmap known = {0};	/* (hash, how manieth of this hash) */
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < f->n_stacks && !rc; i++) {
		struct stack *s = &f->stacks[i];
		uint32_t *parts = f->parts + s->first, id;
		uint64_t hash, nth = 0;

		if (s->is_off_cpu)
			drop_own_frames(f, s);
		for (size_t k = 0; k < s->n; k++)
			parts[k] = f->rank_of[parts[k]];
		hash = hash_of(parts, s->n);
		while ((id = bb_idmap__get(&known, hash, nth)) != BB_NO_ID &&
		       (f->stacks[id].n != s->n || memcmp(f->parts + f->stacks[id].first, parts, s->n * sizeof(*parts))))
			nth++;
		if (id != BB_NO_ID) {
			f->stacks[id].weight += s->weight;
			continue;
		}
		f->stacks[n] = *s;
		rc = bb_idmap__put(&known, hash, nth, (uint32_t)n++);
	}
	f->n_stacks = n;
	bb_idmap__done(&known);
	return rc;
}

static int by_parts(const void *a, const void *b, void *arg)
{
	const struct stack *x = a, *y = b;
	const uint32_t *parts = arg, *p = parts + x->first, *q = parts + y->first;

	for (uint32_t i = 0; i < x->n && i < y->n; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

static int add_functions(struct folding *f, uint32_t rank, uint32_t *node)
{
	const struct bb_point *p = &f->points.v[f->point_of[rank]];
	int rc = 0;

	for (uint32_t i = p->first; i < p->first + p->n && !rc; i++) {
		const struct bb_frame *frame = &f->points.frames.v[i];

		rc = bb_tree__next_child(&f->profile->tree, *node, frame->name, frame->kind, i, node);
	}
	return rc;
}

static int build_tree(struct folding *f)
{
	uint32_t nodes[MAX_DEPTH + 1] = {0};	/* nodes[i]: after i parts of the stack before */
	const uint32_t *before = NULL;
	uint32_t n_before = 0;
	int rc = 0;

	qsort_r(f->stacks, f->n_stacks, sizeof(*f->stacks), by_parts, f->parts);
	for (size_t i = 0; i < f->n_stacks && !rc; i++) {
		const struct stack *s = &f->stacks[i];
		const uint32_t *parts = f->parts + s->first;
		uint32_t at = 0;

		while (at < s->n && at < n_before && parts[at] == before[at])
			at++;
		for (; at < s->n && !rc; at++) {
			nodes[at + 1] = nodes[at];
			rc = add_functions(f, parts[at], &nodes[at + 1]);
		}
		f->profile->tree.nodes[nodes[s->n]].self += (uint64_t)llround(s->weight);
		before = parts;
		n_before = s->n;
	}
	bb_tree__sum(&f->profile->tree);
	return rc;
}

static int fold(struct folding *f, struct bb_err *err)
{
	int rc = bb_tree__init(&f->profile->tree);

	f->points.names = &f->profile->tree.names;
	if (!rc)
		rc = add_stacks(f);
	if (rc)
		return bb_fail_nomem(err);
	rc = bb_points__symbolize(&f->points, &f->profile->symbols, err);
	if (rc)
		return rc;
	if (rank_points(f) || merge_stacks(f) || build_tree(f))
		return bb_fail_nomem(err);
	return 0;
}

int bb_fold(const struct bb_samples *samples, const struct bb_spaces *spaces, const struct bb_fold_opts *opts,
	    struct bb_profile *ret_profile, struct bb_err *err)
{
	struct bb_profile profile = {0};
	struct folding f = {
		.samples = samples, .opts = opts, .profile = &profile, .points = {.spaces = spaces, .kernel = opts->kernel},
	};
	int rc = fold(&f, err);

	profile.frames = f.points.frames;
	profile.unknown_kernel = f.points.unknown_kernel;
	free(f.parts);
	free(f.stacks);
	free(f.rank_of);
	free(f.point_of);
	bb_idmap__done(&f.processes);
	bb_points__done(&f.points);
	if (rc)
		bb_profile__done(&profile);
	else
		*ret_profile = profile;
	return rc;
}

void bb_profile__done(struct bb_profile *p)
{
	bb_tree__done(&p->tree);
	free(p->frames.v);
	memset(p, 0, sizeof(*p));
}
