/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_BYTES_FIELD_H
#define BB_PLAN_BYTES_FIELD_H

#include "plan/bytes.h"
#include "plan/field.h"

/*
 * Readers of struct bb_bytes, at least f->min and at most f->max of them: hexadecimal digits ("08
 * 00 4500"), quoted or not, and a file, which is looked for beside the scenario.
 */
int bb_field__hex(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base);
int bb_field__file(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base);

/* The path of a file that the scenario names, relative to the scenario's own folder; free() it. */
int bb_field__path(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   char **ret_path);

#endif
