/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_OBJECT_INFO_H
#define BB_BPF_OBJECT_INFO_H

#include "base/err.h"
#include "base/std.h"
#include "plan/field.h"

/* The contents of a BPF object or a capture, without loading it: for `bpfbench init` and --object.
 * All texts are owned by the info. */
struct bb_object_program {
	char *name;    /* of the function */
	char *section; /* of a capture: capture/capture.h */
	uint32_t type; /* BPF_PROG_TYPE_*; UNSPEC: libbpf cannot tell it from the section */
	/* expected: BPF_* of enum bpf_attach_type; 0 also where there is none */
	uint32_t attach_type;
	/* the section whose type it is taken for, as libbpf does not know its own; NULL */
	const char *guess;
	char *why_not; /* a capture's that cannot be loaded: why; NULL */
	/* of a capture: the input of the command's own test runs, in hexadecimal */
	struct bb_object_run {
		char *packet, *context; /* NULL: none */
	} * runs;
	size_t n_runs;
};

struct bb_object_map {
	char *name;
	uint32_t type; /* BPF_MAP_TYPE_* */
};

struct bb_object_info {
	struct bb_object_program *programs;
	size_t n_programs; /* 1 or more */
	/* without those that libbpf makes of .data and the like */
	struct bb_object_map *maps;
	size_t n_maps;
	/* `const volatile` variables that `globals` can set: whole numbers and texts */
	struct bb_object_global {
		char *name;
		bool is_text;
		uint32_t size_bytes;
	} * globals;
	size_t n_globals;
	bool has_btf, is_capture;
	/* NULL: it has none, and the kernel then refuses helpers that are GPL-only */
	char *licence;
};

/* 0, or -errno with a message (bpf/object_file.h); -ENOENT when there is no program in it. */
int bb_object_info__read(const char *path, struct bb_object_info *ret_info, struct bb_err *err);
void bb_object_info__done(struct bb_object_info *info);

/* All programs are taken for those of section `type` (bpf/prog_type.h). -EINVAL: libbpf does not
 * know it, or it is a capture. */
int bb_object_info__take_for(struct bb_object_info *info, const char *type, struct bb_err *err);

/* Is there a program of that name? -ENOENT names the nearest one, or those there are. */
int bb_object_info__need_program(const struct bb_object_info *info, const char *path,
				 const char *name, struct bb_err *err);

/* Their names, as far as they have room: "empty, v0, v1". */
struct bb_phrase bb_object_info__list(const struct bb_object_info *info);

#endif
