/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/object_scenario.h"

#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/parse.h"
#include "bpf/prog_type.h"
#include "drivers/test_run_types.h"
#include "plan/field.h"
#include "plan/packet.h"
#include "plan/yaml.h"
#include "run/object_programs.h"

#define MAX_BYTES                                                                                  \
	((size_t)64 << 20) /* of a capture; what an input may have, the scenario's reader says */

/* pcap in either byte order, with µs or ns, and pcapng. */
static bool is_capture(const char *data, size_t len)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1,
					  0x0a0d0d0a};
	uint32_t magic = 0;

	if (len < sizeof(magic))
		return false;
	memcpy(&magic, data, sizeof(magic));
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (magic == magics[i])
			return true;
	return false;
}

static bool is_text(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] < ' ' && !strchr("\t\r\n", data[i] ? data[i] : '?'))
			return false;
	return true;
}

/* 0: it is hexadecimal text; 1: it is none, so it is the bytes themselves. -EINVAL: it can be meant
 * as neither. */
static int look_for_hex(const char *path, const char *data, size_t len, size_t least,
			struct bb_err *err)
{
	uint8_t *bytes = malloc(len / 2 + 1);
	size_t n = 0, at = 0;
	int rc = bytes ? bb_parse_hex(data, bytes, len / 2 + 1, &n, &at) : -ENOMEM;

	free(bytes);
	if (rc == -ENOMEM)
		return bb_fail_nomem(err);
	if (!is_text(data, len))
		return 1;
	if (rc)
		return bb_fail(err, -EINVAL,
			       "%s: a text that is not hexadecimal: character %zu is wrong; bytes "
			       "of two hexadecimal digits each are expected",
			       path, at + 1);
	return n >= least ? 0
			  : bb_fail(err, -EINVAL,
				    "%s has %zu bytes%s; a packet or context has at "
				    "least %zu",
				    path, n, len ? " of hexadecimal text" : "", least);
}

/*
 * The item of `inputs:` (plan/input_field.c) that a file makes, by its contents: a capture,
 * hexadecimal text, or else the bytes as they are. It is named after the file.
 */
static int write_input(const char *path, bool is_context, FILE *out, struct bb_err *err)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
		   *prefix = is_context ? "context_" : "";
	char name[BB_NAME_MAX_BYTES + 1], whole[PATH_MAX], *data = NULL;
	bool capture;
	size_t len = 0;
	int rc = bb_read_file(path, MAX_BYTES, &data, &len, err), no_hex;

	if (rc)
		return rc;
	capture = is_capture(data, len);
	no_hex = capture ? 1
			 : look_for_hex(path, data, len, is_context ? 1 : BB_FRAME_MIN_BYTES, err);
	if (no_hex < 0) {
		rc = no_hex;
	} else if (!realpath(path, whole)) {
		rc = -errno;
		bb_fail(err, rc, "%s: %s", path, strerror(-rc));
	} else if (is_context && capture) {
		rc = bb_fail(err, -EINVAL,
			     "%s: a capture file holds packets, not a context; a context is the "
			     "bytes of the program's argument, or their hexadecimal text",
			     path);
	} else {
		bb_name_from(base, strcspn(base, "."), name);
		fputs("      - {name: ", out);
		bb_yaml__write(out, name);
		fprintf(out, ", %s%s: ", prefix, capture ? "pcap" : no_hex ? "file" : "hex");
		bb_yaml__write(out, no_hex ? whole : data);
		fputs("}\n", out);
	}
	free(data);
	return rc;
}

#define MAX_RUNS 8 /* inputs of one drive that are taken from a capture */

/* --- drives and floors --- */

/* What is done. */
static const struct {
	bool step, exact, lines;
} drives[] = {
	[BB_OBJECT_TIME] = {.step = true},
	[BB_OBJECT_COUNT] = {.exact = true},
	[BB_OBJECT_TIME_AND_COUNT] = {.step = true, .exact = true},
	[BB_OBJECT_LINES] = {.exact = true, .lines = true},
};

/* --- the text --- */

static const struct bb_object_group *group_of(const struct bb_object_maker *m,
					      const struct bb_object_variant *v)
{
	return &m->groups[v->group];
}

static void write_floor(const char *indent, const struct bb_object_group *g, FILE *out)
{
	if (g->floor[0])
		fprintf(out, "%sfloor: %s\n", indent, g->floor);
}

