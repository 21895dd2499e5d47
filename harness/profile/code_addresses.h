/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_CODE_ADDRESSES_H
#define BB_PROFILE_CODE_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/jit_maps.h"
#include "profile/spaces.h"
#include "profile/stacks.h"
#include "profile/symbolize.h"
#include "profile/symtab.h"

struct bb_frames {
	struct bb_frame *v;
	size_t n, size;
};

/* A distinct address of code, and the functions there: frames[first .. first + n), outermost first.
 */
struct bb_code_address {
	uint64_t offset; /* in the file `dso` */
	uint32_t dso;    /* BB_NO_ID: in none */
	uint32_t first, n;
};

/* All distinct addresses: each is looked up once, those in files all together at the end. */
struct bb_code_addresses {
	const struct bb_spaces *spaces; /* borrowed, like the next two */
	const struct bb_symtab *kernel;
	struct bb_names *names;
	struct bb_frames frames;
	struct bb_code_address *v;
	size_t n, size;
	struct bb_idmap by_address; /* (address, space or KERNEL_SPACE) -> point */
	/* (offset, dso) -> point: the same file in several processes */
	struct bb_idmap by_place;
	uint32_t *order; /* of the places looked up: their points */
	struct bb_jit_maps jit_maps;
	uint64_t unknown_kernel; /* kernel addresses without a name */
};

/* 0 or -ENOMEM, as the next ones. An address of the kernel, */
int bb_code_addresses__kernel(struct bb_code_addresses *p, uint64_t address, uint32_t *ret_point);

/* of a process in one of its spaces (BB_NO_ID: nothing is known of it), */
int bb_code_addresses__user(struct bb_code_addresses *p, uint32_t pid, uint32_t space,
			    uint64_t address, uint32_t *ret_point);

/* or of no code: a text in its place. */
int bb_code_addresses__text(struct bb_code_addresses *p, const char *text, enum bb_frame_kind kind,
			    uint32_t *ret_point);

/* After the last address: name those in files. 0 or -errno with a message. */
int bb_code_addresses__symbolize(struct bb_code_addresses *p,
				 struct bb_symbolize_result *ret_result, struct bb_err *err);

void bb_code_addresses__done(struct bb_code_addresses *p);

#endif
