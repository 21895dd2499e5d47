/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of an object file, which libbpf opens and loads. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/caller.h"
#include "base/deadline.h"
#include "bpf/globals.h"
#include "bpf/elf_file.h"
#include "bpf/libbpf_log.h"
#include "bpf/map_contents.h"
#include "bpf/object_file.h"
#include "bpf/prog_stats.h"
#include "bpf/attach.h"
#include "bpf/prog_type.h"
#include "bpf/target.h"

#define WITH_LOG_S 0.02
#define STATS_BYTES 4096 /* enough for the stack depth of each function */

#ifndef BPF_F_XDP_HAS_FRAGS /* Linux 5.18 */
#define BPF_F_XDP_HAS_FRAGS (1U << 5)
#endif

struct object {
	struct bb_target head;
	const struct bb_global_spec *globals;
	size_t n_globals;
	/* section name that decides the program's type; NULL means the program's own */
	char *type;
	const char *elf;
	size_t elf_len;
	bool has_prog_array;
	struct bb_jumps jumps;
	/* true if programs that ours may jump to are loaded, too */
	bool has_others;
	struct bb_map_patterns patterns;
	struct bpf_object *obj;  /* NULL if nothing is loaded */
	char stats[STATS_BYTES]; /* the verifier's statistics of the last load; "" if unknown */
};

static struct bpf_program *our_program(const struct object *s, const struct bpf_object *obj)
{
	return obj ? bpf_object__find_program_by_name(obj, s->head.program) : NULL;
}

/* Loads program `p` together with ours, because ours may jump to it. The kernel requires that they
 * have the same type, so `p` gets our type if it has none. */
static void load_beside(struct object *s, const struct bpf_program *ours, struct bpf_program *p)
{
	if (p == ours || !p || bpf_program__type(ours) == BPF_PROG_TYPE_STRUCT_OPS)
		return;
	bpf_program__set_autoload(p, true);
	s->has_others = true;
	if (bpf_program__type(p) != BPF_PROG_TYPE_UNSPEC &&
	    bpf_program__type(p) != bpf_program__type(ours))
		return;
	bpf_program__set_type(p, bpf_program__type(ours));
	bpf_program__set_expected_attach_type(p, bpf_program__expected_attach_type(ours));
	bpf_program__set_flags(p, bpf_program__flags(p) | bpf_program__flags(ours));
}

/* Chooses the programs to load: ours, and those that ours can tail-call through prog array slots
 * that the file or the scenario fills. Slots that another loader would fill stay empty. All
 * functions of a struct_ops are loaded together. */
static void choose_programs(struct object *s, struct bpf_object *obj,
			    const struct bpf_program *ours)
{
	bool is_ops = bpf_program__type(ours) == BPF_PROG_TYPE_STRUCT_OPS;
	struct bpf_program *p;
	struct bpf_map *map;
	const char *name;

	s->has_others = s->has_prog_array = false;
	bb_jumps__restart(&s->jumps);
	bpf_object__for_each_program(p, obj)
	{
		bool is_called = bb_map_specs__call(s->head.kept.specs, bpf_program__name(p)),
		     is_of_ops = is_ops && bpf_program__type(p) == BPF_PROG_TYPE_STRUCT_OPS;

		bpf_program__set_autoload(p, p == ours || is_called || is_of_ops);
		if (is_called)
			load_beside(s, ours, p);
		if (bpf_program__autoload(p))
			bb_jumps__reach(&s->jumps, bpf_program__name(p));
	}
	bpf_object__for_each_map(map, obj) if (bb_map_specs__find(s->head.kept.specs,
								  bpf_map__name(map)))
		bb_jumps__reach(&s->jumps, bpf_map__name(map));
	for (size_t i = 0; (name = bb_jumps__next(&s->jumps, &i));)
		load_beside(s, ours, bpf_object__find_program_by_name(obj, name));
	/* libbpf fills the slots of every prog array that it creates, and needs all their programs
	 * loaded. So we do not create arrays that our programs do not reach. We also change their
	 * map type, because otherwise libbpf would still try to fill their slots. */
	bpf_object__for_each_map(map, obj)
	{
		if (bpf_map__type(map) != BPF_MAP_TYPE_PROG_ARRAY)
			continue;
		if (bb_jumps__is_spare(&s->jumps, bpf_map__name(map))) {
			bpf_map__set_autocreate(map, false);
			bpf_map__set_type(map, BPF_MAP_TYPE_ARRAY);
		} else {
			s->has_prog_array = true;
		}
	}
}

