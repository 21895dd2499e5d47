/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_MAP_CONTENTS_H
#define BB_BPF_MAP_CONTENTS_H

#include "base/err.h"
#include "base/std.h"
#include "plan/scenario.h"

struct bb_source;

/* A map of the current load. */
struct bb_contents_map {
	const char *name;
	int fd;
	bool is_variables; /* .data, .bss and the like */
	bool is_frozen;    /* not to be written, whatever its flags are */
};

/*
 * The contents that a scenario gives to the maps of a loaded object, made ready: writing them then
 * takes a few system calls and no memory, so that it can be done between two runs. All of it is
 * exact: other keys of a hash go, the rest of an array is zero, a value of a per-CPU map is that of
 * all CPUs.
 */
struct bb_map_contents;

/*
 * Hash, LRU hash and array (each of them per CPU, too), LPM trie, prog array and cgroup array; of
 * the object's own variables `.data` and `.bss`, without entries: back to what they hold now.
 * -EINVAL for other types, -ENOENT for names that there are not, both with those that there are.
 * `specs` and the current load of `source` outlive the result.
 */
int bb_map_contents__make(const struct bb_source *source, const struct bb_map_specs *specs,
			  struct bb_map_contents **ret_contents, struct bb_err *err);

/* Write all maps. */
int bb_map_contents__write(struct bb_map_contents *c, struct bb_err *err);

/* Write the maps that say `reset: run`. -errno without a message: these writes worked before. */
int bb_map_contents__write_for_run(struct bb_map_contents *c);

bool bb_map_contents__has_map(const struct bb_map_contents *c, int map_fd);
void bb_map_contents__free(struct bb_map_contents *c); /* takes NULL */

/* `value` as `size` bytes, little-endian, sign-extended. False when it does not fit. */
bool bb_put_integer(int64_t value, void *dest, size_t size);

#endif
