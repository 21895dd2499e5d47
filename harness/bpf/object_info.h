/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/field.h"

/* What `bpfbench init` and --object need to know of a BPF object or a capture. The info owns all
 * strings. */
struct bb_object_program {
	char *name;
	char *section; /* for a capture, made by bb_captured_section() */
	uint32_t type; /* BPF_PROG_TYPE_*; UNSPEC if libbpf does not know the section */
	/* enum bpf_attach_type; 0 may also mean that there is none */
	uint32_t attach_type;
	/* section whose type we assume if libbpf does not know the program's own; else NULL */
	const char *guess;
	char *why_not; /* why a captured program cannot be loaded; NULL if it can */
	/* only of captured programs: inputs of the command's test runs, and packets that the
	 * program received */
	struct bb_object_run {
		char *packet, *context; /* hexadecimal digits; NULL if empty or too long */
		char *path; /* name of the path that the packet took through the program; NULL for a
			     * test run */
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
	size_t n_programs;
	/* without the maps that libbpf makes for .data and the like */
	struct bb_object_map *maps;
	size_t n_maps;
	/* Global variables that the key `globals` of a scenario can set, and members of structs
	 * ("config.port"). */
	struct bb_object_global {
		char *name;
		bool is_text;
		/* true if the program can change the variable, which is then in .data or .bss */
		bool is_state;
		uint32_t size_bytes;
	} * globals;
	size_t n_globals;
	bool has_btf, is_capture;
	/* NULL if there is none */
	char *licence;
};

/* Fails with -ENOENT if the file contains no program. */
int bb_object_info__read(const char *path, struct bb_object_info *ret_info, struct bb_err *err);
void bb_object_info__done(struct bb_object_info *info);

/* Gives all programs the type of the section `type`, such as "xdp". Fails with -EINVAL for a
 * capture, or if libbpf does not know the section. */
int bb_object_info__take_for(struct bb_object_info *info, const char *type, struct bb_err *err);

const struct bb_object_program *bb_object_info__find(const struct bb_object_info *info,
						     const char *name);

/* Fails with -ENOENT if there is no program `name`. The message lists the programs. */
int bb_object_info__need_program(const struct bb_object_info *info, const char *path,
				 const char *name, struct bb_err *err);

/* Returns the names of the programs as text: "empty, v0, v1". */
struct bb_phrase bb_object_info__list(const struct bb_object_info *info);
