/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/object_programs.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "bpf/prog_type.h"
#include "capture/section.h"
#include "drivers/test_run_types.h"
#include "fire/attach_point.h"
#include "plan/yaml.h"

#define MOST_FLOORS 24u /* more than a run has types and triggers */

/* --- names --- */

static bool ends_in(const char *text, size_t len, const char *end)
{
	return len > strlen(end) && !memcmp(text + len - strlen(end), end, strlen(end));
}

void bb_object_name_from(const char *path, char *ret_name)
{
	size_t len = strlen(path);

	if (ends_in(path, len, ".o"))
		len -= strlen(".o");
	if (ends_in(path, len, ".bpf"))
		len -= strlen(".bpf");
	if (ends_in(path, len, ".capture"))
		len -= strlen(".capture");
	bb_name_from(path, len, ret_name);
}

static void name_part(const struct bb_object_ref *ref, char *ret_name)
{
	if (ref->name) /* as it is: if it is not a name, that is for the user to hear */
		snprintf(ret_name, BB_NAME_MAX_BYTES + 2, "%s", ref->name);
	else
		bb_object_name_from(basename(ref->path), ret_name);
}

/* The program's name; of several objects theirs, and both where an object has several programs. */
static void name_variant(const struct bb_object_maker *m, const struct bb_object_part *part,
			 const char *program, struct bb_object_variant *v)
{
	char own[BB_NAME_MAX_BYTES + 1];

	bb_name_from(program, strlen(program), own);
	if (m->opts->n_objects == 1)
		snprintf(v->name, sizeof(v->name), "%s", own);
	else
		snprintf(v->name, sizeof(v->name), "%s%s%s", part->name,
			 part->n_wanted == 1 ? "" : ".", part->n_wanted == 1 ? "" : own);
}

static int by_name(const void *a, const void *b)
{
	const struct bb_object_variant *x = *(const struct bb_object_variant *const *)a,
				       *y = *(const struct bb_object_variant *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x > y) - (x < y);
}

static int check_distinct(const struct bb_object_maker *m, struct bb_err *err)
{
	const struct bb_object_variant **v = calloc(m->n_variants, sizeof(*v));
	int rc = v ? 0 : bb_fail_nomem(err);

	for (size_t i = 0; !rc && i < m->n_variants; i++) {
		v[i] = &m->variants[i];
		for (size_t g = 0; !rc && g < m->n_groups; g++)
			if (!strcmp(v[i]->name, m->groups[g].floor))
				rc = bb_fail(err, -EEXIST,
					     "'%s' is the name of the empty program; give %s "
					     "another name: --object NAME=FILE",
					     v[i]->name, v[i]->part->path);
	}
	if (!rc)
		qsort(v, m->n_variants, sizeof(*v), by_name);
	for (size_t i = 1; !rc && i < m->n_variants; i++)
		if (!strcmp(v[i - 1]->name, v[i]->name))
			rc = bb_fail(err, -EEXIST,
				     "'%s' of %s and '%s' of %s would both be called '%s'; give "
				     "the objects names of their own: --object NAME=FILE",
				     v[i - 1]->program->name, v[i - 1]->part->path,
				     v[i]->program->name, v[i]->part->path, v[i]->name);
	free(v);
	return rc;
}

/* --- which programs --- */

/* The drive that a program must have to be measured, by what is wanted. */
static const char *const needed_drives[] = {
	[BB_OBJECT_TIME] = "step",
	[BB_OBJECT_COUNT] = "exact",
	[BB_OBJECT_TIME_AND_COUNT] = "step",
	[BB_OBJECT_LINES] = "lines",
};

/* The trigger that suits a program; NULL: there is none. */
static const char *trigger_of(const struct bb_object_opts *o, const struct bb_object_program *p)
{
	const struct bb_test_run_type *t;
	struct bb_attach_point point, own;

	if (o->trigger)
		return o->trigger;
	if (p->type == BPF_PROG_TYPE_PERF_EVENT)
		return "page-fault";
	bb_attach_point__from_section(p->section, p->type, p->attach_type, &point);
	/* a context of zeros is nobody's; one that is given is meant */
	if (!bb_test_run_type__find(p->type, &t, NULL) &&
	    (point.kind != BB_AT_RAW_TP || o->n_contexts))
		return "test-run";
	/* a tracepoint's program may be named after its event */
	if (point.kind == BB_AT_NOWHERE && p->type != BPF_PROG_TYPE_TRACEPOINT &&
	    !bb_attach_point__on_own_function(&point, &own))
		return NULL;
	return bb_drive_kind_find(needed_drives[o->what], "fire") ? "fire" : NULL;
}

