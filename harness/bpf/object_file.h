/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_OBJECT_FILE_H
#define BB_BPF_OBJECT_FILE_H

#include "base/err.h"
#include "base/std.h"

struct bpf_object;
struct bpf_program;

/*
 * BPF object files: read, and opened by libbpf without loading anything, which needs no root.
 * Messages name the fault so that it can be mended: no such file, no ELF file, cut off, of another
 * machine or byte order, maps defined as libbpf 1.0 no longer takes them. `path` is for messages.
 */

/* The file's bytes, which are a BPF object of this machine's byte order; free() them. */
int bb_object_read(const char *path, char **ret_elf, size_t *ret_len, struct bb_err *err);

/* The same, of which there is one copy for all who hold it: an object may have 170 programs. Never
 * changed; bb_object_let_go() it (NULL: nothing). */
int bb_object_hold(const char *path, const char **ret_elf, size_t *ret_len, struct bb_err *err);
void bb_object_let_go(const char *elf);

/* Its maps are never pinned, whatever the object says: nothing is to be left behind.
 * bpf_object__close() it. */
int bb_object_open(const char *path, const char *elf, size_t len, struct bpf_object **ret_obj,
		   struct bb_err *err);

/* -ENOENT: none of the programs names[n] is `program`; says the nearest one, or all. */
int bb_object_say_no_program(const char *path, const char *const *names, size_t n,
			     const char *program, struct bb_err *err);

/*
 * Why libbpf did not load the object, elf[len], which must be its last call: one line with the kind
 * of refusal with the reason that libbpf or the verifier gives, and below it the end of the
 * verifier's log, where there is one. `with_others`: not the program alone. Returns rc, or -ENOTSUP
 * where the kernel has no programs of this type for root either.
 */
int bb_object_say_not_loaded(const char *path, const char *elf, size_t len,
			     const struct bpf_object *obj, const struct bpf_program *prog,
			     bool with_others, int rc, struct bb_err *err);

/* Has the kernel refused a program of this type and attach type to root before? It does so again:
 * the same -ENOTSUP with its message, else 0. */
int bb_object_check_type(const char *path, const struct bpf_program *prog, struct bb_err *err);

#endif
