/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/section_type.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "bpf/multi_link.h"
#include "bpf/prog_type.h"

/* Sections of programs that the libbpf of Debian 12 does not know yet. */
static const struct {
	const char *word;
	uint32_t type, attach_type;
} newer[] = {
	{"kprobe.session", BPF_PROG_TYPE_KPROBE, BB_TRACE_KPROBE_SESSION},
	{"uprobe.multi", BPF_PROG_TYPE_KPROBE, BB_TRACE_UPROBE_MULTI},
	{"uretprobe.multi", BPF_PROG_TYPE_KPROBE, BB_TRACE_UPROBE_MULTI},
	{"uprobe.session", BPF_PROG_TYPE_KPROBE, BB_TRACE_UPROBE_SESSION},
	{"tcx", BPF_PROG_TYPE_SCHED_CLS, 0},
	{"netkit", BPF_PROG_TYPE_SCHED_CLS, 0},
	{"netfilter", BB_PROG_TYPE_NETFILTER, BB_ATTACH_NETFILTER},
};

bool bb_section_type__is_sleepable(const char *section)
{
	size_t len = strcspn(section, "/");

	return len > 2 && !memcmp(section + len - 2, ".s", 2);
}

int bb_section_type__find(const char *section, uint32_t *ret_type, uint32_t *ret_attach_type,
			  struct bb_err *err)
{
	enum bpf_attach_type attach_type = 0;
	enum bpf_prog_type type;
	size_t len;

	section += *section == '?'; /* not loaded by default */
	len = strcspn(section, "/") - (bb_section_type__is_sleepable(section) ? 2 : 0);
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
		if (len == strlen(newer[i].word) && !memcmp(section, newer[i].word, len)) {
			*ret_type = newer[i].type;
			*ret_attach_type = newer[i].attach_type;
			return 0;
		}
	if (libbpf_prog_type_by_name(section, &type, &attach_type))
		return bb_fail(err, -EINVAL,
			       "type '%s' is no name of a section that libbpf knows, such as tc, "
			       "xdp, socket, sockops or cgroup/connect4",
			       section);
	*ret_type = type;
	*ret_attach_type = attach_type;
	return 0;
}

/* What other loaders, and libbpf before 1.0, took by its beginning. */
static const struct {
	const char *word, *section;
} words[] = {
	{"classifier", "tc"},
	{"tc", "tc"},
	{"action", "action"},
	{"xdp", "xdp"},
	{"filter", "socket"},
	{"socket_filter", "socket"},
	{"socket", "socket"},
	{"sockops", "sockops"},
	{"sock_ops", "sockops"},
	{"cgroup_skb", "cgroup_skb/egress"},
	{"flow_dissector", "flow_dissector"},
	{"lwt_in", "lwt_in"},
	{"lwt_out", "lwt_out"},
	{"lwt_xmit", "lwt_xmit"},
	{"sk_lookup", "sk_lookup"},
	{"perf_event", "perf_event"},
};

const char *bb_section_type__guess(const char *section)
{
	section += *section == '?'; /* not loaded by default */
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i].word);

		/* "xdp", "xdp/x", "xdp_pass", "xdp-pass", "tc1", but no "tcp_x" */
		if (!strncmp(section, words[i].word, len) &&
		    !strchr("abcdefghijklmnopqrstuvwxyz", section[len] ? section[len] : '_'))
			return words[i].section;
	}
	return NULL;
}
