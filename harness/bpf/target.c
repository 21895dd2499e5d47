/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/target.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/deadline.h"
#include "base/io.h"
#include "bpf/attach.h"
#include "bpf/globals.h"
#include "bpf/map_contents.h"
#include "capture/file.h"
#include "plan/maps_file.h"

/* room for 3 lines of statistics; older kernels cannot write only the end of a log and need more */
#define VERIFIER_LOG_BYTES (64u << 10)

int bb_target__open(const struct bb_source_spec *spec, struct bb_target **ret_target,
		    struct bb_err *err)
{
	const struct bb_source_ops *ops = !spec->path                     ? &bb_source_loaded
					  : bb_capture_is_one(spec->path) ? &bb_source_capture
									  : &bb_source_object;
	struct bb_target *t = bb_calloc(1, ops->size);

	t->ops = ops;
	t->program = spec->program ? bb_strdup(spec->program) : NULL;
	t->where = bb_strdup(spec->path ? spec->path : "a loaded program");
	t->prog_fd = t->drops.map_fd = t->jit_mod64 = -1;
	t->kept.self = spec->self;
	int rc = ops->open(t, spec, err);
	if (rc)
		bb_target__free(t);
	else
		*ret_target = t;
	return rc;
}

bool bb_target__is_live(const struct bb_target *t)
{
	return !t->ops->code;
}

int bb_target__load(struct bb_target *t, struct bb_err *err)
{
	__u64 address = 0;
	struct bpf_prog_info info = {.jited_ksyms = (__u64)(uintptr_t)&address,
				     .nr_jited_ksyms = 1};
	struct bb_err local = {0};

	err = err ? err : &local;
	bb_target__unload(t);
	int rc = t->ops->load(t, err);
	if (rc)
		return rc;
	/* With the JIT off, jited_prog_len is 0 and `address` is that of the interpreter. jit_mod64
	 * then stays -1. */
	if (!bb_info__read(t->prog_fd, &info) && info.jited_prog_len && info.nr_jited_ksyms &&
	    address)
		t->jit_mod64 = (int)(address & 63);
	if (t->ops->global)
		t->drops = t->ops->global(t, "drops", sizeof(uint64_t));
	rc = bb_stats_reader__open(t->prog_fd, &t->reader, err);
	if (rc)
		bb_target__unload(t);
	return rc;
}

int bb_target__describe(struct bb_target *t, struct bb_prog_facts *ret_facts, struct bb_err *err)
{
	struct bb_prog_facts facts;
	int rc = bb_prog_static__read(t->prog_fd, &facts, err);

	if (rc)
		return rc;
	char *log = bb_calloc(1, VERIFIER_LOG_BYTES);
	if (t->ops->verifier_log)
		t->ops->verifier_log(t, log, VERIFIER_LOG_BYTES);
	bb_prog_static_parse_log(log, &facts.metrics);
	free(log);
	*ret_facts = facts;
	return 0;
}

int bb_target__load_at(struct bb_target *t, uint64_t where, unsigned int max_tries, uint32_t *seen,
		       struct bb_err *err)
{
	for (unsigned int tries = 1; tries <= max_tries; tries++) {
		int rc = tries > 1 ? bb_must_end_why() : 0;

		if (!rc)
			rc = bb_target__load(t, err);
		if (rc)
			return rc;
		if (seen && t->jit_mod64 >= 0)
			seen[t->jit_mod64]++;
		if (where == BB_ANYWHERE || (t->jit_mod64 >= 0 && where & bb_place(t->jit_mod64)))
			return 0;
	}
	return -EAGAIN;
}

void bb_target__unload(struct bb_target *t)
{
	if (t->prog_fd < 0)
		return;
	bb_stats_reader__close(&t->reader);
	bb_map_contents__free(t->contents);
	t->contents = NULL;
	t->ops->unload(t);
	t->prog_fd = t->drops.map_fd = t->jit_mod64 = -1;
}

static int say_live(const struct bb_target *t, const char *what, struct bb_err *err)
{
	return bb_fail(err, -ENOTSUP, "'%s' is a live program: bpfbench does not %s", t->program,
		       what);
}

