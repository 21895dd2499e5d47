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

#include "base/grow.h"

#define MAX_OWN_FRAMES 8u
#define MAX_POINTS (2 * BB_PROFILE_FRAMES + 8) /* of a stack: its process and notes included */
#define KERNEL_SPACE UINT64_MAX

/* A distinct address of code, or a text in its place, and the functions there: frames[first ..
 * first + n), outermost first. */
struct point {
	uint64_t offset; /* in the file `dso` */
	uint32_t dso;    /* BB_NO_ID: in none */
	uint32_t first, n;
};

struct folding {
	const struct bb_samples *samples;
	const struct bb_spaces *spaces;
	const struct bb_fold_opts *opts;
	struct bb_profile *profile;
	struct bb_names *names; /* the profile's */
	struct point *points;
	size_t n_points;
	struct bb_frame *frames; /* of the points */
	size_t n_frames;
	struct bb_idmap by_address; /* (address, space or KERNEL_SPACE) -> point */
	/* (offset, dso) -> point: the same file in several processes */
	struct bb_idmap by_place;
	struct bb_idmap processes; /* (name, 0) -> point */
	struct bb_jit_maps jit_maps;
	/* of the last sample: it, or NULL; its space, and the point of its process */
	const struct bb_sampled_stack *latest;
	uint32_t space, process;
	uint32_t cut, lost, off_cpu;  /* points */
	struct bb_code_place *places; /* of points, in order; `id` says of which */
	struct bb_stacks sampled;     /* its `parts` are points */
	uint32_t *numbers; /* of each frame of the points: which it is of the profile's */
};

static int add_frame(struct folding *f, struct point *p, const char *name, enum bb_frame_kind kind,
		     uint64_t start, uint64_t distance)
{
	struct bb_frame *frame = bb_append(&f->frames, &f->n_frames, sizeof(*frame));

	if (!frame || bb_names__add(f->names, name, strlen(name), &frame->name))
		return -ENOMEM;
	frame->file = BB_NO_ID;
	frame->kind = kind;
	frame->start = start;
	frame->distance = distance;
	if (!p->n++)
		p->first = (uint32_t)f->n_frames - 1;
	return 0;
}

static int add_point(struct folding *f, const struct point *p, uint32_t *ret_id)
{
	struct point *copy = bb_append(&f->points, &f->n_points, sizeof(*p));

	if (!copy)
		return -ENOMEM;
	*copy = *p;
	*ret_id = (uint32_t)f->n_points - 1;
	return 0;
}

static int add_text(struct folding *f, const char *text, enum bb_frame_kind kind,
		    uint32_t *ret_point)
{
	struct point p = {.dso = BB_NO_ID};

	return add_frame(f, &p, text, kind, 0, 0) ? -ENOMEM : add_point(f, &p, ret_point);
}

/* The point of an address in no file: `symbols` (NULL: none) of the kernel or of a JIT name it. */
static int add_symbol(struct folding *f, const struct bb_symtab *symbols, bool is_kernel,
		      uint64_t address, uint32_t *ret_point)
{
	const struct bb_symbol *s = symbols ? bb_symtab__find(symbols, address) : NULL;
	struct point p = {.dso = BB_NO_ID};
	int rc;

	if (s)
		rc = add_frame(f, &p, bb_symtab__name(symbols, s),
			       is_kernel ? BB_FRAME_KERNEL : BB_FRAME_JIT, s->start,
			       address - s->start);
	else if (is_kernel)
		rc = add_frame(f, &p, "[kernel]", BB_FRAME_KERNEL, 0, address);
	else
		rc = add_frame(f, &p, "[unknown]", BB_FRAME_USER, 0, address);
	f->profile->unknown_kernel += is_kernel && !s;
	return rc ? rc : add_point(f, &p, ret_point);
}

