/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_OBJECT_PROGRAMS_H
#define BB_RUN_OBJECT_PROGRAMS_H

#include <limits.h>

#include "bpf/object_info.h"
#include "plan/field.h"
#include "run/object_scenario.h"

/* The programs of the objects, as variants: object_programs.c finds them, object_scenario.c writes
 * them. For these two only. */

/* An object, opened. */
struct bb_object_part {
	char path[PATH_MAX];              /* absolute */
	char name[BB_NAME_MAX_BYTES + 2]; /* with room for one that is too long */
	struct bb_object_info info;
	size_t n_wanted; /* of its programs */
};

/* Programs of one type that one trigger makes run: they have the same drives and one floor. */
struct bb_object_group {
	uint32_t type;
	const char *trigger;
	size_t lead;    /* the first of its variants */
	char floor[64]; /* the name of its floor; "": bpf/floors.bpf.c has none of the type */
};

struct bb_object_variant {
	size_t group;
	char name[2 * BB_NAME_MAX_BYTES + 4]; /* too long: the scenario's reader says so */
	const struct bb_object_part *part;
	const struct bb_object_program *program;
};

struct bb_object_maker {
	const struct bb_object_opts *opts;
	const char *name; /* of the scenario */
	struct bb_object_part *parts;
	/* those that can be driven, in the order of the objects */
	struct bb_object_variant *variants;
	size_t n_variants;
	struct bb_object_group *groups;
	size_t n_groups;
	struct bb_object_scenario out;
};

/* Open the objects and find their programs: those that nothing here makes run become skips. Errors
 * as bb_object_scenario__make(). */
int bb_object_maker__find(struct bb_object_maker *m, struct bb_err *err);

#endif
