/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of a capture. bpfbench loads it as the captured command loaded it, but with maps of its
 * own. */
#include <bpf/btf.h>

#include "bpf/globals.h"
#include "base/io.h"
#include "base/insn.h"
#include "bpf/map_contents.h"
#include "bpf/object_file.h"
#include "bpf/prog_stats.h"
#include "bpf/libbpf_log.h"
#include "bpf/target.h"
#include "capture/file.h"
#include "capture/replay.h"

#define LOG_BYTES (1u << 20)

struct captured {
	struct bb_target head;
	const struct bb_capture *capture; /* borrowed, or equal to `own` */
	struct bb_capture *own;           /* private copy in which we set variables, or NULL */
	size_t prog;
	struct btf **btfs; /* one for each BTF object of the capture; NULL if it cannot be read */
	struct bb_replay replay; /* the current load; zeroed if there is none */
	bool has_prog_array;
	struct bb_captured_section section;
};

static const struct btf_type *section_of(const struct captured *s, const struct bb_captured_map *m)
{
	const struct btf *btf = m->btf >= 0 ? s->btfs[m->btf] : NULL;
	const struct btf_type *type = btf && m->value_type_id
					      ? btf__type_by_id(btf, m->value_type_id)
					      : NULL;

	return type && btf_is_datasec(type) && m->type == BPF_MAP_TYPE_ARRAY ? type : NULL;
}

static bool find_variable(const struct captured *s, size_t map, const char *name,
			  size_t *ret_offset, size_t *ret_size)
{
	const struct bb_captured_map *m = &s->capture->maps[map];
	const struct btf_type *section = section_of(s, m);

	return section && bb_btf_variable(s->btfs[m->btf], section, name, ret_offset, ret_size) &&
	       *ret_offset <= m->value_size && *ret_size <= m->value_size - *ret_offset;
}

static int set_variable(struct captured *s, const struct bb_global_spec *global, struct bb_err *err)
{
	for (size_t i = 0; i < s->capture->n_maps; i++) {
		size_t offset, size;

		if (!find_variable(s, i, global->name, &offset, &size))
			continue;
		struct bb_captured_map *m = &s->own->maps[i];
		if (!m->n_entries) { /* a capture omits the value of an array if it is zero */
			free(m->entries.data);
			m->entries.size = m->key_size + (size_t)m->value_size;
			m->entries.data = bb_calloc(1, m->entries.size);
			m->n_entries = 1;
		}
		return bb_global__put(s->head.where, global->name, global->value,
				      m->entries.data + m->key_size + offset, size, err);
	}
	return bb_fail(err, -ENOENT,
		       "%s has no global variable '%s' that its type information names; a loader "
		       "that fills sections itself leaves none there",
		       s->head.where, global->name);
}

static struct bb_source_global captured_global(const struct bb_target *t, const char *name,
					       size_t size)
{
	const struct captured *s = (const struct captured *)t;
	struct bb_source_global g = {.map_fd = -1};
	size_t bytes;

	for (size_t i = 0; s->replay.capture && i < s->capture->n_maps; i++)
		if (s->replay.maps[i] >= 0 && find_variable(s, i, name, &g.offset, &bytes) &&
		    bytes == size)
			return (struct bb_source_global){s->replay.maps[i],
							 s->capture->maps[i].value_size, g.offset};
	return g;
}

/* Returns true if later loads of the program use the map again (bpf/kept_maps.h). Returns false for
 * three kinds of maps, which each load needs anew: a section of global variables, a prog array, and
 * a map whose values contain objects of the program's own types (bb_holds_own_objects()). */
static bool is_kept(const struct captured *s, const struct bb_captured_map *m)
{
	return m->type != BPF_MAP_TYPE_PROG_ARRAY && !section_of(s, m) &&
	       !(m->btf >= 0 && bb_holds_own_objects(s->btfs[m->btf], m->value_type_id));
}

static void captured_unload(struct bb_target *t)
{
	struct captured *s = (struct captured *)t;

	if (!s->replay.capture)
		return;
	bb_replay__done(&s->replay);
	if (s->has_prog_array)
		bb_kept_maps__let_prog_arrays_go();
}

