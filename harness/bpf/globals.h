/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_GLOBALS_H
#define BB_BPF_GLOBALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/scenario.h"

struct bpf_map;
struct bpf_object;

/* A global variable's place: the map of its section, its offset there and its size. -ENOENT without
 * a message. */
int bb_global__find(struct bpf_object *obj, const char *name, struct bpf_map **ret_map,
		    size_t *ret_offset, size_t *ret_size);

/* Set a global integer of any size before the object is loaded. `object_path` is for the message.
 */
int bb_global__set(struct bpf_object *obj, const char *object_path, const char *name, int64_t value,
		   struct bb_err *err);

/* As the scenario says; `self`: of the process that will fire it, NULL: not known. */
int bb_global__set_spec(struct bpf_object *obj, const char *object_path,
			const struct bb_global_spec *spec, const struct bb_self_values *self,
			struct bb_err *err);

/* A global of 64 bits of a loaded object. 0 or -errno without a message. */
int bb_global__read_u64(struct bpf_object *obj, const char *name, uint64_t *ret_value);

#endif
