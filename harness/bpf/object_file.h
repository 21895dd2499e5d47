/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

struct bpf_object;
struct bpf_program;

/* Reads BPF object files and opens them by libbpf without loading anything, which needs no root.
 * Messages name the fault: the file does not exist, is not an ELF file, is truncated, is for
 * another machine or byte order, or has maps in the form that libbpf 1.0 dropped. `path` is for
 * messages. */

/* Reads a file and checks that it is a BPF object for this machine. The caller frees *ret_elf. */
int bb_object_read(const char *path, char **ret_elf, size_t *ret_len, struct bb_err *err);

/* Reads a file as bb_object_read() does, but only once for all callers, because each of the perhaps
 * 170 programs of an object asks for the file. Callers must not change the bytes, and each must
 * call bb_object_let_go(), which ignores NULL. */
int bb_object_hold(const char *path, const char **ret_elf, size_t *ret_len, struct bb_err *err);
void bb_object_let_go(const char *elf);
/* Tries to load `obj` as bb_object_trial_load() does, unless the file `elf` of bb_object_hold() has
 * passed the trial named `trial` before, because a trial takes 0.1 s: libbpf reads the kernel's
 * types. */
int bb_object_try_load(const char *path, const char *elf, const char *trial, struct bpf_object *obj,
		       struct bb_err *err);

/* Opens elf[len] by libbpf. Maps that the object wants pinned are not pinned, so nothing remains
 * after us. The caller must call bpf_object__close(). */
int bb_object_open(const char *path, const char *elf, size_t len, struct bpf_object **ret_obj,
		   struct bb_err *err);

/* Returns -ENOENT. The message says that `program` is not among names[n], and lists names. */
int bb_object_say_no_program(const char *path, const char *const *names, size_t n,
			     const char *program, struct bb_err *err);

/*
 * Explains why libbpf did not load the object elf[len]; `rc` is libbpf's error. Call it before
 * anything else calls libbpf. The message is one line with the reason of libbpf or the verifier,
 * followed by the end of the verifier's log if there is one. `with_others` means that other
 * programs were loaded together with `prog`. Returns rc; -EPERM if root is needed; -ENOTSUP if this
 * kernel lacks the program type, the hook or struct_ops links, or refuses the type even to root.
 */
int bb_object_say_not_loaded(const char *path, const char *elf, size_t len,
			     const struct bpf_object *obj, const struct bpf_program *prog,
			     bool with_others, int rc, struct bb_err *err);

/* Returns -ENOTSUP with a message if the kernel has already refused a program of this type and
 * attach type, although we were root; otherwise returns 0. */
int bb_object_check_type(const char *path, const struct bpf_program *prog, struct bb_err *err);
