/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"
#include "report/report.h"
#include "run/try_inputs.h"

/* bpfbench's own object file with an empty program for each type */
#define BB_FLOORS_OBJECT "floors.bpf.o"

/* An object file that the user names, or one program of it. */
struct bb_object_ref {
	/* NAME of NAME=PATH (NULL means the file's name without .bpf.o, .o or .capture) */
	const char *name;
	const char *path;
	/* the only program to use (NULL means those that bb_object_opts.programs names) */
	const char *program;
};

enum bb_object_do {
	BB_OBJECT_TIME,
	BB_OBJECT_COUNT, /* count instructions only */
	BB_OBJECT_TIME_AND_COUNT,
	BB_OBJECT_LINES, /* time each source line, and count its instructions */
};

/* Options for making a scenario (YAML) from BPF objects. Each program becomes a variant. Each type
 * and trigger has its own drives and its own empty program (bpf/floors.bpf.c). `bpfbench init`
 * prints the text, and --object runs it. */
struct bb_object_opts {
	/* Name of the scenario. NULL means with one_each the name of the last object's program,
	 * otherwise the name of the object, or "objects" if there are several. */
	const char *name;
	const struct bb_object_ref *objects;
	size_t n_objects; /* at least 1 */
	/* programs to use, which each object must have (empty means all) */
	struct bb_strings programs;
	bool full_names; /* true to name each variant after its object and its program */
	/* true if each object must have exactly one program, which can be made to run */
	bool one_each;
	enum bb_object_do what;
	/* trigger of all programs (NULL means the one that fits each program) */
	const char *trigger;
	/* section name that sets the type of all programs (NULL means their own section) */
	const char *type;
	/* true to use also the drive `hook`, for programs with the trigger "fire" */
	bool hook;
	/* found[i] is the trigger that bb_find_triggers() found for variant i of the scenario
	 * found_in. NULL means that it did not search. */
	const struct bb_scenario *found_in;
	const char *const *found;
	/* packet files: a packet capture, bytes, or hexadecimal text */
	struct bb_strings packets;
	/* order in which runs take the packets, see plan/mix.h (NULL makes each packet a case) */
	const char *order;
	/* texts MAP=N or MAP=N,N: numbers of map entries to generate */
	struct bb_strings fills;
	struct bb_strings max_entries; /* texts MAP=N: max_entries of a map */
	/* texts PROGRAM or PROGRAM=N: run PROGRAM once or N times before measuring */
	struct bb_strings prepare;
	struct bb_strings maps; /* files with contents of maps (plan/maps_file.h) */
	/* inputs, globals and map entries that --try-inputs found; may be NULL */
	const struct bb_found_inputs *found_inputs;
	/* N[,N] or `all`: numbers of CPUs that run a program at once (NULL means one CPU only) */
	const char *cpus;
	/* true, with `cpus`, to measure with an input for each CPU and with one for all */
	bool same_input;
	/* names of maps (each adds a variant in which the map has a value for each CPU) */
	struct bb_strings per_cpu;
	struct bb_strings contexts; /* context files, for types without packets */
};

/* Makes an object's name from its file name. ret_name[BB_NAME_MAX_BYTES + 1]. */
void bb_object_name_from(const char *path, char *ret_name);

/* Returns true if o->programs is empty or has this name. */
bool bb_object_opts__wants(const struct bb_object_opts *o, const char *program);

struct bb_object_skip { /* a program that bpfbench cannot make run */
	char *what;     /* "scenario/variant" as the program would be called */
	char *why;
};

struct bb_object_scenario {
	char *text; /* YAML, with the skips as comments */
	struct bb_object_skip *skips;
	size_t n_skips;
	/* lines for the user about guessed types and ignored options; may be NULL */
	char *guesses;
};

/* Makes the text. Returns an error of bpf/object_info.h, -ENOENT for a missing program, -EEXIST for
 * two programs with one name, -EINVAL for inputs that no program takes, or -ENOTSUP with the reason
 * if no program can be made to run. */
int bb_object_scenario__make(const struct bb_object_opts *opts,
			     struct bb_object_scenario *ret_scenario, struct bb_err *err);
void bb_object_scenario__done(struct bb_object_scenario *s);

/* Loads each wanted program of the object file once, and runs none. Adds the kernel's facts about
 * it to the report, or a skip with the reason if the kernel refuses it. Returns -errno with a
 * message if the file cannot be read. */
int bb_object_loads(const char *path, const struct bb_object_opts *opts, struct bb_report *report,
		    struct bb_err *err);