static int kernel_point(struct folding *f, uint64_t address, uint32_t *ret_point)
{
	*ret_point = bb_idmap__get(&f->by_address, address, KERNEL_SPACE);
	if (*ret_point != BB_NO_ID)
		return 0;
	if (add_symbol(f, f->opts->kernel, true, address, ret_point))
		return -ENOMEM;
	return bb_idmap__put(&f->by_address, address, KERNEL_SPACE, *ret_point);
}

/* In a file: the point of that place, whoever has it mapped. It is named later. */
static int place_point(struct folding *f, uint32_t dso, uint64_t offset, uint32_t *ret_point)
{
	const struct point p = {.dso = dso, .offset = offset};

	*ret_point = bb_idmap__get(&f->by_place, offset, dso);
	if (*ret_point != BB_NO_ID)
		return 0;
	if (add_point(f, &p, ret_point))
		return -ENOMEM;
	return bb_idmap__put(&f->by_place, offset, dso, *ret_point);
}

/* Of a process in the space of the latest sample. */
static int user_point(struct folding *f, uint32_t pid, uint64_t address, uint32_t *ret_point)
{
	/* Without a space, addresses are told apart by the process: its JIT may know them. */
	uint64_t key = f->space == BB_NO_ID ? (uint64_t)1 << 32 | pid : f->space;
	const struct bb_symtab *jit;
	const struct bb_mapping *m;
	int rc;

	*ret_point = bb_idmap__get(&f->by_address, address, key);
	if (*ret_point != BB_NO_ID)
		return 0;
	m = bb_spaces__find(f->spaces, f->space, address);
	if (m && m->dso != BB_NO_ID) {
		rc = place_point(f, m->dso, address - m->start + m->file_offset, ret_point);
	} else {
		rc = bb_jit_maps__get(&f->jit_maps, pid, bb_spaces__user(f->spaces, pid), &jit);
		if (!rc)
			rc = add_symbol(f, jit, false, address, ret_point);
	}
	return rc ? rc : bb_idmap__put(&f->by_address, address, key, *ret_point);
}

/* The sample's process and space: most often those of the sample before it. */
static int find_process(struct folding *f, const struct bb_sampled_stack *s)
{
	const struct bb_sampled_stack *latest = f->latest;
	char process[BB_PROFILE_COMM + 32];
	uint32_t name;
	int len;

	if (latest && latest->pid == s->pid && !memcmp(latest->comm, s->comm, sizeof(s->comm)))
		return 0;
	f->latest = s;
	f->space = bb_spaces__of(f->spaces, s->pid, s->comm);
	len = snprintf(process, sizeof(process), "%.*s", BB_PROFILE_COMM, s->comm);
	if (f->opts->with_pid)
		snprintf(process + len, sizeof(process) - (size_t)len, " (%u)", s->pid);
	if (bb_names__add(f->names, process, strlen(process), &name))
		return -ENOMEM;
	f->process = bb_idmap__get(&f->processes, name, 0);
	if (f->process != BB_NO_ID)
		return 0;
	if (add_text(f, process, BB_FRAME_COMM, &f->process))
		return -ENOMEM;
	return bb_idmap__put(&f->processes, name, 0, f->process);
}

/* All frames but the innermost are return addresses: the call is before them, perhaps in another
 * line or function. */
static uint64_t code_address(const uint64_t *addresses, size_t nth)
{
	return nth ? addresses[nth] - 1 : addresses[0];
}

