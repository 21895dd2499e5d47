/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/deadline.h"
#include "bpf/object_file.h"
#include "bpf/object_info.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "fire/discover.h"
#include "fire/live_objects.h"

struct triggers_args {
	const char *object;
	struct bb_strings programs;
};

static const struct bb_option options[] = {
	{"program", 0, "NAME", bb_read_strings, .at = offsetof(struct triggers_args, programs),
	 "only this program of the object (repeatable)"},
	{0},
};

static const struct bb_usage usage = {
	.arguments = "[OBJECT]",
	.doc = "List the triggers: the things that bpfbench does to make a program run where it is "
	       "attached. With an OBJECT (as root): which of them make each of its programs run.",
	.more = "The triggers are fired in a process of their own, with a network, a cgroup and a "
		"folder that nobody else has. A trigger that causes one run is preferred to one "
		"that causes several, and a cheap one to an expensive one.",
	.example = "  sudo bpfbench triggers prog.bpf.o\n",
	.sets = {{NULL, options, 0}},
	.argument = {.name = "object",
		     .read = bb_read_once,
		     .at = offsetof(struct triggers_args, object)},
};

static void print_found(const struct bb_discovery *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_tried; i++) {
		const struct bb_tried *t = &d->tried[i];

		if (!t->runs)
			continue;
		n++;
		printf("  %c %-20s %u run%s per firing; a firing takes %.1f us%s%s\n",
		       t->trigger == d->trigger ? '*' : ' ', t->trigger->name, t->runs,
		       bb_plural(t->runs), t->ns / 1e3, t->rc ? "; it ends with: " : "",
		       t->rc ? strerror(-t->rc) : "");
	}
	if (!n)
		printf("  none of %zu\n", d->n_tried);
	if (d->ended[0])
		printf("  %s\n", d->ended);
}

struct search {
	const char *object, *object_dir;
	struct bb_fire_site *site;
	struct bb_live_objects live; /* opened for the first program that needs them */
	bool is_live;
	/* true if a trigger was found for at least one program */
	bool has_trigger;
};

static int load(const struct search *s, const char *program, struct bb_target **ret_target,
		struct bb_attach_point *ret_point, struct bb_err *err)
{
	uint32_t type = 0, attach_type = 0;
	int rc = bb_target__open(&(struct bb_source_spec){.path = s->object, .program = program},
				 ret_target, err);

	if (!rc)
		rc = bb_target__load(*ret_target, err);
	if (!rc)
		rc = bb_target__prog_type(*ret_target, &type, err);
	if (rc)
		return rc;
	const char *section = bb_target__section(*ret_target, &attach_type);
	bb_attach_point__from_section(section ? section : "", type, attach_type, ret_point);
	ret_point->map_fd = bb_target__struct_ops_fd(*ret_target);
	return 0;
}

/* Returns -errno after a signal, else 0. */
static int look_at(struct search *s, const char *program)
{
	struct bb_target *target = NULL;
	struct bb_attach_point point = {0}, own;
	struct bb_discovery d = {0};
	struct bb_err err = {0};
	int rc = load(s, program, &target, &point, &err);

	printf("%s", program);
	if (!rc) {
		printf(" (%s)", bb_attach_point__words(&point).text);
		rc = bb_reach__check(&point, target, &err);
	}
	if (!rc)
		rc = bb_discover(s->site, &point, NULL, &target->reader, true, &d, &err);
	putchar('\n');
	if (rc)
		printf("  %s\n", err.msg);
	else
		print_found(&d);
	/* When a program without a trigger is measured, bpfbench attaches it to a function of its
	 * own. Show this function as the trigger. */
	if ((rc == -ENOTSUP || (!rc && !d.trigger)) &&
	    bb_attach_point__on_own_function(&point, &own) && !bb_reach__acts(target)) {
		if (!s->is_live)
			bb_live_objects__open(s->site->netns_fd, s->object_dir, &s->live);
		s->is_live = true;
		bb_live_objects__stand_in(&s->live, target->program, &own);
		printf("  * %-20s %s\n", bb_triggers_function[0].name, own.said);
		s->has_trigger = true;
	}
	s->has_trigger |= !rc && d.trigger;
	bb_discovery__done(&d);
	bb_target__free(target);
	return bb_must_end_why();
}

