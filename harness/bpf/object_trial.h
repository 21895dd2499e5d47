/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

struct bpf_object;

/* Some damaged objects crash libbpf (for example version 1.1). So libbpf first reads an object in a
 * child process without rights. Errors are those of bb_confined__run() (base/child.h). */

int bb_object_trial_open(const char *path, const char *elf, size_t len, struct bb_err *err);

/* Tries to load a copy of the open object `obj` in the child. The caller's `obj` does not
 * change. */
int bb_object_trial_load(const char *path, struct bpf_object *obj, struct bb_err *err);
