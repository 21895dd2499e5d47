/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/target.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/deadline.h"
#include "bpf/globals.h"
#include "bpf/kept_maps.h"
#include "bpf/libbpf_log.h"
#include "bpf/loaded.h"
#include "bpf/map_contents.h"
#include "bpf/object_file.h"
#include "bpf/tracefs.h"

/* The statistics are 3 lines; a kernel that cannot keep only the end of its log wants room for all.
 */
#define VERIFIER_LOG_BYTES (64u << 10)

#define MAX_PROG_MAPS 64 /* the kernel's limit (MAX_USED_MAPS) */

#define PROG_ARRAY_TURN_NS 1000000

struct bb_target {
	/* 0: we load it; else it is somebody else's, and there is no object */
	uint32_t adopted_id;
	char *object_path;
	char *program;
	const struct bb_global_spec *globals;
	size_t n_globals;
	char *elf; /* the object file's bytes: every load is of the same ones */
	size_t elf_len;

	bool has_prog_array;
	/* load no program besides, though it might be called: one of them does not load */
	bool alone;

	struct bpf_object *obj; /* the current load; NULL: none */
	int prog_fd;
	struct bb_stats_reader reader;
	int jit_mod64;
	int drops_map_fd; /* -1: the program has no `drops` */
	size_t drops_map_size, drops_offset;

	/* of the first load or of the lender, used by the later loads */
	struct bb_kept_maps kept;
	/* ready to be written to the maps of this load; NULL: not yet */
	struct bb_map_contents *contents;
	bool resets_runs; /* before every run, too */
};

static int say_no_program(const struct bb_target *t, const struct bpf_object *obj,
			  struct bb_err *err)
{
	const char *names[64];
	struct bpf_program *p;
	size_t n = 0;

	bpf_object__for_each_program(p, obj) if (n < sizeof(names) / sizeof(names[0]))
		names[n++] = bpf_program__name(p);
	return bb_object_say_no_program(t->object_path, names, n, t->program, err);
}

static bool has_prog_array(const struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) if (bpf_map__type(map) ==
					       BPF_MAP_TYPE_PROG_ARRAY) return true;
	return false;
}

/*
 * What is to be loaded: our program, and where there are tail calls all that it may call, which are
 * of its type. libbpf fills a prog array that has initial slots, but does not say which programs
 * stand in them. They bill to the caller.
 */
static void choose_programs(struct bb_target *t, const struct bpf_object *obj,
			    const struct bpf_program *ours)
{
	bool others;
	struct bpf_program *p;

	t->has_prog_array = has_prog_array(obj);
	others = t->has_prog_array && !t->alone;
	bpf_object__for_each_program(p, obj) bpf_program__set_autoload(
		p, p == ours || bb_map_specs__call(t->kept.specs, bpf_program__name(p)) ||
			   (others && bpf_program__type(p) == bpf_program__type(ours) &&
			    bpf_program__expected_attach_type(p) ==
				    bpf_program__expected_attach_type(ours)));
}

/* A new bpf_object of the target's bytes with what is to be loaded chosen and the globals set. */
static int open_object(struct bb_target *t, struct bpf_object **ret_obj, struct bb_err *err)
{
	struct bpf_program *ours;
	struct bpf_object *obj;
	int rc = bb_object_open(t->object_path, t->elf, t->elf_len, &obj, err);

	if (rc)
		return rc;
	ours = bpf_object__find_program_by_name(obj, t->program);
	if (ours)
		choose_programs(t, obj, ours);
	else
		rc = say_no_program(t, obj, err);
	for (size_t i = 0; !rc && i < t->n_globals; i++)
		rc = bb_global__set(obj, t->object_path, t->globals[i].name, t->globals[i].value,
				    err);
	if (rc)
		bpf_object__close(obj);
	else
		*ret_obj = obj;
	return rc;
}

int bb_target__open(const char *object_path, const char *program,
		    const struct bb_global_spec *globals, size_t n_globals,
		    struct bb_target **ret_target, struct bb_err *err)
{
	struct bb_target *t = calloc(1, sizeof(*t));
	struct bpf_object *obj;
	int rc;

	if (!t)
		return bb_fail_nomem(err);
	t->prog_fd = t->drops_map_fd = t->jit_mod64 = -1;
	t->globals = globals;
	t->n_globals = n_globals;
	t->object_path = strdup(object_path);
	t->program = strdup(program);
	rc = t->object_path && t->program ? 0 : bb_fail_nomem(err);
	if (!rc)
		rc = bb_object_read(object_path, &t->elf, &t->elf_len, err);
	if (!rc)
		rc = open_object(t, &obj, err);
	if (rc) {
		bb_target__free(t);
		return rc;
	}
	bpf_object__close(obj);
	*ret_target = t;
	return 0;
}

