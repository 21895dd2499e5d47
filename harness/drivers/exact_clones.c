/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/exact_clones.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/deadline.h"
#include "bpf/insn.h"

#define MOST_ARRAYS 64
#define MOST_ENTRIES 65536 /* of an array; each is looked at */

/* Counters that a process of ours which fires adds to, too. Zeroed; NULL: no memory. */
static uint64_t *alloc_shared(uint32_t n)
{
	void *p = mmap(NULL, (n ? n : 1) * sizeof(uint64_t), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void free_shared(uint64_t *p, uint32_t n)
{
	if (p)
		munmap(p, (n ? n : 1) * sizeof(uint64_t));
}

static void close_one(struct bb_exact *e)
{
	free_shared(e->totals, e->clone.cfg.n_blocks);
	free_shared(e->in_vain, e->clone.n_vain);
	free_shared(e->now, e->clone.cfg.n_blocks);
	bb_clone__done(&e->clone);
	bb_code__done(&e->code);
}

void bb_exact__close(struct bb_exact *e)
{
	for (struct bb_exact *m = e->behind, *next; m; m = next) {
		next = m->behind;
		close_one(m);
		free(m);
	}
	close_one(e);
	e->behind = NULL;
}

static uint32_t id_of(int prog_fd)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(prog_fd, &info, &len) ? 0 : info.id;
}

static int open_one(const struct bb_target *target, int prog_fd, struct bb_exact *e,
		    struct bb_err *err)
{
	int rc;

	e->prog_fd = prog_fd;
	e->clone.prog_fd = e->clone.counts_fd = -1;
	rc = bb_target__code_of(target, prog_fd, &e->code, err);
	if (!rc)
		rc = bb_clone__load(&e->code, &e->clone, err);
	if (!rc) {
		e->id = id_of(prog_fd);
		e->clone_id = id_of(e->clone.prog_fd);
		e->totals = alloc_shared(e->clone.cfg.n_blocks);
		e->now = alloc_shared(e->clone.cfg.n_blocks);
		e->in_vain = alloc_shared(e->clone.n_vain);
		if (!e->totals || !e->now || !e->in_vain)
			rc = bb_fail_nomem(err);
	}
	if (rc)
		close_one(e);
	return rc;
}

int bb_exact__open(const struct bb_target *target, struct bb_exact *ret_exact, struct bb_err *err)
{
	*ret_exact = (struct bb_exact){0};
	return open_one(target, bb_target__prog_fd(target), ret_exact, err);
}

static bool has_tail_calls(const struct bb_code *code)
{
	for (uint32_t at = 0; at < code->n; at++)
		if (!bb_insn_is_second_half(code->insns, at) &&
		    bb_insn_is_helper_call(&code->insns[at]) &&
		    code->insns[at].imm == BPF_FUNC_tail_call)
			return true;
	return false;
}

void bb_exact__open_behind(const struct bb_target *target, struct bb_exact *e)
{
	struct bb_exact **end = &e->behind;
	int fd;

	if (!has_tail_calls(&e->code))
		return;
	for (size_t i = 0; !bb_must_end() && bb_target__loaded(target, i, &fd); i++) {
		struct bb_exact *m = fd < 0 ? NULL : calloc(1, sizeof(*m));

		if (!m || open_one(target, fd, m, NULL)) {
			free(m);
			continue;
		}
		*end = m;
		end = &m->behind;
	}
}

void bb_exact__reset(struct bb_exact *e)
{
	for (; e; e = e->behind)
		bb_clone__reset(&e->clone);
}

void bb_exact__add(struct bb_exact *e)
{
	for (; e; e = e->behind) {
		bb_clone__read(&e->clone, e->now);
		for (uint32_t i = 0; i < e->clone.cfg.n_blocks; i++)
			e->totals[i] += e->now[i];
		for (uint32_t i = 0; i < e->clone.n_vain; i++)
			e->in_vain[i] += bb_clone__in_vain(&e->clone, i);
	}
}

/* --- prog arrays --- */

struct arrays {
	int fd[MOST_ARRAYS];
	uint32_t entries[MOST_ARRAYS];
	size_t n;
};

static void take_array(struct arrays *a, int fd)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);

	for (size_t i = 0; i < a->n; i++)
		if (a->fd[i] == fd)
			return;
	if (a->n == MOST_ARRAYS || bpf_obj_get_info_by_fd(fd, &info, &len) ||
	    info.type != BPF_MAP_TYPE_PROG_ARRAY || info.max_entries > MOST_ENTRIES)
		return;
	a->fd[a->n] = fd;
	a->entries[a->n++] = info.max_entries;
}

/* In one array, with one look at each slot. */
static void swap_in(const struct bb_exact *e, int array, uint32_t entries, bool in)
{
	uint32_t id;

	for (uint32_t key = 0; key < entries; key++) {
		const struct bb_exact *m = e->behind;

		if (bpf_map_lookup_elem(array, &key, &id))
			continue;
		while (m && id != (in ? m->id : m->clone_id))
			m = m->behind;
		if (m)
			bpf_map_update_elem(array, &key, in ? &m->clone.prog_fd : &m->prog_fd,
					    BPF_ANY);
	}
}

void bb_exact__swap(const struct bb_exact *e, bool in)
{
	struct arrays a = {.n = 0};

	for (const struct bb_exact *m = e; m && e->behind; m = m->behind)
		for (uint32_t at = 0; at < m->code.n; at++)
			if (bb_insn_is_wide(&m->code.insns[at]) &&
			    m->code.insns[at].src_reg == BPF_PSEUDO_MAP_FD)
				take_array(&a, m->code.insns[at].imm);
	for (size_t i = 0; i < a.n; i++)
		swap_in(e, a.fd[i], a.entries[i], in);
}
