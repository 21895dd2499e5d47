/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/attach_point.h"

#include <linux/bpf.h>

#include "bpf/attach.h"
#include "bpf/prog_type.h"

const struct bb_attach_facts bb_attach_kinds[] = {
	[BB_AT_NOWHERE] = {"no hook"},
	[BB_AT_TRACEPOINT] = {"tracepoint", .of_kernel = true},
	[BB_AT_RAW_TP] = {"raw tracepoint", .of_kernel = true},
	[BB_AT_BTF] = {"BTF hook", .of_kernel = true},
	[BB_AT_ITER] = {"iterator", .has_triggers = true},
	[BB_AT_KPROBE] = {"kernel function", .of_kernel = true},
	[BB_AT_KPROBE_MULTI] = {"kernel functions", .of_kernel = true},
	[BB_AT_UPROBE] = {"function", .of_user = true},
	[BB_AT_UPROBE_MULTI] = {"functions", .of_user = true},
	[BB_AT_OWN_FUNCTION] = {"a call of ours", .has_triggers = true},
	[BB_AT_OWN_RUN] = {"a test run", .has_triggers = true},
	[BB_AT_SK_MSG] = {"a socket of ours in a sockmap", .has_triggers = true},
	[BB_AT_REUSEPORT] = {"a socket of ours that shares its port", .has_triggers = true},
	[BB_AT_CGROUP] = {"cgroup"},
	[BB_AT_NETNS] = {"network namespace"},
	[BB_AT_NETFILTER] = {"netfilter"},
	[BB_AT_STRUCT_OPS] = {"struct_ops", .has_triggers = true},
	[BB_AT_USDT] = {"static probe", .of_user = true},
};

/* The kind of hook, by the first word of SEC("word/target"). */
static const struct {
	const char *word;
	enum bb_attach_kind kind;
	bool is_return;
} sections[] = {
	{"tp", BB_AT_TRACEPOINT, false},
	{"tracepoint", BB_AT_TRACEPOINT, false},
	{"raw_tp", BB_AT_RAW_TP, false},
	{"raw_tracepoint", BB_AT_RAW_TP, false},
	{"raw_tp.w", BB_AT_RAW_TP, false},
	{"raw_tracepoint.w", BB_AT_RAW_TP, false},
	{"tp_btf", BB_AT_BTF, false},
	{"fentry", BB_AT_BTF, false},
	{"fexit", BB_AT_BTF, true},
	{"fmod_ret", BB_AT_BTF, true},
	{"fsession", BB_AT_BTF, false},
	{"lsm", BB_AT_BTF, false},
	{"lsm_cgroup", BB_AT_CGROUP, false},
	{"iter", BB_AT_ITER, false},
	{"kprobe", BB_AT_KPROBE, false},
	{"kretprobe", BB_AT_KPROBE, true},
	{"kprobe.multi", BB_AT_KPROBE, false},
	{"kretprobe.multi", BB_AT_KPROBE, true},
	{"kprobe.session", BB_AT_KPROBE, false},
	{"ksyscall", BB_AT_KPROBE, false},
	{"kretsyscall", BB_AT_KPROBE, true},
	{"uprobe", BB_AT_UPROBE, false},
	{"uretprobe", BB_AT_UPROBE, true},
	{"uprobe.multi", BB_AT_UPROBE, false},
	{"uretprobe.multi", BB_AT_UPROBE, true},
	{"uprobe.session", BB_AT_UPROBE, false},
	{"usdt", BB_AT_USDT, false},
};

/* Only a program that was loaded for a multi link (one link to many functions) gets that kind. On
 * kernels without multi links, bpfbench loads it for one function. */
static enum bb_attach_kind of_type(enum bb_attach_kind kind, uint32_t attach_type)
{
	if (kind == BB_AT_KPROBE && bb_multi_link__is_of_kernel(attach_type))
		return BB_AT_KPROBE_MULTI;
	if (kind == BB_AT_UPROBE && bb_multi_link__is_of_users(attach_type))
		return BB_AT_UPROBE_MULTI;
	return kind;
}

