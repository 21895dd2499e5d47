/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/code.h"
#include "bpf/kept_maps.h"

/* A source is where a program comes from: an object file (source_object.c), a capture
 * (source_capture.c), or the kernel, which has a live program already (loaded.c). Each has a table
 * of functions and a struct that begins with struct bb_target (bpf/target.h). */
struct bpf_link;
struct bpf_object;
struct bb_contents_map;
struct bb_source_spec;
struct bb_target;

struct bb_source_global {
	int map_fd; /* borrowed until the next load; -1 if there is no such variable */
	/* size of the map's value, and offset of the variable in it, bytes */
	size_t map_size, offset;
};

struct bb_source_ops {
	size_t size; /* of the source's struct, bytes */

	/* Functions that may be NULL are NULL for live programs. fill_usdt is also NULL for
	 * captures. */

	/* Finds the program, and does not load it. The caller calls done() even if open() fails. */
	int (*open)(struct bb_target *t, const struct bb_source_spec *spec, struct bb_err *err);
	/* Loads the program, after unload() of the previous load, and sets t->prog_fd, which
	 * unload() closes. Maps are kept in t->kept. Fails with -ENOTSUP if this kernel does not
	 * have the program type, or refuses it. */
	int (*load)(struct bb_target *t, struct bb_err *err);
	void (*unload)(struct bb_target *t);
	/* Writes the end of the verifier's log, or "". May load the program once more. May be
	 * NULL. */
	void (*verifier_log)(struct bb_target *t, char *log, size_t size);
	/* Returns the section name that decides the program's type, or NULL. May be NULL. */
	const char *(*section)(const struct bb_target *t, uint32_t *ret_attach_type);
	/* Attaches the loaded program where its section says. May be NULL. */
	int (*attach)(struct bb_target *t, struct bpf_link **ret_link, struct bb_err *err);
	/* Writes into the program's maps how to find the arguments of a static probe. To do so,
	 * attaches the program to the probe for a moment, in this process only. May be NULL. */
	int (*fill_usdt)(struct bb_target *t, const char *path, const char *provider,
			 const char *name, struct bb_err *err);
	/* Returns the i-th program of the object or capture, or NULL after the last. *ret_fd is
	 * negative if it is not loaded. May be NULL. */
	const char *(*program)(const struct bb_target *t, size_t i, int *ret_fd);
	/* Copies the code of a loaded program. May be NULL. */
	int (*code)(const struct bb_target *t, int prog_fd, struct bb_code *ret_code,
		    struct bb_err *err);
	/* Finds a global variable of `size` bytes. May be NULL. */
	struct bb_source_global (*global)(const struct bb_target *t, const char *name, size_t size);
	/* Describes the i-th map of the current load. Returns false after the last. May be NULL. */
	bool (*map)(const struct bb_target *t, size_t i, struct bb_contents_map *ret_map);
	void (*done)(struct bb_target *t); /* after unload(). May be NULL. */
};

/* Which program to open. The texts are copied. `globals` and `self` must outlive the target. */
struct bb_source_spec {
	const char *path; /* an object file or a capture; NULL for a live program */
	const char *program;
	/* a live program: the path of its pin or, if that is NULL, its id */
	const char *pinned;
	uint32_t id;
	/* Section name that decides the program type (bpf/prog_type.h). NULL means the program's
	 * own section, or our guess if libbpf does not know it. */
	const char *type;
	const struct bb_global_spec *globals;
	size_t n_globals;
	const struct bb_self_values *self; /* values of `{pid: self}` and the like; NULL if
					    * unknown */
};

/* The file is read once, so that every load uses the same bytes. */
extern const struct bb_source_ops bb_source_object;
/* Returns NULL if nothing is loaded, or if the source is no object file. */
const struct bpf_object *bb_source_object__get(const struct bb_target *t);

/* spec->type must be NULL. Fails with -ENOTSUP if the capture is from another kernel. */
extern const struct bb_source_ops bb_source_capture;

extern const struct bb_source_ops bb_source_loaded;
