/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/code.h"
#include "bpf/kept_maps.h"

/* A source is where a program comes from: an object file (source_object.c), a capture
 * (source_capture.c), or the kernel, which has a live program already (loaded.c). bpf/target.h
 * hides which one it is. */
struct bpf_link;
struct bpf_object;
struct bb_contents_map;
struct bb_source;

struct bb_source_global {
	int map_fd; /* borrowed until the next load; -1 if there is no such variable */
	/* size of the map's value, and offset of the variable in it, bytes */
	size_t map_size, offset;
};

struct bb_source_ops {
	/* Functions that may be NULL are NULL for live programs. fill_usdt is also NULL for
	 * captures. */

	/* Loads the program, after unload() of the previous load. *ret_prog_fd is borrowed until
	 * unload(). Maps are kept in s->maps. Fails with -ENOTSUP if this kernel does not have the
	 * program type, or refuses it. */
	int (*load)(struct bb_source *s, int *ret_prog_fd, struct bb_err *err);
	void (*unload)(struct bb_source *s); /* does nothing if nothing is loaded */
	/* Writes the end of the verifier's log, or "". May load the program once more. May be
	 * NULL. */
	void (*verifier_log)(struct bb_source *s, char *log, size_t size);
	/* Returns the section name that decides the program's type, or NULL. May be NULL. */
	const char *(*section)(const struct bb_source *s, uint32_t *ret_attach_type);
	/* Attaches the loaded program where its section says. May be NULL. */
	int (*attach)(struct bb_source *s, struct bpf_link **ret_link, struct bb_err *err);
	/* Writes into the program's maps how to find the arguments of a static probe. To do so,
	 * attaches the program to the probe for a moment, in this process only. May be NULL. */
	int (*fill_usdt)(struct bb_source *s, const char *path, const char *provider,
			 const char *name, struct bb_err *err);
	/* Returns the i-th program of the object or capture, or NULL after the last. *ret_fd is
	 * negative if it is not loaded. May be NULL. */
	const char *(*program)(const struct bb_source *s, size_t i, int *ret_fd);
	/* Copies the code of a loaded program. May be NULL. */
	int (*code)(const struct bb_source *s, int prog_fd, struct bb_code *ret_code,
		    struct bb_err *err);
	/* Finds a global variable of `size` bytes. May be NULL. */
	struct bb_source_global (*global)(const struct bb_source *s, const char *name, size_t size);
	/* Describes the i-th map of the current load. Returns false after the last. May be NULL. */
	bool (*map)(const struct bb_source *s, size_t i, struct bb_contents_map *ret_map);
	void (*free)(struct bb_source *s);
};

struct bb_source {
	const struct bb_source_ops *ops;
	char *program;
	char *where; /* the object's path, for messages */
	/* maps that later loads use again, owned by the struct bb_target */
	struct bb_kept_maps *maps;
};

/* Which program to open. The texts are copied. `globals` and `self` must outlive the source. */
struct bb_source_spec {
	const char *path;
	const char *program;
	/* Section name that decides the program type (bpf/prog_type.h). NULL means the program's
	 * own section, or our guess if libbpf does not know it. */
	const char *type;
	const struct bb_global_spec *globals;
	size_t n_globals;
	const struct bb_self_values *self; /* values of `{pid: self}` and the like; NULL if
					    * unknown */
};

/* The file is read once, so that every load uses the same bytes. */
int bb_source_object__open(const struct bb_source_spec *spec, struct bb_kept_maps *maps,
			   struct bb_source **ret_source, struct bb_err *err);
/* Returns NULL if nothing is loaded, or if the source is no object file. */
const struct bpf_object *bb_source_object__get(const struct bb_source *s);

/* `spec->type` must be NULL. Fails with -ENOTSUP if the capture is from another kernel. */
int bb_source_capture__open(const struct bb_source_spec *spec, struct bb_kept_maps *maps,
			    struct bb_source **ret_source, struct bb_err *err);

/* Opens a live program by the path of its pin or, if `pinned` is NULL, by its id. */
int bb_source_loaded__open(uint32_t id, const char *pinned, struct bb_source **ret_source,
			   struct bb_err *err);
