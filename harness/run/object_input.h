/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_OBJECT_INPUT_H
#define BB_RUN_OBJECT_INPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/*
 * Write the item of `inputs:` (plan/input_field.c) that a file makes, by its contents: a capture,
 * hexadecimal text, or else the bytes as they are. It is named after the file.
 */
int bb_object_input__write(const char *path, bool is_context, FILE *out, struct bb_err *err);

#endif
