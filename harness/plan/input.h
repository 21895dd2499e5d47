/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_INPUT_H
#define BB_PLAN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An input for BPF_PROG_TEST_RUN: packet bytes, or a context for types without a packet, and the
 * expected result. A scenario's `inputs:` gives one or many; each is a case of its own,
 * "…/input=NAME".
 */
enum bb_ctx_kind {
	BB_CTX_NONE,
	BB_CTX_BYTES, /* whatever structure the type takes */
	BB_CTX_SKB,   /* a struct __sk_buff */
	BB_CTX_XDP,   /* a struct xdp_md */
};

struct bb_input {
	char *name;    /* "17", "syn", ...: [A-Za-z0-9][A-Za-z0-9_.-]*, unique in its list */
	uint8_t *data; /* packet, or context where `is_context` */
	size_t len;
	bool is_context;
	uint8_t *ctx; /* the packet's context, such as its mark; NULL: none */
	size_t ctx_len;
	enum bb_ctx_kind ctx_kind;
	bool has_retval; /* is a return value expected? */
	uint32_t retval;
	uint8_t *out; /* expected packet after the run; NULL: not checked */
	size_t out_len;
};

struct bb_inputs {
	struct bb_input *v;
	size_t n;
};

#endif
