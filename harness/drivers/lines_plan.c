/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/lines_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "bpf/insn.h"
#include "exact/load.h"

#define MOST_TRIES 200u /* loads to find out which cuts are refused */
#define MANY 400u       /* cuts, of which some are left out rather than kinds of them */
#define TRIES_SHARE 0.1 /* of the time left, for them */

static bool removes_things(const struct bb_code *code)
{
	static const int32_t removers[] = {
		BPF_FUNC_map_delete_elem,     BPF_FUNC_map_pop_elem,
		BPF_FUNC_sk_storage_delete,   BPF_FUNC_inode_storage_delete,
		BPF_FUNC_task_storage_delete, BPF_FUNC_kptr_xchg,
	};

	for (uint32_t at = 0; at < code->n; at++)
		for (size_t k = 0; k < sizeof(removers) / sizeof(removers[0]); k++)
			if (!bb_insn_is_second_half(code->insns, at) &&
			    bb_insn_is_helper_call(&code->insns[at]) &&
			    code->insns[at].imm == removers[k])
				return true;
	return false;
}

int bb_lines_plan__read(struct bb_lines_plan *p, const struct bb_target *target, struct bb_err *err)
{
	int rc;

	bb_lines_plan__forget(p);
	rc = bb_target__code(target, &p->code, err);
	if (!rc)
		rc = bb_cfg__make(&p->code, &p->cfg, err);
	if (!rc)
		rc = bb_liveness__make(&p->code, &p->cfg, &p->live, err);
	if (!rc)
		rc = bb_helds__find(&p->code, &p->cfg, &p->helds, err);
	if (!rc) {
		p->stack_bytes = calloc(p->cfg.n_funcs, sizeof(*p->stack_bytes));
		rc = p->stack_bytes ? bb_load__stack_bytes(&p->code, &p->cfg, p->stack_bytes, err)
				    : bb_fail_nomem(err);
	}
	if (!rc)
		p->removes = removes_things(&p->code);
	return rc;
}

void bb_lines_plan__forget(struct bb_lines_plan *p)
{
	bb_helds__done(&p->helds);
	bb_liveness__done(&p->live);
	bb_cfg__done(&p->cfg);
	bb_code__done(&p->code);
	free(p->stack_bytes);
	p->stack_bytes = NULL;
}

int bb_lines_plan__load(const struct bb_lines_plan *p, const struct bb_cut_form *form,
			int *ret_prog_fd, struct bb_err *err)
{
	const struct bb_cut_parts parts = {.code = &p->code,
					   .cfg = &p->cfg,
					   .live = &p->live,
					   .helds = &p->helds,
					   .stack_bytes = p->stack_bytes,
					   .cuts = &p->cuts,
					   .memory_fd = p->memory_fd};

	return bb_cut_clone__load(&parts, form, ret_prog_fd, err);
}

