/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/prog_type.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/parse.h"
#include "bpf/attach.h"

struct bb_prog_type_name bb_prog_type_name(uint32_t type)
{
	const char *known = libbpf_bpf_prog_type_str((enum bpf_prog_type)type);
	struct bb_prog_type_name name;

	if (!known && type == BB_PROG_TYPE_NETFILTER)
		known = "netfilter";
	if (known)
		snprintf(name.text, sizeof(name.text), "%s", known);
	else
		snprintf(name.text, sizeof(name.text), "type-%u", type);
	return name;
}

/* Sections that the libbpf of Debian 12 does not know. */
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

	section += *section == '?'; /* '?' marks programs that are not loaded by default */
	size_t len = strcspn(section, "/") - (bb_section_type__is_sleepable(section) ? 2 : 0);
	for (size_t i = 0; i < BB_LEN(newer); i++)
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

/* `word` is the start of section names of other loaders, or of libbpf before 1.0. `section` is
 * today's name. */
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
	section += *section == '?';
	for (size_t i = 0; i < BB_LEN(words); i++) {
		size_t len = strlen(words[i].word);

		/* accepts "xdp", "xdp/x", "xdp_pass", "xdp-pass" and "tc1", but not "tcp_x" */
		if (!strncmp(section, words[i].word, len) &&
		    !strchr("abcdefghijklmnopqrstuvwxyz", section[len] ? section[len] : '_'))
			return words[i].section;
	}
	return NULL;
}

static const struct {
	const char *prefix;
	__u16 kind;
} kinds[] = {
	[BB_NAME_OF_FUNCTION] = {"", BTF_KIND_FUNC},
	[BB_NAME_OF_LSM] = {"bpf_lsm_", BTF_KIND_FUNC},
	[BB_NAME_OF_EVENT] = {"btf_trace_", BTF_KIND_TYPEDEF},
	[BB_NAME_OF_ITER] = {"bpf_iter_", BTF_KIND_FUNC},
};

bool bb_kernel_name__nearest(enum bb_name_of of, const char *name, char *ret_near, size_t size)
{
	struct btf *btf = btf__load_vmlinux_btf();
	__u32 n_types = btf ? btf__type_cnt(btf) : 0;
	const char **names = bb_calloc(n_types, sizeof(*names));
	size_t n = 0, len = strlen(kinds[of].prefix);

	for (__u32 id = 1; id < n_types; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *known = t && btf_kind(t) == kinds[of].kind
					    ? btf__name_by_offset(btf, t->name_off)
					    : NULL;

		if (known && !strncmp(known, kinds[of].prefix, len))
			names[n++] = known + len;
	}
	const char *near = bb_nearest(name, names, n);
	if (near)
		snprintf(ret_near, size, "%s", near);
	free(names);
	btf__free(btf);
	return near;
}

bool bb_kernel_name__of_section(const char *section, char *ret_near, size_t size)
{
	static const struct {
		const char *word;
		enum bb_name_of of;
	} hooks[] = {
		{"fentry", BB_NAME_OF_FUNCTION},   {"fexit", BB_NAME_OF_FUNCTION},
		{"fmod_ret", BB_NAME_OF_FUNCTION}, {"lsm", BB_NAME_OF_LSM},
		{"tp_btf", BB_NAME_OF_EVENT},      {"iter", BB_NAME_OF_ITER},
	};

	section += *section == '?';
	size_t len = strcspn(section, "./");
	*ret_near = '\0';
	for (size_t i = 0; i < BB_LEN(hooks); i++) {
		const char *slash = strchr(section, '/');

		if (!slash || len != strlen(hooks[i].word) || memcmp(section, hooks[i].word, len))
			continue;
		bb_kernel_name__nearest(hooks[i].of, slash + 1, ret_near, size);
		return true;
	}
	return false;
}
