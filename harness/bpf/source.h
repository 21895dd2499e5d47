/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/code.h"
#include "bpf/kept_maps.h"

/* A source is where a program comes from: an object file (source_object.c), a capture
 * (source_capture.c) or the kernel, for a live program (loaded.c). Each of these files has one
 * table of functions. bpf/target.h hides from its users which kind of source a program has. */
struct bpf_link;
struct bpf_object;
struct bb_contents_map;
struct bb_source;

/* A global variable of the current load, in a map of one element. */
struct bb_source_global {
	int map_fd; /* borrowed until the next load; -1 if there is no such variable */
	/* size of the map's value, and offset of the variable in it, bytes */
	size_t map_size, offset;
};

struct bb_source_ops {
	/* For live programs, which are never changed, all functions that may be NULL are NULL.
	 * fill_usdt is also NULL for captures. */

	/*
	 * Loads the program. The caller has unloaded the previous load. *ret_prog_fd is borrowed
	 * until unload(). Maps that do not belong to one load (bpf/kept_maps.h) are kept in s->maps
	 * and used again. Returns 0, or -errno with a message; -ENOTSUP if this kernel refuses the
	 * program type or does not have it.
	 */
	int (*load)(struct bb_source *s, int *ret_prog_fd, struct bb_err *err);
	void (*unload)(struct bb_source *s); /* does nothing if nothing is loaded */
	/* Writes the end of the verifier's log to log[size], "" if there is none. This may load the
	 * program once more. May be NULL. */
	void (*verifier_log)(struct bb_source *s, char *log, size_t size);
	/* Returns the section name that decides the program's type, and the program's expected
	 * attach type; NULL if unknown. May be NULL. */
	const char *(*section)(const struct bb_source *s, uint32_t *ret_attach_type);
	/* Attaches the loaded program where its section says, until bpf_link__destroy(). May be
	 * NULL. */
	int (*attach)(struct bb_source *s, struct bpf_link **ret_link, struct bb_err *err);
	/* Writes into the maps of the current load how to find the arguments of a static probe. For
	 * this, attaches the program to that probe of this process for a moment. May be NULL. */
	int (*fill_usdt)(struct bb_source *s, const char *path, const char *provider,
			 const char *name, struct bb_err *err);
	/* Returns the name of the i-th program of the object or capture, NULL after the last;
	 * *ret_fd is < 0 if that program is not loaded. May be NULL. */
	const char *(*program)(const struct bb_source *s, size_t i, int *ret_fd);
	/* Copies the code of a loaded program; free it by bb_code__done(). May be NULL. */
	int (*code)(const struct bb_source *s, int prog_fd, struct bb_code *ret_code,
		    struct bb_err *err);
	/* Finds a global variable of `size` bytes. May be NULL. */
	struct bb_source_global (*global)(const struct bb_source *s, const char *name, size_t size);
	/* Describes the i-th map of the current load; returns false after the last. May be NULL. */
	bool (*map)(const struct bb_source *s, size_t i, struct bb_contents_map *ret_map);
	void (*free)(struct bb_source *s);
};

/* First member of every source. */
struct bb_source {
	const struct bb_source_ops *ops;
	char *program; /* name of the program's function */
	char *where;   /* the object's path, for messages */
	/* maps that later loads use again; the struct bb_target owns them */
	struct bb_kept_maps *maps;
};

/* Which program to open. The texts are copied; `globals` and `self` must outlive the source. */
struct bb_source_spec {
	const char *path;    /* path of an object file or a capture */
	const char *program; /* name of the program's function */
	/* Section name that decides the program type (bpf/prog_type.h). NULL means the program's
	 * own section, or the nearest that libbpf knows. */
	const char *type;
	const struct bb_global_spec *globals;
	size_t n_globals;
	const struct bb_self_values *self; /* values of `{pid: self}` and the like; NULL: unknown */
};

/* Opens a program of an object file. The file is read once, so every load uses the same bytes.
 * Fails if the file, the program or a global does not exist; the message lists the programs. */
int bb_source_object__open(const struct bb_source_spec *spec, struct bb_kept_maps *maps,
			   struct bb_source **ret_source, struct bb_err *err);
/* The bpf_object of the current load; NULL if there is none, or if the source is no object file. */
const struct bpf_object *bb_source_object__get(const struct bb_source *s);

/* Opens a program of a capture (capture/file.h); `type` must be NULL. -ENOTSUP if the capture was
 * taken on another kernel. */
int bb_source_capture__open(const struct bb_source_spec *spec, struct bb_kept_maps *maps,
			    struct bb_source **ret_source, struct bb_err *err);

/* Opens a live program by its id, or by the path of its pin; see bb_target__adopt(). */
int bb_source_loaded__open(uint32_t id, const char *pinned, struct bb_source **ret_source,
			   struct bb_err *err);
