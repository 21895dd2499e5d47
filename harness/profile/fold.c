/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From samples to folded stacks: addresses become points, each of which is named once, and points
 * become the frames of the functions there.
 */
#include "profile/fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OWN_FRAMES 8u
#define MAX_POINTS (2 * BB_PROFILE_FRAMES + 8) /* of a stack: its process and notes included */

/* A sampled stack, outermost first: `n` of folding.parts, which are points, from `first` on. */
struct sampled {
	size_t first;
	uint32_t n;
	bool is_off_cpu;
	double weight;
};

/* What samples of one process and name have in common. */
struct process {
	const struct bb_sampled_stack *sample; /* one of them; NULL: none yet */
	uint32_t space, point;
};

struct folding {
	const struct bb_samples *samples;
	const struct bb_fold_opts *opts;
	struct bb_stacks *stacks;
	struct bb_code_addresses points;
	struct bb_idmap processes; /* (name, 0) -> point */
	struct process latest;
	uint32_t cut, lost, off_cpu; /* points */
	uint32_t *parts;
	size_t n_parts;
	struct sampled *sampled;
	size_t n_sampled;
	uint32_t *numbers; /* of each frame of the points: which it is of the stacks' */
};

static int process_point(struct folding *f, const struct bb_sampled_stack *s, uint32_t *ret_point)
{
	char process[BB_PROFILE_COMM + 32];
	uint32_t name;
	int len, rc;

	if (f->opts->with_pid)
		len = snprintf(process, sizeof(process), "%.*s (%u)", BB_PROFILE_COMM, s->comm,
			       s->pid);
	else
		len = snprintf(process, sizeof(process), "%.*s", BB_PROFILE_COMM, s->comm);
	if (bb_names__add(f->points.names, process, (size_t)len, &name))
		return -ENOMEM;
	*ret_point = bb_idmap__get(&f->processes, name, 0);
	if (*ret_point != BB_NO_ID)
		return 0;
	rc = bb_code_addresses__text(&f->points, process, BB_FRAME_COMM, ret_point);
	return rc ? rc : bb_idmap__put(&f->processes, name, 0, *ret_point);
}

/* All frames but the innermost are return addresses: the call is before them, perhaps in another
 * line or function. */
static uint64_t code_address(const uint64_t *addresses, size_t nth)
{
	return nth ? addresses[nth] - 1 : addresses[0];
}

/* The sample's process and space: most often those of the sample before it. */
static int find_process(struct folding *f, const struct bb_sampled_stack *s)
{
	struct process *p = &f->latest;

	if (p->sample && p->sample->pid == s->pid &&
	    !memcmp(p->sample->comm, s->comm, sizeof(s->comm)))
		return 0;
	p->sample = s;
	p->space = bb_spaces__of(f->points.spaces, s->pid, s->comm);
	return process_point(f, s, &p->point);
}

/* The sample's points, outermost first. */
static int add_sample(struct folding *f, const struct bb_sampled_stack *s)
{
	const uint64_t *kernel = f->samples->addresses + s->first, *user = kernel + s->n_kernel;
	struct sampled *sampled = &f->sampled[f->n_sampled++];
	uint32_t *parts = f->parts + f->n_parts;
	int rc = find_process(f, s);
	size_t n = 0;

	parts[n++] = f->latest.point;
	if (s->is_user_cut)
		parts[n++] = f->cut;
	if (s->is_lost)
		parts[n++] = f->lost;
	for (size_t i = s->n_user; i-- > 0 && !rc;)
		rc = bb_code_addresses__user(&f->points, s->pid, f->latest.space,
					     code_address(user, i), &parts[n++]);
	if (s->is_kernel_cut)
		parts[n++] = f->cut;
	for (size_t i = s->n_kernel; i-- > 0 && !rc;)
		rc = bb_code_addresses__kernel(&f->points, code_address(kernel, i), &parts[n++]);
	if (s->is_off_cpu)
		parts[n++] = f->off_cpu;
	*sampled = (struct sampled){
		.first = f->n_parts,
		.n = (uint32_t)n,
		.is_off_cpu = s->is_off_cpu,
		.weight = s->is_off_cpu ? (double)s->weight / 1000
					: (double)s->weight * f->opts->on_cpu_weight,
	};
	f->n_parts += n;
	return rc;
}

static int add_samples(struct folding *f)
{
	const size_t notes = 5; /* the process, and what is said of a stack */
	int rc = 0;

	f->parts =
		malloc((f->samples->n_addresses + notes * f->samples->n + 1) * sizeof(*f->parts));
	f->sampled = malloc((f->samples->n + 1) * sizeof(*f->sampled));
	if (!f->parts || !f->sampled ||
	    bb_code_addresses__text(&f->points, BB_NOTE_CUT, BB_FRAME_NOTE, &f->cut) ||
	    bb_code_addresses__text(&f->points, BB_NOTE_LOST, BB_FRAME_NOTE, &f->lost) ||
	    bb_code_addresses__text(&f->points, BB_NOTE_OFF_CPU, BB_FRAME_OFF_CPU, &f->off_cpu))
		return -ENOMEM;
	for (size_t i = 0; i < f->samples->n && !rc; i++)
		rc = add_sample(f, &f->samples->v[i]);
	return rc;
}

/* Functions of a point before those of another that begin alike but have more: [f] before [f,
 * inlined g]. */
