/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Removes programs from a capture that is being taken, so that the capture does not grow while a
 * command reloads its programs. */
#include "base/io.h"
#include "capture/take.h"

/* The kinds of items to which other items refer by indexes. */
enum kind { MAP, BTF, N_KINDS };

struct forgetting {
	struct bb_take *t;
	/* now[kind][i]: in the first pass, 1 if item i is still referred to; in the second pass,
	 * its new index */
	int32_t *now[N_KINDS];
	size_t n[N_KINDS]; /* number of items of each kind */
	bool renumbers;    /* true in the second pass, which writes the new indexes */
	bool more;         /* true if the first pass has found an item that was not marked before */
};

/* Handles one reference to an item: marks the item in the first pass, and replaces `*index` by the
 * item's new index in the second. `*index` is the index plus `bias`; a negative index means no
 * item. The index of a map that could not be copied is 0, even if the capture has no map, so an
 * index may be out of range. */
static void visit(struct forgetting *f, enum kind kind, int32_t *index, int32_t bias)
{
	int32_t i = *index - bias;

	if (i < 0 || (size_t)i >= f->n[kind])
		return;
	if (f->renumbers)
		*index = f->now[kind][i] + bias;
	else if (!f->now[kind][i])
		f->now[kind][i] = f->more = 1;
}

static void visit_prog(struct forgetting *f, struct bb_captured_prog *p)
{
	uint32_t at = 0;
	int32_t *name;
	bool is_btf;

	visit(f, BTF, &p->btf, 0);
	visit(f, BTF, &p->attach_btf, 0);
	for (size_t i = 0; i < p->n_fds; i++) {
		visit(f, MAP, &p->fds[i].map, 0);
		visit(f, BTF, &p->fds[i].btf, 0);
	}
	while ((name = bb_insns__next_name(p->insns, p->n_insns, &at, &is_btf)))
		visit(f, is_btf ? BTF : MAP, name, is_btf);
}

/* Calls visit() for every reference of an item to another one. The first pass skips the references
 * of unmarked maps. */
static void visit_all(struct forgetting *f)
{
	struct bb_capture *c = f->t->capture;

	for (size_t i = 0; i < c->n_progs; i++)
		visit_prog(f, &c->progs[i]);
	for (size_t i = 0; i < f->t->n_templates; i++)
		visit(f, MAP, &f->t->templates[i].inner, 0);
	for (size_t i = 0; i < c->n_maps; i++)
		if (f->renumbers || f->now[MAP][i]) {
			visit(f, MAP, &c->maps[i].inner, 0);
			visit(f, BTF, &c->maps[i].btf, 0);
		}
}

/* Replaces each mark in now[n] by the item's new index; an item without a mark is removed and gets
 * BB_CAPTURE_NONE. Returns the number of items that stay. */
static size_t renumber(int32_t *now, size_t n)
{
	int32_t next = 0;

	for (size_t i = 0; i < n; i++)
		now[i] = now[i] ? next++ : BB_CAPTURE_NONE;
	return (size_t)next;
}

static void drop_progs(struct bb_capture *c, const bool *gone)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_progs; i++) {
		if (!gone[i]) {
			c->progs[n++] = c->progs[i];
			continue;
		}
		bb_close(&c->progs[i].taken.target_fd);
		bb_record__done(&bb_captured_prog_record, &c->progs[i]);
	}
	c->n_progs = n;
}

static void drop_maps_and_btfs(struct forgetting *f)
{
	struct bb_capture *c = f->t->capture;
	size_t n_maps = renumber(f->now[MAP], c->n_maps), n_btfs = renumber(f->now[BTF], c->n_btfs);

	f->renumbers = true;
	visit_all(f);
	for (size_t i = 0; i < c->n_maps; i++) {
		if (f->now[MAP][i] >= 0) {
			c->maps[f->now[MAP][i]] = c->maps[i];
			continue;
		}
		bb_close(&c->maps[i].held.fd);
		bb_record__done(&bb_captured_map_record, &c->maps[i]);
	}
	for (size_t i = 0; i < c->n_btfs; i++) {
		if (f->now[BTF][i] >= 0) {
			c->btfs[f->now[BTF][i]] = c->btfs[i];
			continue;
		}
		bb_close(&c->btfs[i].held.fd);
		bb_record__done(&bb_captured_btf_record, &c->btfs[i]);
	}
	c->n_maps = n_maps;
	c->n_btfs = n_btfs;
	for (size_t i = 0; i < n_maps; i++)
		bb_take__name_map(f->t, i);
}

/* Removes the attachments, test runs and seen programs that have one of ids[n_ids]. */
static void drop_ids(struct bb_take *t, const uint32_t *ids, size_t n_ids)
{
	struct bb_capture *c = t->capture;
	size_t n = 0;

	for (size_t i = 0; i < c->n_attachments; i++)
		if (BB_ANY(ids, n_ids, *it == c->attachments[i].taken.prog_id))
			bb_taken_attachment__done(&c->attachments[i].taken);
		else
			c->attachments[n++] = c->attachments[i];
	c->n_attachments = n;
	n = 0;
	for (size_t i = 0; i < c->n_inputs; i++)
		if (BB_ANY(ids, n_ids, *it == c->inputs[i].prog_id))
			bb_record__done(&bb_captured_input_record, &c->inputs[i]);
		else
			c->inputs[n++] = c->inputs[i];
	c->n_inputs = n;
	n = 0;
	for (size_t i = 0; i < t->n_seen; i++)
		if (!BB_ANY(ids, n_ids, *it == t->seen[i].id))
			t->seen[n++] = t->seen[i];
	t->n_seen = n;
}

void bb_take__forget(struct bb_take *t, const bool *gone, const uint32_t *ids, size_t n_ids)
{
	struct forgetting f = {.t = t, .more = true};

	drop_progs(t->capture, gone);
	drop_ids(t, ids, n_ids);
	f.n[MAP] = t->capture->n_maps;
	f.n[BTF] = t->capture->n_btfs;
	for (int kind = 0; kind < N_KINDS; kind++)
		f.now[kind] = bb_calloc(f.n[kind], sizeof(int32_t));
	while (f.more) {
		f.more = false;
		visit_all(&f);
	}
	drop_maps_and_btfs(&f);
	free(f.now[MAP]);
	free(f.now[BTF]);
}
