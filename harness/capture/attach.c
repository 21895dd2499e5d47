/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records the hooks to which the captured command attaches programs, and whether that succeeds. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "base/bpf_info.h"
#include "base/caller.h"
#include "base/io.h"
#include "base/parse.h"
#include "capture/take.h"

static const char *const software[] = {
	"cpu-clock",    "task-clock",   "page-faults",      "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
};
static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static uint32_t type_of(const char *pmu)
{
	char path[128];
	uint64_t type;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	return bb_root__read_u64(path, &type) || type > UINT32_MAX ? 0 : (uint32_t)type;
}

static void describe_event(const struct bb_opened_event *e, struct bb_captured_attachment *a)
{
	const struct perf_event_attr *attr = &e->attr;
	bool is_dynamic = attr->type >= PERF_TYPE_MAX, is_return = attr->config & 1;

	if (attr->type == PERF_TYPE_TRACEPOINT) {
		snprintf(a->kind, sizeof(a->kind), "tracepoint");
		snprintf(a->where, sizeof(a->where), "id %llu", (unsigned long long)attr->config);
	} else if (is_dynamic && attr->type == type_of("kprobe")) {
		snprintf(a->kind, sizeof(a->kind), is_return ? "kretprobe" : "kprobe");
		snprintf(a->where, sizeof(a->where), "%s", e->name);
	} else if (is_dynamic && attr->type == type_of("uprobe")) {
		snprintf(a->kind, sizeof(a->kind), is_return ? "uretprobe" : "uprobe");
		snprintf(a->where, sizeof(a->where), "%.200s:0x%llx", e->name,
			 (unsigned long long)attr->config2);
	} else {
		const char *name = "an event of the CPU";

		if (attr->type == PERF_TYPE_SOFTWARE && attr->config < BB_LEN(software))
			name = software[attr->config];
		if (attr->type == PERF_TYPE_HARDWARE && attr->config < BB_LEN(hardware))
			name = hardware[attr->config];
		snprintf(a->where, sizeof(a->where), attr->freq ? "%s, %llu Hz" : "%s, every %llu",
			 name,
			 (unsigned long long)(attr->freq ? attr->sample_freq
							 : attr->sample_period));
	}
}

/* Asks the kernel for the hook of the perf event. Returns false if the event has no program yet. */
static bool ask_event(int event_fd, struct bb_captured_attachment *a)
{
	static const char *const kinds[] = {
		[BPF_FD_TYPE_RAW_TRACEPOINT] = "raw_tracepoint",
		[BPF_FD_TYPE_TRACEPOINT] = "tracepoint",
		[BPF_FD_TYPE_KPROBE] = "kprobe",
		[BPF_FD_TYPE_KRETPROBE] = "kretprobe",
		[BPF_FD_TYPE_UPROBE] = "uprobe",
		[BPF_FD_TYPE_URETPROBE] = "uretprobe",
	};
	char name[sizeof(a->where) - 32] = "";
	__u32 len = sizeof(name), prog_id, type = 0;
	__u64 offset = 0, address;
	int rc = bpf_task_fd_query(getpid(), event_fd, 0, name, &len, &prog_id, &type, &offset,
				   &address);

	if (!rc && type < BB_LEN(kinds) && *name) {
		snprintf(a->kind, sizeof(a->kind), "%s", kinds[type]);
		if (type >= BPF_FD_TYPE_UPROBE)
			snprintf(a->where, sizeof(a->where), "%s:0x%llx", name,
				 (unsigned long long)offset);
		else
			snprintf(a->where, sizeof(a->where), "%s", name);
	}
	return rc != -ENOENT;
}

#define MAX_QUERIED 64 /* limit: programs at one cgroup; BPF_CGROUP_MAX_PROGS of the kernel */

/* Returns NULL if the command's descriptor `fd` is not a program, or for too many attachments. */
static struct bb_captured_attachment *add_attachment(struct bb_take_call *call, int fd,
						     enum bb_attached_by by, const char *kind)
{
	struct bb_take *t = call->t;
	int copy = bb_remote__fd(&call->from, fd);
	const struct bb_seen_prog *seen = copy < 0 ? NULL : bb_take__seen(t, copy);
	struct bb_captured_attachment *a = seen ? bb_take__attachment(t, seen->id, kind) : NULL;

