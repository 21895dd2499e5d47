/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_FIRED_BY_FIELD_H
#define BB_PLAN_FIRED_BY_FIELD_H

#include "plan/field.h"

/* The reader of struct bb_fired_by: a trigger's name, {call: malloc, arguments: [64]} or {run:
 * [true]}. */
int bb_field__fired_by(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base);

/* A list of texts into a member that is empty yet; `item` is the word for each in messages. */
int bb_field__texts(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		    const char *item, char ***dest, size_t *n);

#endif
