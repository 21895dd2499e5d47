/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/code.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/btf_ext.h"
#include "exact/insn.h"

#ifndef BPF_F_XDP_HAS_FRAGS /* 5.18 */
#define BPF_F_XDP_HAS_FRAGS (1U << 5)
#endif

/* Flags that libbpf's section names stand for and that it tells nobody: "fentry.s/...", "syscall",
 * "xdp.frags". */
static uint32_t flags_of_section(const char *section, uint32_t type)
{
	size_t len = strcspn(section, "/");
	bool sleepable = (len > 2 && !strncmp(section + len - 2, ".s", 2)) ||
			 !strcmp(section, "syscall");
	bool frags = type == BPF_PROG_TYPE_XDP &&
		     !strncmp(section, "xdp.frags", strlen("xdp.frags"));

	return (sleepable ? BPF_F_SLEEPABLE : 0) | (frags ? BPF_F_XDP_HAS_FRAGS : 0);
}

/* What it is attached to by BTF: libbpf finds it while it loads, and only the kernel tells it
 * afterwards. */
static int take_attach_point(int prog_fd, struct bb_code *c, struct bb_err *err)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len)) {
		int rc = -errno;

		return bb_fail(err, rc, "asking what '%s' is: %s", c->name, strerror(-rc));
	}
	c->attach_btf_id = info.attach_btf_id;
	c->attach_btf_obj_id = info.attach_btf_obj_id;
	return 0;
}

static int check(const struct bb_code *c, struct bb_err *err)
{
	if (c->type == BPF_PROG_TYPE_EXT)
		return bb_fail(err, -ENOTSUP,
			       "'%s' replaces a function of another program; that one would have "
			       "to be counted",
			       c->name);
	for (uint32_t i = 0; i < c->n; i++)
		if (!bb_insn_is_second_half(c->insns, i) && bb_insn_is_kfunc_call(&c->insns[i]) &&
		    c->insns[i].off)
			return bb_fail(err, -ENOTSUP,
				       "instruction %u of '%s' calls a function of a kernel "
				       "module; such programs cannot be loaded a second time",
				       i, c->name);
	return 0;
}

int bb_code__take(const struct bb_target *t, struct bb_code *ret_code, struct bb_err *err)
{
	const struct bpf_object *obj = bb_target__object(t);
	const struct bpf_program *p;
	const char *section, *elf;
	struct bb_code c = {0};
	size_t len;
	int rc;

	if (!obj)
		return bb_fail(err, -ENOTSUP,
			       "'%s' was loaded by others: such programs are not instrumented",
			       bb_target__program(t));
	p = bpf_object__find_program_by_name(obj, bb_target__program(t));
	section = bpf_program__section_name(p);
	c.btf = bpf_object__btf(obj);
	c.btf_fd = bpf_object__btf_fd(obj);
	snprintf(c.name, sizeof(c.name), "%s", bpf_program__name(p));
	c.type = bpf_program__type(p);
	c.expected_attach_type = bpf_program__expected_attach_type(p);
	c.flags = bpf_program__flags(p) | flags_of_section(section, c.type);
	c.kern_version = bpf_object__kversion(obj);
	c.n = (uint32_t)bpf_program__insn_cnt(p);
	c.insns = malloc(c.n * sizeof(*c.insns));
	if (!c.insns)
		return bb_fail_nomem(err);
	memcpy(c.insns, bpf_program__insns(p), c.n * sizeof(*c.insns));
	elf = bb_target__elf(t, &len);
	rc = check(&c, err);
	if (!rc)
		rc = take_attach_point(bb_target__prog_fd(t), &c, err);
	if (!rc)
		rc = bb_btf_ext__read(elf, len, bpf_program__name(p), section, &c, err);
	if (rc)
		bb_code__done(&c);
	else
		*ret_code = c;
	return rc;
}

void bb_code__done(struct bb_code *c)
{
	if (!c)
		return;
	free(c->insns);
	free(c->funcs);
	free(c->lines);
	*c = (struct bb_code){.btf_fd = -1};
}
