/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/field.h"

/* What `bpfbench init` and --object need to know of a BPF object or a capture, read without loading
 * it. The info owns all strings. */
struct bb_object_program {
	char *name;    /* name of the program's function */
	char *section; /* name of the section; for a capture, made by bb_captured_section() */
	uint32_t type; /* BPF_PROG_TYPE_*; UNSPEC if libbpf does not know the section */
	/* expected attach type, of enum bpf_attach_type; 0 may also mean that there is none, as
	 * the enum's first value is 0 */
	uint32_t attach_type;
	/* section whose type we assume if libbpf does not know the program's own section; NULL if
	 * it does, or if we have no guess */
	const char *guess;
	char *why_not; /* why a captured program cannot be loaded; NULL if it can */
	/* runs[n_runs], only of captured programs: the inputs of test runs that the captured
	 * command made, and packets that came to the program (struct bb_captured_input) */
	struct bb_object_run {
		char *packet, *context; /* hexadecimal digits; NULL if empty or too long */
		char *path; /* name of the path that the packet took; NULL for a test run */
		double share;
	} * runs;
	size_t n_runs;
};

struct bb_object_map {
	char *name;
	uint32_t type; /* BPF_MAP_TYPE_* */
};

struct bb_object_info {
	struct bb_object_program *programs;
	size_t n_programs; /* number of programs, at least 1 */
	/* the maps of the object, without those that libbpf makes for .data and the like */
	struct bb_object_map *maps;
	size_t n_maps;
	/* global variables that the key `globals` can set, and members of global structs
	 * ("config.port"): integers, enums and texts */
	struct bb_object_global {
		char *name;
		bool is_text;
		/* true: the program can change the variable, which is in .data or .bss */
		bool is_state;
		uint32_t size_bytes;
	} * globals;
	size_t n_globals;
	bool has_btf, is_capture;
	/* NULL if the object has no licence; the kernel then refuses GPL-only helpers */
	char *licence;
};

/* Reads an object file or a capture. Returns 0, or -errno with the messages of
 * bpf/object_file.h; -ENOENT if it contains no program. */
int bb_object_info__read(const char *path, struct bb_object_info *ret_info, struct bb_err *err);
void bb_object_info__done(struct bb_object_info *info);

/* Gives all programs the type of the section `type`, such as "xdp" (bpf/prog_type.h). Returns
 * -EINVAL if libbpf does not know that section, or for a capture. */
int bb_object_info__take_for(struct bb_object_info *info, const char *type, struct bb_err *err);

/* Returns the program `name`, or NULL. */
const struct bb_object_program *bb_object_info__find(const struct bb_object_info *info,
						     const char *name);

/* Returns 0 if there is a program `name`, else -ENOENT. The message lists the programs. */
int bb_object_info__need_program(const struct bb_object_info *info, const char *path,
				 const char *name, struct bb_err *err);

/* Returns the names of the programs, "empty, v0, v1", as many as fit. */
struct bb_phrase bb_object_info__list(const struct bb_object_info *info);
