/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_TEST_RUN_TYPES_H
#define BB_DRIVERS_TEST_RUN_TYPES_H

#include "base/err.h"
#include "base/std.h"
#include "plan/scenario.h"

/* The inputs and results of BPF_PROG_TEST_RUN for one program type (net/bpf/test_run.c,
 * net/core/filter.c). */
struct bb_test_run_type {
	uint32_t prog_type; /* BPF_PROG_TYPE_* */
	const char *name;   /* as bpftool says it */
	bool is_xdp;        /* to be attached meanwhile */
	bool takes_context; /* and no packet; otherwise a packet */
	/* beside the packet, if there is one: as bytes, or as bytes and by that name */
	enum bb_ctx_kind takes_ctx;
	const char *ctx_wants; /* the part of it that the kernel accepts, for a message */
	bool takes_repeat;     /* otherwise even repeat = 1 is -EINVAL */
	bool has_output;       /* gives back the packet, or for flow_dissector the flow keys */
	bool writes_context;   /* gives back the context, in the place where it was */
	const char *wants;     /* which inputs the kernel accepts, for a message */
	/* its inputs when the scenario has none */
	const struct bb_input *otherwise;
	const char *const *retvals; /* names of the return values from 0 on, up to a NULL */
};

/* -ENOTSUP for a type that has no test run; the message names a drive that would make it run. */
int bb_test_run_type__find(uint32_t prog_type, const struct bb_test_run_type **ret_type,
			   struct bb_err *err);

/* -ENOTSUP with that message: for where the kernel turns out to have no test run of the type. */
int bb_test_run_type__refuse(uint32_t prog_type, struct bb_err *err);

/* Is the input one for this type, with an output where one is expected? -EINVAL with a message
 * otherwise. */
int bb_test_run_type__check(const struct bb_test_run_type *type, const char *program,
			    const struct bb_input *in, struct bb_err *err);

/* "2 (XDP_PASS)", in buf. */
const char *bb_test_run_type__retval(const struct bb_test_run_type *type, uint32_t retval,
				     char *buf, size_t size);

#endif