static int set_type(const struct object *s, struct bpf_program *ours, struct bb_err *err)
{
	const char *section = bpf_program__section_name(ours), *as = s->type;
	uint32_t type, attach_type;

	/* libbpf does not know the section */
	if (!as && bpf_program__type(ours) == BPF_PROG_TYPE_UNSPEC)
		as = bb_section_type__find(section, &type, &attach_type, NULL)
			     ? bb_section_type__guess(section)
			     : section;
	int rc = as ? bb_section_type__find(as, &type, &attach_type, err) : 0;
	if (as && !rc) {
		bpf_program__set_type(ours, (enum bpf_prog_type)type);
		bpf_program__set_expected_attach_type(ours, (enum bpf_attach_type)attach_type);
		if (bb_section_type__is_sleepable(as))
			bpf_program__set_flags(ours, bpf_program__flags(ours) | BPF_F_SLEEPABLE);
	}
	/* A kprobe.multi or uprobe.multi program becomes a plain kprobe if the kernel has no multi
	 * links, or if its section names no kernel function. We then attach it to a function of
	 * ours (fire/user_function.h). */
	attach_type = bpf_program__expected_attach_type(ours);
	bool of_kernel = bb_multi_link__is_of_kernel(attach_type);
	if (bpf_program__type(ours) == BPF_PROG_TYPE_KPROBE &&
	    (of_kernel || bb_multi_link__is_of_users(attach_type)) &&
	    (!bb_multi_link__is_there(attach_type) || (of_kernel && !strchr(section, '/'))))
		bpf_program__set_expected_attach_type(ours, 0);
	return rc;
}

static int open_object(struct object *s, struct bpf_object **ret_obj, struct bb_err *err)
{
	struct bpf_program *ours, *p;
	struct bpf_object *obj;
	const char *names[64];
	size_t n = 0;
	int rc = bb_object_open(s->head.where, s->elf, s->elf_len, &obj, err);

	if (rc)
		return rc;
	rc = bb_map_sizes__mend(obj, s->head.kept.specs, &s->patterns, err);
	if (rc) {
		bpf_object__close(obj);
		return rc;
	}
	bb_struct_ops__prepare(obj);
	ours = our_program(s, obj);
	bpf_object__for_each_program(p, obj) if (n < BB_LEN(names))
		names[n++] = bpf_program__name(p);
	rc = ours ? set_type(s, ours, err)
		  : bb_object_say_no_program(s->head.where, names, n, s->head.program, err);
	if (!rc)
		choose_programs(s, obj, ours);
	for (size_t i = 0; !rc && i < s->n_globals; i++)
		rc = bb_global__set(obj, s->head.where, &s->globals[i], s->head.kept.self, err);
	if (rc)
		bpf_object__close(obj);
	else
		*ret_obj = obj;
	return rc;
}

static void close_object(const struct object *s, struct bpf_object *obj)
{
	bpf_object__close(obj);
	if (obj && s->has_prog_array)
		bb_kept_maps__let_prog_arrays_go();
}

/* With log level 0, libbpf itself repeats a failed load to get the whole log. */
static int load_once(struct object *s, uint32_t log_level, struct bpf_object **ret_obj,
		     struct bb_err *err)
{
	struct bpf_object *obj;
	struct bpf_program *p;
	int rc = open_object(s, &obj, err);

