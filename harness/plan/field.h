/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_FIELD_H
#define BB_PLAN_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/scenario.h"
#include "plan/yaml.h"

/*
 * The types that a value in a scenario can have. A key is a row of a table, and the row's reader
 * checks the value and stores it in a member of the struct at `base`. Readers return 0, or -errno
 * with "path:line:col: " and the fault; then the member is as it was.
 */
#define BB_NAME_MAX_BYTES 128 /* names become part of benchmark names and of file names */

/* A name from any text: characters that a name may not have become '_'. ret_name[BB_NAME_MAX_BYTES
 * + 1]. */
void bb_name_from(const char *text, size_t len, char *ret_name);

struct bb_reader {
	const char *path;
	struct bb_err *err;
};

struct bb_field {
	const char *name;
	int (*read)(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		    void *base);
	size_t offset;     /* of the member in the struct at `base` */
	unsigned int with; /* drive: a bit for each driver that knows the key; 0: all */
	bool required;
	double min, max;            /* numbers: the range, both ends included */
	const char *const *choices; /* texts out of a fixed set */
	size_t n_choices;
};

/* Readers, by the type of the member. */
int bb_field__text(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base);
int bb_field__name(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base);
int bb_field__choice(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base);
int bb_field__u32(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base);
int bb_field__int(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base);
int bb_field__double(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base);

/* struct bb_u32_list from 100 or [100, 1000]; each value is a series of its own, so none may come
 * twice. */
int bb_field__u32_list(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base);

/* To build more readers from: the index in f->choices; a list (of `of`) with something in it. */
int bb_field__choose(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, size_t *ret_index);
int bb_field__check_list(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, const char *of);

/* Replace the text or list by a copy. 0 or -ENOMEM. */
int bb_field__set_text(const struct bb_reader *r, char **dest, const char *text);
int bb_field__set_list(const struct bb_reader *r, struct bb_u32_list *dest, const uint32_t *v,
		       size_t n);

struct bb_phrase {
	char text[256];
};
/* Parts of messages: "a, b, c"; " (did you mean 'a'?)" or, when none is near, "". */
struct bb_phrase bb_phrase__join(const char *const *names, size_t n);
struct bb_phrase bb_phrase__suggest(const char *word, const char *const *names, size_t n);

#endif