int bb_target__attach(struct bb_target *t, struct bpf_link **ret_link, struct bb_err *err)
{
	if (bb_target__is_live(t))
		return say_live(t, "attach it", err);
	return t->ops->attach(t, ret_link, err);
}

const char *bb_target__section(const struct bb_target *t, uint32_t *ret_attach_type)
{
	return t->ops->section ? t->ops->section(t, ret_attach_type) : NULL;
}

int bb_target__struct_ops_fd(const struct bb_target *t)
{
	const struct bpf_object *obj = bb_source_object__get(t);

	return obj ? bb_struct_ops__map_of(obj, t->prog_fd) : -1;
}

bool bb_target__may_be_jumped_to(const struct bb_target *t)
{
	const struct bpf_object *obj = bb_source_object__get(t);
	const struct bpf_map *map;

	if (obj)
		bpf_object__for_each_map(map,
					 obj) if (bpf_map__type(map) == BPF_MAP_TYPE_PROG_ARRAY ||
						  !bpf_map__autocreate(map)) return true;
	return false;
}

void bb_target__free(struct bb_target *t)
{
	if (!t)
		return;
	bb_target__unload(t);
	bb_kept_maps__drop(&t->kept);
	if (t->ops->done)
		t->ops->done(t);
	free(t->program);
	free(t->where);
	bb_steady_maps__free(t->steady, t->n_steady);
	free(t);
}

int bb_target__prog_type(const struct bb_target *t, uint32_t *ret_type, struct bb_err *err)
{
	struct bpf_prog_info info = {0};
	int rc = bb_info__read(t->prog_fd, &info);

	if (rc)
		return bb_fail(err, rc, "cannot ask for the type of '%s': %m", t->program);
	*ret_type = info.type;
	return 0;
}

int bb_target__code(const struct bb_target *t, int prog_fd, struct bb_code *ret_code,
		    struct bb_err *err)
{
	if (bb_target__is_live(t))
		return say_live(t, "count its instructions", err);
	return t->ops->code(t, prog_fd, ret_code, err);
}

const char *bb_target__loaded(const struct bb_target *t, size_t i, int *ret_fd)
{
	return t->ops->program ? t->ops->program(t, i, ret_fd) : NULL;
}

bool bb_target__is_of_object(const struct bb_target *a, const struct bb_target *b)
{
	return a && b && a != b && !strcmp(a->where, b->where) && strcmp(a->program, b->program);
}

int bb_target__drops(const struct bb_target *t, uint64_t *ret_drops)
{
	*ret_drops = 0;
	return t->drops.map_fd < 0 ? 0
				   : bb_map_read_u64(t->drops.map_fd, t->drops.map_size,
						     t->drops.offset, ret_drops);
}

const struct bb_ring *bb_target__ring(const struct bb_target *t)
{
	const struct bb_ring *ring = NULL;
	__u32 ids[BB_MAX_PROG_MAPS];
	int n = bb_prog_map_ids(t->prog_fd, ids);

	for (int i = 0; !ring && i < n; i++)
		ring = bb_kept_maps__ring(&t->kept, ids[i]);
	return ring;
}

int bb_target__fill_usdt(struct bb_target *t, const char *path, const char *provider,
			 const char *name, struct bb_err *err)
{
	if (!t->ops->fill_usdt)
		return bb_fail(err, -ENOTSUP,
			       "static probes are attached for programs of objects alone");
	return t->ops->fill_usdt(t, path, provider, name, err);
}

bool bb_target__shares_map(const struct bb_target *a, const struct bb_target *b)
{
	__u32 as[BB_MAX_PROG_MAPS], bs[BB_MAX_PROG_MAPS];
	int n = bb_prog_map_ids(a->prog_fd, as), m = bb_prog_map_ids(b->prog_fd, bs);

	for (int i = 0; m > 0 && i < n; i++) {
		struct bpf_map_info info = {0};
		int fd, rc;

		if (!BB_ANY(bs, (size_t)m, *it == as[i]))
			continue;
		fd = bpf_map_get_fd_by_id(as[i]);
		rc = fd < 0 ? fd : bb_info__read(fd, &info);
		bb_close(&fd);
		/* programs only write to ring and perf buffers, so sharing them does no harm */
		if (!rc && info.type != BPF_MAP_TYPE_RINGBUF &&
		    info.type != BPF_MAP_TYPE_PERF_EVENT_ARRAY)
			return true;
	}
	return false;
}