	if (rc)
		return rc;
	if (log_level)
		bpf_object__for_each_program(p, obj) bpf_program__set_log_level(p, log_level);
	rc = bb_kept_maps__reuse(&s->head.kept, obj);
	if (!rc)
		rc = bpf_object__load(obj);
	if (rc) {
		rc = bb_object_say_not_loaded(s->head.where, s->elf, s->elf_len, obj,
					      our_program(s, obj), s->has_others, rc, err);
		close_object(s, obj);
		return rc;
	}
	bb_struct_ops__fill(obj);
	*ret_obj = obj;
	return 0;
}

static void object_unload(struct bb_target *t)
{
	struct object *s = (struct object *)t;

	close_object(s, s->obj);
	s->obj = NULL;
}

static int object_load(struct bb_target *t, struct bb_err *err)
{
	struct object *s = (struct object *)t;
	uint64_t began_ns = bb_now_ns();
	int rc = load_once(s, BB_LOG_STATS, &s->obj, err), fd;

	/* With BB_LOG_STATS, the log gives the verifier's reason at no cost. The whole log takes
	 * ten times as long as the load, so we ask for it only after a short load. */
	if (rc && rc != -ENOMEM && !bb_must_end() && bb_seconds_since(began_ns) < WITH_LOG_S)
		rc = load_once(s, 0, &s->obj, err);
	if (rc)
		return rc;
	if (!bb_libbpf_log__of_loaded(t->program, s->stats, sizeof(s->stats)))
		s->stats[0] = '\0';
	rc = bb_kept_maps__keep(&t->kept, s->obj, t->where, err);
	fd = bpf_program__fd(our_program(s, s->obj));
	/* libbpf 1.5 and later leave out a program that only an optional struct_ops map uses */
	if (!rc && fd < 0)
		rc = bb_fail(err, -ENOTSUP,
			     "%s: libbpf did not load '%s' (does only a SEC(\"?.struct_ops\") map "
			     "use it?)",
			     t->where, t->program);
	if (rc)
		object_unload(t);
	else
		t->prog_fd = fd;
	return rc;
}

/* Loads the program once more if libbpf did not report the verifier's statistics. */
static void object_verifier_log(struct bb_target *t, char *log, size_t size)
{
	struct object *s = (struct object *)t;
	struct bpf_object *obj;

	snprintf(log, size, "%s", s->stats);
	if (log[0] || bb_must_end() || open_object(s, &obj, NULL))
		return;
	struct bpf_program *p = our_program(s, obj);
	if (bpf_program__set_log_buf(p, log, size) || bpf_program__set_log_level(p, BB_LOG_STATS) ||
	    bb_kept_maps__reuse(&s->head.kept, obj) || bpf_object__load(obj))
		log[0] = '\0';
	close_object(s, obj);
}

static const char *object_section(const struct bb_target *t, uint32_t *ret_attach_type)
{
	const struct object *s = (const struct object *)t;
	const struct bpf_program *p = our_program(s, s->obj);

	if (!p)
		return NULL;
	*ret_attach_type = bpf_program__expected_attach_type(p);
	return s->type ? s->type : bpf_program__section_name(p);
}

static int say_not_attached(const char *program, const char *where, int rc,
			    const struct bb_err *besides, struct bb_err *err)
{
	const char *log = bb_libbpf_log__text();
	char words[128];

	libbpf_strerror(rc, words, sizeof(words));
	return bb_fail(err, -ENOTSUP, "attaching '%s' %s: %s (%.*s)%s%s", program, where, words,
		       (int)strcspn(log, "\n"), log, besides->code ? "; " : "", besides->msg);
}

