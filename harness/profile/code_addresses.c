/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/code_addresses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define UNKNOWN "[unknown]"
#define UNKNOWN_KERNEL "[kernel]"
#define KERNEL_SPACE UINT64_MAX

static int add_frame(struct bb_code_addresses *ps, struct bb_code_address *p, const char *name,
		     enum bb_frame_kind kind, uint64_t start, uint64_t distance)
{
	struct bb_frame frame = {.file = BB_NO_ID,
				 .kind = kind,
				 .start = start,
				 .distance = distance};

	if (bb_names__add(ps->names, name, strlen(name), &frame.name) ||
	    bb_reserve(&ps->frames.v, ps->frames.n + 1, &ps->frames.size, sizeof(frame)))
		return -ENOMEM;
	if (!p->n++)
		p->first = (uint32_t)ps->frames.n;
	ps->frames.v[ps->frames.n++] = frame;
	return 0;
}

static int add_point(struct bb_code_addresses *ps, const struct bb_code_address *p,
		     uint32_t *ret_id)
{
	if (bb_reserve(&ps->v, ps->n + 1, &ps->size, sizeof(*p)))
		return -ENOMEM;
	*ret_id = (uint32_t)ps->n;
	ps->v[ps->n++] = *p;
	return 0;
}

int bb_code_addresses__text(struct bb_code_addresses *ps, const char *text, enum bb_frame_kind kind,
			    uint32_t *ret_point)
{
	struct bb_code_address p = {.dso = BB_NO_ID};

	return add_frame(ps, &p, text, kind, 0, 0) ? -ENOMEM : add_point(ps, &p, ret_point);
}

int bb_code_addresses__kernel(struct bb_code_addresses *ps, uint64_t address, uint32_t *ret_point)
{
	struct bb_code_address p = {.dso = BB_NO_ID};
	const struct bb_symbol *s;
	int rc;

	*ret_point = bb_idmap__get(&ps->by_address, address, KERNEL_SPACE);
	if (*ret_point != BB_NO_ID)
		return 0;
	s = bb_symtab__find(ps->kernel, address);
	if (s) {
		rc = add_frame(ps, &p, bb_symtab__name(ps->kernel, s), BB_FRAME_KERNEL, s->start,
			       address - s->start);
	} else {
		rc = add_frame(ps, &p, UNKNOWN_KERNEL, BB_FRAME_KERNEL, 0, address);
		ps->unknown_kernel++;
	}
	if (rc || add_point(ps, &p, ret_point))
		return -ENOMEM;
	return bb_idmap__put(&ps->by_address, address, KERNEL_SPACE, *ret_point);
}

/* In a file: the point of that place, whoever has it mapped. It is named later. */
static int place_point(struct bb_code_addresses *ps, uint32_t dso, uint64_t offset,
		       uint32_t *ret_point)
{
	struct bb_code_address p = {.dso = dso, .offset = offset};

	*ret_point = bb_idmap__get(&ps->by_place, offset, dso);
	if (*ret_point != BB_NO_ID)
		return 0;
	if (add_point(ps, &p, ret_point))
		return -ENOMEM;
	return bb_idmap__put(&ps->by_place, offset, dso, *ret_point);
}

/* In no file: a JIT's code, perhaps. */
static int jit_point(struct bb_code_addresses *ps, uint32_t pid, uint64_t address,
		     uint32_t *ret_point)
{
	struct bb_code_address p = {.dso = BB_NO_ID};
	const struct bb_symtab *jit;
	const struct bb_symbol *s;
	int rc = bb_jit_maps__get(&ps->jit_maps, pid, bb_spaces__user(ps->spaces, pid), &jit);

	if (rc)
		return rc;
	s = jit ? bb_symtab__find(jit, address) : NULL;
	if (s)
		rc = add_frame(ps, &p, bb_symtab__name(jit, s), BB_FRAME_JIT, s->start,
			       address - s->start);
	else
		rc = add_frame(ps, &p, UNKNOWN, BB_FRAME_USER, 0, address);
	return rc ? rc : add_point(ps, &p, ret_point);
}

