/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_MAP_FIELD_H
#define BB_PLAN_MAP_FIELD_H

#include "plan/field.h"

/*
 * Reader of struct bb_map_specs from a list of mappings:
 *
 * - {name: allow, reset: run, entries: [{key: 1, value: 2}]}: whole numbers, as wide as in the map
 * - {name: allow, entries: [{key: "0a 00 00 01", value: "01"}]}: quoted bytes, all of them
 * - {name: jumps, entries: [{key: 3, program: tail}]}: a prog array, programs of the same object
 * - {name: seen}: empty; an array is all zeros
 *
 * The map has no entries besides `entries`; the rest of an array is zero. `reset` is `load`
 * (default) or `run`.
 */
int bb_field__maps(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base);

#endif
