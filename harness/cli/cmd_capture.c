/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/prog_type.h"
#include "capture/file.h"
#include "capture/replay.h"
#include "cli/capture_options.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/output.h"
#include "plan/field.h"

struct capture_cmd_args {
	struct bb_capture_args how;
	struct bb_env_names env;
	const char *output;
	bool leaves, all;
	char **command; /* of argv, ends in NULL */
};

#define AT(member) offsetof(struct capture_cmd_args, member)
#define TO(member) .at = AT(member)

static const struct bb_option options[] = {
	{"output", 'o', "FILE", "the file (default: the command's name and .capture)", bb_read_text,
	 TO(output)},
	{"leave", 0, NULL,
	 "let the command run on afterwards (default: end it by SIGINT, then harder)", bb_read_flag,
	 TO(leaves)},
	BB_ENV_OPTION(AT(env)),
	{"all", 0, NULL, "list the loader's tests of the kernel, too", bb_read_flag, TO(all)},
	{0},
};

static void check_args(void *args)
{
	struct capture_cmd_args *a = args;

	if (!a->command)
		bb_usage_error("which command? bpfbench capture -- COMMAND...");
	bb_capture_args__check(&a->how, true);
	a->how.env = a->env.v;
}

static const struct bb_usage usage = {
	.arguments = "-- COMMAND...",
	.doc = "Run a command and copy the BPF programs that it loads into a file, which goes "
	       "wherever an object goes: bpfbench --object FILE.",
	.more = "The command may be of any language, with any loader. It runs with the rights that "
		"bpfbench has: as root, under sudo. Its programs are copied with their type "
		"information, lines, maps and the maps' contents (the file is yours alone), as "
		"they "
		"are when the capture ends. Measuring loads them anew and attaches nothing of the "
		"command's. A capture is good on the kernel that it was taken in.",
	.example = "  sudo bpfbench capture -- opensnoop-bpfcc\n",
	.sets = {{NULL, options, 0},
		 {"When to end, and what to copy:", bb_capture_options, AT(how)}},
	.options_first = true,
	.command = AT(command),
	.check = check_args,
};

static const char *state_of(const struct bb_captured_prog *p)
{
	return p->probe ? "a test of the loader's" : p->refused ? p->refused : p->missing;
}

static void print_attachments(const struct bb_capture *c, size_t prog)
{
	bool any = false;

	for (size_t i = 0; i < c->n_attachments; i++) {
		const struct bb_captured_attachment *a = &c->attachments[i];

		if (a->prog != (int32_t)prog)
			continue;
		printf("%s%s%s%s%s", any ? ", " : "", a->refused ? "refused: " : "", a->kind,
		       *a->where ? " " : "", a->where);
		if (a->n > 1)
			printf(" (%u times)", a->n);
		any = true;
	}
	if (!any && c->progs[prog].type == BPF_PROG_TYPE_STRUCT_OPS && *c->progs[prog].attach_name)
		printf("struct_ops %s", c->progs[prog].attach_name);
	else if (!any)
		fputs(state_of(&c->progs[prog]) ? "" : "not attached", stdout);
}

/* Programs that the command has, and did not load by a system call of its own. */
static void print_not_captured(const struct bb_capture *c)
{
	for (size_t i = 0; i < c->n_attachments; i++) {
		const struct bb_captured_attachment *a = &c->attachments[i];

		if (a->prog < 0)
			printf("not captured: a program attached to %s%s%s, which a light skeleton "
			       "or another process loaded\n",
			       a->kind, *a->where ? " " : "", a->where);
	}
}

static int count_map(void *arg, size_t map)
{
	bool *maps = arg;

	maps[map] = true;
	return 0;
}

static size_t count_maps(const struct bb_capture *c, const struct bb_captured_prog *p)
{
	bool *maps = calloc(c->n_maps + 1, sizeof(*maps));
	size_t n = 0;

	if (maps)
		bb_captured_prog__each_map(p, count_map, maps);
	for (size_t i = 0; maps && i < c->n_maps; i++)
		n += maps[i];
	free(maps);
	return n;
}

static void print_program(const struct bb_capture *c, size_t i)
{
	const struct bb_captured_prog *p = &c->progs[i];

	printf("  %-28s %-16s %6u %6u %5zu  %-5s  ", p->name, bb_prog_type_name(p->type).text,
	       p->n_insns, p->jited_bytes, count_maps(c, p), p->n_lines ? "yes" : "no");
	print_attachments(c, i);
	if (state_of(p))
		printf("%s%s", bb_capture__place(c, i) ? "; " : "",
		       p->probe     ? ""
		       : p->refused ? "the kernel refuses it: "
				    : "not whole, without ");
	if (state_of(p))
		fputs(state_of(p), stdout);
	putchar('\n');
}

static void print_capture(const struct bb_capture *c, bool all)
{
	size_t bytes = 0, entries = 0, probes = 0, left_out = 0;

	printf("  %-28s %-16s %6s %6s %5s  %-5s  %s\n", "program", "type", "insns", "jited", "maps",
	       "lines", "attached");
	for (size_t i = 0; i < c->n_progs; i++) {
		probes += c->progs[i].probe != NULL;
		if (all || !c->progs[i].probe)
			print_program(c, i);
	}
	for (size_t i = 0; i < c->n_maps; i++) {
		bytes += c->maps[i].entries.size;
		entries += c->maps[i].n_entries;
		left_out += c->maps[i].left_out != NULL;
	}
	printf("%zu map%s with %zu entries of %zu bytes; %zu without all of their contents\n",
	       c->n_maps, c->n_maps == 1 ? "" : "s", entries, bytes, left_out);
	print_not_captured(c);
	for (size_t i = 0; all && i < c->n_maps; i++)
		if (c->maps[i].left_out)
			printf("  %-28s %s\n", c->maps[i].name, c->maps[i].left_out);
	if (probes && !all)
		printf("%zu tests of the loader's are not shown; --all shows them\n", probes);
}

int bb_cmd_capture(int argc, char **argv)
{
	struct bb_capture *capture = NULL;
	struct capture_cmd_args a = {0};
	struct bb_err err = {0};
	char name[BB_NAME_MAX_BYTES + 2], path[sizeof(name) + sizeof(".capture")];
	int rc;

	bb_usage__parse(&usage, argc, argv, &a);
	bb_capture_name(a.command[0], name, sizeof(name));
	snprintf(path, sizeof(path), "%s.capture", name);
	a.output = a.output ? a.output : path;
	rc = bb_output_check(a.output, &err);
	if (!rc)
		rc = bb_capture_args__run(&a.how, (const char *const *)(uintptr_t)a.command,
					  a.leaves, true, &capture, &err);
	if (!rc)
		rc = bb_capture__write(capture, a.output, &err);
	if (!rc) {
		print_capture(capture, a.all);
		fprintf(stderr, "bpfbench: written to %s; to measure it: bpfbench --object %s\n",
			a.output, a.output);
	}
	bb_capture__free(capture);
	return rc ? bb_complain(&err) : BB_EXIT_OK;
}
