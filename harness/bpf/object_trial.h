/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

struct bpf_object;

/* Some damaged objects crash libbpf (version 1.1, for example). So libbpf first reads an object in
 * a child process without rights. The errors are those of bb_confined__run() (base/child.h). The
 * object is refused if no such child can be made. `path` is for messages. */

/* Tries to open elf[len]. */
int bb_object_trial_open(const char *path, const char *elf, size_t len, struct bb_err *err);

/* Tries to load the open object `obj`: its maps, relocations and chosen programs. The caller's
 * `obj` does not change. */
int bb_object_trial_load(const char *path, struct bpf_object *obj, struct bb_err *err);
