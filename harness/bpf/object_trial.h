/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_OBJECT_TRIAL_H
#define BB_BPF_OBJECT_TRIAL_H

#include "base/err.h"
#include "base/std.h"

struct bpf_object;

/*
 * Some damaged objects crash libbpf (1.1, say). So it does first in a child process without rights
 * (base/confined.h, which has the errors) all that it does with an object later here. Where there
 * can be no such child, the object is refused. `path` is for messages.
 */

/* Open the file's bytes, elf[len]. */
int bb_object_trial_open(const char *path, const char *elf, size_t len, struct bb_err *err);

/* Load `obj`, which is open: maps, relocations, and the programs that it is set to load. Here, it
 * stays as it is. */
int bb_object_trial_load(const char *path, struct bpf_object *obj, struct bb_err *err);

#endif
