/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/* Inputs and results of BPF_PROG_TEST_RUN for a program type (net/bpf/test_run.c). */
struct bb_test_run_type {
	uint32_t prog_type;
	const char *name;   /* name, as bpftool prints it */
	bool takes_context; /* takes a context and no packet */
	/* which context may come with a packet: bytes, or also members by name */
	enum bb_ctx_kind takes_ctx;
	const char *ctx_wants;            /* which contexts the kernel accepts, for a message */
	bool takes_repeat;                /* if false, even `repeat` 1 gives -EINVAL */
	bool has_output;                  /* outputs the packet (flow_dissector: flow keys) */
	bool writes_context;              /* the kernel writes the context back to our memory */
	const char *wants;                /* which inputs the kernel accepts, for a message */
	const struct bb_input *otherwise; /* input if the scenario has none */
	/* names of the return values 0, 1, ...; ends in NULL; NULL if they have no names */
	const char *const *retvals;
};

/* Returns -ENOTSUP for a type without a test run. The message names another way to run it. */
int bb_test_run_type__find(uint32_t prog_type, const struct bb_test_run_type **ret_type,
			   struct bb_err *err);

/* Returns -ENOTSUP with a message, for a type that has no test run in this kernel. */
int bb_test_run_type__refuse(uint32_t prog_type, struct bb_err *err);

/* Returns 0, or -EINVAL with a message if the type does not take the input, or if the input expects
 * an output and the type has none. */
int bb_test_run_type__check(const struct bb_test_run_type *type, const char *program,
			    const struct bb_input *in, struct bb_err *err);

/* Returns a return value in words: "2 (XDP_PASS)". */
struct bb_retval_words {
	char text[32];
} bb_test_run_type__retval(const struct bb_test_run_type *type, uint32_t retval);