static int object_attach(struct bb_target *t, struct bpf_link **ret_link, struct bb_err *err)
{
	struct object *s = (struct object *)t;
	struct bpf_program *p = our_program(s, s->obj);
	const char *section = bpf_program__section_name(p);
	enum bpf_prog_type type = bpf_program__type(p);
	/* Only root can read tracefs. But SEC("uprobe/FILE:FUNCTION") and SEC("usdt/FILE:...") name
	 * a file, which is opened with the user's rights. */
	bool as_root = section[0] != 'u';
	struct bb_err no_tracefs = {0};
	char where[256];

	/* libbpf finds tracepoints in tracefs, and kprobes too on older kernels */
	if (type == BPF_PROG_TYPE_TRACEPOINT || type == BPF_PROG_TYPE_KPROBE)
		bb_tracefs__provide(&no_tracefs);
	bb_libbpf_log__begin();
	if (as_root)
		bb_root__begin();
	struct bpf_link *link = bpf_program__attach(p);
	int rc = link ? 0 : -errno;
	if (as_root)
		bb_root__end();
	if (rc == -EOPNOTSUPP || rc == -ESRCH)
		return bb_fail(err, -ENOTSUP,
			       "SEC(\"%s\") of '%s' does not say where to attach it "
			       "(SEC(\"tp/sched/sched_switch\") would)",
			       section, s->head.program);
	snprintf(where, sizeof(where), "by SEC(\"%s\")", section);
	if (rc)
		return say_not_attached(s->head.program, where, rc, &no_tracefs, err);
	*ret_link = link;
	return 0;
}

/* Attaches the program to the probe and detaches it at once. libbpf then has written the specs of
 * the probe's arguments into the maps of usdt.bpf.h, numbered from 0, and they stay there. A
 * program that is attached in another way finds its spec if the cookie is the number
 * (fire/user_function.h). */
static int object_fill_usdt(struct bb_target *t, const char *path, const char *provider,
			    const char *name, struct bb_err *err)
{
	struct object *s = (struct object *)t;
	const struct bb_err nothing = {0};
	char where[PATH_MAX];

	bb_libbpf_log__begin();
	struct bpf_link *link = bpf_program__attach_usdt(our_program(s, s->obj), getpid(), path,
							 provider, name, NULL);
	int rc = link ? 0 : -errno;
	bpf_link__destroy(link);
	/* -ESRCH means that the program reads no arguments, so it has no maps for them */
	if (!rc || rc == -ESRCH)
		return 0;
	snprintf(where, sizeof(where), "to probe %s:%s of %s", provider, name, path);
	return say_not_attached(t->program, where, rc, &nothing, err);
}

static const char *object_program(const struct bb_target *t, size_t i, int *ret_fd)
{
	const struct bpf_object *obj = ((const struct object *)t)->obj;
	struct bpf_program *p;

	bpf_object__for_each_program(p, obj)
	{
		*ret_fd = bpf_program__fd(p);
		if (i-- == 0)
			return bpf_program__name(p);
	}
	return NULL;
}

static int object_code(const struct bb_target *t, int prog_fd, struct bb_code *ret_code,
		       struct bb_err *err)
{
	const struct object *s = (const struct object *)t;
	const struct bpf_program *p = bpf_object__next_program(s->obj, NULL);
	struct bb_code c = {0};
	struct bpf_prog_info info = {0};

	while (bpf_program__fd(p) != prog_fd)
		p = bpf_object__next_program(s->obj, (struct bpf_program *)p);
	const char *section = bpf_program__section_name(p);

	c.btf = bpf_object__btf(s->obj);
	c.btf_fd = bpf_object__btf_fd(s->obj);
	snprintf(c.name, sizeof(c.name), "%s", bpf_program__name(p));
	c.type = bpf_program__type(p);
	c.expected_attach_type = bpf_program__expected_attach_type(p);
	c.flags = bpf_program__flags(p);
	/* libbpf derives these flags from section names and does not report them */
	if (bb_section_type__is_sleepable(section) || !strcmp(section, "syscall"))
		c.flags |= BPF_F_SLEEPABLE;
	if (c.type == BPF_PROG_TYPE_XDP && !strncmp(section, "xdp.frags", strlen("xdp.frags")))
		c.flags |= BPF_F_XDP_HAS_FRAGS;
	c.kern_version = bpf_object__kversion(s->obj);
	/* only the kernel tells which attach target libbpf chose */
	int rc = bb_info__read(prog_fd, &info);
	if (rc)
		return bb_fail(err, rc, "cannot ask the kernel about '%s': %m", c.name);
	c.attach_btf_id = info.attach_btf_id;
	c.attach_btf_obj_id = info.attach_btf_obj_id;
	c.n = (uint32_t)bpf_program__insn_cnt(p);
	c.insns = bb_memdup(bpf_program__insns(p), c.n * sizeof(*c.insns));
	rc = bb_code__check(&c, err);
	if (!rc)
		rc = bb_btf_ext__read(s->elf, s->elf_len, bpf_program__name(p), section, &c, err);
	if (rc)
		bb_code__done(&c);
	else
		*ret_code = c;
	return rc;
}