int bb_target__adopt(uint32_t id, const char *pinned, struct bb_target **ret_target,
		     struct bb_err *err)
{
	struct bb_target *t = calloc(1, sizeof(*t));
	struct bb_loaded loaded;
	int rc, fd = -1;

	if (!t)
		return bb_fail_nomem(err);
	t->prog_fd = t->drops_map_fd = t->jit_mod64 = -1;
	rc = pinned ? bb_loaded__open_pinned(pinned, &fd, err) : bb_loaded__open(id, &fd, err);
	if (!rc)
		rc = bb_loaded__read(fd, &loaded, err);
	if (!rc) {
		t->adopted_id = loaded.id;
		t->program = strdup(loaded.name);
		rc = t->program ? 0 : bb_fail_nomem(err);
	}
	if (fd >= 0)
		close(fd);
	if (rc)
		bb_target__free(t);
	else
		*ret_target = t;
	return rc;
}

bool bb_target__is_adopted(const struct bb_target *t)
{
	return t->adopted_id;
}

static int read_jit_mod64(int prog_fd)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	__u64 address = 0;

	info.jited_ksyms = (__u64)(uintptr_t)&address;
	info.nr_jited_ksyms = 1;
	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len) || !info.nr_jited_ksyms || !address)
		return -1;
	return (int)(address & 63);
}

static void find_drops(struct bb_target *t)
{
	struct bpf_map *map;
	size_t size;

	t->drops_map_fd = -1;
	if (bb_global__find(t->obj, "drops", &map, &t->drops_offset, &size) ||
	    size != sizeof(uint64_t) || t->drops_offset + size > bpf_map__value_size(map))
		return;
	t->drops_map_fd = bpf_map__fd(map);
	t->drops_map_size = bpf_map__value_size(map);
}

/*
 * Let go of somebody else's program and take it up again. If ours was the last hold on it, it goes
 * now, as its owner wanted it to: we delay that by the time between two loads at the most.
 */
static int readopt(struct bb_target *t, struct bb_err *err)
{
	int rc = bb_loaded__open(t->adopted_id, &t->prog_fd, err);

	if (rc == -ENOENT)
		bb_fail(err, rc, "program '%s' (id %u) is gone: its owner unloaded it or ended",
			t->program, t->adopted_id);
	if (rc)
		return rc;
	t->jit_mod64 = read_jit_mod64(t->prog_fd);
	rc = bb_stats_reader__open(t->prog_fd, &t->reader, err);
	if (rc)
		bb_target__unload(t);
	return rc;
}

/*
 * When the last descriptor of a prog array is closed, a worker of the kernel on this CPU empties
 * it. Until then, a process that looks at all maps (bpftool map) makes the kernel count its closing
 * twice (prog_array_map_clear() takes a reference for work that is queued already), and the map
 * stays until the next boot. We run ahead of that worker, so it gets its turn now.
 */
static void close_object(const struct bb_target *t, struct bpf_object *obj)
{
	const struct timespec turn = {.tv_nsec = PROG_ARRAY_TURN_NS};

	bpf_object__close(obj); /* takes NULL */
	if (obj && t->has_prog_array)
		nanosleep(&turn, NULL);
}

/* A new load; the previous one has gone. */
static int load_object(struct bb_target *t, struct bpf_object **ret_obj, struct bb_err *err)
{
	struct bpf_object *obj;
	int rc = open_object(t, &obj, err);

	if (rc)
		return rc;
	rc = bb_kept_maps__reuse(&t->kept, obj);
	if (!rc)
		rc = bpf_object__load(obj);
	if (rc) {
		rc = bb_object_say_not_loaded(t->object_path, obj,
					      bpf_object__find_program_by_name(obj, t->program),
					      t->has_prog_array && !t->alone, rc, err);
		close_object(t, obj);
		return rc;
	}
	*ret_obj = obj;
	return 0;
}

/*
 * A program that it might call may be what fails: then it is loaded alone. Where that does not do,
 * because one that does not load stands in a prog array, the first error stands.
 */
static int load_with_others(struct bb_target *t, struct bpf_object **ret_obj, struct bb_err *err)
{
	struct bb_err alone = {0};
	int rc = load_object(t, ret_obj, err);

	if (!rc || rc == -ENOMEM || t->alone || !t->has_prog_array)
		return rc;
	t->alone = true;
	if (!load_object(t, ret_obj, &alone))
		return 0;
	t->alone = false;
	if (strstr(alone.msg, "failed to initialize slot"))
		return rc;
	*err = alone;
	return alone.code;
}

