/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture.h"

#include <bpf/libbpf.h>

#include "base/bpf_info.h"

int32_t *bb_insns__next_name(struct bpf_insn *insns, uint32_t n, uint32_t *at, bool *ret_is_btf)
{
	while (*at < n) {
		struct bpf_insn *insn = &insns[*at];

		*at += bb_insn_slots(insn);
		if (!bb_insn_is_wide(insn) || *at > n)
			continue;
		*ret_is_btf = insn->src_reg == BPF_PSEUDO_BTF_ID;
		if (*ret_is_btf && insn[1].imm)
			return &insn[1].imm;
		if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE)
			return &insn->imm;
	}
	return NULL;
}

int bb_insns__highest_fd(const struct bpf_insn *insns, uint32_t n)
{
	int highest = -1;

	for (uint32_t i = 0; i < n; i += bb_insn_slots(&insns[i])) {
		bool is_map = bb_insn_is_wide(&insns[i]) &&
			      (insns[i].src_reg == BPF_PSEUDO_MAP_IDX ||
			       insns[i].src_reg == BPF_PSEUDO_MAP_IDX_VALUE);
		int index = is_map                             ? insns[i].imm
			    : bb_insn_is_kfunc_call(&insns[i]) ? insns[i].off
							       : -1;

		highest = index > highest ? index : highest;
	}
	return highest;
}

bool bb_insns__are_cut_off(const struct bpf_insn *insns, uint32_t n)
{
	uint32_t at = 0;

	while (at < n)
		at += bb_insn_slots(&insns[at]);
	return at > n;
}

bool bb_captured_prog__is_measured(const struct bb_captured_prog *p)
{
	return !p->refused && !p->missing && !p->probe;
}

static bool are_alike(const struct bb_captured_map *m, const struct bb_captured_map *n)
{
	if (m->frozen &&
	    (m->entries.size != n->entries.size ||
	     (m->entries.size && memcmp(m->entries.data, n->entries.data, m->entries.size))))
		return false;
	return m->type == n->type && m->key_size == n->key_size && m->value_size == n->value_size &&
	       m->max_entries == n->max_entries && m->flags == n->flags && m->frozen == n->frozen &&
	       (m->inner < 0) == (n->inner < 0);
}

bool bb_captured_prog__is_same(const struct bb_capture *a, const struct bb_captured_prog *p,
			       const struct bb_capture *b, const struct bb_captured_prog *q)
{
	if (p->type != q->type || p->n_insns != q->n_insns || p->flags != q->flags ||
	    p->expected_attach_type != q->expected_attach_type ||
	    p->attach_btf_id != q->attach_btf_id || p->n_fds || q->n_fds)
		return false;
	for (uint32_t i = 0; i < p->n_insns; i++) {
		struct bpf_insn x = p->insns[i], y = q->insns[i];
		bool is_map = bb_insn_is_wide(&x) &&
			      (x.src_reg == BPF_PSEUDO_MAP_FD ||
			       x.src_reg == BPF_PSEUDO_MAP_VALUE) &&
			      x.code == y.code && x.src_reg == y.src_reg;

		if (is_map && !are_alike(&a->maps[x.imm], &b->maps[y.imm]))
			return false;
		if (is_map)
			x.imm = y.imm;
		if (memcmp(&x, &y, sizeof(x)))
			return false;
		/* a wide instruction has a second slot */
		if (bb_insn_is_wide(&x) && memcmp(&p->insns[i + 1], &q->insns[i + 1], sizeof(x)))
			return false;
		i += bb_insn_is_wide(&x);
	}
	return true;
}

const struct bb_captured_prog *bb_capture__find(const struct bb_capture *c, const char *name)
{
	return BB_FIND(c->progs, c->n_progs, !strcmp(it->name, name));
}

const struct bb_captured_attachment *bb_capture__any_attachment(const struct bb_capture *c,
								size_t prog)
{
	const struct bb_captured_attachment *accepted = BB_FIND(c->attachments, c->n_attachments,
								it->prog == (int32_t)prog &&
									!it->refused);

	return accepted ? accepted
			: BB_FIND(c->attachments, c->n_attachments, it->prog == (int32_t)prog);
}

const struct bb_captured_attachment **bb_capture__any_attachments(const struct bb_capture *c)
{
	const struct bb_captured_attachment **attachments = bb_calloc(c->n_progs,
								      sizeof(*attachments));

	for (int refused = 0; refused < 2; refused++)
		for (size_t i = 0; i < c->n_attachments; i++) {
			const struct bb_captured_attachment *a = &c->attachments[i];

			if (a->prog >= 0 && a->refused == refused && !attachments[a->prog])
				attachments[a->prog] = a;
		}
	return attachments;
}

