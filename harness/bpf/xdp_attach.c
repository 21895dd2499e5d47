/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/xdp_attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct bb_xdp_port {
	unsigned int ifindex;
	int link_fd;			/* -1: no program yet */
	bool used;
};

/* --- network namespaces -------------------------------------------------------------------------------------- */

static int own_netns(int *ret_fd, struct bb_err *err)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0) {
		rc = -errno;
		return bb_fail(err, rc == -ENOENT ? -ENOTSUP : rc, "/proc/thread-self/ns/net: %s; without network "
			       "namespaces there is no place to attach an XDP program", strerror(-rc));
	}
	*ret_fd = fd;
	return 0;
}

/* Back to where we were. That this fails cannot be explained to a user; everything after it would be wrong. */
static int leave(int home_fd, int rc, struct bb_err *err)
{
	if (setns(home_fd, CLONE_NEWNET)) {
		rc = -errno;
		bb_fail(err, rc, "cannot return to our own network namespace: %s", strerror(-rc));
	}
	close(home_fd);
	return rc;
}

static int enter(const struct bb_xdp_net *net, int *ret_home_fd, struct bb_err *err)
{
	int home_fd = -1, rc = own_netns(&home_fd, err);

	if (rc)
		return rc;
	if (setns(net->netns_fd, CLONE_NEWNET)) {
		rc = -errno;
		close(home_fd);
		return bb_fail(err, rc, "cannot enter the network namespace for XDP programs: %s", strerror(-rc));
	}
	*ret_home_fd = home_fd;
	return 0;
}

/* --- devices ------------------------------------------------------------------------------------------------- */

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
	return at;		/* a request is of fixed size, far below its room, and zeroed */
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

static void add_text(struct request *r, unsigned short type, const char *text)
{
	struct rtattr *a = begin_attr(r, type);

	memcpy(append(r, strlen(text) + 1), text, strlen(text) + 1);
	end_attr(r, a);
}

/* RTM_NEWLINK of a pair: name and kind, in whose data the other end is described the same way (drivers/net/veth.c). */
static void write_new_veth(struct request *r, const char *name, const char *peer)
{
	struct rtattr *info, *data, *other;

	memset(r, 0, sizeof(*r));
	r->head = (struct nlmsghdr){
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = RTM_NEWLINK,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
	};
	append(r, sizeof(struct ifinfomsg));
	add_text(r, IFLA_IFNAME, name);
	info = begin_attr(r, IFLA_LINKINFO);
	add_text(r, IFLA_INFO_KIND, "veth");
	data = begin_attr(r, IFLA_INFO_DATA);
	other = begin_attr(r, VETH_INFO_PEER);
	append(r, sizeof(struct ifinfomsg));
	add_text(r, IFLA_IFNAME, peer);
	end_attr(r, other);
	end_attr(r, data);
	end_attr(r, info);
}

/* Send it and wait for its acknowledgement. 0 or -errno. */
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
	if ((size_t)n < NLMSG_LENGTH(sizeof(struct nlmsgerr)) || reply.head.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return ((const struct nlmsgerr *)NLMSG_DATA(&reply.head))->error;
}

/* What stands for "not here" among what the kernel says, for the caller to skip. */
static int unsupported_or(int rc)
{
	return rc == -EOPNOTSUPP || rc == -EPERM ? -ENOTSUP : rc;
}

/* One more pair of devices: two ports. In the namespace. */
static int add_pair(struct bb_xdp_net *net, struct bb_err *err)
{
	struct bb_xdp_port *ports = reallocarray(net->ports, net->n_ports + 2, sizeof(*ports));
	char names[2][IFNAMSIZ];
	struct request r;
	int rc;

	if (!ports)
		return bb_fail_nomem(err);
	net->ports = ports;
	for (size_t i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "bb%zu", net->n_ports + i);
	write_new_veth(&r, names[0], names[1]);
	rc = talk(&r);
	for (size_t i = 0; !rc && i < 2; i++) {
		ports[net->n_ports + i] = (struct bb_xdp_port){.ifindex = if_nametoindex(names[i]), .link_fd = -1};
		if (!ports[net->n_ports + i].ifindex)
			rc = -errno;
	}
	if (rc)
		return bb_fail(err, unsupported_or(rc),
			       "XDP is measured attached to a veth device, and none can be made (%s); modprobe veth?",
			       strerror(-rc));
	net->n_ports += 2;
	return 0;
}

/* --- what others call ---------------------------------------------------------------------------------------- */

int bb_xdp_net__open(struct bb_xdp_net *ret_net, struct bb_err *err)
{
	struct bb_xdp_net net = {.netns_fd = -1};
	int home_fd = -1, rc = own_netns(&home_fd, err);

	if (rc)
		return rc;
	if (unshare(CLONE_NEWNET)) {
		rc = -errno;
		close(home_fd);
		return bb_fail(err, rc == -ENOMEM ? rc : -ENOTSUP, "XDP is measured attached, in a network namespace "
			       "of its own, and none can be made (%s); it needs CAP_SYS_ADMIN and room in "
			       "user.max_net_namespaces", strerror(-rc));
	}
	rc = own_netns(&net.netns_fd, err);
	if (!rc)
		rc = add_pair(&net, err);
	rc = leave(home_fd, rc, err);
	if (rc)
		bb_xdp_net__close(&net);
	else
		*ret_net = net;
	return rc;
}

void bb_xdp_net__close(struct bb_xdp_net *net)
{
	if (!net || net->netns_fd <= 0)
		return;
	for (size_t i = 0; i < net->n_ports; i++)
		if (net->ports[i].link_fd >= 0)
			close(net->ports[i].link_fd);
	free(net->ports);
	close(net->netns_fd);
	*net = (struct bb_xdp_net){.netns_fd = -1};
}

/* A port that is free: at best one with a program to take the place of. A new one if need be; in the namespace. */
static int find_port(struct bb_xdp_net *net, size_t *ret_port, struct bb_err *err)
{
	size_t best = SIZE_MAX;
	int rc;

	for (size_t i = 0; i < net->n_ports; i++)
		if (!net->ports[i].used && (best == SIZE_MAX || net->ports[best].link_fd < 0))
			best = i;
	if (best == SIZE_MAX) {
		best = net->n_ports;
		rc = add_pair(net, err);
		if (rc)
			return rc;
	}
	*ret_port = best;
	return 0;
}

static int put_on(struct bb_xdp_port *port, int prog_fd)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	int fd;

	if (port->link_fd >= 0)
		return bpf_link_update(port->link_fd, prog_fd, NULL);
	fd = bpf_link_create(prog_fd, (int)port->ifindex, BPF_XDP, &opts);
	if (fd < 0)
		return fd;
	port->link_fd = fd;
	return 0;
}

int bb_xdp_net__attach(struct bb_xdp_net *net, int prog_fd, size_t *ret_port, struct bb_err *err)
{
	size_t port = 0;
	int home_fd = -1, rc = enter(net, &home_fd, err);

	if (rc)
		return rc;
	rc = find_port(net, &port, err);
	if (!rc) {
		rc = put_on(&net->ports[port], prog_fd);
		if (rc)
			rc = bb_fail(err, unsupported_or(rc), "attaching the XDP program to a veth device of our own: %s",
				     strerror(-rc));
	}
	rc = leave(home_fd, rc, err);
	if (rc)
		return rc;
	net->ports[port].used = true;
	*ret_port = port;
	return 0;
}

void bb_xdp_net__detach(struct bb_xdp_net *net, size_t port)
{
	net->ports[port].used = false;
}
