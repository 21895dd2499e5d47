/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "bpf/prog_type.h"
#include "capture/file.h"
#include "capture/replay.h"
#include "cli/capture_options.h"
#include "cli/output.h"
#include "plan/field.h"

struct capture_cmd_args {
	struct bb_capture_args how;
	struct bb_strings env;
	const char *output;
	bool all;
	char **command; /* points into argv; ends in NULL */
};

#define ARGS struct capture_cmd_args

static const struct bb_option options[] = {
	{"output", 'o', "FILE", bb_read_text, BB_ARG(output),
	 "the file (default: the command's name and .capture)"},
	{"leave", 0, NULL, bb_read_flag, BB_ARG(how.opts.leaves),
	 "let the command run on afterwards (default: end it by SIGINT, then harder)"},
	{"env", 0, "NAME", bb_read_env, BB_ARG(env), BB_ENV_DOC},
	{"all", 0, NULL, bb_read_flag, BB_ARG(all), "list the loader's tests of the kernel, too"},
	{0},
};

static void check_args(void *args)
{
	struct capture_cmd_args *a = args;

	bb_refuse("which command? bpfbench capture -- COMMAND...", !a->command);
	bb_capture_args__check(&a->how, true);
	a->how.opts.argv = (const char *const *)(uintptr_t)a->command;
	a->how.opts.env = a->env.v;
	a->how.opts.interrupt_ends = true;
}

static const struct bb_usage usage = {
	.arguments = "-- COMMAND...",
	.doc = "Run a command and copy the BPF programs that it loads into a file, which goes "
	       "wherever an object goes: bpfbench --object FILE.",
	.more = "The command may be of any language, with any loader. It runs with the rights that "
		"bpfbench has: as root, under sudo. Its programs are copied with their type "
		"information, lines, maps and the maps' contents (the file is yours alone), as "
		"they are when the capture ends. Measuring loads them anew and attaches nothing of "
		"the command's. A capture is good on the kernel that it was taken in.",
	.example = "  sudo bpfbench capture -- opensnoop-bpfcc\n",
	.sets = {{NULL, options, 0},
		 {"When to end, and what to copy:", bb_capture_options, BB_ARG_AT(how)}},
	.options_first = true,
	.command = BB_ARG_AT(command),
	.check = check_args,
};

/* last_user[map] is the last program that was printed and uses the map. */
static void print_program(const struct bb_capture *c, size_t nth,
			  const struct bb_captured_prog **last_user)
{
	const struct bb_captured_prog *p = &c->progs[nth];
	/* why the program cannot be measured, or NULL if it can */
	const char *state = p->probe     ? "a test of the loader's"
			    : p->refused ? p->refused
					 : p->missing;
	uint32_t at = 0;
	size_t n_maps = 0, n = 0;
	int32_t map;

	/* count each map once, although the program may use it at several places */
	while ((map = bb_captured_prog__next_map(p, &at)) >= 0) {
		n_maps += last_user[map] != p;
		last_user[map] = p;
	}
	printf("  %-28s %-16s %6u %6u %5zu  %-5s  ", p->name, bb_prog_type_name(p->type).text,
	       p->n_insns, p->jited_bytes, n_maps, p->n_lines ? "yes" : "no");
	for (size_t i = 0; i < c->n_attachments; i++) {
		const struct bb_captured_attachment *a = &c->attachments[i];

		if (a->prog != (int32_t)nth)
			continue;
		printf("%s%s%s%s%s", n++ ? ", " : "", a->refused ? "refused: " : "", a->kind,
		       *a->where ? " " : "", a->where);
		if (a->n > 1)
			printf(" (%u times)", a->n);
	}
	if (!n && p->type == BPF_PROG_TYPE_STRUCT_OPS && *p->attach_name)
		printf("struct_ops %s", p->attach_name);
	else if (!n && !state)
		fputs("not attached", stdout);
	if (state)
		printf("%s%s%s", n ? "; " : "",
		       p->probe     ? ""
		       : p->refused ? "the kernel refuses it: "
				    : "not whole, without ",
		       state);
	putchar('\n');
}

static void print_capture(const struct bb_capture *c, bool all)
{
	size_t probes = BB_SUM(c->progs, c->n_progs, it->probe != NULL);
	size_t bytes = BB_SUM(c->maps, c->n_maps, it->entries.size);
	size_t entries = BB_SUM(c->maps, c->n_maps, it->n_entries);
	size_t left_out = BB_SUM(c->maps, c->n_maps, it->left_out != NULL);
	const struct bb_captured_prog **last_user = bb_calloc(c->n_maps + 1, sizeof(*last_user));

	printf("  %-28s %-16s %6s %6s %5s  %-5s  %s\n", "program", "type", "insns", "jited", "maps",
	       "lines", "attached");
	for (size_t i = 0; i < c->n_progs; i++)
		if (all || !c->progs[i].probe)
			print_program(c, i, last_user);
	free(last_user);
	printf("%zu map%s with %zu entries of %zu bytes; %zu without all of their contents\n",
	       c->n_maps, bb_plural(c->n_maps), entries, bytes, left_out);
	/* the command attached these programs, but did not load them by a system call of its own */
	for (size_t i = 0; i < c->n_attachments; i++) {
		const struct bb_captured_attachment *a = &c->attachments[i];

		if (a->prog < 0)
			printf("not captured: a program attached to %s%s%s, which a light skeleton "
			       "or another process loaded\n",
			       a->kind, *a->where ? " " : "", a->where);
	}
	for (size_t i = 0; all && i < c->n_maps; i++)
		if (c->maps[i].left_out)
			printf("  %-28s %s\n", c->maps[i].name, c->maps[i].left_out);
	if (probes && !all)
		printf("%zu tests of the loader's are not shown; --all shows them\n", probes);
}

int bb_cmd_capture(int argc, char **argv, struct bb_err *err)
{
	struct bb_capture *capture = NULL;
	static struct capture_cmd_args a;
	char name[BB_NAME_MAX_BYTES + 2], path[sizeof(name) + sizeof(".capture")];

	bb_usage__parse(&usage, argc, argv, &a);
	bb_capture_name(a.command[0], name, sizeof(name));
	snprintf(path, sizeof(path), "%s.capture", name);
	a.output = a.output ? a.output : path;
	int rc = bb_output_check(a.output, err);
	if (!rc)
		rc = bb_capture_and_say(&a.how.opts, true, &capture, err);
	if (!rc)
		rc = bb_capture__write(capture, a.output, err);
	if (!rc)
		print_capture(capture, a.all);
	if (!rc)
		bb_tell("written to %s; to measure it: bpfbench --object %s", a.output, a.output);
	bb_capture__free(capture);
	return rc;
}
