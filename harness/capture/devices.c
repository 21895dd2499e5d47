/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that the command attached to network devices by netlink, which is no call of bpf(): the
 * kernel says which there are. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/caller.h"
#include "capture/take.h"

#define ANSWER_BYTES 32768
#define ANSWER_S 2 /* the kernel answers at once */

static int add(struct bb_take *t, const char *kind, uint32_t attach_type, const char *where,
	       uint32_t prog_id)
{
	struct bb_captured_attachment *a;

	if (prog_id < t->first_prog_id)
		return 0;
	for (size_t i = 0; i < t->n_pending; i++)
		if (t->pending[i].prog_id == prog_id)
			return 0; /* by a link, which was seen */
	a = bb_take__attachment(t, prog_id, kind);
	if (!a)
		return -ENOMEM;
	a->attach_type = attach_type;
	snprintf(a->where, sizeof(a->where), "%s", where);
	return 0;
}

/* --- tc --- */

/* The id of the program of a filter; 0: it is of another kind. */
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

/* One datagram of the answer. 1: it was the last one. */
static int take_filters(struct bb_take *t, const char *where, const void *answer, size_t size)
{
	unsigned int left = (unsigned int)size;
	int rc = 0;

	for (const struct nlmsghdr *m = answer; !rc && NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
		if (m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR)
			return 1;
		if (m->nlmsg_type == RTM_NEWTFILTER && program_of_filter(m))
			rc = add(t, "tc", 0, where, program_of_filter(m));
	}
	return rc;
}

static int see_filters(struct bb_take *t, int netlink, const struct if_nameindex *device,
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
	int rc = send(netlink, &ask, sizeof(ask), 0) < 0 ? 1 : 0;

	snprintf(where, sizeof(where), "%s %s", device->if_name, direction);
	while (!rc) {
		ssize_t n = recv(netlink, answer, sizeof(answer), 0);

		if (n <= 0)
			return 0;
		rc = take_filters(t, where, answer, (size_t)n);
	}
	return rc < 0 ? rc : 0;
}

/* --- all devices of a network namespace --- */

static int see_device(struct bb_take *t, int netlink, const struct if_nameindex *device)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);
	int rc = 0;

	if (!bpf_xdp_query((int)device->if_index, 0, &q) && q.prog_id)
		rc = add(t, "xdp", BPF_XDP, device->if_name, q.prog_id);
	if (!rc)
		rc = see_filters(t, netlink, device, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS),
				 "ingress");
	return rc ? rc
		  : see_filters(t, netlink, device, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS),
				"egress");
}

static int see_all(struct bb_take *t)
{
	const struct timeval patience = {.tv_sec = ANSWER_S};
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), rc = 0;
	struct if_nameindex *all = if_nameindex();

	if (netlink >= 0)
		setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	for (size_t i = 0; all && !rc && all[i].if_index; i++)
		rc = see_device(t, netlink, &all[i]);
	if (all)
		if_freenameindex(all);
	if (netlink >= 0)
		close(netlink);
	return rc;
}

/* Its network namespace, where it is not ours; else -1. */
static int other_netns(pid_t command, int ours)
{
	struct stat a, b;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)command);
	fd = bb_root__open(path, O_RDONLY);
	if (fd < 0 || (!fstat(fd, &a) && !fstat(ours, &b) && a.st_ino != b.st_ino))
		return fd;
	close(fd);
	return -1;
}

int bb_take__devices(struct bb_take *t, pid_t command)
{
	int ours = bb_root__open("/proc/self/ns/net", O_RDONLY), rc = see_all(t);
	int theirs = ours < 0 || rc ? -1 : other_netns(command, ours);

	if (theirs >= 0 && !setns(theirs, CLONE_NEWNET)) {
		rc = see_all(t);
		if (setns(ours, CLONE_NEWNET) && !rc)
			rc = -errno;
	}
	if (theirs >= 0)
		close(theirs);
	if (ours >= 0)
		close(ours);
	return rc;
}