/* What a filter would be told of the process that fires; NULL: nothing that is known. */
static const char *self_for(const struct bb_object_global *g)
{
	static const struct {
		const char *word, *self;
		bool is_text;
		uint32_t size_bytes;
	} rows[] = {
		{"pid", "{pid: self}", false, 4},       {"tgid", "{pid: self}", false, 4},
		{"tid", "{pid: self}", false, 4},       {"comm", "{comm: self}", true, 16},
		{"cgroup", "{cgroup: self}", false, 8}, {"cgid", "{cgroup: self}", false, 8},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strstr(g->name, rows[i].word) && g->is_text == rows[i].is_text &&
		    g->size_bytes == rows[i].size_bytes)
			return rows[i].self;
	return NULL;
}

/* How a program that turns events of others away is told whose to take. */
static void write_filters(const struct bb_object_info *info, FILE *out)
{
	const char *before = "# Globals that a variant can set (key `globals`): ";

	for (size_t i = 0; i < info->n_globals; i++) {
		const char *self = self_for(&info->globals[i]);

		if (info->globals[i].is_text && !self)
			continue;
		fprintf(out, "%s%s%s%s", before, info->globals[i].name, self ? ", also to " : "",
			self ? self : "");
		before = "; ";
	}
	if (*before == ';')
		fputc('\n', out);
	for (size_t i = 0; i < info->n_maps; i++)
		if (info->maps[i].type == BPF_MAP_TYPE_CGROUP_ARRAY)
			fprintf(out,
				"# A variant's maps: [{name: %s, entries: [{key: 0, value: "
				"{cgroup: self}}]}] has the cgroup of the process that fires.\n",
				info->maps[i].name);
}

static void write_head(const struct bb_object_maker *m, FILE *out)
{
	const struct bb_object_opts *o = m->opts;

	fputs("# A scenario to start from, by `bpfbench init`. To measure it: bpfbench --scenario "
	      "FILE. All keys: docs/scenario.md.\n",
	      out);
	for (size_t i = 0; i < o->n_objects; i++) {
		const struct bb_object_info *info = &m->parts[i].info;

		fputs("# ", out);
		bb_yaml__write(out, m->parts[i].path);
		fprintf(out, ": programs %zu, maps %zu, %s, ", info->n_programs, info->n_maps,
			info->has_btf ? "with BTF" : "no BTF (so no globals can be set)");
		fputs(info->licence ? "licence " : "no licence (GPL-only helpers are refused)",
		      out);
		if (info->licence)
			bb_yaml__write(out, info->licence);
		fputc('\n', out);
		write_filters(info, out);
	}
	fputs("name: ", out);
	bb_yaml__write(out, m->name);
	fputs("\nobject: ", out);
	bb_yaml__write(out, m->parts[0].path);
	fputc('\n', out);
	if (m->n_groups == 1) /* all have one floor and the same drives */
		write_floor("", m->groups, out);
	if (!o->n_programs && !o->one_each)
		fputs("refused: skip    # a program that the kernel refuses is skipped by name; "
		      "default: error, which ends the run\n",
		      out);
}

static void write_fired_by(const struct bb_object_maker *m, const char *variant, FILE *out)
{
	const struct bb_scenario *s = m->opts->found_in;

	for (size_t i = 0; s && i < s->n_variants; i++)
		if (!strcmp(s->variants[i].name, variant) && m->opts->found[i])
			fprintf(out, ", fired_by: %s", m->opts->found[i]);
}

static void write_variants(const struct bb_object_maker *m, FILE *out)
{
	fputs("variants:\n", out);
	for (size_t i = 0; i < m->n_variants; i++) {
		const struct bb_object_variant *v = &m->variants[i];
		const struct bb_object_group *g = group_of(m, v);
		uint32_t type = v->program->type;

		if (g->lead == i && g->floor[0]) {
			fprintf(out, "  - {name: %s, program: empty_%s, object: " BB_FLOORS_OBJECT,
				g->floor, bb_prog_type_name(type).text);
			write_fired_by(m, g->floor, out);
			fputs("}    # the floor: returns at once\n", out);
		}
		fputs("  - {name: ", out);
		bb_yaml__write(out, v->name);
		if (strcmp(v->name, v->program->name)) {
			fputs(", program: ", out);
			bb_yaml__write(out, v->program->name);
		}
		if (m->opts->type || v->program->guess) {
			fputs(", type: ", out);
			bb_yaml__write(out, m->opts->type ? m->opts->type : v->program->guess);
		}
		if (v->part != m->parts) {
			fputs(", object: ", out);
			bb_yaml__write(out, v->part->path);
		}
		write_fired_by(m, v->name, out);
		fprintf(out, "}    # %s, section ", bb_prog_type_name(type).text);
		bb_yaml__write(out, v->program->section);
		fputc('\n', out);
	}
}