static int captured_load(struct bb_target *t, struct bb_err *err)
{
	struct captured *s = (struct captured *)t;
	char *log = bb_calloc(1, LOG_BYTES), reason[500];
	struct bb_err said;
	int rc = 0;

	s->replay = bb_replay__open(s->capture);
	for (size_t i = 0; !rc && i < s->capture->n_maps; i++) {
		const struct bb_captured_map *m = &s->capture->maps[i];
		const struct bpf_map_info like = {.type = m->type,
						  .key_size = m->key_size,
						  .value_size = m->value_size,
						  .max_entries = m->max_entries,
						  .map_flags = m->flags};
		int fd = is_kept(s, m) ? bb_kept_maps__get(&s->head.kept, m->name, &like) : -1;

		const struct bb_map_spec *spec = bb_map_specs__find(s->head.kept.specs, m->name);

		if (spec && bb_map_spec__has_shape(spec))
			rc = bb_fail(err, -ENOTSUP,
				     "map '%s' (scenario %u:%u): it has the sizes and flags that "
				     "the captured loader gave it; only those of an object file "
				     "can be changed",
				     m->name, spec->where.line, spec->where.col);
		if (fd < 0 || rc)
			continue;
		s->replay.maps[i] = dup(fd);
		if (s->replay.maps[i] < 0)
			rc = bb_fail(err, -errno, "map '%s': %m", m->name);
	}
	if (!rc) {
		rc = bb_replay__load(&s->replay, s->prog, log, LOG_BYTES, err);
		bb_refusal_of_verifier(log, reason, sizeof(reason));
		if (rc && *reason) {
			said = *err;
			bb_fail(err, rc, "%s: %s", said.msg, reason);
		}
	}
	for (size_t i = 0; !rc && i < s->capture->n_maps; i++) {
		const struct bb_captured_map *m = &s->capture->maps[i];

		if (s->replay.maps[i] >= 0 && is_kept(s, m))
			rc = bb_kept_maps__keep_one(&s->head.kept, m->name, s->replay.maps[i],
						    s->head.where, err);
	}
	free(log);
	if (rc)
		captured_unload(t);
	else
		t->prog_fd = s->replay.progs[s->prog];
	return rc;
}

static void captured_verifier_log(struct bb_target *t, char *log, size_t size)
{
	struct captured *s = (struct captured *)t;
	int *fd = &s->replay.progs[s->prog], current = *fd;

	*fd = -1;
	log[0] = '\0';
	if (bb_replay__load_one(&s->replay, s->prog, BB_LOG_STATS, log, (uint32_t)size))
		log[0] = '\0';
	bb_close(fd);
	*fd = current;
}

static const char *captured_section(const struct bb_target *t, uint32_t *ret_attach_type)
{
	const struct captured *s = (const struct captured *)t;

	*ret_attach_type = s->capture->progs[s->prog].expected_attach_type;
	return s->section.text;
}

static int captured_attach(struct bb_target *t, struct bpf_link **, struct bb_err *err)
{
	const struct captured *s = (const struct captured *)t;

	return bb_fail(err, -ENOTSUP,
		       "'%s' of a capture (%s) is not attached under a workload; {with: step, "
		       "trigger: fire} attaches it",
		       t->program, s->section.text);
}

static int captured_code(const struct bb_target *t, int prog_fd, struct bb_code *ret_code,
			 struct bb_err *err)
{
	const struct captured *s = (const struct captured *)t;
	const struct bb_captured_prog *p = s->capture->progs;
	struct bpf_btf_info btf = {0};

	while (s->replay.progs[p - s->capture->progs] != prog_fd)
		p++;
	struct bb_code c = {.type = p->type,
			    .expected_attach_type = p->expected_attach_type,
			    .flags = p->flags,
			    .kern_version = p->kern_version,
			    .attach_btf_id = p->attach_btf_id,
			    .n = p->n_insns,
			    .n_funcs = p->n_funcs,
			    .n_lines = p->n_lines,
			    .btf_fd = -1};
	if (p->attach_prog >= 0)
		return bb_fail(err, -ENOTSUP,
			       "'%s' is attached to another program; that one would have to be "
			       "counted",
			       p->name);
	/* attach_btf_obj_id is 0, which means vmlinux, unless the attach target is in a module */
	if (p->attach_btf >= 0 && !bb_info__read(s->replay.btfs[p->attach_btf], &btf))
		c.attach_btf_obj_id = btf.id;
	memcpy(c.name, p->kernel_name, sizeof(c.name));
	memcpy(c.license, p->license, sizeof(c.license));
	if (p->btf >= 0) {
		c.btf = s->btfs[p->btf];
		c.btf_fd = s->replay.btfs[p->btf];
	}
	c.insns = bb_memdup(p->insns, c.n * sizeof(*c.insns));
	c.funcs = bb_memdup(p->funcs, c.n_funcs * sizeof(*c.funcs));
	c.lines = bb_memdup(p->lines, c.n_lines * sizeof(*c.lines));
	bb_replay__put_fds(&s->replay, (size_t)(p - s->capture->progs), c.insns);
	/* An instruction may name a map by its index in the program's fd_array. We put the map's
	 * descriptor in place of the index, because whoever reads the code looks for that. */
	for (uint32_t i = 0; i < c.n; i += bb_insn_slots(&c.insns[i])) {
		struct bpf_insn *insn = &c.insns[i];
		bool is_fd = insn->src_reg == BPF_PSEUDO_MAP_IDX;

		if (!bb_insn_is_wide(insn) ||
		    (!is_fd && insn->src_reg != BPF_PSEUDO_MAP_IDX_VALUE) ||
		    (uint32_t)insn->imm >= p->n_fds || p->fds[insn->imm].map < 0)
			continue;
		insn->src_reg = is_fd ? BPF_PSEUDO_MAP_FD : BPF_PSEUDO_MAP_VALUE;
		insn->imm = s->replay.maps[p->fds[insn->imm].map];
	}
	int rc = bb_code__check(&c, err);
	if (rc)
		bb_code__done(&c);
	else
		*ret_code = c;
	return rc;
}

