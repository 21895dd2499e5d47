/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns samples into folded stacks. Each distinct address becomes a point, which is looked up only
 * once. Then each sample becomes a stack of the frames of its points. */
#include "profile/recording.h"

#define MAX_OWN_FRAMES 8u /* most frames of our own code in a stack of an off-CPU sample */
/* Most points of a stack, with its process and notes. */
#define MAX_POINTS (2 * BB_PROFILE_FRAMES + 8)
#define KERNEL_SPACE UINT64_MAX /* stands for the kernel in keys of `by_address` */

/* A distinct code address, or a text in place of one, such as the name of a process. Its functions,
 * outermost first, are folding.numbers[first .. first + n). */
struct point {
	uint64_t offset;
	uint32_t dso; /* index of the file, or BB_NO_ID if the address is not in a file */
	uint32_t first, n;
};

struct folding {
	const struct bb_samples *samples;
	const struct bb_spaces *spaces;
	const struct bb_fold_opts *opts;
	struct bb_profile *profile;
	struct point *points;
	size_t n_points;
	uint32_t *numbers; /* frames of all points, as indexes in bb_stacks.frames */
	size_t n_numbers;
	/* (address, index of its address space or KERNEL_SPACE) -> point */
	struct bb_idmap by_address;
	struct bb_idmap by_location; /* (offset, dso) -> point, shared by processes */
	struct bb_idmap processes;   /* (index of a process's name, 0) -> point */
	struct bb_jit_maps jit_maps;
	/* last sample whose process was looked up, that process's address space (index), and its
	 * point */
	const struct bb_sampled_stack *latest;
	uint32_t space, process;
	uint32_t cut, lost, off_cpu;
	struct bb_stacks found; /* the samples, with points in place of frames */
	/* locations of the points in files, sorted by file; `id` is the index of the point */
	struct bb_code_location *locations;
};

static uint32_t name_id(struct folding *f, const char *name)
{
	return bb_names__add(&f->profile->stacks.names, name, strlen(name));
}

/* Adds a function as the innermost one. Points share the frames of equal outer functions. */
static void add_frame(struct folding *f, struct point *p, const char *name, struct bb_frame frame)
{
	uint32_t before = p->n ? f->numbers[p->first + p->n - 1] : BB_NO_ID;

	frame.name = name_id(f, name);
	BB_PUSH(f->numbers, f->n_numbers,
		bb_stacks__intern_frame(&f->profile->stacks, &frame, before));
	if (!p->n++)
		p->first = (uint32_t)f->n_numbers - 1;
}

/* The result is valid until the next call. */
static struct point *add_point(struct folding *f, uint32_t dso, uint64_t offset, uint32_t *ret_id)
{
	struct point *p = bb_append(&f->points, &f->n_points, sizeof(*p));

	*p = (struct point){.dso = dso, .offset = offset};
	*ret_id = (uint32_t)f->n_points - 1;
	return p;
}

static uint32_t add_text(struct folding *f, const char *text, enum bb_frame_kind kind)
{
	const struct bb_frame frame = {.file = BB_NO_ID, .kind = kind};
	uint32_t id;

	add_frame(f, add_point(f, BB_NO_ID, 0, &id), text, frame);
	return id;
}

/* Adds a point for an address that is not in a file. If `symbols` (of the kernel or a JIT) is NULL,
 * the function has no name. */
static uint32_t add_symbol(struct folding *f, const struct bb_symtab *symbols, bool is_kernel,
			   uint64_t address)
{
	const struct bb_symbol *s = symbols ? bb_symtab__find(symbols, address) : NULL;
	const char *name = is_kernel ? "[kernel]" : "[unknown]";
	struct bb_frame frame = {.file = BB_NO_ID,
				 .kind = is_kernel ? BB_FRAME_KERNEL : BB_FRAME_USER,
				 .distance = address};
	uint32_t id;

	if (s) {
		name = bb_symtab__name(symbols, s);
		frame.kind = is_kernel ? BB_FRAME_KERNEL : BB_FRAME_JIT;
		frame.start = s->start;
		frame.distance = address - s->start;
	}
	f->profile->unknown_kernel += is_kernel && !s;
	add_frame(f, add_point(f, BB_NO_ID, 0, &id), name, frame);
	return id;
}

