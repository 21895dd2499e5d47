/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <jansson.h>

#include "plan/field.h"

/*
 * JSON schema of the mappings of a scenario, made from the rows of struct bb_field that read them.
 * All functions but bb_schema__add_text() return a new value.
 */

/* Adds to `defs` the schemas of a kind and of the kinds in it, unless they are there already.
 * Returns a reference to the schema of the kind. */
json_t *bb_schema__of_kind(json_t *defs, const struct bb_kind *kind);

/* Appends a text to a list, which may be NULL. */
void bb_schema__add_text(json_t *list, const char *text);