/* Program types that have one kind of hook, whatever the section says. */
static const struct of_prog_type {
	uint32_t prog_type;
	enum bb_attach_kind kind;
	/* name of the hook; NULL if the section has the name, or there is none */
	const char *hook;
} types[] = {
	{BPF_PROG_TYPE_STRUCT_OPS, BB_AT_STRUCT_OPS, NULL},
	{BPF_PROG_TYPE_SK_MSG, BB_AT_SK_MSG, NULL},
	{BPF_PROG_TYPE_SK_REUSEPORT, BB_AT_REUSEPORT, NULL},
	{BPF_PROG_TYPE_SK_LOOKUP, BB_AT_NETNS, "sk_lookup"},
	{BPF_PROG_TYPE_FLOW_DISSECTOR, BB_AT_NETNS, "flow_dissector"},
	{BB_PROG_TYPE_NETFILTER, BB_AT_NETFILTER, "local_in"},
	{BPF_PROG_TYPE_CGROUP_SKB, BB_AT_CGROUP, NULL},
	{BPF_PROG_TYPE_CGROUP_SOCK, BB_AT_CGROUP, NULL},
	{BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BB_AT_CGROUP, NULL},
	{BPF_PROG_TYPE_CGROUP_SOCKOPT, BB_AT_CGROUP, NULL},
	{BPF_PROG_TYPE_CGROUP_SYSCTL, BB_AT_CGROUP, NULL},
	{BPF_PROG_TYPE_CGROUP_DEVICE, BB_AT_CGROUP, NULL},
	{BPF_PROG_TYPE_SOCK_OPS, BB_AT_CGROUP, NULL},
};

void bb_attach_point__from_section(const char *section, uint32_t prog_type, uint32_t attach_type,
				   struct bb_attach_point *ret_point)
{
	struct bb_attach_point p = {.prog_type = prog_type, .attach_type = attach_type};
	const struct of_prog_type *type = BB_FIND(types, BB_LEN(types), it->prog_type == prog_type);
	size_t len, word_len;

	section += *section == '?'; /* '?' marks programs that are not loaded by default */
	len = strcspn(section, "/+");
	/* ".s" at the end of the word marks sleepable programs */
	word_len = len > 2 && !memcmp(section + len - 2, ".s", 2) ? len - 2 : len;
	for (size_t i = 0; i < BB_LEN(sections); i++)
		if (word_len == strlen(sections[i].word) &&
		    !memcmp(section, sections[i].word, word_len)) {
			p.kind = of_type(sections[i].kind, attach_type);
			p.is_return = sections[i].is_return;
		}
	if (type)
		p.kind = type->kind;
	if (type && type->hook)
		snprintf(p.target, sizeof(p.target), "%s", type->hook);
	else if (p.kind == BB_AT_SK_MSG || p.kind == BB_AT_REUSEPORT)
		p.target[0] = '\0';
	else if (section[len])
		snprintf(p.target, sizeof(p.target), "%s", section + len + 1);
	else if (p.kind == BB_AT_CGROUP)
		snprintf(p.target, sizeof(p.target), "%s", section);
	else if (p.kind != BB_AT_STRUCT_OPS && p.kind != BB_AT_USDT)
		p.kind = BB_AT_NOWHERE;
	*ret_point = p;
}

int bb_attach_point__take(struct bb_attach_point *p, const struct bb_variant_spec *variant,
			  struct bb_err *err)
{
	bool of_user = bb_attach_kinds[p->kind].of_user;

	if (bb_fired_by__is_given(&variant->fired_by))
		p->by = &variant->fired_by;
	p->pid = variant->pid;
	if (variant->binary) {
		if (p->prog_type != BPF_PROG_TYPE_KPROBE || (!of_user && p->kind != BB_AT_NOWHERE))
			return bb_fail(err, -EINVAL,
				       "'binary' and 'function' are for programs of section "
				       "uprobe, uretprobe or usdt, not for %s",
				       bb_attach_point__words(p).text);
		if ((size_t)snprintf(p->target, sizeof(p->target), "%s:%s", variant->binary,
				     variant->function) >= sizeof(p->target))
			return bb_fail(err, -EINVAL, "%s: its path is too long", variant->binary);
		if (p->kind != BB_AT_USDT)
			p->kind = of_type(BB_AT_UPROBE, p->attach_type);
		of_user = true;
	}
	if (p->pid && !of_user)
		return bb_fail(err, -EINVAL,
			       "'pid' is for programs of functions of a process, not for %s",
			       bb_attach_point__words(p).text);
	if (p->by && p->by->call && !of_user)
		return bb_fail(err, -EINVAL,
			       "fired_by: 'call' is for programs of functions of a library, not "
			       "for %s",
			       bb_attach_point__words(p).text);
	return 0;
}

