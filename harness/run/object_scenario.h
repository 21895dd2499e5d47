/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"
#include "report/report.h"
#include "run/try_inputs.h"

/* bpfbench's own object with the empty programs. */
#define BB_FLOORS_OBJECT "floors.bpf.o"

/* An object file that the user names, or one program of it. */
struct bb_object_ref {
	/* the NAME of NAME=PATH; NULL: the file's name without .bpf.o, .o or .capture is used */
	const char *name;
	const char *path;
	/* use only this program of the file; NULL: those that bb_object_opts.programs names */
	const char *program;
};

enum bb_object_do {
	BB_OBJECT_TIME,
	BB_OBJECT_COUNT, /* count instructions, time nothing */
	BB_OBJECT_TIME_AND_COUNT,
	BB_OBJECT_LINES, /* time each line, and count its instructions */
};

/* Options for the text of a scenario for BPF objects. Each program becomes a variant. Programs are
 * grouped by type and trigger. Each group has drives of its own and its type's floor
 * (bpf/floors.bpf.c). `bpfbench init` prints this text, and --object runs the same text. */
struct bb_object_opts {
	/* name of the scenario. NULL: the name of the only object; with one_each, the name of the
	 * last object's program; otherwise "objects". */
	const char *name;
	const struct bb_object_ref *objects;
	size_t n_objects; /* at least 1 */
	/* use only these programs; each object must have them. Empty: all programs */
	struct bb_strings programs;
	bool full_names; /* name variants of several objects after object and program */
	/* each object must have exactly one program, and something must make it run */
	bool one_each;
	enum bb_object_do what;
	const char *trigger; /* trigger of all programs; NULL: the one that fits each program */
	const char *type;    /* section in which all programs are loaded; NULL: their own */
	/* true: also use the drive `hook`, for programs with the trigger "fire" */
	bool hook;
	/* Result of bb_find_triggers() for the scenario found_in: found[i] is the trigger that
	 * makes variant i of this scenario run. NULL: there was no such search. */
	const struct bb_scenario *found_in;
	const char *const *found;
	/* files with packets: a packet capture, bytes, or hexadecimal text */
	struct bb_strings packets;
	/* order of the packets, which then are one mix (plan/mix.h); NULL: each packet is a case
	 * of its own */
	const char *order;
	struct bb_strings fills;       /* texts MAP=N or MAP=N,N: numbers of generated entries */
	struct bb_strings max_entries; /* texts MAP=N: max_entries of a map */
	/* texts PROGRAM or PROGRAM=N: run PROGRAM once or N times before each series */
	struct bb_strings prepare;
	struct bb_strings maps; /* files with contents of maps (plan/maps_file.h) */
	/* inputs, globals and entries of maps that --try-inputs found; NULL: there was no search */
	const struct bb_found_inputs *found_inputs;
	const char *cpus; /* N[,N] or `all`: also run on so many CPUs at once; NULL: on one */
	/* with `cpus`: measure with an input for each CPU, and again with one for all CPUs */
	bool same_input;
	/* names of maps: for each of these maps, each program gets one more variant, in which that
	 * map has a value for each CPU */
	struct bb_strings per_cpu;
	struct bb_strings contexts; /* files with contexts, for types without packets */
};

/* Makes a name from a path, without its folder and extension. ret_name[BB_NAME_MAX_BYTES + 1]. */
void bb_object_name_from(const char *path, char *ret_name);

/* True if o->programs is empty or has this name. */
bool bb_object_opts__wants(const struct bb_object_opts *o, const char *program);

struct bb_object_skip { /* a program that bpfbench cannot make run */
	char *what;     /* name "scenario/variant" that the program would have */
	char *why;
};

struct bb_object_scenario {
	char *text; /* YAML, with the skips as comments */
	struct bb_object_skip *skips;
	size_t n_skips;
	/* lines for the user about guessed types and programs without same_input; NULL: none */
	char *guesses;
};

/* Makes the text. Errors: those of bpf/object_info.h; -ENOENT for a missing program; -EEXIST for
 * two programs of one name; -EINVAL for inputs that no program takes; -ENOTSUP if nothing here
 * makes any program run (the message says why). */
int bb_object_scenario__make(const struct bb_object_opts *opts,
			     struct bb_object_scenario *ret_scenario, struct bb_err *err);
void bb_object_scenario__done(struct bb_object_scenario *s);

/* Loads each wanted program of the object file `path`, one after the other, and runs no program.
 * Adds to the report the kernel's facts about each program or, if the kernel refuses the program, a
 * skip with the reason. Returns 0, or -errno with a message if the file cannot be read. */
int bb_object_loads(const char *path, const struct bb_object_opts *opts, struct bb_report *report,
		    struct bb_err *err);