static int look_at_all(const struct triggers_args *a, struct bb_err *err)
{
	const struct bb_paths *paths = bb_paths(err);
	struct bb_stats_enable stats = {.fd = -1};
	struct bb_doc next = {0};
	struct search s = {.object = a->object};
	struct bb_object_info info = {0};
	const char *elf = NULL;
	size_t elf_len;
	int cpu, poll_cpu, rc = paths ? bb_object_info__read(a->object, &info, err) : err->code;

	/* keeps the file in memory, so that it is read only once */
	if (!rc && !info.is_capture)
		rc = bb_object_hold(a->object, &elf, &elf_len, err);
	for (size_t i = 0; !rc && i < a->programs.n; i++)
		rc = bb_object_info__need_program(&info, a->object, a->programs.v[i], err);
	if (!rc)
		rc = bb_machine_take_cpus(-1, false, &cpu, &poll_cpu, err);
	if (!rc)
		rc = bb_pin_to_cpu(cpu, err);
	if (!rc) {
		s.site = bb_fire_site__share(cpu, poll_cpu, &(struct bb_fire_user){0});
		s.object_dir = paths->object_dir;
		rc = bb_stats_enable__on(&stats, err);
		for (size_t i = 0; !rc && i < info.n_programs; i++) {
			const char *program = info.programs[i].name;

			if (a->programs.n &&
			    !BB_ANY(a->programs.v, a->programs.n, !strcmp(*it, program)))
				continue;
			rc = look_at(&s, program);
			if (rc)
				bb_fail(err, rc, "stopped by a signal");
		}
		bb_stats_enable__off(&stats);
		if (s.is_live)
			bb_live_objects__close(&s.live);
		bb_fire_site__unshare(s.site);
	}
	bb_object_let_go(elf);
	bb_object_info__done(&info);
	if (rc || !s.has_trigger)
		return rc;
	putchar('\n');
	bb_doc__add(&next, BB_DOC_FAINT, "next", "`sudo bpfbench --object %s", a->object);
	for (size_t i = 0; i < a->programs.n; i++)
		bb_doc__append(&next, " --program %s", a->programs.v[i]);
	bb_doc__append(&next, "` (measures each program by its trigger with a *)");
	return bb_output_document(&next, stdout, err);
}

#define CALL "call-"

/* Triggers that only make one system call are listed in two paragraphs, not in the table. */
static bool is_only_call(const struct bb_trigger *t)
{
	return !strncmp(t->name, CALL, strlen(CALL));
}

/* Names the calls that fail if `fails` is true, else those that succeed. */
static void add_calls(bool fails, const char *doc, struct bb_doc *d)
{
	const struct bb_trigger *t;
	size_t n = 0;

	bb_doc__add(d, BB_DOC_CLOSING, CALL "NAME", "%s; NAME is ", doc);
	for (size_t i = 0; (t = bb_trigger_at(i)); i++)
		if (is_only_call(t) && (t->calls[0].kind == BB_CALL_FAILS) == fails)
			bb_doc__append(d, "%s%s", n++ ? ", " : "", t->name + strlen(CALL));
}

int bb_cmd_triggers(int argc, char **argv, struct bb_err *err)
{
	static struct triggers_args a;
	const struct bb_trigger *t;
	struct bb_doc d = {0};

	bb_usage__parse(&usage, argc, argv, &a);
	if (a.object)
		return look_at_all(&a, err);
	bb_doc__columns(&d, {BB_TEXT("Trigger")}, {BB_TEXT("What it does")});
	for (size_t i = 0; (t = bb_trigger_at(i)); i++) {
		if (is_only_call(t))
			continue;
		bb_doc__text_cell(&d, t->name);
		bb_doc__text_cell(&d, t->doc);
	}
	add_calls(false, "the system call NAME", &d);
	add_calls(true, "the system call NAME, which the kernel refuses", &d);
	bb_doc__add(&d, BB_DOC_FAINT, "next",
		    "`sudo bpfbench triggers OBJECT` (says which of them make the programs of "
		    "OBJECT run)");
	return bb_output_document(&d, stdout, err);
}