static uint32_t kernel_point(struct folding *f, uint64_t address)
{
	uint32_t point = bb_idmap__get(&f->by_address, address, KERNEL_SPACE);

	if (point == BB_NO_ID) {
		point = add_symbol(f, f->opts->kernel, true, address);
		bb_idmap__put(&f->by_address, address, KERNEL_SPACE, point);
	}
	return point;
}

static uint32_t user_point(struct folding *f, uint32_t pid, uint64_t address)
{
	/* without a known address space, use the process id, because its JIT map may name the
	 * address */
	uint64_t key = f->space == BB_NO_ID ? (uint64_t)1 << 32 | pid : f->space, offset;
	uint32_t point = bb_idmap__get(&f->by_address, address, key), uid;

	if (point != BB_NO_ID)
		return point;
	const struct bb_mapping *m = bb_spaces__find(f->spaces, f->space, address);
	if (m && m->dso != BB_NO_ID) {
		/* symbolize() adds the functions of this point later. */
		offset = address - m->start + m->file_offset;
		point = bb_idmap__get(&f->by_location, offset, m->dso);
		if (point == BB_NO_ID) {
			add_point(f, m->dso, offset, &point);
			bb_idmap__put(&f->by_location, offset, m->dso, point);
		}
	} else {
		uid = bb_idmap__get(&f->spaces->users, pid, 0);
		point = add_symbol(f, bb_jit_maps__get(&f->jit_maps, pid, uid), false, address);
	}
	bb_idmap__put(&f->by_address, address, key, point);
	return point;
}

static void find_process(struct folding *f, const struct bb_sampled_stack *s)
{
	const struct bb_sampled_stack *latest = f->latest;
	char process[BB_PROFILE_COMM + 32];

	if (latest && latest->pid == s->pid && !memcmp(latest->comm, s->comm, sizeof(s->comm)))
		return;
	f->latest = s;
	f->space = bb_spaces__of(f->spaces, s->pid, s->comm);
	int len = snprintf(process, sizeof(process), "%.*s", BB_PROFILE_COMM, s->comm);
	if (f->opts->with_pid)
		snprintf(process + len, sizeof(process) - (size_t)len, " (%u)", s->pid);
	uint32_t name = name_id(f, process);
	f->process = bb_idmap__get(&f->processes, name, 0);
	if (f->process != BB_NO_ID)
		return;
	f->process = add_text(f, process, BB_FRAME_COMM);
	bb_idmap__put(&f->processes, name, 0, f->process);
}

/* Returns the address to look up for addresses[nth] of a stack. All but the innermost are return
 * addresses. The call ends just before, and may be on another line or in another function. */
static uint64_t code_address(const uint64_t *addresses, size_t nth)
{
	return nth ? addresses[nth] - 1 : addresses[0];
}

/* Adds the points of a sample, outermost first, to `f->found`. */
static void find_points(struct folding *f, const struct bb_sampled_stack *s)
{
	const uint64_t *kernel = f->samples->addresses + s->first, *user = kernel + s->n_kernel;
	uint32_t points[MAX_POINTS], n = 0;

	find_process(f, s);
	points[n++] = f->process;
	if (s->is_user_cut)
		points[n++] = f->cut;
	if (s->is_lost)
		points[n++] = f->lost;
	for (size_t i = s->n_user; i-- > 0;)
		points[n++] = user_point(f, s->pid, code_address(user, i));
	if (s->is_kernel_cut)
		points[n++] = f->cut;
	for (size_t i = s->n_kernel; i-- > 0;)
		points[n++] = kernel_point(f, code_address(kernel, i));
	if (s->is_off_cpu)
		points[n++] = f->off_cpu;
	bb_stacks__add(&f->found, points, n,
		       s->is_off_cpu ? (double)s->weight / 1000
				     : (double)s->weight * f->opts->on_cpu_weight);
}

static int on_found(void *arg, uint32_t location, const struct bb_elf_frame *found)
{
	struct folding *f = arg;
	struct point *p = &f->points[f->locations[location].id];
	const struct bb_frame frame = {
		.file = found->file ? name_id(f, found->file) : BB_NO_ID,
		.line = found->line,
		.kind = found->is_inlined ? BB_FRAME_INLINED : BB_FRAME_USER,
		.start = found->start,
		.distance = found->distance,
	};

	if (p->n == BB_ELF_MAX_FRAMES)
		/* the child process is not trusted, so its answers are checked */
		return -EBADMSG;
	add_frame(f, p, *found->function ? found->function : "[unknown]", frame);
	return 0;
}