	bb_close(&copy);
	if (a) {
		a->taken.tid = call->from.tid;
		a->taken.by = by;
	}
	return a;
}

/* The kernel describes an event only after a program is attached to it. So this guesses that
 * `event_fd` is the perf event that the process opened last. ask_event() corrects the guess
 * later. */
void bb_take_attach__event(struct bb_take_call *call, int event_fd, int prog_fd)
{
	struct bb_take *t = call->t;
	struct bb_captured_attachment *a = add_attachment(call, prog_fd, BB_ATTACHED_BY_EVENT,
							  "perf_event");

	if (!a)
		return;
	for (size_t i = t->n_events; i > 0; i--)
		if (t->events[i - 1].tgid == bb_remote__process(&call->from)) {
			describe_event(&t->events[i - 1], a);
			break;
		}
	a->taken.fd = bb_remote__fd(&call->from, event_fd);
}

/* Hooks of network devices that the headers and libbpf of Debian 12 do not know. */
static const struct device_hook {
	uint32_t type;
	const char *name;
} newer_hooks[] = {
	{46, "tcx_ingress"},
	{47, "tcx_egress"},
	{54, "netkit_primary"},
	{55, "netkit_peer"},
};

static void say_where(struct bb_take_call *call, uint32_t attach_type, int target,
		      struct bb_captured_attachment *a)
{
	const struct device_hook *newer = BB_FIND(newer_hooks, BB_LEN(newer_hooks),
						  it->type == attach_type);
	const char *type = libbpf_bpf_attach_type_str(attach_type);
	char path[64];

	a->attach_type = attach_type;
	if (type || newer)
		snprintf(a->kind, sizeof(a->kind), "%s", type ? type : newer->name);
	if (newer || attach_type == BPF_XDP) {
		snprintf(a->where, sizeof(a->where), "interface %d", target);
		return;
	}
	int copy = target > 0 ? bb_remote__fd(&call->from, target) : -1;
	if (copy < 0)
		return;
	/* the path of the command's open file, such as a cgroup */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	ssize_t n = readlink(path, a->where, sizeof(a->where) - 1);
	a->where[n > 0 ? n : 0] = '\0';
	close(copy);
}

void bb_take_attach__link(struct bb_take_call *call)
{
	const union bpf_attr *attr = &call->attr;
	uint32_t type = attr->link_create.attach_type;
	uint64_t name;

	if (type == BPF_PERF_EVENT)
		return bb_take_attach__event(call, (int)attr->link_create.target_fd,
					     (int)attr->link_create.prog_fd);
	struct bb_captured_attachment *a = add_attachment(call, (int)attr->link_create.prog_fd,
							  BB_ATTACHED_BY_LINK, "link");
	if (!a)
		return;
	say_where(call, type, (int)attr->link_create.target_fd, a);
	if (type == BPF_TRACE_KPROBE_MULTI && attr->link_create.kprobe_multi.syms &&
	    !bb_remote__read(&call->from, attr->link_create.kprobe_multi.syms, &name, sizeof(name)))
		bb_remote__read_text(&call->from, name, a->where, sizeof(a->where));
	a->taken.by_btf = !*a->where;
}

void bb_take_attach__raw_tracepoint(struct bb_take_call *call)
{
	struct bb_captured_attachment *a = add_attachment(call,
							  (int)call->attr.raw_tracepoint.prog_fd,
							  BB_ATTACHED_BY_LINK, "raw_tracepoint");

	if (!a)
		return;
	bb_remote__read_text(&call->from, call->attr.raw_tracepoint.name, a->where,
			     sizeof(a->where));
	a->taken.by_btf = !*a->where;
}

void bb_take_attach__prog_attach(struct bb_take_call *call)
{
	struct bb_captured_attachment *a = add_attachment(call, (int)call->attr.attach_bpf_fd,
							  BB_ATTACHED_BY_PROG, "attach");

	if (!a)
		return;
	say_where(call, call->attr.attach_type, (int)call->attr.target_fd, a);
	a->taken.fd = bb_remote__fd(&call->from, (int)call->attr.target_fd);
}

