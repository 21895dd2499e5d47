/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/* The inputs and results of BPF_PROG_TEST_RUN for one program type (net/bpf/test_run.c,
 * net/core/filter.c). */
struct bb_test_run_type {
	uint32_t prog_type; /* BPF_PROG_TYPE_* */
	const char *name;   /* name as bpftool prints it */
	bool takes_context; /* true: takes a context and no packet; false: takes a packet */
	/* kind of context that may come with a packet: bytes, or also members by name */
	enum bb_ctx_kind takes_ctx;
	const char *ctx_wants; /* which contexts the kernel accepts, for a message */
	bool takes_repeat;     /* true: `repeat` is allowed; false: even 1 gives -EINVAL */
	bool has_output;       /* true: a run outputs the packet (flow_dissector: the flow keys) */
	bool writes_context;   /* true: the kernel writes the context back to our memory */
	const char *wants;     /* which inputs the kernel accepts, for a message */
	/* input to use if the scenario has none */
	const struct bb_input *otherwise;
	/* names of the return values 0, 1, ...; ends in NULL; NULL: they have no names */
	const char *const *retvals;
};

/* Finds the row of a type. Returns 0, or -ENOTSUP for a type without a test run, with a message
 * that names another way to run it. */
int bb_test_run_type__find(uint32_t prog_type, const struct bb_test_run_type **ret_type,
			   struct bb_err *err);

/* Returns -ENOTSUP with the message of bb_test_run_type__find(). Call it for a type that has a row
 * here, but no test run in this kernel. */
int bb_test_run_type__refuse(uint32_t prog_type, struct bb_err *err);

/* Checks that the type takes the input, and has an output if one is expected. Returns 0, or
 * -EINVAL with a message. */
int bb_test_run_type__check(const struct bb_test_run_type *type, const char *program,
			    const struct bb_input *in, struct bb_err *err);

/* Returns a return value in words: "2 (XDP_PASS)". */
struct bb_retval_words {
	char text[32];
} bb_test_run_type__retval(const struct bb_test_run_type *type, uint32_t retval);
