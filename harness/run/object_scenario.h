/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_OBJECT_SCENARIO_H
#define BB_RUN_OBJECT_SCENARIO_H

#include "base/err.h"
#include "base/grow.h"
#include "base/std.h"
#include "plan/scenario.h"

/* The empty programs, an object of bpfbench's own. */
#define BB_FLOORS_OBJECT "floors.bpf.o"

/*
 * A scenario's text for BPF objects that have none: each program a variant, grouped by type, with
 * the drive that makes the type run and the floor of the type (bpf/floors.bpf.c). `bpfbench init`
 * prints the text, --object runs it: the same.
 */
struct bb_object_ref {
	/* as given by NAME=PATH; NULL: the file's name without .bpf.o, .o or .capture */
	const char *name;
	const char *path;
	const char *program; /* only this one; NULL: as the options say */
};

enum bb_object_do {
	BB_OBJECT_TIME,
	BB_OBJECT_COUNT, /* instructions are counted instead */
	BB_OBJECT_TIME_AND_COUNT,
	BB_OBJECT_LINES, /* each line is timed, and its instructions are counted */
};

struct bb_object_opts {
	const char *name; /* of the scenario; NULL: of the only object, else "objects" */
	const struct bb_object_ref *objects;
	size_t n_objects;           /* 1 or more */
	struct bb_strings programs; /* only these, which each object must have; none: all */
	bool one_each;              /* each object must have one program, and it must be driven */
	enum bb_object_do what;
	const char *trigger; /* instead of the one that suits the type; NULL */
	const char *type;    /* the section that all programs are taken for; NULL: theirs */
	bool hook;           /* where a program is attached, drive `hook`, too */
	/* what makes the variants run, where it was found (run/found_triggers.h): by their names
	 * in this scenario; NULL: it was not looked for */
	const struct bb_scenario *found_in;
	const char *const *found;
	/* files: a capture, bytes, or their hexadecimal text; each is an input */
	struct bb_strings packets;
	struct bb_strings contexts; /* files, likewise, for types without a packet */
};

/* A name from a path or a file's name, without the extension. ret_name[BB_NAME_MAX_BYTES + 1]. */
void bb_object_name_from(const char *path, char *ret_name);

/* Is the program of that name among `programs`? */
bool bb_object_opts__wants(const struct bb_object_opts *o, const char *program);

struct bb_object_skip { /* a program that nothing here makes run */
	char *what;     /* "scenario/variant", as it would have been called */
	char *why;
};

struct bb_object_scenario {
	char *text; /* YAML; the skips stand in it as comments */
	struct bb_object_skip *skips;
	size_t n_skips;
	/* a line for each type that was guessed, for the user; NULL: none was */
	char *guesses;
};

/*
 * Errors: those of bpf/object_info.h; -ENOENT for a program that is not there; -EEXIST for two of
 * one name; -EINVAL for inputs that no program takes; -ENOTSUP when nothing here makes any of the
 * programs run (the message says why).
 */
int bb_object_scenario__make(const struct bb_object_opts *opts,
			     struct bb_object_scenario *ret_scenario, struct bb_err *err);
void bb_object_scenario__done(struct bb_object_scenario *s);

#endif