static int by_location(const void *a, const void *b)
{
	const struct bb_code_location *x = a, *y = b;

	return BB_ORDER(x->dso, y->dso) ?: BB_ORDER(x->offset, y->offset);
}

static int symbolize(struct folding *f, struct bb_err *err)
{
	struct bb_code_location *locations = bb_calloc(f->n_points, sizeof(*locations));
	size_t n = 0;

	f->locations = locations;
	for (uint32_t i = 0; i < f->n_points; i++)
		if (f->points[i].dso != BB_NO_ID)
			locations[n++] = (struct bb_code_location){f->points[i].dso, i,
								   f->points[i].offset};
	qsort(locations, n, sizeof(*locations), by_location);
	int rc = bb_symbolize(&f->spaces->dsos, locations, n, BB_SYMBOLIZE_SECONDS, on_found, f,
			      &f->profile->symbols, err);
	for (size_t i = 0; i < n && !rc; i++) {
		struct point *p = &f->points[locations[i].id];
		const struct bb_frame frame = {.file = BB_NO_ID,
					       .kind = BB_FRAME_USER,
					       .distance = p->offset};
		char name[300];

		if (p->n)
			continue;
		/* No function is known at this point, so it gets the name of its file. */
		snprintf(name, sizeof(name), "[%.255s]",
			 bb_dso__short_name(&f->spaces->dsos.v[p->dso]));
		add_frame(f, p, name, frame);
	}
	return rc;
}

/* True if `point` is a kernel function that runs only because we sample context switches: it calls
 * our BPF program, or the program calls it. */
static bool is_own(const struct folding *f, uint32_t point)
{
	const struct bb_stacks *stacks = &f->profile->stacks;
	uint32_t number = f->numbers[f->points[point].first];
	const char *name = bb_stacks__name(stacks, number);

	return stacks->frames[number].kind == BB_FRAME_KERNEL &&
	       (!strncmp(name, "bpf_", 4) || !strncmp(name, "__bpf_trace_", 12) ||
		!strncmp(name, "__traceiter_", 12));
}

static void add_stack(struct folding *f, const struct bb_stack *found)
{
	uint32_t frames[MAX_POINTS * BB_ELF_MAX_FRAMES], n = 0, last = found->n - 1, end = found->n;
	const uint32_t *points = f->found.parts + found->first;

	/* Leave out the frames of our own code, so that [off-CPU] is next to the function that
	 * switched to another task. */
	if (points[last] == f->off_cpu)
		for (uint32_t own = 1; own <= MAX_OWN_FRAMES && own <= last; own++)
			if (is_own(f, points[last - own]))
				end = last - own;
	for (uint32_t k = 0; k < found->n; k++) {
		const struct point *p = &f->points[points[k]];

		if (k >= end && k != last)
			continue;
		memcpy(frames + n, f->numbers + p->first, p->n * sizeof(*frames));
		n += p->n;
	}
	bb_stacks__add(&f->profile->stacks, frames, n, found->weight);
}

int bb_fold(struct bb_samples *samples, const struct bb_spaces *spaces,
	    const struct bb_fold_opts *opts, struct bb_profile *ret_profile, struct bb_err *err)
{
	struct bb_profile profile = {0};
	struct folding f = {
		.samples = samples,
		.spaces = spaces,
		.opts = opts,
		.profile = &profile,
	};

	f.cut = add_text(&f, BB_NOTE_CUT, BB_FRAME_NOTE);
	f.lost = add_text(&f, BB_NOTE_LOST, BB_FRAME_NOTE);
	f.off_cpu = add_text(&f, BB_NOTE_OFF_CPU, BB_FRAME_OFF_CPU);
	for (size_t i = 0; i < samples->n; i++)
		find_points(&f, &samples->v[i]);
	bb_samples__done(samples); /* a child starts faster with less memory */
	int rc = symbolize(&f, err);
	for (size_t i = 0; i < f.found.n && !rc; i++)
		add_stack(&f, &f.found.v[i]);
	bb_stacks__sort(&profile.stacks);
	free(f.points);
	free(f.locations);
	free(f.numbers);
	bb_stacks__done(&f.found);
	bb_idmap__done(&f.by_address);
	bb_idmap__done(&f.by_location);
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
