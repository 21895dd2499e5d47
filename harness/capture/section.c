/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/section.h"

#include <stdio.h>
#include <string.h>

/* Words of attachments, as libbpf and the kernel have them, and those of sections. */
static const struct {
	const char *kind, *section;
} words[] = {
	{"tracepoint", "tp"},
	{"raw_tracepoint", "raw_tp"},
	{"trace_raw_tp", "tp_btf"},
	{"trace_fentry", "fentry"},
	{"trace_fexit", "fexit"},
	{"modify_return", "fmod_ret"},
	{"trace_iter", "iter"},
	{"lsm_mac", "lsm"},
	{"trace_kprobe_multi", "kprobe.multi"},
	{"trace_uprobe_multi", "uprobe.multi"},
};

/* A program of a cgroup, by the place it was loaded for; its path does not matter. */
static const struct {
	uint32_t attach_type;
	const char *section;
} cgroups[] = {
	{BPF_CGROUP_INET_INGRESS, "cgroup_skb/ingress"},
	{BPF_CGROUP_INET_EGRESS, "cgroup_skb/egress"},
	{BPF_CGROUP_INET_SOCK_CREATE, "cgroup/sock_create"},
	{BPF_CGROUP_INET_SOCK_RELEASE, "cgroup/sock_release"},
	{BPF_CGROUP_SOCK_OPS, "sockops"},
	{BPF_CGROUP_DEVICE, "cgroup/dev"},
	{BPF_CGROUP_INET4_BIND, "cgroup/bind4"},
	{BPF_CGROUP_INET6_BIND, "cgroup/bind6"},
	{BPF_CGROUP_INET4_CONNECT, "cgroup/connect4"},
	{BPF_CGROUP_INET6_CONNECT, "cgroup/connect6"},
	{BPF_CGROUP_INET4_POST_BIND, "cgroup/post_bind4"},
	{BPF_CGROUP_INET6_POST_BIND, "cgroup/post_bind6"},
	{BPF_CGROUP_UDP4_SENDMSG, "cgroup/sendmsg4"},
	{BPF_CGROUP_UDP6_SENDMSG, "cgroup/sendmsg6"},
	{BPF_CGROUP_UDP4_RECVMSG, "cgroup/recvmsg4"},
	{BPF_CGROUP_UDP6_RECVMSG, "cgroup/recvmsg6"},
	{BPF_CGROUP_SYSCTL, "cgroup/sysctl"},
	{BPF_CGROUP_GETSOCKOPT, "cgroup/getsockopt"},
	{BPF_CGROUP_SETSOCKOPT, "cgroup/setsockopt"},
	{BPF_CGROUP_INET4_GETPEERNAME, "cgroup/getpeername4"},
	{BPF_CGROUP_INET6_GETPEERNAME, "cgroup/getpeername6"},
	{BPF_CGROUP_INET4_GETSOCKNAME, "cgroup/getsockname4"},
	{BPF_CGROUP_INET6_GETSOCKNAME, "cgroup/getsockname6"},
};

static const char *of_cgroup(const struct bb_captured_prog *p)
{
	uint32_t type = p->type;

	if (type == BPF_PROG_TYPE_SOCK_OPS)
		return "sockops";
	if (type == BPF_PROG_TYPE_CGROUP_DEVICE)
		return "cgroup/dev";
	if (type != BPF_PROG_TYPE_CGROUP_SKB && type != BPF_PROG_TYPE_CGROUP_SOCK &&
	    type != BPF_PROG_TYPE_CGROUP_SOCK_ADDR && type != BPF_PROG_TYPE_CGROUP_SOCKOPT &&
	    type != BPF_PROG_TYPE_CGROUP_SYSCTL)
		return NULL;
	for (size_t i = 0; i < sizeof(cgroups) / sizeof(cgroups[0]); i++)
		if (cgroups[i].attach_type == p->expected_attach_type)
			return cgroups[i].section;
	return NULL;
}

/* The target that a program names when it is loaded. */
static const char *of_load(const struct bb_captured_prog *p)
{
	if (p->type == BPF_PROG_TYPE_LSM)
		return "lsm";
	if (p->type == BPF_PROG_TYPE_STRUCT_OPS)
		return "struct_ops";
	switch (p->expected_attach_type) {
	case BPF_TRACE_RAW_TP: return "tp_btf";
	case BPF_TRACE_FENTRY: return "fentry";
	case BPF_TRACE_FEXIT: return "fexit";
	case BPF_MODIFY_RETURN: return "fmod_ret";
	case BPF_TRACE_ITER: return "iter";
	default: return "tracing";
	}
}

struct bb_captured_section bb_captured_section(const struct bb_captured_prog *p,
					       const struct bb_captured_attachment *a)
{
	const char *cgroup = of_cgroup(p), *word = a ? a->kind : BB_NOT_ATTACHED;
	struct bb_captured_section s;

	if (cgroup) {
		snprintf(s.text, sizeof(s.text), "%s", cgroup);
		return s;
	}
	if (*p->attach_name) {
		snprintf(s.text, sizeof(s.text), "%s/%s", of_load(p), p->attach_name);
		return s;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].kind, word))
			word = words[i].section;
	snprintf(s.text, sizeof(s.text), "%s%s%s", word, a && *a->where ? "/" : "",
		 a ? a->where : "");
	return s;
}
