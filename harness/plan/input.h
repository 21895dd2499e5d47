/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_INPUT_H
#define BB_PLAN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a program is run on by BPF_PROG_TEST_RUN: packet bytes, or a context for types without a packet, and what is
 * expected of the run. A scenario's `inputs:` gives one or many; each is a case of its own, "…/input=NAME".
 */
struct bb_input {
	char *name;			/* "17", "syn", ...: [A-Za-z0-9][A-Za-z0-9_.-]*, unique in its list */
	uint8_t *data;			/* packet, or context where `is_context` */
	size_t len;
	bool is_context;
	bool has_retval;		/* is a return value expected? */
	uint32_t retval;
	uint8_t *out;			/* expected packet after the run; NULL: not checked */
	size_t out_len;
};

struct bb_inputs {
	struct bb_input *v;
	size_t n;
};

void bb_inputs__done(struct bb_inputs *inputs);

#endif
