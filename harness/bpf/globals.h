/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

struct bpf_map;
struct bpf_object;
struct btf;
struct btf_type;

/* Finds a variable of a section, or a member of a variable ("config.port"). Returns its offset in
 * the section and its size, both in bytes. The BTF is untrusted, so the caller must check that both
 * are within the section. Returns false if there is no such variable. */
bool bb_btf_variable(const struct btf *btf, const struct btf_type *section, const char *name,
		     size_t *ret_offset, size_t *ret_size);

/* Finds a global variable, or a member of a variable ("config.port"). Returns the map of the
 * variable's section, the variable's offset in the value of that map, and the variable's size, both
 * in bytes. Returns 0, or -ENOENT without a message. */
int bb_global__find(struct bpf_object *obj, const char *name, struct bpf_map **ret_map,
		    size_t *ret_offset, size_t *ret_size);

/* Sets a variable to the scenario's value before the object is loaded: an integer of any size, or
 * the name of the process that will fire the program. `self` describes that process; NULL if
 * unknown. `object_path` is for messages. */
int bb_global__set(struct bpf_object *obj, const char *object_path,
		   const struct bb_global_spec *spec, const struct bb_self_values *self,
		   struct bb_err *err);

/* Writes the value as an integer of `size` bytes to `dest`. -EINVAL if no integer has that size,
 * -ERANGE if the value does not fit; both messages name the global and the object. */
int bb_global__put(const char *object_path, const char *name, int64_t value, void *dest,
		   size_t size, struct bb_err *err);

/* Reads 64 bits at byte `offset` of the value with the key 0 of an array map. The value has
 * `map_size` bytes. Returns 0 or -errno without a message. */
int bb_map_read_u64(int map_fd, size_t map_size, size_t offset, uint64_t *ret_value);

/* Reads a global variable of 64 bits of a loaded object. Returns 0 or -errno without a message. */
int bb_global__read_u64(struct bpf_object *obj, const char *name, uint64_t *ret_value);
