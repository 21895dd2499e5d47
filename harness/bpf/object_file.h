/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

struct bpf_object;
struct bpf_program;

/* Reads BPF object files and opens them by libbpf. `path` is for messages. */

/* Fails with -EINVAL if the file is not a BPF object for this machine. The caller frees
 * *ret_elf. */
int bb_object_read(const char *path, char **ret_elf, size_t *ret_len, struct bb_err *err);

/* Reads a file only once for all callers, because each of the perhaps 170 programs of an object
 * asks for it. Callers must not change the bytes, and must call bb_object_let_go(), which ignores
 * NULL. */
int bb_object_hold(const char *path, const char **ret_elf, size_t *ret_len, struct bb_err *err);
void bb_object_let_go(const char *elf);
/* Calls bb_object_trial_load(), unless the trial named `trial` has passed for the same `elf` of
 * bb_object_hold(). A trial takes 0.1 s, because libbpf reads the kernel's types. */
int bb_object_try_load(const char *path, const char *elf, const char *trial, struct bpf_object *obj,
		       struct bb_err *err);

/* Opens elf[len] by libbpf. Its maps are never pinned, so that nothing remains after us. The caller
 * must call bpf_object__close(). */
int bb_object_open(const char *path, const char *elf, size_t len, struct bpf_object **ret_obj,
		   struct bb_err *err);

int bb_object_say_no_program(const char *path, const char *const *names, size_t n,
			     const char *program, struct bb_err *err);

/*
 * Explains why libbpf did not load the object. `rc` is libbpf's error. Call it before anything else
 * calls libbpf. The message is one line with the reason, followed by the end of the verifier's log.
 * `with_others` means that other programs were loaded together with `prog`.
 *
 * Returns rc, or -EPERM if root is needed, or -ENOTSUP if this kernel lacks the program type, the
 * hook or struct_ops links, or refuses the type even to root.
 */
int bb_object_say_not_loaded(const char *path, const char *elf, size_t len,
			     const struct bpf_object *obj, const struct bpf_program *prog,
			     bool with_others, int rc, struct bb_err *err);

/* Returns -ENOTSUP if the kernel has refused this type and attach type before, even to root. */
int bb_object_check_type(const char *path, const struct bpf_program *prog, struct bb_err *err);
