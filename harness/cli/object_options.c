/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/object_options.h"

#define ARGS struct bb_object_args

const struct bb_option bb_object_options[] = {
	{"object", 0, "[NAME=]FILE", bb_read_strings, BB_ARG(objects),
	 "a BPF object with the programs (repeatable)"},
	{"program", 0, "NAME", bb_read_strings, BB_ARG(opts.programs),
	 "only this program of the objects (repeatable)"},
	{"packet", 0, "FILE", bb_read_strings, BB_ARG(opts.packets),
	 "run the programs on this packet: bytes, their hexadecimal text, or a pcap (repeatable)"},
	{"order", 0, "ORDER", bb_read_text, BB_ARG(opts.order),
	 "measure all packets of --packet as one case, a mix, in this order: recorded, random, or "
	 "zipf (a few flows have most of the packets)"},
	{"ctx", 0, "FILE", bb_read_strings, BB_ARG(opts.contexts),
	 "run the programs on this context: bytes or their hexadecimal text (repeatable)"},
	{"fill", 0, "MAP=N[,N]", bb_read_strings, BB_ARG(opts.fills),
	 "put N entries with random keys and zero values into this map (repeatable); with several "
	 "N, `run` measures each size; a scenario says more"},
	{"max-entries", 0, "MAP=N", bb_read_strings, BB_ARG(opts.max_entries),
	 "make this map with room for N entries, as its loader would (repeatable)"},
	{"maps", 0, "FILE", bb_read_strings, BB_ARG(opts.maps),
	 "give the object's maps what `bpfbench maps dump --json` wrote of the maps of these names "
	 "(repeatable)"},
	{"prepare", 0, "PROGRAM[=N]", bb_read_strings, BB_ARG(opts.prepare),
	 "run this program of the object N times (1) before each series, so that the maps hold "
	 "what it puts there (repeatable)"},
	{"cpus", 0, "N[,N]", bb_read_text, BB_ARG(opts.cpus),
	 "also run the programs on so many CPUs at once, each number a case, or on `all`; says "
	 "whether they slow each other down"},
	{"per-cpu", 0, "MAP", bb_read_strings, BB_ARG(opts.per_cpu),
	 "with --cpus: measure each program also with a value of this map for each CPU, to tell "
	 "whether its value is what the CPUs contend for (repeatable)"},
	{"same-input", 0, NULL, bb_read_flag, BB_ARG(opts.same_input),
	 "with --cpus: give each CPU an input of its own, flows of one packet or several of "
	 "--packet, and again one input to all, to tell whether they contend for its keys"},
	{"trigger", 0, "NAME", bb_read_text, BB_ARG(opts.trigger),
	 "page-fault, test-run or fire (default: by the type of the program)"},
	{"type", 0, "SECTION", bb_read_text, BB_ARG(opts.type),
	 "the section whose type the programs have (tc, xdp, sockops, ...), where libbpf cannot "
	 "tell it from their own"},
	/* hidden option: --vm gives it to the bpfbench in each guest when two objects are
	 * compared */
	{"full-names", 0, NULL, bb_read_flag, BB_ARG(opts.full_names), NULL},
	{0},
};

bool bb_object_args__any(const struct bb_object_args *a)
{
	const struct bb_object_opts *o = &a->opts;

	return o->programs.n || o->fills.n || o->max_entries.n || o->maps.n || o->prepare.n ||
	       o->packets.n || o->order || o->contexts.n || o->cpus || o->per_cpu.n ||
	       o->same_input || o->trigger || o->type;
}

/* If a "/" stands before the "=", or if `text` is an existing file, all of `text` is a path. */
const char *bb_object_args__path(const char *text)
{
	const char *equals = strchr(text, '='), *slash = strchr(text, '/');

	return !equals || (slash && slash < equals) || !access(text, F_OK) ? text : equals + 1;
}

int bb_object_args__scenario(const struct bb_object_args *a, bool pair,
			     struct bb_object_scenario *ret_text, struct bb_scenario **ret_scenario,
			     struct bb_err *err)
{
	struct bb_object_ref *refs = bb_calloc(a->objects.n, sizeof(*refs));
	char **names = bb_calloc(a->objects.n, sizeof(*names));
	struct bb_object_opts opts = a->opts;
	struct bb_object_scenario text = {0};

	opts.one_each = pair;
	opts.objects = refs;
	opts.n_objects = a->objects.n;
	for (size_t i = 0; i < a->objects.n; i++) {
		const char *object = a->objects.v[i];

		refs[i].path = bb_object_args__path(object);
		if (refs[i].path != object)
			refs[i].name = names[i] = bb_strndup(object,
							     (size_t)(refs[i].path - object) - 1);
		if (pair)
			refs[i].name = i ? "head" : "base";
	}
	int rc = bb_object_scenario__make(&opts, &text, err);
	if (!rc)
		rc = bb_scenario__parse(text.text, strlen(text.text), "(the scenario of --object)",
					ret_scenario, err);
	if (!rc && text.guesses)
		fputs(text.guesses, stderr);
	if (rc)
		bb_object_scenario__done(&text);
	else
		*ret_text = text;
	for (size_t i = 0; i < a->objects.n; i++)
		free(names[i]);
	free(names);
	free(refs);
	return rc;
}
