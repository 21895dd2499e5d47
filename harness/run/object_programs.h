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

struct bb_object_variant {
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
	struct bb_object_scenario out;
};

/* Open the objects and find their programs: those that nothing here makes run become skips. Errors
 * as bb_object_scenario__make(). */
int bb_object_maker__find(struct bb_object_maker *m, struct bb_err *err);

/* The trigger that suits a program; NULL: there is none. */
const char *bb_object_trigger(const struct bb_object_opts *o, const struct bb_object_program *p);

/* "empty-xdp". No function can be called so, only an object. */
const char *bb_object_floor_name(uint32_t type, char *buf, size_t size);

#endif