int bb_target__load(struct bb_target *t, struct bb_err *err)
{
	struct bb_err local = {0};
	struct bpf_object *obj;
	int rc;

	err = err ? err : &local;
	bb_target__unload(t);
	if (t->adopted_id)
		return readopt(t, err);
	rc = load_with_others(t, &obj, err);
	if (rc)
		return rc;
	t->obj = obj;
	t->prog_fd = bpf_program__fd(bpf_object__find_program_by_name(obj, t->program));
	t->jit_mod64 = read_jit_mod64(t->prog_fd);
	find_drops(t);
	rc = bb_stats_reader__open(t->prog_fd, &t->reader, err);
	if (!rc)
		rc = bb_kept_maps__keep(&t->kept, t->obj, t->object_path, err);
	if (rc)
		bb_target__unload(t);
	return rc;
}

/*
 * The statistics at the end of the verifier's log, into log[size]. Not asked for when the program
 * is first loaded: with a log level libbpf shows no log of a load that fails. Left empty where
 * there are none.
 */
static void read_verifier_stats(struct bb_target *t, char *log, size_t size)
{
	struct bpf_program *p;
	struct bpf_object *obj;

	log[0] = '\0';
	if (open_object(t, &obj, NULL))
		return;
	p = bpf_object__find_program_by_name(obj, t->program);
	if (bpf_program__set_log_buf(p, log, size) || bpf_program__set_log_level(p, BB_LOG_STATS) ||
	    bb_kept_maps__reuse(&t->kept, obj) || bpf_object__load(obj))
		log[0] = '\0';
	close_object(t, obj);
}

int bb_target__describe(struct bb_target *t, struct bb_prog_facts *ret_facts, struct bb_err *err)
{
	struct bb_prog_facts facts;
	int rc = bb_prog_static__read(t->prog_fd, &facts, err);
	char *log = rc ? NULL : malloc(VERIFIER_LOG_BYTES);

	if (rc)
		return rc;
	if (!log)
		return bb_fail_nomem(err);
	log[0] = '\0';
	if (!t->adopted_id) /* there is no object that could be loaded once more */
		read_verifier_stats(t, log, VERIFIER_LOG_BYTES);
	bb_prog_static_parse_log(log, &facts.metrics);
	free(log);
	*ret_facts = facts;
	return 0;
}

int bb_target__load_at(struct bb_target *t, int want_mod64, unsigned int max_tries,
		       unsigned int *ret_tries, struct bb_err *err)
{
	for (unsigned int tries = 1; tries <= max_tries; tries++) {
		int rc = tries > 1 ? bb_must_end_why() : 0;

		if (!rc)
			rc = bb_target__load(t, err);

		if (rc)
			return rc;
		if (want_mod64 < 0 || t->jit_mod64 == want_mod64) {
			*ret_tries = tries;
			return 0;
		}
	}
	*ret_tries = max_tries;
	return -EAGAIN;
}

void bb_target__unload(struct bb_target *t)
{
	if (t->prog_fd < 0)
		return;
	bb_stats_reader__close(&t->reader);
	bb_map_contents__free(t->contents);
	t->contents = NULL;
	t->resets_runs = false;
	if (t->adopted_id)
		close(t->prog_fd);
	close_object(t, t->obj);
	t->obj = NULL;
	t->prog_fd = t->drops_map_fd = t->jit_mod64 = -1;
}

/* Root alone may look into tracefs. What SEC("uprobe/FILE:FUNCTION") and SEC("usdt/FILE:...") name
 * is somebody's file. */
static struct bpf_link *attach(struct bpf_program *p)
{
	bool names_file = bpf_program__section_name(p)[0] == 'u';
	struct bpf_link *link;

	if (!names_file)
		bb_root__begin();
	link = bpf_program__attach(p);
	if (!names_file)
		bb_root__end();
	return link;
}

/* libbpf finds tracepoints, and kprobes on older kernels, by tracefs. */
static bool needs_tracefs(const struct bpf_program *p)
{
	enum bpf_prog_type type = bpf_program__type(p);

	return type == BPF_PROG_TYPE_TRACEPOINT || type == BPF_PROG_TYPE_KPROBE;
}

int bb_target__attach(struct bb_target *t, struct bpf_link **ret_link, struct bb_err *err)
{
	struct bpf_program *p = bpf_object__find_program_by_name(t->obj, t->program);
	const char *section = bpf_program__section_name(p);
	struct bb_err no_tracefs = {0};
	struct bpf_link *link;
	const char *log;
	char words[128];
	int rc;

	if (needs_tracefs(p))
		bb_tracefs__provide(&no_tracefs); /* newer kernels do without for kprobes */
	bb_libbpf_log__begin();
	link = attach(p);
	if (link) {
		*ret_link = link;
		return 0;
	}
	rc = -errno;
	if (rc == -EOPNOTSUPP || rc == -ESRCH)
		return bb_fail(err, -ENOTSUP,
			       "SEC(\"%s\") of '%s' does not say where to attach it "
			       "(SEC(\"tp/sched/sched_switch\") would)",
			       section, t->program);
	log = bb_libbpf_log__text();
	libbpf_strerror(rc, words, sizeof(words));
	return bb_fail(err, -ENOTSUP, "attaching '%s' by SEC(\"%s\"): %s (%.*s)%s%s", t->program,
		       section, words, (int)strcspn(log, "\n"), log, no_tracefs.code ? "; " : "",
		       no_tracefs.msg);
}