bool bb_attach_point__by_own_run(const struct bb_attach_point *p, struct bb_attach_point *ret_point)
{
	if (p->kind != BB_AT_RAW_TP || p->prog_type != BPF_PROG_TYPE_RAW_TRACEPOINT)
		return false;
	*ret_point = *p;
	ret_point->kind = BB_AT_OWN_RUN;
	return true;
}

bool bb_attach_point__on_own_function(const struct bb_attach_point *p,
				      struct bb_attach_point *ret_point)
{
	if (p->prog_type != BPF_PROG_TYPE_KPROBE || p->kind == BB_AT_KPROBE_MULTI)
		return false;
	*ret_point = *p;
	ret_point->kind = BB_AT_OWN_FUNCTION;
	return true;
}

void bb_program__named_after(const char *program, bool is_bare, char *ret_name, size_t size)
{
	static const char *const before[] = {"kprobe__", "kretprobe__", "tracepoint__",
					     "tp__",     "fentry__",    "fexit__"},
				 *const after[] = {"_entry", "_enter", "_exit", "_return", "_ret"};

	for (size_t i = 0; is_bare && i < BB_LEN(before); i++)
		if (!strncmp(program, before[i], strlen(before[i]))) {
			program += strlen(before[i]);
			break;
		}
	/* captures append ".2" and so on to equal names, and C function names have no dots */
	size_t len = strcspn(program, ".");
	for (size_t i = 0; is_bare && i < BB_LEN(after); i++)
		if (len > strlen(after[i]) &&
		    !strncmp(program + len - strlen(after[i]), after[i], strlen(after[i]))) {
			len -= strlen(after[i]);
			break;
		}
	snprintf(ret_name, size, "%.*s", (int)len, program);
}

static const char *event_name(const struct bb_attach_point *p)
{
	const char *slash = p->kind == BB_AT_TRACEPOINT ? strrchr(p->target, '/') : NULL;

	return slash ? slash + 1 : p->target;
}

bool bb_attach_point__same_event(const struct bb_attach_point *a, const struct bb_attach_point *b)
{
	return a->is_return == b->is_return && !strcmp(event_name(a), event_name(b));
}

struct bb_attach_words bb_attach_point__words(const struct bb_attach_point *p)
{
	bool is_instead = p->kind == BB_AT_OWN_FUNCTION || p->kind == BB_AT_OWN_RUN;
	struct bb_attach_words w;

	snprintf(w.text, sizeof(w.text), "%s%s%s%s", bb_attach_kinds[p->kind].words,
		 !*p->target  ? ""
		 : is_instead ? " for "
			      : " ",
		 p->target, p->is_return ? " (return)" : "");
	return w;
}

bool bb_reach__acts(const struct bb_target *target)
{
	static const int32_t helpers[] = {BPF_FUNC_probe_write_user, BPF_FUNC_override_return,
					  BPF_FUNC_send_signal, BPF_FUNC_send_signal_thread};
	struct bb_code code;

	if (bb_target__code(target, target->prog_fd, &code, NULL))
		return true;
	bool acts = bb_code__calls(&code, helpers, BB_LEN(helpers));
	bb_code__done(&code);
	return acts;
}

int bb_reach__check(const struct bb_attach_point *point, const struct bb_target *target,
		    struct bb_err *err)
{
	/* true if other processes than ours can make the program run */
	bool is_shared = point->pid || (point->by && point->by->run) ||
			 bb_attach_kinds[point->kind].of_kernel;
	const char *does = NULL;

	if (!is_shared)
		return 0;
	if (point->prog_type == BPF_PROG_TYPE_LSM || point->attach_type == BPF_MODIFY_RETURN)
		does = "can forbid their system calls";
	else if (bb_reach__acts(target))
		does = "sends signals, writes into them or changes the answers that they get";
	return does ? bb_fail(err, -ENOTSUP,
			      "%s: every process of this machine passes there, and the program %s; "
			      "--allow-system-wide measures it all the same",
			      bb_attach_point__words(point).text, does)
		    : 0;
}