/* Does it load as it is? */
static int try(const struct bb_lines_plan *p, struct bb_err *err)
{
	int fd = -1, rc = bb_must_end_why();

	if (!rc)
		rc = bb_lines_plan__load(p, &p->form, &fd, err);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Do its other forms, which are longer, load, too? */
static int try_longer(struct bb_lines_plan *p, struct bb_err *err)
{
	const struct bb_cut_form form = p->form;
	int rc;

	p->form.doubled = true;
	rc = try(p, err);
	p->form = (struct bb_cut_form){.logs = true};
	rc = rc ? rc : try(p, err);
	p->form = form;
	return rc;
}

/* Forms one after the other, as the verifier's words suggest. */
static int try_forms(struct bb_lines_plan *p, struct bb_err *err)
{
	int rc = try(p, err);

	if (rc == -ENOTSUP && err &&
	    (strstr(err->msg, "too complex") || strstr(err->msg, "too large"))) {
		p->form.stub_first = true;
		rc = try(p, err);
	}
	if (rc == -ENOTSUP && err && (strstr(err->msg, "R0") || strstr(err->msg, "return"))) {
		p->form.retval = 1;
		rc = try(p, err);
		p->form.retval = rc == -ENOTSUP ? 0 : 1;
	}
	return rc;
}

struct tries {
	unsigned int n;
	uint64_t began_ns;
	double most_s;
};

/*
 * Put those of the cuts [first, end) on with which it loads, while all others are as they are: all
 * of them, or by halves. -E2BIG: it takes too many tries.
 */
static int allow(struct bb_lines_plan *p, uint32_t first, uint32_t end, struct tries *t,
		 struct bb_err *err)
{
	uint32_t middle = first + (end - first) / 2;
	int rc;

	if (++t->n > MOST_TRIES || bb_seconds_since(t->began_ns) > t->most_s)
		return -E2BIG;
	for (uint32_t i = first; i < end; i++)
		p->cuts.v[i].is_off = false;
	rc = try(p, err);
	if (rc != -ENOTSUP)
		return rc;
	for (uint32_t i = first; i < end; i++)
		p->cuts.v[i].is_off = true;
	if (end - first == 1) {
		if (!p->refused++)
			snprintf(p->refused_why, sizeof(p->refused_why), "%.299s", err->msg);
		return 0;
	}
	rc = allow(p, first, middle, t, err);
	return rc ? rc : allow(p, middle, end, t, err);
}

/* Which cuts does the verifier allow? */
static int try_cuts(struct bb_lines_plan *p, struct bb_err *err)
{
	struct tries t = {.began_ns = bb_now_ns(), .most_s = bb_deadline_left_s() * TRIES_SHARE};
	struct bb_err all = *err;
	int rc;

	p->refused = 0;
	for (uint32_t i = 0; i < p->cuts.n; i++)
		p->cuts.v[i].is_off = true;
	rc = allow(p, 0, p->cuts.n, &t, err);
	if (rc == -E2BIG || (!rc && p->refused == p->cuts.n)) {
		*err = all;
		rc = -ENOTSUP;
	}
	return rc;
}

static void keep_reason(struct bb_lines_plan *p, const char *why)
{
	if (!p->thinned_why[0])
		snprintf(p->thinned_why, sizeof(p->thinned_why), "%.*s", (int)strcspn(why, "\n"),
			 why);
}

bool bb_lines_plan__coarsen(struct bb_lines_plan *p, const char *why)
{
	if (p->detail == BB_CUT_CALLS)
		return false;
	keep_reason(p, why);
	p->detail--;
	return true;
}

/* All points at which it could be cut. */
static int count_points(struct bb_lines_plan *p, struct bb_err *err)
{
	struct bb_cuts all;
	int rc = bb_cuts__find(&p->code, &p->cfg, BB_CUT_ALL, 1, &all, err);

	if (rc)
		return rc;
	p->points = all.n;
	bb_cuts__done(&all);
	return 0;
}

int bb_lines_plan__settle(struct bb_lines_plan *p, int memory_fd, struct bb_err *err)
{
	struct bb_err local = {0};
	uint32_t every = 1;
	int rc;

	err = err ? err : &local;
	p->memory_fd = memory_fd;
	rc = count_points(p, err);
	while (!rc) {
		bb_cuts__done(&p->cuts);
		p->form = (struct bb_cut_form){0};
		p->refused = 0;
		rc = bb_cuts__find(&p->code, &p->cfg, p->detail, every, &p->cuts, err);
		if (!rc)
			rc = try_forms(p, err);
		if (!rc && p->cuts.n > MANY)
			rc = try_longer(p, err);
		if (rc == -ENOTSUP && p->cuts.n > MANY) {
			every *= 2; /* rows of some lines each are better than none */
			keep_reason(p, err->msg);
			rc = 0;
			continue;
		}
		if (rc == -ENOTSUP)
			rc = try_cuts(p, err);
		if (rc != -ENOTSUP || !bb_lines_plan__coarsen(p, err->msg))
			return rc;
		rc = 0;
	}
	return rc;
}

void bb_lines_plan__done(struct bb_lines_plan *p)
{
	bb_lines_plan__forget(p);
	bb_cuts__done(&p->cuts);
}