/* The sample's points, outermost first. */
static int add_sample(struct folding *f, const struct bb_sampled_stack *s)
{
	const uint64_t *kernel = f->samples->addresses + s->first, *user = kernel + s->n_kernel;
	uint32_t points[MAX_POINTS], n = 0;
	int rc = find_process(f, s);

	points[n++] = f->process;
	if (s->is_user_cut)
		points[n++] = f->cut;
	if (s->is_lost)
		points[n++] = f->lost;
	for (size_t i = s->n_user; i-- > 0 && !rc;)
		rc = user_point(f, s->pid, code_address(user, i), &points[n++]);
	if (s->is_kernel_cut)
		points[n++] = f->cut;
	for (size_t i = s->n_kernel; i-- > 0 && !rc;)
		rc = kernel_point(f, code_address(kernel, i), &points[n++]);
	if (s->is_off_cpu)
		points[n++] = f->off_cpu;
	if (rc)
		return rc;
	return bb_stacks__add(&f->sampled, points, n,
			      s->is_off_cpu ? (double)s->weight / 1000
					    : (double)s->weight * f->opts->on_cpu_weight);
}

static int on_found(void *arg, uint32_t place, const struct bb_elf_frame *found)
{
	struct folding *f = arg;
	struct point *p = &f->points[f->places[place].id];
	struct bb_frame *frame;
	int rc = add_frame(f, p, *found->function ? found->function : "[unknown]",
			   found->is_inlined ? BB_FRAME_INLINED : BB_FRAME_USER, found->start,
			   found->distance);

	if (rc)
		return rc;
	frame = &f->frames[f->n_frames - 1];
	frame->line = found->line;
	return found->file ? bb_names__add(f->names, found->file, strlen(found->file), &frame->file)
			   : 0;
}