int bb_code_addresses__user(struct bb_code_addresses *ps, uint32_t pid, uint32_t space,
			    uint64_t address, uint32_t *ret_point)
{
	/* Without a space, addresses are told apart by the process: its JIT may know them. */
	uint64_t key = space == BB_NO_ID ? (uint64_t)1 << 32 | pid : space;
	const struct bb_mapping *m;
	int rc;

	*ret_point = bb_idmap__get(&ps->by_address, address, key);
	if (*ret_point != BB_NO_ID)
		return 0;
	m = bb_spaces__find(ps->spaces, space, address);
	if (m && m->dso != BB_NO_ID)
		rc = place_point(ps, m->dso, address - m->start + m->file_offset, ret_point);
	else
		rc = jit_point(ps, pid, address, ret_point);
	return rc ? rc : bb_idmap__put(&ps->by_address, address, key, *ret_point);
}

static int on_found(void *arg, uint32_t place, const struct bb_elf_frame *found)
{
	struct bb_code_addresses *ps = arg;
	struct bb_code_address *p = &ps->v[ps->order[place]];
	enum bb_frame_kind kind = found->is_inlined ? BB_FRAME_INLINED : BB_FRAME_USER;
	struct bb_frame *frame;
	int rc = add_frame(ps, p, *found->function ? found->function : UNKNOWN, kind, found->start,
			   found->distance);

	if (rc)
		return rc;
	frame = &ps->frames.v[ps->frames.n - 1];
	frame->line = found->line;
	return found->file
		       ? bb_names__add(ps->names, found->file, strlen(found->file), &frame->file)
		       : 0;
}

static int by_place(const void *a, const void *b, void *arg)
{
	const struct bb_code_address *points = arg;
	const struct bb_code_address *x = &points[*(const uint32_t *)a],
				     *y = &points[*(const uint32_t *)b];

	if (x->dso != y->dso)
		return x->dso < y->dso ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A function that has no name is at least in a file that has one. */
static int name_by_file(struct bb_code_addresses *ps, struct bb_code_address *p)
{
	char name[300];

	if (p->n)
		return 0;
	snprintf(name, sizeof(name), "[%.255s]", bb_dso__short_name(&ps->spaces->dsos.v[p->dso]));
	return add_frame(ps, p, name, BB_FRAME_USER, 0, p->offset);
}

int bb_code_addresses__symbolize(struct bb_code_addresses *ps,
				 struct bb_symbolize_result *ret_result, struct bb_err *err)
{
	struct bb_code_place *places = malloc((ps->n + 1) * sizeof(*places));
	size_t n = 0;
	int rc;

	ps->order = malloc((ps->n + 1) * sizeof(*ps->order));
	if (!ps->order || !places) {
		free(places);
		return bb_fail_nomem(err);
	}
	for (uint32_t i = 0; i < ps->n; i++)
		if (ps->v[i].dso != BB_NO_ID)
			ps->order[n++] = i;
	qsort_r(ps->order, n, sizeof(*ps->order), by_place, ps->v);
	for (size_t i = 0; i < n; i++)
		places[i] = (struct bb_code_place){.dso = ps->v[ps->order[i]].dso,
						   .offset = ps->v[ps->order[i]].offset};
	rc = bb_symbolize(&ps->spaces->dsos, places, n, BB_SYMBOLIZE_SECONDS, on_found, ps,
			  ret_result, err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = name_by_file(ps, &ps->v[ps->order[i]]) ? bb_fail_nomem(err) : 0;
	free(places);
	return rc;
}

void bb_code_addresses__done(struct bb_code_addresses *ps)
{
	free(ps->frames.v);
	free(ps->v);
	free(ps->order);
	bb_idmap__done(&ps->by_address);
	bb_idmap__done(&ps->by_place);
	bb_jit_maps__done(&ps->jit_maps);
	memset(ps, 0, sizeof(*ps));
}