bool bb_object_opts__wants(const struct bb_object_opts *o, const char *program)
{
	for (size_t i = 0; i < o->n_programs; i++)
		if (!strcmp(o->programs[i], program))
			return true;
	return !o->n_programs;
}

static bool is_wanted(const struct bb_object_opts *o, const struct bb_object_ref *ref,
		      const char *program)
{
	return ref->program ? !strcmp(ref->program, program) : bb_object_opts__wants(o, program);
}

static int open_part(const struct bb_object_opts *o, const struct bb_object_ref *ref,
		     struct bb_object_part *part, struct bb_err *err)
{
	int rc = bb_object_info__read(ref->path, &part->info, err);

	if (!rc && o->type)
		rc = bb_object_info__take_for(&part->info, o->type, err);
	if (!rc && !realpath(ref->path, part->path)) {
		rc = -errno;
		bb_fail(err, rc, "%s: %s", ref->path, strerror(-rc));
	}
	for (size_t i = 0; !rc && !ref->program && i < o->n_programs; i++)
		rc = bb_object_info__need_program(&part->info, ref->path, o->programs[i], err);
	name_part(ref, part->name);
	for (size_t i = 0; !rc && i < part->info.n_programs; i++)
		part->n_wanted += is_wanted(o, ref, part->info.programs[i].name);
	if (!rc && o->one_each && part->n_wanted != 1)
		rc = bb_fail(err, -EINVAL,
			     "%s: one program of it can be compared at a time; which? --program "
			     "NAME; it has: %s",
			     ref->path, bb_object_info__list(&part->info).text);
	return rc;
}

/* Why nothing here makes a program run; false: something does. */
static bool why_not(const struct bb_object_opts *o, const struct bb_object_program *p,
		    char *ret_why, size_t size)
{
	const char *kind = p->attach_type == BPF_XDP_DEVMAP ? "devmap" : "cpumap";

	if (p->why_not)
		snprintf(ret_why, size, "%s", p->why_not);
	else if (p->type == BPF_PROG_TYPE_UNSPEC)
		snprintf(ret_why, size,
			 "libbpf cannot tell its type from its section \"%s\"; --type, or the "
			 "key 'type' of a variant, says it",
			 p->section);
	else if (p->type == BPF_PROG_TYPE_XDP &&
		 (p->attach_type == BPF_XDP_DEVMAP || p->attach_type == BPF_XDP_CPUMAP))
		snprintf(ret_why, size,
			 "the kernel runs a program of section xdp/%s only on frames redirected to "
			 "a %s, and refuses to test-run it; built in section xdp it can be "
			 "measured",
			 kind, kind);
	else if (trigger_of(o, p))
		return false;
	else if (!strcmp(p->section, BB_NOT_ATTACHED))
		snprintf(ret_why, size,
			 "the command attached it nowhere, so nothing tells which event of type "
			 "%s makes it run",
			 bb_prog_type_name(p->type).text);
	else
		snprintf(ret_why, size, "no trigger here makes a program of type %s run; %s",
			 bb_prog_type_name(p->type).text,
			 p->type == BPF_PROG_TYPE_EXT ? "it runs as part of the program that it "
							"replaces"
						      : "only its own event makes it run");
	return true;
}

