/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int own_netns(int *ret_fd, struct bb_err *err)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0) {
		rc = -errno;
		return bb_fail(err, rc == -ENOENT ? -ENOTSUP : rc,
			       "/proc/thread-self/ns/net: %s; without network namespaces there is "
			       "no place to attach a network program",
			       strerror(-rc));
	}
	*ret_fd = fd;
	return 0;
}

/* That this fails cannot be explained to a user; everything after it would be wrong. */
int bb_netns__leave(int home_fd, int rc, struct bb_err *err)
{
	if (setns(home_fd, CLONE_NEWNET)) {
		rc = -errno;
		bb_fail(err, rc, "cannot return to our own network namespace: %s", strerror(-rc));
	}
	close(home_fd);
	return rc;
}

int bb_netns__enter(int netns_fd, int *ret_home_fd, struct bb_err *err)
{
	int home_fd = -1, rc = own_netns(&home_fd, err);

	if (rc)
		return rc;
	if (setns(netns_fd, CLONE_NEWNET)) {
		rc = -errno;
		close(home_fd);
		return bb_fail(err, rc, "cannot enter the network namespace for programs: %s",
			       strerror(-rc));
	}
	*ret_home_fd = home_fd;
	return 0;
}

int bb_netns__open(int *ret_fd, struct bb_err *err)
{
	int home_fd = -1, fd = -1, rc = own_netns(&home_fd, err);

	if (rc)
		return rc;
	if (unshare(CLONE_NEWNET)) {
		rc = -errno;
		close(home_fd);
		return bb_fail(err, rc == -ENOMEM ? rc : -ENOTSUP,
			       "XDP is measured attached, in a network namespace of its own, and "
			       "none can be made (%s); it needs CAP_SYS_ADMIN and room in "
			       "user.max_net_namespaces",
			       strerror(-rc));
	}
	rc = own_netns(&fd, err);
	rc = bb_netns__leave(home_fd, rc, err);
	if (rc && fd >= 0)
		close(fd);
	if (!rc)
		*ret_fd = fd;
	return rc;
}

#define MAC_BYTES 6u

/* A netlink request being written; the pieces that are open have their length set when they end. */
struct request {
	union {
		struct nlmsghdr head;
		uint8_t bytes[512];
	};
};

static void *append(struct request *r, size_t len)
{
	void *at = r->bytes + NLMSG_ALIGN(r->head.nlmsg_len);

	r->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(r->head.nlmsg_len) + len);
	return at; /* a request is of fixed size, far below its room, and zeroed */
}

/* Returns what follows the head, body_len zeroed bytes. */
static void *begin(struct request *r, uint16_t type, uint16_t flags, size_t body_len)
{
	memset(r, 0, sizeof(*r));
	r->head = (struct nlmsghdr){
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = type,
		.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags),
	};
	return append(r, body_len);
}

static struct rtattr *begin_attr(struct request *r, unsigned short type)
{
	struct rtattr *a = append(r, RTA_LENGTH(0));

	a->rta_type = type;
	return a;
}

static void end_attr(struct request *r, struct rtattr *a)
{
	a->rta_len = (unsigned short)(r->bytes + r->head.nlmsg_len - (uint8_t *)a);
}

static void add_bytes(struct request *r, unsigned short type, const void *bytes, size_t len)
{
	struct rtattr *a = begin_attr(r, type);

	memcpy(append(r, len), bytes, len);
	end_attr(r, a);
}

/* Send it and wait for its acknowledgement. */
static int talk(const struct request *r)
{
	union {
		struct nlmsghdr head;
		uint8_t bytes[1024];
	} reply;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), rc = 0;
	ssize_t n = -1;

	if (fd < 0)
		return -errno;
	if (send(fd, r->bytes, r->head.nlmsg_len, 0) < 0)
		rc = -errno;
	while (!rc && n < 0) {
		n = recv(fd, reply.bytes, sizeof(reply.bytes), 0);
		if (n < 0 && errno != EINTR)
			rc = -errno;
	}
	close(fd);
	if (rc)
		return rc;
	if ((size_t)n < NLMSG_LENGTH(sizeof(struct nlmsgerr)) ||
	    reply.head.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return ((const struct nlmsgerr *)NLMSG_DATA(&reply.head))->error;
}

/* Name and kind, in whose data the other end is described the same way (drivers/net/veth.c). */
int bb_rtnl__add_veth(const char *name, const char *peer, int peer_netns_fd)
{
	struct rtattr *info, *data, *other;
	struct request r;

	begin(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(struct ifinfomsg));
	add_bytes(&r, IFLA_IFNAME, name, strlen(name) + 1);
	info = begin_attr(&r, IFLA_LINKINFO);
	add_bytes(&r, IFLA_INFO_KIND, "veth", sizeof("veth"));
	data = begin_attr(&r, IFLA_INFO_DATA);
	other = begin_attr(&r, VETH_INFO_PEER);
	append(&r, sizeof(struct ifinfomsg));
	add_bytes(&r, IFLA_IFNAME, peer, strlen(peer) + 1);
	if (peer_netns_fd >= 0)
		add_bytes(&r, IFLA_NET_NS_FD, &peer_netns_fd, sizeof(peer_netns_fd));
	end_attr(&r, other);
	end_attr(&r, data);
	end_attr(&r, info);
	return talk(&r);
}

int bb_rtnl__up(unsigned int ifindex)
{
	struct request r;
	struct ifinfomsg *m = begin(&r, RTM_NEWLINK, 0, sizeof(*m));

	m->ifi_index = (int)ifindex;
	m->ifi_flags = m->ifi_change = IFF_UP;
	return talk(&r);
}

int bb_rtnl__set_mac(unsigned int ifindex, const uint8_t mac[6])
{
	struct request r;
	struct ifinfomsg *m = begin(&r, RTM_NEWLINK, 0, sizeof(*m));

	m->ifi_index = (int)ifindex;
	add_bytes(&r, IFLA_ADDRESS, mac, MAC_BYTES);
	return talk(&r);
}

int bb_rtnl__add_addr(unsigned int ifindex, uint32_t addr, uint8_t prefix)
{
	uint32_t on_the_wire = htonl(addr);
	struct request r;
	struct ifaddrmsg *m = begin(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof(*m));

	m->ifa_family = AF_INET;
	m->ifa_prefixlen = prefix;
	m->ifa_index = ifindex;
	add_bytes(&r, IFA_LOCAL, &on_the_wire, sizeof(on_the_wire));
	return talk(&r);
}

int bb_rtnl__add_neigh(unsigned int ifindex, uint32_t addr, const uint8_t mac[6])
{
	uint32_t on_the_wire = htonl(addr);
	struct request r;
	struct ndmsg *m = begin(&r, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, sizeof(*m));

	m->ndm_family = AF_INET;
	m->ndm_ifindex = (int)ifindex;
	m->ndm_state = NUD_PERMANENT;
	add_bytes(&r, NDA_DST, &on_the_wire, sizeof(on_the_wire));
	add_bytes(&r, NDA_LLADDR, mac, MAC_BYTES);
	return talk(&r);
}

int bb_rtnl__unsupported_or(int rc)
{
	return rc == -EOPNOTSUPP || rc == -EPERM ? -ENOTSUP : rc;
}
