/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

struct bpf_map;
struct bpf_object;
struct btf;
struct btf_type;

/* Finds a variable of a BTF section such as .bss, or a member of one ("config.port"). Offset and
 * size are in bytes and untrusted: the caller must check that they are within the section. */
bool bb_btf_variable(const struct btf *btf, const struct btf_type *section, const char *name,
		     size_t *ret_offset, size_t *ret_size);

/* Finds a global variable, or a member of one ("config.port"). The offset is in the value of
 * *ret_map, in bytes. Returns -ENOENT without a message if there is none. */
int bb_global__find(struct bpf_object *obj, const char *name, struct bpf_map **ret_map,
		    size_t *ret_offset, size_t *ret_size);

/* Sets a global variable before the object is loaded, to an integer or to the name of the process
 * that will run the program. `self` describes that process; NULL if it is unknown. */
int bb_global__set(struct bpf_object *obj, const char *object_path,
		   const struct bb_global_spec *spec, const struct bb_self_values *self,
		   struct bb_err *err);

/* Writes `value` as an integer of `size` bytes. Fails with -EINVAL if integers cannot have that
 * size, and with -ERANGE if the value does not fit. */
int bb_global__put(const char *object_path, const char *name, int64_t value, void *dest,
		   size_t size, struct bb_err *err);

/* Reads 64 bits at byte `offset` of element 0 of an array map. An element has `map_size` bytes.
 * Returns 0 or -errno without a message. */
int bb_map_read_u64(int map_fd, size_t map_size, size_t offset, uint64_t *ret_value);

/* Reads a 64-bit global variable of a loaded object. Returns 0 or -errno without a message. */
int bb_global__read_u64(struct bpf_object *obj, const char *name, uint64_t *ret_value);