/* The inputs of the command's own test runs, as far as the programs of this drive had any. */
struct runs {
	const char *text[MAX_RUNS]; /* hexadecimal; no two are the same */
	size_t n;
};

static void add_run(struct runs *r, const char *text)
{
	for (size_t i = 0; text && i < r->n; i++)
		if (!strcmp(r->text[i], text))
			return;
	if (text && r->n < MAX_RUNS)
		r->text[r->n++] = text;
}

static struct runs runs_of(const struct bb_object_maker *m, const struct bb_object_variant *lead,
			   bool contexts)
{
	struct runs r = {.n = 0};

	for (size_t i = 0; i < m->n_variants; i++) {
		const struct bb_object_program *p = m->variants[i].program;

		for (size_t k = 0; m->variants[i].group == lead->group && k < p->n_runs; k++)
			add_run(&r, contexts ? p->runs[k].context : p->runs[k].packet);
	}
	return r;
}

static int write_inputs(const struct bb_object_maker *m, const struct bb_object_variant *lead,
			const struct bb_test_run_type *type, bool hint, FILE *out,
			struct bb_err *err)
{
	const struct bb_object_opts *o = m->opts;
	const char *const *files = type->takes_context ? o->contexts : o->packets;
	size_t n = type->takes_context ? o->n_contexts : o->n_packets;
	struct runs runs = {.n = 0};
	int rc = 0;

	if (!n)
		runs = runs_of(m, lead, type->takes_context);
	if (runs.n)
		fputs("    inputs:    # those of the command's own test runs\n", out);
	else if (n)
		fputs("    inputs:\n", out);
	else if (hint)
		fprintf(out,
			"    # It takes %s.\n    # inputs: [{name: mine, %s: FILE}]    # default: "
			"one called %s\n",
			type->wants, type->takes_context ? "context_file" : "file",
			type->otherwise->name);
	for (size_t i = 0; i < runs.n; i++)
		fprintf(out, "      - {name: run-%zu, %shex: \"%s\"}\n", i + 1,
			type->takes_context ? "context_" : "", runs.text[i]);
	for (size_t i = 0; !rc && i < n; i++)
		rc = write_input(files[i], type->takes_context, out, err);
	return rc;
}

/* Which floor and which of the variants a drive is for, where there are other types, too. */
static void write_driven(const struct bb_object_maker *m, const struct bb_object_variant *lead,
			 FILE *out)
{
	const char *between = "";

	if (m->n_groups == 1)
		return; /* the scenario's floor, and all */
	write_floor("    ", group_of(m, lead), out);
	fputs("    variants: [", out);
	for (size_t i = 0; i < m->n_variants; i++) {
		if (m->variants[i].group != lead->group)
			continue;
		fputs(between, out);
		bb_yaml__write(out, m->variants[i].name);
		between = ", ";
	}
	fputs("]\n", out);
}

/* One drive that fires the program; `hint`: say in a comment what its inputs would be. */
static int write_fired(const struct bb_object_maker *m, const struct bb_object_variant *lead,
		       const char *with, bool hint, FILE *out, struct bb_err *err)
{
	const char *trigger = group_of(m, lead)->trigger;
	uint32_t prog_type = lead->program->type;
	const struct bb_test_run_type *type;

	if (!strcmp(trigger, "fire") && !bb_drive_kind_find(with, trigger))
		return 0;
	fprintf(out, "  - with: %s\n    trigger: ", with);
	bb_yaml__write(out, trigger);
	fputc('\n', out);
	if (!strcmp(trigger, "page-fault"))
		fputs("    stack_depth: 32    # user frames that the program sees\n", out);
	write_driven(m, lead, out);
	if (strcmp(trigger, "test-run") || bb_test_run_type__find(prog_type, &type, NULL))
		return 0;
	return write_inputs(m, lead, type, hint, out, err);
}

static int write_slope(const struct bb_object_maker *m, const struct bb_object_variant *lead,
		       FILE *out, struct bb_err *err)
{
	uint32_t prog_type = lead->program->type;
	const struct bb_test_run_type *type;

	if (m->opts->trigger || strcmp(group_of(m, lead)->trigger, "test-run") ||
	    bb_test_run_type__find(prog_type, &type, NULL) || !type->takes_repeat)
		return 0;
	fputs("  - with: slope    # without bpf_stats, whose own cost is in the figures of step\n",
	      out);
	write_driven(m, lead, out);
	return write_inputs(m, lead, type, false, out, err);
}