/* We assume that the call succeeds, because the kernel does not tell which program a socket has. */
void bb_take_attach__socket(struct bb_take_call *call, uint64_t option, uint64_t value_at)
{
	int prog_fd;

	if (bb_remote__read(&call->from, value_at, &prog_fd, sizeof(prog_fd)))
		return;
	struct bb_captured_attachment *a = add_attachment(call, prog_fd, BB_ATTACHED_SURELY,
							  "socket");
	if (a && option == SO_ATTACH_REUSEPORT_EBPF)
		snprintf(a->kind, sizeof(a->kind), "sk_reuseport");
}

/* Appends to t->links the program id of each BPF link that was made since the last call. Stops at a
 * link that is still being made (-EAGAIN), so that the next call reads it. */
static void see_links(struct bb_take *t)
{
	__u32 id = t->last_link_id;

	while (!bpf_link_get_next_id(id, &id)) {
		struct bpf_link_info info = {0};
		int fd = bpf_link_get_fd_by_id(id), rc;

		if (fd == -EAGAIN)
			return;
		t->last_link_id = id;
		rc = fd < 0 ? fd : bb_info__read(fd, &info);
		bb_close(&fd);
		uint32_t *prog_id = rc ? NULL : bb_append(&t->links, &t->n_links, sizeof(*prog_id));
		if (prog_id)
			*prog_id = info.prog_id;
	}
}

static bool is_attached(struct bb_take *t, struct bb_captured_attachment *a)
{
	const struct bb_taken_attachment *p = &a->taken;
	__u32 ids[MAX_QUERIED], n = MAX_QUERIED, flags;
	uint32_t *link;

	switch (p->by) {
	case BB_ATTACHED_BY_EVENT: return p->fd < 0 || ask_event(p->fd, a);
	case BB_ATTACHED_BY_LINK:
		see_links(t);
		link = BB_FIND(t->links, t->n_links, *it == p->prog_id);
		/* a link accounts for one attachment only */
		if (link)
			*link = t->links[--t->n_links];
		return link != NULL;
	case BB_ATTACHED_BY_PROG:
		/* if the kernel does not list this target's programs, assume success */
		return p->fd < 0 || bpf_prog_query(p->fd, a->attach_type, 0, &flags, ids, &n) ||
		       BB_ANY(ids, n, *it == p->prog_id);
	default: return true;
	}
}

void bb_taken_attachment__done(struct bb_taken_attachment *p)
{
	bb_close(&p->fd);
	p->by = BB_ATTACHED_SURELY;
}

/* True if the thread has returned from the attaching call and is not exiting. An exiting thread
 * closes its descriptors, which detaches its programs, so a missing program does not mean that the
 * kernel refused it. An exiting thread loses /proc/TID/exe before its descriptors. */
static bool is_elsewhere(pid_t tid)
{
	char path[64], text[32];
	const char *at = text;
	uint64_t nr;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	/* The file begins with the number of the system call, with "running", or with "-1" for a
	 * thread in no system call. */
	if (bb_root__read(path, text, sizeof(text)) <= 0 || bb_parse_digits(&at, &nr) ||
	    nr == SYS_bpf || nr == SYS_ioctl)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	bb_root__begin();
	ssize_t n = readlink(path, text, sizeof(text));
	bb_root__end();
	return n > 0;
}

void bb_take__settle(struct bb_take *t, enum bb_settle_when when, pid_t tid)
{
	for (size_t i = 0; i < t->capture->n_attachments; i++) {
		struct bb_captured_attachment *a = &t->capture->attachments[i];

		if (a->taken.by == BB_ATTACHED_SURELY)
			continue;
		bool is_there = is_attached(t, a);
		if (!is_there && when == BB_SETTLE_CALL && a->taken.tid == tid)
			a->refused = true;
		else if (!is_there && when == BB_SETTLE_END)
			a->refused = is_elsewhere(a->taken.tid);
		else if (!is_there)
			continue;
		bb_taken_attachment__done(&a->taken);
	}
}

#define ANSWER_BYTES 32768
/* limit: seconds to wait for an answer */
#define ANSWER_S 2