int bb_target__after_fork(const struct bb_target *t)
{
	int rc = 0;

	for (const struct bb_kept_maps *k = &t->kept; !rc && k; k = k->lender)
		rc = bb_rings__after_fork(&k->rings);
	return rc;
}

void bb_target__drain(struct bb_target *t, bool only_when_half_full)
{
	for (struct bb_kept_maps *k = &t->kept; k; k = k->lender)
		bb_rings__drain(&k->rings, only_when_half_full);
}

static void forget_contents(struct bb_target *t)
{
	bb_map_contents__free(t->contents);
	t->contents = NULL;
	bb_steady_maps__free(t->steady, t->n_steady);
	t->steady = NULL;
}

void bb_target__borrow_maps(struct bb_target *t, struct bb_target *lender)
{
	bb_target__unload(t);
	bb_kept_maps__borrow(&t->kept, &lender->kept);
	/* from now on, programs of both targets may change the shared maps */
	t->is_shared = lender->is_shared = true;
	forget_contents(t);
	forget_contents(lender);
}

/* Smaller maps are written again at each reset. That takes less time than finding out whether a
 * program can change them. */
#define MANY 4096u

void bb_target__find_steady(struct bb_target *t,
			    bool (*only_reads)(const struct bb_target *t,
					       const struct bb_contents_map *map))
{
	const struct bb_map_specs *specs = t->kept.specs;

	if (!specs || !specs->n || t->steady || t->prog_fd < 0 || !bb_source_object__get(t))
		return;
	t->steady = bb_calloc(specs->n, sizeof(*t->steady));
	t->n_steady = specs->n;
	for (size_t i = 0; i < specs->n; i++) {
		const struct bb_map_spec *spec = &specs->v[i];
		size_t n = spec->fill.count + (spec->table ? spec->table->n : 0);
		/* `self` (the scenario's `{pid: self}`) may be another process at the next load */
		bool is_large = n >= MANY && !spec->fill.value.self &&
				!BB_ANY(spec->entries, spec->n_entries,
					it->key.self || it->value.self);
		struct bb_contents_map map;

		t->steady[i].is_large = is_large;
		t->steady[i].is_steady = is_large && !t->is_shared &&
					 !bb_contents_map__find(t, spec, &map, NULL) &&
					 only_reads(t, &map);
	}
}

void bb_target__say_maps(struct bb_target *t, const struct bb_map_specs *specs)
{
	forget_contents(t);
	t->kept.specs = specs;
}

int bb_target__reset_maps(struct bb_target *t, struct bb_err *err)
{
	if (t->contents)
		return bb_map_contents__write(t->contents, err);
	if (!t->kept.specs || !t->kept.specs->n)
		return 0;
	if (bb_target__is_live(t))
		return say_live(t, "change its maps", err);
	/* the contents hold map descriptors of this load, so each load needs new ones */
	int rc = bb_map_contents__make(t, t->kept.specs, t->steady, &t->contents, err);
	if (rc)
		return rc;
	if (t->drops.map_fd >= 0 && bb_map_contents__has_map(t->contents, t->drops.map_fd)) {
		bb_map_contents__free(t->contents);
		t->contents = NULL;
		return bb_fail(err, -EINVAL,
			       "the scenario resets the variables of %s, and 'drops' is one of "
			       "them; drops are counted over a whole series",
			       t->where);
	}
	return bb_map_contents__write(t->contents, err);
}

int bb_target__reset_for_run(struct bb_target *t)
{
	return t->contents ? bb_map_contents__write_for_run(t->contents) : 0;
}

double bb_target__filled_bytes(const struct bb_target *t)
{
	const struct bb_map_specs *specs = t->kept.specs;
	double bytes = 0;

	for (size_t i = 0; specs && i < specs->n; i++) {
		struct bb_contents_map map;

		if (specs->v[i].fill.counts.n > 1)
			bytes += bb_contents_map__find(t, &specs->v[i], &map, NULL)
					 ? (double)NAN
					 : bb_map_bytes(map.fd);
	}
	return bytes;
}
