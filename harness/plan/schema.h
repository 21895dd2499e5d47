/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <jansson.h>

#include "plan/field.h"

/* These functions make the JSON schema of scenario files from the tables of keys by which
 * scenarios are read (struct bb_field in plan/field.h). */

/* Adds the JSON schemas of `kind`, and of all kinds that its keys use, to the object `defs`: one
 * member for each kind, named by the last word of kind->what. Skips kinds that `defs` has already.
 * Returns {"$ref": "#/$defs/NAME"} for `kind`; release it with json_decref(). */
json_t *bb_schema__of_kind(json_t *defs, const struct bb_kind *kind);

/* Appends a text to the JSON array `list`. Does nothing if `list` is NULL. */
void bb_schema__add_text(json_t *list, const char *text);