static bool captured_map(const struct bb_target *t, size_t nth, struct bb_contents_map *ret_map)
{
	const struct captured *s = (const struct captured *)t;

	for (size_t i = 0; i < s->capture->n_maps; i++) {
		const struct bb_captured_map *m = &s->capture->maps[i];

		if (s->replay.maps[i] < 0 || nth--)
			continue;
		*ret_map = (struct bb_contents_map){
			.name = m->name,
			.fd = s->replay.maps[i],
			.is_variables = section_of(s, m),
			.is_frozen = m->frozen,
		};
		return true;
	}
	return false;
}

static const char *captured_program(const struct bb_target *t, size_t n, int *ret_fd)
{
	const struct captured *s = (const struct captured *)t;

	for (size_t i = 0; i < s->capture->n_progs; i++) {
		*ret_fd = s->replay.progs[i];
		if (*ret_fd >= 0 && n-- == 0)
			return s->capture->progs[i].name;
	}
	return NULL;
}

static void captured_done(struct bb_target *t)
{
	struct captured *s = (struct captured *)t;

	for (size_t i = 0; s->btfs && s->capture && i < s->capture->n_btfs; i++)
		btf__free(s->btfs[i]);
	free(s->btfs);
	if (s->capture && !s->own)
		bb_capture__give_back(s->capture);
	bb_capture__free(s->own);
}

static int find_program(struct captured *s, struct bb_err *err)
{
	const struct bb_captured_prog *p = bb_capture__find(s->capture, s->head.program);
	const char *names[64];
	size_t n = 0;

	for (size_t i = 0; !p && i < s->capture->n_progs && n < BB_LEN(names); i++)
		if (bb_captured_prog__is_measured(&s->capture->progs[i]))
			names[n++] = s->capture->progs[i].name;
	if (!p)
		return bb_object_say_no_program(s->head.where, names, n, s->head.program, err);
	s->prog = (size_t)(p - s->capture->progs);
	if (p->missing)
		return bb_fail(err, -ENOTSUP,
			       "%s: '%s' cannot be loaded anew: the capture has not %s",
			       s->head.where, p->name, p->missing);
	s->section = bb_captured_section(p, bb_capture__any_attachment(s->capture, s->prog));
	s->has_prog_array = BB_ANY(s->capture->maps, s->capture->n_maps,
				   it->type == BPF_MAP_TYPE_PROG_ARRAY);
	return 0;
}

static int captured_open(struct bb_target *t, const struct bb_source_spec *spec, struct bb_err *err)
{
	const struct bb_global_spec *globals = spec->globals;
	struct captured *s = (struct captured *)t;
	int rc = 0;

	if (spec->type)
		rc = bb_fail(err, -EINVAL, "%s: a captured program has a type; it takes no other",
			     spec->path);
	if (!rc && spec->n_globals) {
		rc = bb_capture__read(spec->path, &s->own, err);
		s->capture = s->own;
	} else if (!rc) {
		rc = bb_capture__borrow(spec->path, &s->capture, err);
	}
	if (!rc)
		rc = bb_capture__check_kernel(s->capture, err);
	if (!rc)
		rc = find_program(s, err);
	s->btfs = rc ? NULL : bb_calloc(s->capture->n_btfs, sizeof(struct btf *));
	for (size_t i = 0; !rc && i < s->capture->n_btfs; i++) {
		const struct bb_blob *raw = &s->capture->btfs[i].raw;

		if (raw->size)
			s->btfs[i] = btf__new(raw->data, (__u32)raw->size);
	}
	for (size_t i = 0; !rc && i < spec->n_globals; i++)
		rc = globals[i].self ? bb_fail(err, -ENOTSUP,
					       "global '%s': the variables of a captured program "
					       "are set to numbers only",
					       globals[i].name)
				     : set_variable(s, &globals[i], err);
	return rc;
}

const struct bb_source_ops bb_source_capture = {
	.size = sizeof(struct captured),
	.open = captured_open,
	.load = captured_load,
	.unload = captured_unload,
	.verifier_log = captured_verifier_log,
	.section = captured_section,
	.attach = captured_attach,
	.program = captured_program,
	.code = captured_code,
	.global = captured_global,
	.map = captured_map,
	.done = captured_done,
};