static void write_hook(const struct bb_object_maker *m, const struct bb_object_variant *lead,
		       FILE *out)
{
	if (!m->opts->hook || strcmp(group_of(m, lead)->trigger, "fire"))
		return;
	fputs("  - with: hook    # the whole cost of an event to whoever makes it happen\n", out);
	write_driven(m, lead, out);
}

/* The drives of a type. */
static int write_drives(const struct bb_object_maker *m, const struct bb_object_variant *lead,
			FILE *out, struct bb_err *err)
{
	enum bb_object_do what = m->opts->what;
	int rc = 0;

	if (drives[what].step)
		rc = write_fired(m, lead, "step", true, out, err);
	if (!rc && drives[what].step)
		rc = write_slope(m, lead, out, err);
	if (!rc && drives[what].step)
		write_hook(m, lead, out);
	if (!rc && drives[what].lines)
		rc = write_fired(m, lead, "lines", true, out, err);
	if (!rc && drives[what].exact)
		rc = write_fired(m, lead, "exact", what == BB_OBJECT_COUNT, out, err);
	return rc;
}

/* The skips, as comments: whatever stands in a section's name, it is one line. */
static void write_skips(const struct bb_object_maker *m, FILE *out)
{
	for (size_t i = 0; i < m->out.n_skips; i++) {
		fprintf(out, "# Not driven: %s: ", m->out.skips[i].what);
		for (const char *c = m->out.skips[i].why; *c; c++)
			fputc((unsigned char)*c < ' ' ? '?' : *c, out);
		fputc('\n', out);
	}
}

static int write_text(struct bb_object_maker *m, struct bb_err *err)
{
	size_t size = 0;
	FILE *out = open_memstream(&m->out.text, &size);
	int rc = 0;

	if (!out)
		return bb_fail_nomem(err);
	write_head(m, out);
	write_variants(m, out);
	fputs("drive:\n", out);
	for (size_t i = 0; !rc && i < m->n_groups; i++)
		rc = write_drives(m, &m->variants[m->groups[i].lead], out, err);
	write_skips(m, out);
	return fclose(out) && !rc ? bb_fail_nomem(err) : rc;
}

/* Inputs that are given must be of use to some program. */
static int check_inputs(const struct bb_object_maker *m, struct bb_err *err)
{
	bool packets = false, contexts = false;

	for (size_t i = 0; i < m->n_variants; i++) {
		const struct bb_test_run_type *type;

		if (bb_test_run_type__find(m->variants[i].program->type, &type, NULL))
			continue;
		packets |= !type->takes_context;
		contexts |= type->takes_context;
	}
	if (m->opts->n_packets && !packets)
		return bb_fail(err, -EINVAL, "%s: none of the programs takes a packet%s",
			       m->opts->packets[0],
			       contexts ? "; a context is given with --ctx" : "");
	if (m->opts->n_contexts && !contexts)
		return bb_fail(err, -EINVAL, "%s: none of the programs takes a context%s",
			       m->opts->contexts[0],
			       packets ? "; a packet is given with --packet" : "");
	return 0;
}

int bb_object_scenario__make(const struct bb_object_opts *opts,
			     struct bb_object_scenario *ret_scenario, struct bb_err *err)
{
	struct bb_object_maker m = {.opts = opts,
				    .parts = calloc(opts->n_objects, sizeof(*m.parts))};
	int rc = m.parts ? bb_object_maker__find(&m, err) : bb_fail_nomem(err);

	if (!rc)
		rc = check_inputs(&m, err);
	if (!rc)
		rc = write_text(&m, err);
	for (size_t i = 0; m.parts && i < opts->n_objects; i++)
		bb_object_info__done(&m.parts[i].info);
	free(m.parts);
	free(m.variants);
	free(m.groups);
	if (rc)
		bb_object_scenario__done(&m.out);
	else
		*ret_scenario = m.out;
	return rc;
}

void bb_object_scenario__done(struct bb_object_scenario *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_skips; i++) {
		free(s->skips[i].what);
		free(s->skips[i].why);
	}
	free(s->skips);
	free(s->guesses);
	free(s->text);
	*s = (struct bb_object_scenario){0};
}
