/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Removes programs from a capture while it is taken, so that a command that reloads its programs
 * does not fill it. */
#include "base/io.h"
#include "capture/take.h"

enum kind { MAP, BTF, N_KINDS };

struct forgetting {
	struct bb_take *t;
	/* now[kind][i]: in the first pass, 1 if item i is in use; in the second, its new index */
	int32_t *now[N_KINDS];
	size_t n[N_KINDS];
	bool renumbers; /* true in the second pass, which writes the new indexes */
	bool more; /* true if the first pass has marked an item, so the pass must be repeated */
};

/* The first pass marks the item that `*index` minus `bias` refers to, and the second pass writes
 * its new index. The index may be out of range, because a map that could not be copied has the
 * index 0. */
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

/* The first pass skips references of unmarked maps, because these maps will be removed. */
static void visit_all(struct forgetting *f)
{
	struct bb_capture *c = f->t->capture;

	for (size_t i = 0; i < c->n_progs; i++) {
		struct bb_captured_prog *p = &c->progs[i];
		uint32_t at = 0;
		int32_t *name;
		bool is_btf;

		visit(f, BTF, &p->btf, 0);
		visit(f, BTF, &p->attach_btf, 0);
		for (size_t k = 0; k < p->n_fds; k++) {
			visit(f, MAP, &p->fds[k].map, 0);
			visit(f, BTF, &p->fds[k].btf, 0);
		}
		while ((name = bb_insns__next_name(p->insns, p->n_insns, &at, &is_btf)))
			visit(f, is_btf ? BTF : MAP, name, is_btf);
	}
	for (size_t i = 0; i < f->t->n_templates; i++)
		visit(f, MAP, &f->t->templates[i].inner, 0);
	for (size_t i = 0; i < c->n_maps; i++)
		if (f->renumbers || f->now[MAP][i]) {
			visit(f, MAP, &c->maps[i].inner, 0);
			visit(f, BTF, &c->maps[i].btf, 0);
		}
}

static void drop_prog(struct bb_captured_prog *p)
{
	bb_close(&p->taken.target_fd);
	bb_record__done(&bb_captured_prog_record, p);
}

static void drop_map(struct bb_captured_map *m)
{
	bb_close(&m->held.fd);
	bb_record__done(&bb_captured_map_record, m);
}

static void drop_btf(struct bb_captured_btf *b)
{
	bb_close(&b->held.fd);
	bb_record__done(&bb_captured_btf_record, b);
}

static bool is_among(const uint32_t *ids, size_t n, uint32_t id)
{
	return BB_ANY(ids, n, *it == id);
}

void bb_take__forget(struct bb_take *t, const bool *gone, const uint32_t *ids, size_t n_ids)
{
	struct forgetting f = {.t = t, .more = true};
	struct bb_capture *c = t->capture;

	BB_REMOVE(c->progs, c->n_progs, gone[it - c->progs], drop_prog(it));
	BB_REMOVE(c->attachments, c->n_attachments, is_among(ids, n_ids, it->taken.prog_id),
		  bb_taken_attachment__done(&it->taken));
	BB_REMOVE(c->inputs, c->n_inputs, is_among(ids, n_ids, it->prog_id),
		  bb_record__done(&bb_captured_input_record, it));
	BB_KEEP(t->seen, t->n_seen, !is_among(ids, n_ids, it->id));
	f.n[MAP] = c->n_maps;
	f.n[BTF] = c->n_btfs;
	for (int kind = 0; kind < N_KINDS; kind++)
		f.now[kind] = bb_calloc(f.n[kind], sizeof(int32_t));
	while (f.more) {
		f.more = false;
		visit_all(&f);
	}
	for (int kind = 0; kind < N_KINDS; kind++) {
		int32_t next = 0;

		for (size_t i = 0; i < f.n[kind]; i++)
			f.now[kind][i] = f.now[kind][i] ? next++ : BB_CAPTURE_NONE;
	}
	f.renumbers = true;
	visit_all(&f);
	BB_REMOVE(c->maps, c->n_maps, f.now[MAP][it - c->maps] < 0, drop_map(it));
	BB_REMOVE(c->btfs, c->n_btfs, f.now[BTF][it - c->btfs] < 0, drop_btf(it));
	for (size_t i = 0; i < c->n_maps; i++)
		bb_take__name_map(t, i);
	free(f.now[MAP]);
	free(f.now[BTF]);
}