static int by_functions(const void *a, const void *b, void *arg)
{
	const struct bb_code_addresses *ps = arg;
	const struct bb_code_address *x = &ps->v[*(const uint32_t *)a],
				     *y = &ps->v[*(const uint32_t *)b];

	for (uint32_t i = 0; i < x->n && i < y->n; i++) {
		int order = bb_frame_order(ps->names, &ps->frames.v[x->first + i],
					   &ps->frames.v[y->first + i]);

		if (order)
			return order;
	}
	return (x->n > y->n) - (x->n < y->n);
}

/*
 * Frames of points that are found in the same way from the outermost on are the same one. Give each
 * of them to the stacks, and number the frames of points as they are there.
 */
static int number_frames(struct folding *f)
{
	const struct bb_code_addresses *ps = &f->points;
	uint32_t *order = malloc((ps->n + 1) * sizeof(*order)),
		 *numbers = malloc((ps->frames.n + 1) * sizeof(*numbers));
	int rc = order && numbers ? 0 : -ENOMEM;

	f->numbers = numbers;
	for (uint32_t i = 0; i < ps->n && !rc; i++)
		order[i] = i;
	if (!rc)
		qsort_r(order, ps->n, sizeof(*order), by_functions, (void *)(uintptr_t)ps);
	for (size_t i = 0; i < ps->n && !rc; i++) {
		const struct bb_code_address *p = &ps->v[order[i]],
					     *before = i ? &ps->v[order[i - 1]] : NULL;
		bool is_same = before != NULL;

		for (uint32_t k = 0; k < p->n && !rc; k++) {
			const struct bb_frame *frame = &ps->frames.v[p->first + k];

			is_same = is_same && k < before->n &&
				  !bb_frame_order(ps->names, &ps->frames.v[before->first + k],
						  frame);
			numbers[p->first + k] = is_same ? numbers[before->first + k]
							: (uint32_t)f->stacks->n_frames;
			if (!is_same)
				rc = bb_stacks__add_frame(f->stacks, frame);
		}
	}
	free(order);
	return rc;
}

/* A frame that is our own looking at a switch: the tracepoint, and what it calls. */
static bool is_own(const struct folding *f, uint32_t point)
{
	const struct bb_frame *frame = &f->points.frames.v[f->points.v[point].first];
	const char *name = bb_names__text(f->points.names, frame->name);

	return frame->kind == BB_FRAME_KERNEL &&
	       (!strncmp(name, "bpf_", 4) || !strncmp(name, "__bpf_trace_", 12) ||
		!strncmp(name, "__traceiter_", 12));
}

/* [off-CPU] goes to where the kernel switched. */
static void drop_own_frames(const struct folding *f, struct sampled *s)
{
	uint32_t *parts = f->parts + s->first, n = s->n - 1, keep = n; /* without [off-CPU] */

	for (uint32_t i = 1; i <= MAX_OWN_FRAMES && i <= n; i++)
		if (is_own(f, parts[n - i]))
			keep = n - i;
	parts[keep] = parts[n];
	s->n = keep + 1;
}

/* From points to frames. */
static int add_stacks(struct folding *f)
{
	uint32_t frames[MAX_POINTS * BB_ELF_MAX_FRAMES];
	int rc = 0;

	for (size_t i = 0; i < f->n_sampled && !rc; i++) {
		struct sampled *s = &f->sampled[i];
		uint32_t n = 0;

		if (s->is_off_cpu)
			drop_own_frames(f, s);
		for (size_t k = s->first; k < s->first + s->n; k++) {
			const struct bb_code_address *p = &f->points.v[f->parts[k]];

			for (uint32_t frame = p->first; frame < p->first + p->n; frame++)
				frames[n++] = f->numbers[frame];
		}
		rc = bb_stacks__add(f->stacks, frames, n, s->weight);
	}
	return rc;
}

static int fold(struct folding *f, struct bb_symbolize_result *ret_symbols, struct bb_err *err)
{
	int rc;

	if (add_samples(f))
		return bb_fail_nomem(err);
	rc = bb_code_addresses__symbolize(&f->points, ret_symbols, err);
	if (rc)
		return rc;
	if (number_frames(f) || add_stacks(f) || bb_stacks__sort_frames(f->stacks))
		return bb_fail_nomem(err);
	bb_stacks__sort(f->stacks);
	return 0;
}

int bb_fold(const struct bb_samples *samples, const struct bb_spaces *spaces,
	    const struct bb_fold_opts *opts, struct bb_profile *ret_profile, struct bb_err *err)
{
	struct bb_profile profile = {0};
	struct folding f = {
		.samples = samples,
		.opts = opts,
		.stacks = &profile.stacks,
		.points = {.spaces = spaces,
			   .kernel = opts->kernel,
			   .names = &profile.stacks.names},
	};
	int rc = fold(&f, &profile.symbols, err);

	profile.unknown_kernel = f.points.unknown_kernel;
	free(f.parts);
	free(f.sampled);
	free(f.numbers);
	bb_idmap__done(&f.processes);
	bb_code_addresses__done(&f.points);
	if (rc)
		bb_profile__done(&profile);
	else
		*ret_profile = profile;
	return rc;
}

void bb_profile__done(struct bb_profile *p)
{
	bb_stacks__done(&p->stacks);
	memset(p, 0, sizeof(*p));
}