void bb_target__detach(struct bpf_link *link)
{
	bpf_link__destroy(link);
}

void bb_target__free(struct bb_target *t)
{
	if (!t)
		return;
	bb_target__unload(t);
	bb_kept_maps__drop(&t->kept);
	free(t->elf);
	free(t->program);
	free(t->object_path);
	free(t);
}

int bb_target__prog_fd(const struct bb_target *t)
{
	return t->prog_fd;
}

const char *bb_target__program(const struct bb_target *t)
{
	return t->program;
}

int bb_target__prog_type(const struct bb_target *t, uint32_t *ret_type, struct bb_err *err)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	int rc;

	if (bpf_obj_get_info_by_fd(bb_target__prog_fd(t), &info, &len)) {
		rc = -errno;
		return bb_fail(err, rc, "asking for the type of '%s': %s", bb_target__program(t),
			       strerror(-rc));
	}
	*ret_type = info.type;
	return 0;
}

const struct bpf_object *bb_target__object(const struct bb_target *t)
{
	return t->obj;
}

const char *bb_target__elf(const struct bb_target *t, size_t *ret_len)
{
	*ret_len = t->elf_len;
	return t->elf;
}

const struct bb_stats_reader *bb_target__reader(const struct bb_target *t)
{
	return &t->reader;
}

int bb_target__jit_mod64(const struct bb_target *t)
{
	return t->jit_mod64;
}

int bb_target__drops(const struct bb_target *t, uint64_t *ret_drops)
{
	__u32 zero = 0;
	char *data;
	int rc;

	*ret_drops = 0;
	if (t->drops_map_fd < 0)
		return 0;
	data = calloc(1, t->drops_map_size);
	if (!data)
		return -ENOMEM;
	rc = bpf_map_lookup_elem(t->drops_map_fd, &zero, data);
	if (!rc)
		memcpy(ret_drops, data + t->drops_offset, sizeof(*ret_drops));
	free(data);
	return rc;
}

const struct bb_ring *bb_target__ring(const struct bb_target *t)
{
	__u32 map_ids[MAX_PROG_MAPS], len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = {.map_ids = (__u64)(uintptr_t)map_ids,
				     .nr_map_ids = MAX_PROG_MAPS};
	const struct bb_ring *ring = NULL;

	if (bpf_obj_get_info_by_fd(t->prog_fd, &info, &len))
		return NULL;
	for (__u32 i = 0; !ring && i < info.nr_map_ids && i < MAX_PROG_MAPS; i++)
		ring = bb_kept_maps__ring(&t->kept, map_ids[i]);
	return ring;
}

void bb_target__drain(struct bb_target *t, bool only_when_half_full)
{
	bb_rings__drain(&t->kept.rings, only_when_half_full);
	if (t->kept.lender)
		bb_rings__drain(&t->kept.lender->rings, only_when_half_full);
}

void bb_target__borrow_maps(struct bb_target *t, struct bb_target *lender)
{
	bb_target__unload(t);
	bb_kept_maps__drop(&t->kept);
	t->kept.lender = &lender->kept;
}

void bb_target__say_maps(struct bb_target *t, const struct bb_map_specs *specs)
{
	t->kept.specs = specs;
}

/* Made once a load: descriptors are its own. */
static int make_contents(struct bb_target *t, struct bb_err *err)
{
	int rc = bb_map_contents__make(t->obj, t->kept.specs, t->object_path, &t->contents, err);

	if (rc)
		return rc;
	if (t->drops_map_fd >= 0 && bb_map_contents__has_map(t->contents, t->drops_map_fd)) {
		bb_map_contents__free(t->contents);
		t->contents = NULL;
		return bb_fail(err, -EINVAL,
			       "the scenario resets the variables of %s, among which is 'drops': "
			       "drops are counted over a whole series",
			       t->object_path);
	}
	t->resets_runs = bb_map_contents__has_runs(t->contents);
	return 0;
}

int bb_target__reset_maps(struct bb_target *t, struct bb_err *err)
{
	int rc = t->kept.specs && t->kept.specs->n && !t->contents ? make_contents(t, err) : 0;

	return rc || !t->contents ? rc : bb_map_contents__write(t->contents, err);
}

int bb_target__reset_for_run(struct bb_target *t)
{
	return t->resets_runs ? bb_map_contents__write_for_run(t->contents) : 0;
}
