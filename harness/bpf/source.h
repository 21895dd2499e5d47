/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_SOURCE_H
#define BB_BPF_SOURCE_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "bpf/kept_maps.h"
#include "plan/scenario.h"

/*
 * Where a program comes from: an object file that libbpf opens (source_object.c), a capture
 * (source_capture.c), or a live program (loaded.c). bpf/target.h is built on it, and
 * drivers, exact counts and statistics are built on that: none of them knows which source it is.
 * Another source is one file with one table of functions.
 */
struct bpf_link;
struct bpf_object;
struct bb_contents_map;
struct bb_source;

/* A global variable of the current load, in a map of one element. */
struct bb_source_global {
	int map_fd;              /* borrowed, until the next load; -1: there is no such variable */
	size_t map_size, offset; /* bytes */
};

struct bb_source_ops {
	/*
	 * A live program, which is looked at and never changed, has none of those that may be NULL.
	 *
	 * Load it anew; the previous load has gone. *ret_prog_fd is borrowed, until unload(). Maps
	 * with contents of their own are used again from s->maps, and kept there. -ENOTSUP: this
	 * kernel refuses or lacks the type.
	 */
	int (*load)(struct bb_source *s, int *ret_prog_fd, struct bb_err *err);
	void (*unload)(struct bb_source *s); /* without a load it does nothing */
	/* Load it once more beside, for the end of the verifier's log into log[size]; empty where
	 * there is none. NULL: it cannot be loaded (also in the place of the function). */
	void (*verifier_log)(struct bb_source *s, char *log, size_t size);
	/* The section that its author put it in, and its expected attach type; NULL: not known
	 * (also in the place of the function). */
	const char *(*section)(const struct bb_source *s, uint32_t *ret_attach_type);
	/* Attach the load where the source says; bpf_link__destroy() ends it. May be NULL. */
	int (*attach)(struct bb_source *s, struct bpf_link **ret_link, struct bb_err *err);
	/* Write into the current load's maps how the arguments of a static probe are found; NULL:
	 * not known how. The probe of the file is attached to this process for a moment. */
	int (*fill_usdt)(struct bb_source *s, const char *path, const char *provider,
			 const char *name, struct bb_err *err);
	/* The i-th program of the current load, *ret_fd < 0: not loaded; NULL: there are no more
	 * (also in the place of the function). */
	const char *(*program)(const struct bb_source *s, size_t i, int *ret_fd);
	/* The code of a program of the current load. May be NULL. */
	int (*code)(const struct bb_source *s, int prog_fd, struct bb_code *ret_code,
		    struct bb_err *err);
	/* The map and offset of a global variable of `size` bytes. May be NULL. */
	struct bb_source_global (*global)(const struct bb_source *s, const char *name, size_t size);
	/* The i-th map of the current load; false: there are no more. May be NULL. */
	bool (*map)(const struct bb_source *s, size_t i, struct bb_contents_map *ret_map);
	void (*free)(struct bb_source *s);
};

/* The head of every source. */
struct bb_source {
	const struct bb_source_ops *ops;
	char *program; /* name of its function */
	char *where;   /* the object's path, for messages */
	/* of the first load or of a lender, used by the later loads; set by the target */
	struct bb_kept_maps *maps;
};

/* What to open. The texts are copied; `globals` and `self` must outlive the source. */
struct bb_source_spec {
	const char *path;    /* of an object file or a capture */
	const char *program; /* name of its function */
	/* Section name that decides the program type (bpf/prog_type.h). NULL means the program's
	 * own section, or the nearest that libbpf knows. */
	const char *type;
	const struct bb_global_spec *globals;
	size_t n_globals;
	const struct bb_self_values *self; /* values of `{pid: self}` and the like; NULL: unknown */
};

/*
 * Opens a program of an object file. The file is read once, so every load uses the same bytes.
 * Fails if the file, the program or a global does not exist; the message lists the programs.
 */
int bb_source_object__open(const struct bb_source_spec *spec, struct bb_kept_maps *maps,
			   struct bb_source **ret_source, struct bb_err *err);
/* The bpf_object of the current load. NULL if nothing is loaded or the source is no object file. */
const struct bpf_object *bb_source_object__get(const struct bb_source *s);

/* Opens a program of a capture (capture/file.h); `type` must be NULL. -ENOTSUP if the capture was
 * taken on another kernel. */
int bb_source_capture__open(const struct bb_source_spec *spec, struct bb_kept_maps *maps,
			    struct bb_source **ret_source, struct bb_err *err);

/*
 * A program that is loaded already, by its id or, unless NULL, by the path of its pin. A "load" of
 * it lets go of it and takes it up again: -ENOENT when its owner has let go, too. Errors:
 * bpf/loaded.h.
 */
int bb_source_loaded__open(uint32_t id, const char *pinned, struct bb_source **ret_source,
			   struct bb_err *err);

#endif
