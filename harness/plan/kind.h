/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_KIND_H
#define BB_PLAN_KIND_H

#include <stddef.h>

#include "plan/field.h"
#include "plan/yaml.h"

/*
 * A kind of mapping in a scenario: the keys that it takes, one row of a table each. Some kinds have
 * modes (a drive's driver, the form of an input), and then a row's `with` says in which of them its
 * key may stand.
 */
#define BB_KIND_MAX_KEYS 24
#define BB_BIT(n) (1U << (n))

struct bb_mode {
	const char *label; /* as it is written: "with: step" */
	const char *name;  /* as it is called: "step" */
};

struct bb_kind {
	const char *what;    /* "a drive" */
	const char *example; /* "{with: step}" */
	const struct bb_field *fields;
	size_t n_fields; /* <= BB_KIND_MAX_KEYS */
	/* modes[i] is what BB_BIT(i) in bb_field.with stands for */
	const struct bb_mode *modes;
	size_t n_modes; /* <= BB_KIND_MAX_KEYS; 0: every key may always stand */
};

#define BB_KIND(what_, example_, fields_)                                                          \
	.what = (what_), .example = (example_), .fields = (fields_),                               \
	.n_fields = sizeof(fields_) / sizeof((fields_)[0])
#define BB_MODES(modes_) .modes = (modes_), .n_modes = sizeof(modes_) / sizeof((modes_)[0])

/*
 * Read the mapping into the struct at `base`, its keys in the order in which they are written;
 * `mode` is one bit, or 0 for a kind without modes. 0, -ENOMEM, or -EINVAL with a message: no
 * mapping, a key that is unknown or belongs to another mode, a required one that is missing, or the
 * error of the key's reader.
 */
int bb_kind__read(const struct bb_reader *r, const struct bb_kind *kind, const struct bb_yaml *node,
		  unsigned int mode, void *base);

#endif