static int by_place(const void *a, const void *b)
{
	const struct bb_code_place *x = a, *y = b;

	if (x->dso != y->dso)
		return x->dso < y->dso ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Name the points in files. 0 or -errno with a message. */
static int symbolize(struct folding *f, struct bb_err *err)
{
	struct bb_code_place *places = malloc((f->n_points + 1) * sizeof(*places));
	size_t n = 0;
	int rc;

	f->places = places;
	if (!places)
		return bb_fail_nomem(err);
	for (uint32_t i = 0; i < f->n_points; i++)
		if (f->points[i].dso != BB_NO_ID)
			places[n++] = (struct bb_code_place){f->points[i].dso, i,
							     f->points[i].offset};
	qsort(places, n, sizeof(*places), by_place);
	rc = bb_symbolize(&f->spaces->dsos, places, n, BB_SYMBOLIZE_SECONDS, on_found, f,
			  &f->profile->symbols, err);
	for (size_t i = 0; i < n && !rc; i++) {
		struct point *p = &f->points[places[i].id];
		char name[300];

		if (p->n)
			continue;
		/* A function that has no name is at least in a file that has one. */
		snprintf(name, sizeof(name), "[%.255s]",
			 bb_dso__short_name(&f->spaces->dsos.v[p->dso]));
		rc = add_frame(f, p, name, BB_FRAME_USER, 0, p->offset) ? bb_fail_nomem(err) : 0;
	}
	return rc;
}

/* Functions of a point before those of another that begin alike but have more: [f] before [f,
 * inlined g]. */
static int by_functions(const void *a, const void *b, void *arg)
{
	const struct folding *f = arg;
	const struct point *x = &f->points[*(const uint32_t *)a],
			   *y = &f->points[*(const uint32_t *)b];

	for (uint32_t i = 0; i < x->n && i < y->n; i++) {
		int order = bb_frame_order(f->names, &f->frames[x->first + i],
					   &f->frames[y->first + i]);

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
	struct bb_stacks *stacks = &f->profile->stacks;
	uint32_t *order = malloc((f->n_points + 1) * sizeof(*order));
	int rc;

	f->numbers = malloc((f->n_frames + 1) * sizeof(*f->numbers));
	rc = order && f->numbers ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < f->n_points && !rc; i++)
		order[i] = i;
	if (!rc)
		qsort_r(order, f->n_points, sizeof(*order), by_functions, f);
	for (size_t i = 0; i < f->n_points && !rc; i++) {
		const struct point *p = &f->points[order[i]],
				   *before = i ? &f->points[order[i - 1]] : NULL;
		bool is_same = before != NULL;

		for (uint32_t k = 0; k < p->n && !rc; k++) {
			const struct bb_frame *frame = &f->frames[p->first + k];

			is_same = is_same && k < before->n &&
				  !bb_frame_order(f->names, &f->frames[before->first + k], frame);
			f->numbers[p->first + k] = is_same ? f->numbers[before->first + k]
							   : (uint32_t)stacks->n_frames;
			if (!is_same)
				rc = bb_stacks__add_frame(stacks, frame);
		}
	}
	free(order);
	return rc;
}

/* A frame of the code that samples switches: the tracepoint, and what it calls. */
static bool is_own(const struct folding *f, uint32_t point)
{
	const struct bb_frame *frame = &f->frames[f->points[point].first];
	const char *name = bb_names__text(f->names, frame->name);

	return frame->kind == BB_FRAME_KERNEL &&
	       (!strncmp(name, "bpf_", 4) || !strncmp(name, "__bpf_trace_", 12) ||
		!strncmp(name, "__traceiter_", 12));
}

/* From points to frames. */
static int add_stacks(struct folding *f)
{
	uint32_t frames[MAX_POINTS * BB_ELF_MAX_FRAMES];
	int rc = 0;

	for (size_t i = 0; i < f->sampled.n && !rc; i++) {
		const struct bb_stack *s = &f->sampled.v[i];
		const uint32_t *points = f->sampled.parts + s->first;
		uint32_t n = 0, last = s->n - 1, n_points = s->n;

		/* Our own frames are left out: [off-CPU] goes to where the kernel switched. */
		if (points[last] == f->off_cpu)
			for (uint32_t own = 1; own <= MAX_OWN_FRAMES && own <= last; own++)
				if (is_own(f, points[last - own]))
					n_points = last - own;
		for (uint32_t k = 0; k < s->n; k++) {
			const struct point *p = &f->points[points[k]];

			if (k >= n_points && k != last)
				continue;
			for (uint32_t frame = p->first; frame < p->first + p->n; frame++)
				frames[n++] = f->numbers[frame];
		}
		rc = bb_stacks__add(&f->profile->stacks, frames, n, s->weight);
	}
	return rc;
}

static int fold_samples(struct folding *f, struct bb_err *err)
{
	int rc = add_text(f, BB_NOTE_CUT, BB_FRAME_NOTE, &f->cut);

	if (!rc)
		rc = add_text(f, BB_NOTE_LOST, BB_FRAME_NOTE, &f->lost);
	if (!rc)
		rc = add_text(f, BB_NOTE_OFF_CPU, BB_FRAME_OFF_CPU, &f->off_cpu);
	for (size_t i = 0; i < f->samples->n && !rc; i++)
		rc = add_sample(f, &f->samples->v[i]);
	if (rc)
		return bb_fail_nomem(err);
	rc = symbolize(f, err);
	if (rc)
		return rc;
	if (number_frames(f) || add_stacks(f) || bb_stacks__sort_frames(&f->profile->stacks))
		return bb_fail_nomem(err);
	bb_stacks__sort(&f->profile->stacks);
	return 0;
}

int bb_fold(const struct bb_samples *samples, const struct bb_spaces *spaces,
	    const struct bb_fold_opts *opts, struct bb_profile *ret_profile, struct bb_err *err)
{
	struct bb_profile profile = {0};
	struct folding f = {
		.samples = samples,
		.spaces = spaces,
		.opts = opts,
		.profile = &profile,
		.names = &profile.stacks.names,
	};
	int rc = fold_samples(&f, err);

	free(f.points);
	free(f.frames);
	free(f.places);
	free(f.numbers);
	bb_stacks__done(&f.sampled);
	bb_idmap__done(&f.by_address);
	bb_idmap__done(&f.by_place);
	bb_idmap__done(&f.processes);
	bb_jit_maps__done(&f.jit_maps);
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