static struct bb_source_global object_global(const struct bb_target *t, const char *name,
					     size_t size)
{
	const struct object *s = (const struct object *)t;
	struct bb_source_global g = {.map_fd = -1};
	struct bpf_map *map;
	size_t bytes;

	if (bb_global__find(s->obj, name, &map, &g.offset, &bytes) || bytes != size ||
	    g.offset + size > bpf_map__value_size(map))
		return g;
	g.map_fd = bpf_map__fd(map);
	g.map_size = bpf_map__value_size(map);
	return g;
}

static bool object_map(const struct bb_target *t, size_t i, struct bb_contents_map *ret_map)
{
	const struct bpf_object *obj = ((const struct object *)t)->obj;
	const struct bpf_map *m = bpf_object__next_map(obj, NULL);
	const char *name, *section;

	while (m && i--)
		m = bpf_object__next_map(obj, m);
	name = m ? bpf_map__name(m) : NULL;
	/* ".bss" of "bpfbench.bss" */
	section = m && bpf_map__is_internal(m) ? strchr(name, '.') : NULL;
	if (m)
		*ret_map = (struct bb_contents_map){
			.name = section ? section : name,
			.fd = bpf_map__fd(m),
			.is_variables = bpf_map__is_internal(m),
		};
	return m;
}

static void object_done(struct bb_target *t)
{
	struct object *s = (struct object *)t;

	bb_jumps__close(&s->jumps);
	bb_map_patterns__done(&s->patterns);
	bb_object_let_go(s->elf);
	free(s->type);
}

static int object_open(struct bb_target *t, const struct bb_source_spec *spec, struct bb_err *err)
{
	struct object *s = (struct object *)t;
	struct bpf_object *obj = NULL;
	char *trial = bb_asprintf("%s %s", spec->program, spec->type ? spec->type : "");

	s->globals = spec->globals;
	s->n_globals = spec->n_globals;
	s->type = spec->type ? bb_strdup(spec->type) : NULL;
	int rc = bb_object_hold(spec->path, &s->elf, &s->elf_len, err);
	if (!rc) {
		bb_jumps__open(s->elf, s->elf_len, &s->jumps);
		rc = open_object(s, &obj, err);
	}
	if (!rc)
		rc = bb_object_check_type(spec->path, our_program(s, obj), err);
	/* One trial for each program and type is enough, because libbpf later reads the same
	 * bytes. */
	if (!rc)
		rc = bb_object_try_load(spec->path, s->elf, trial, obj, err);
	free(trial);
	bpf_object__close(obj);
	return rc;
}

const struct bb_source_ops bb_source_object = {
	.size = sizeof(struct object),
	.open = object_open,
	.load = object_load,
	.unload = object_unload,
	.verifier_log = object_verifier_log,
	.section = object_section,
	.attach = object_attach,
	.fill_usdt = object_fill_usdt,
	.program = object_program,
	.code = object_code,
	.global = object_global,
	.map = object_map,
	.done = object_done,
};

const struct bpf_object *bb_source_object__get(const struct bb_target *t)
{
	return t->ops == &bb_source_object ? ((const struct object *)t)->obj : NULL;
}