static void add_on_device(struct bb_take *t, const char *kind, uint32_t attach_type,
			  const char *where, uint32_t prog_id)
{
	if (prog_id < t->first_prog_id)
		return;
	if (BB_ANY(t->capture->attachments, t->capture->n_attachments,
		   it->taken.prog_id == prog_id))
		return; /* the program's attachment is known already */
	struct bb_captured_attachment *a = bb_take__attachment(t, prog_id, kind);
	if (!a)
		return;
	a->attach_type = attach_type;
	snprintf(a->where, sizeof(a->where), "%s", where);
}

static uint32_t program_of_filter(const struct nlmsghdr *m)
{
	struct rtattr *a = TCA_RTA(NLMSG_DATA(m)), *options = NULL;
	unsigned int len = (unsigned int)NLMSG_PAYLOAD(m, sizeof(struct tcmsg));
	bool is_bpf = false;
	uint32_t id = 0;

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == TCA_KIND)
			is_bpf = RTA_PAYLOAD(a) >= sizeof("bpf") && !strcmp(RTA_DATA(a), "bpf");
		else if ((a->rta_type & NLA_TYPE_MASK) == TCA_OPTIONS)
			options = a;
	}
	if (!is_bpf || !options)
		return 0;
	len = (unsigned int)RTA_PAYLOAD(options);
	for (a = RTA_DATA(options); RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (a->rta_type == TCA_BPF_ID && RTA_PAYLOAD(a) >= sizeof(id))
			memcpy(&id, RTA_DATA(a), sizeof(id));
	return id;
}

static void see_filters(struct bb_take *t, int netlink, const struct if_nameindex *device,
			uint32_t parent, const char *direction)
{
	struct {
		struct nlmsghdr head;
		struct tcmsg tc;
	} ask = {.head = {.nlmsg_len = sizeof(ask),
			  .nlmsg_type = RTM_GETTFILTER,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		 .tc = {.tcm_family = AF_UNSPEC,
			.tcm_ifindex = (int)device->if_index,
			.tcm_parent = parent}};
	static char answer[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	char where[IF_NAMESIZE + 16];
	ssize_t n = send(netlink, &ask, sizeof(ask), 0);

	snprintf(where, sizeof(where), "%s %s", device->if_name, direction);
	while (n > 0) {
		n = recv(netlink, answer, sizeof(answer), 0);
		unsigned int left = n > 0 ? (unsigned int)n : 0;
		for (const struct nlmsghdr *m = (const void *)answer; NLMSG_OK(m, left);
		     m = NLMSG_NEXT(m, left)) {
			uint32_t id = 0;

			if (m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR)
				return;
			if (m->nlmsg_type == RTM_NEWTFILTER)
				id = program_of_filter(m);
			if (id)
				add_on_device(t, "tc", 0, where, id);
		}
	}
}

static void see_all(struct bb_take *t)
{
	const struct timeval patience = {.tv_sec = ANSWER_S};
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct if_nameindex *all = if_nameindex();

	if (netlink >= 0)
		setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	for (const struct if_nameindex *d = all; d && d->if_index; d++) {
		LIBBPF_OPTS(bpf_xdp_query_opts, q);

		if (!bpf_xdp_query((int)d->if_index, 0, &q) && q.prog_id)
			add_on_device(t, "xdp", BPF_XDP, d->if_name, q.prog_id);
		see_filters(t, netlink, d, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), "ingress");
		see_filters(t, netlink, d, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS), "egress");
	}
	if (all)
		if_freenameindex(all);
	bb_close(&netlink);
}

int bb_take__devices(struct bb_take *t, pid_t command)
{
	int ours = bb_root__open("/proc/self/ns/net", O_RDONLY), theirs = -1, rc = 0;
	struct stat a, b;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)command);
	if (ours >= 0)
		theirs = bb_root__open(path, O_RDONLY);
	/* the command may be in our namespace */
	if (theirs >= 0 && (fstat(theirs, &a) || fstat(ours, &b) || a.st_ino == b.st_ino))
		bb_close(&theirs);
	see_all(t);
	if (theirs >= 0 && !setns(theirs, CLONE_NEWNET)) {
		see_all(t);
		rc = setns(ours, CLONE_NEWNET) ? -errno : 0;
	}
	bb_close(&theirs);
	bb_close(&ours);
	return rc;
}