const char *bb_captured_map_type__why_no_entries(uint32_t type)
{
	switch (type) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_LPM_TRIE:
	case BPF_MAP_TYPE_PROG_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS: return NULL;
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
	case BPF_MAP_TYPE_RINGBUF:
	case BPF_MAP_TYPE_USER_RINGBUF:
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK: return "its reader takes the entries out";
	case BPF_MAP_TYPE_STACK_TRACE: return "its stacks are of the command's run";
	case BPF_MAP_TYPE_BLOOM_FILTER: return "its entries cannot be listed";
	default: return "its entries belong to sockets, devices, tasks or cgroups";
	}
}

size_t bb_captured_map__value_bytes(const struct bb_capture *c, const struct bb_captured_map *m)
{
	if (bb_captured_map_type__why_no_entries(m->type))
		return 0;
	return bb_map_type__is_per_cpu(m->type)
		       ? (((size_t)m->value_size + 7) & ~(size_t)7) * c->n_cpus
		       : m->value_size;
}

const char *bb_captured_map__values(const struct bb_captured_map *m)
{
	return m->n_entries ? m->entries.data + (size_t)m->n_entries * m->key_size : NULL;
}

void bb_blob__done(struct bb_blob *b)
{
	free(b->data);
	*b = (struct bb_blob){0};
}

void bb_capture__free(struct bb_capture *c)
{
	if (!c)
		return;
	free(c->path);
	bb_record__done(&bb_capture_record, c);
	free(c);
}

/* What libbpf and the kernel call a kind of attachment, and what SEC() calls it. */
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

static const char *word_for(const char *kind, const char *otherwise)
{
	for (size_t i = 0; kind && i < BB_LEN(words); i++)
		if (!strcmp(words[i].kind, kind))
			return words[i].section;
	return otherwise;
}

static const char *of_cgroup(const struct bb_captured_prog *p)
{
	static const char *const sections[] = {
		"cgroup_skb/ingress",
		"cgroup_skb/egress",
		"cgroup/sock_create",
		"cgroup/sock_release",
		"sockops",
		"cgroup/dev",
		"cgroup/bind4",
		"cgroup/bind6",
		"cgroup/connect4",
		"cgroup/connect6",
		"cgroup/post_bind4",
		"cgroup/post_bind6",
		"cgroup/sendmsg4",
		"cgroup/sendmsg6",
		"cgroup/recvmsg4",
		"cgroup/recvmsg6",
		"cgroup/sysctl",
		"cgroup/getsockopt",
		"cgroup/setsockopt",
		"cgroup/getpeername4",
		"cgroup/getpeername6",
		"cgroup/getsockname4",
		"cgroup/getsockname6",
	};
	bool is_only_one = p->type == BPF_PROG_TYPE_SOCK_OPS ||
			   p->type == BPF_PROG_TYPE_CGROUP_DEVICE;
	enum bpf_attach_type attach_type;
	enum bpf_prog_type type;

	for (size_t i = 0; i < BB_LEN(sections); i++)
		if (!libbpf_prog_type_by_name(sections[i], &type, &attach_type) &&
		    type == p->type && (is_only_one || attach_type == p->expected_attach_type))
			return sections[i];
	return NULL;
}

/* The word before the "/" in SEC(), for a program whose target is fixed when it is loaded. */
static const char *of_load(const struct bb_captured_prog *p)
{
	if (p->type == BPF_PROG_TYPE_LSM)
		return "lsm";
	if (p->type == BPF_PROG_TYPE_STRUCT_OPS)
		return "struct_ops";
	return word_for(libbpf_bpf_attach_type_str(p->expected_attach_type), "tracing");
}

struct bb_captured_section bb_captured_section(const struct bb_captured_prog *p,
					       const struct bb_captured_attachment *a)
{
	const char *cgroup = of_cgroup(p);
	struct bb_captured_section s;

	if (cgroup)
		snprintf(s.text, sizeof(s.text), "%s", cgroup);
	else if (*p->attach_name)
		snprintf(s.text, sizeof(s.text), "%s/%s", of_load(p), p->attach_name);
	else if (a)
		snprintf(s.text, sizeof(s.text), "%s%s%s", word_for(a->kind, a->kind),
			 *a->where ? "/" : "", a->where);
	else
		snprintf(s.text, sizeof(s.text), BB_NOT_ATTACHED);
	return s;
}