static int add_skip(struct bb_object_maker *m, const char *variant, const char *why)
{
	struct bb_object_skip *s = bb_append(&m->out.skips, &m->out.n_skips, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->why = strdup(why);
	if (asprintf(&s->what, "%s/%s", m->name, variant) < 0)
		s->what = NULL;
	return s->what && s->why ? 0 : -ENOMEM;
}

static int note_guess(struct bb_object_maker *m, const struct bb_object_variant *v)
{
	char *before = m->out.guesses;

	if (asprintf(&m->out.guesses,
		     "%sbpfbench: %s: its section \"%s\" is taken for \"%s\"; --type says "
		     "otherwise\n",
		     before ? before : "", v->name, v->program->section, v->program->guess) < 0)
		m->out.guesses = NULL;
	free(before);
	return m->out.guesses ? 0 : -ENOMEM;
}

/* Types that are fired where they are attached and have an empty program in bpf/floors.bpf.c. */
static const uint32_t fired_floors[] = {
	BPF_PROG_TYPE_TRACEPOINT,     BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_TRACING,
	BPF_PROG_TYPE_KPROBE,         BPF_PROG_TYPE_CGROUP_SOCK,    BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_PROG_TYPE_CGROUP_SYSCTL,  BPF_PROG_TYPE_CGROUP_DEVICE,
	BPF_PROG_TYPE_SOCK_OPS,
};

/* bpf/floors.bpf.c has one for each type that can be driven, but for a few that are fired. */
static bool has_floor(uint32_t type)
{
	const struct bb_test_run_type *t;

	for (size_t i = 0; i < sizeof(fired_floors) / sizeof(fired_floors[0]); i++)
		if (fired_floors[i] == type)
			return true;
	return type == BPF_PROG_TYPE_PERF_EVENT || !bb_test_run_type__find(type, &t, NULL);
}

/* The group of the variant that will be the next. 0 or -ENOMEM. */
static int find_group(struct bb_object_maker *m, const struct bb_object_program *p,
		      size_t *ret_group)
{
	const char *trigger = trigger_of(m->opts, p);
	struct bb_object_group *g;
	bool is_second = false;

	for (*ret_group = 0; *ret_group < m->n_groups; ++*ret_group)
		if (m->groups[*ret_group].type == p->type &&
		    !strcmp(m->groups[*ret_group].trigger, trigger))
			return 0;
	g = bb_append(&m->groups, &m->n_groups, sizeof(*g));
	if (!g)
		return -ENOMEM;
	*g = (struct bb_object_group){.type = p->type, .trigger = trigger, .lead = m->n_variants};
	for (size_t i = 0; i < *ret_group; i++)
		is_second |= m->groups[i].type == p->type;
	/* "empty-xdp"; where programs of the type run by two triggers,
	 * "empty-raw_tracepoint-test-run" by the second. No function can be called so, only an
	 * object. */
	if (has_floor(p->type))
		snprintf(g->floor, sizeof(g->floor), "empty-%s%s%s",
			 bb_prog_type_name(p->type).text, is_second ? "-" : "",
			 is_second ? trigger : "");
	return 0;
}

static int add_program(struct bb_object_maker *m, const struct bb_object_part *part,
		       const struct bb_object_program *p)
{
	struct bb_object_variant *added, v = {.part = part, .program = p};
	char why[400];

	name_variant(m, part, p->name, &v);
	if (why_not(m->opts, p, why, sizeof(why)))
		return add_skip(m, v.name, why);
	if (find_group(m, p, &v.group))
		return -ENOMEM;
	added = bb_append(&m->variants, &m->n_variants, sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = v;
	return p->guess ? note_guess(m, &v) : 0;
}

/* Of the skips from `from` on, those for its reason, if it is the first of them. */
static void list_alike(const struct bb_object_maker *m, size_t from, FILE *out)
{
	const struct bb_object_skip *s = m->out.skips;

	for (size_t i = 0; i < from; i++)
		if (!strcmp(s[i].why, s[from].why))
			return;
	for (size_t i = from; i < m->out.n_skips; i++)
		if (!strcmp(s[i].why, s[from].why))
			fprintf(out, "%s%s", i == from ? "\n  " : ", ", s[i].what);
	fprintf(out, ": %s", s[from].why);
}

/* A line a reason: what is said of many programs must fit into one message. */
static int say_nothing_driven(const struct bb_object_maker *m, struct bb_err *err)
{
	char *list = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&list, &size);
	int rc;

	for (size_t i = 0; out && i < m->out.n_skips; i++)
		list_alike(m, i, out);
	if (!out || fclose(out))
		rc = bb_fail_nomem(err);
	else
		rc = bb_fail(err, -ENOTSUP, "%s: none of its programs can be driven:%s",
			     m->parts[0].path, list);
	free(list);
	return rc;
}

int bb_object_maker__find(struct bb_object_maker *m, struct bb_err *err)
{
	/* a scenario's list holds no more; beside them stands a floor for each type */
	const size_t most = BB_YAML_MAX_ENTRIES - MOST_FLOORS;
	const struct bb_object_opts *o = m->opts;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->n_objects; i++) {
		rc = open_part(o, &o->objects[i], &m->parts[i], err);
		n += m->parts[i].n_wanted;
	}
	if (!rc && n > most)
		rc = bb_fail(err, -E2BIG,
			     "%s: %zu programs are too many for one run, which measures %zu at the "
			     "most; --program NAME (repeatable) chooses some of them",
			     o->objects[0].path, n, most);
	m->name = o->name ? o->name : o->n_objects == 1 ? m->parts[0].name : "objects";
	for (size_t i = 0; !rc && i < o->n_objects; i++)
		for (size_t j = 0; !rc && j < m->parts[i].info.n_programs; j++)
			if (is_wanted(o, &o->objects[i], m->parts[i].info.programs[j].name) &&
			    add_program(m, &m->parts[i], &m->parts[i].info.programs[j]))
				rc = bb_fail_nomem(err);
	if (!rc && (!m->n_variants || (o->one_each && m->out.n_skips)))
		rc = say_nothing_driven(m, err);
	return rc ? rc : check_distinct(m, err);
}
