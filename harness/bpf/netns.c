/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/netns.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>

#include "base/io.h"
#include "base/parse.h"
#include "bpf/attach.h"

#define TCX_INGRESS 46     /* BPF_TCX_INGRESS, Linux 6.6: newer than the headers of Debian 12 */
#define DISPATCHER_MAX 48u /* BPF_DISPATCHER_MAX of the kernel */
#define MAC_BYTES 6u

static int own_netns(int *ret_fd, struct bb_err *err)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0) {
		rc = -errno;
		return bb_fail(err, rc == -ENOENT ? -ENOTSUP : rc,
			       "/proc/thread-self/ns/net: %s; without network namespaces there is "
			       "nothing to attach a network program to",
			       strerror(-rc));
	}
	*ret_fd = fd;
	return 0;
}

/* If the thread cannot return, this is an error even if `rc` is 0, because the thread would do all
 * its later work in the wrong namespace. */
int bb_netns__leave(int home_fd, int rc, struct bb_err *err)
{
	if (setns(home_fd, CLONE_NEWNET)) {
		rc = -errno;
		bb_fail(err, rc, "cannot return to our own network namespace: %m");
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
		return bb_fail(err, rc, "cannot enter the network namespace for programs: %m");
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

/* A netlink request under construction. */
union request {
	struct nlmsghdr head;
	uint8_t bytes[512];
};

static void *append(union request *r, size_t len)
{
	void *at = r->bytes + NLMSG_ALIGN(r->head.nlmsg_len);

	r->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(r->head.nlmsg_len) + len);
	/* begin() has zeroed these bytes, and our requests are far smaller than the buffer */
	return at;
}

/* Begins a request, and returns its body: body_len zeroed bytes after the header. */
static void *begin(union request *r, uint16_t type, uint16_t flags, size_t body_len)
{
	memset(r, 0, sizeof(*r));
	r->head = (struct nlmsghdr){
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = type,
		.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags),
	};
	return append(r, body_len);
}

static struct rtattr *begin_attr(union request *r, unsigned short type)
{
	struct rtattr *a = append(r, RTA_LENGTH(0));

	a->rta_type = type;
	return a;
}

static void end_attr(union request *r, struct rtattr *a)
{
	a->rta_len = (unsigned short)(r->bytes + r->head.nlmsg_len - (uint8_t *)a);
}

static void add_bytes(union request *r, unsigned short type, const void *bytes, size_t len)
{
	struct rtattr *a = begin_attr(r, type);

	memcpy(append(r, len), bytes, len);
	end_attr(r, a);
}

/* Sends the request and waits for the kernel's acknowledgement. */
static int talk(const union request *r)
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

/* Adds a pair of veth devices, both down. The peer is made in the namespace `peer_netns_fd`; -1
 * means this one. The request has the peer in its veth data (drivers/net/veth.c). */
static int add_veth(const char *name, const char *peer, int peer_netns_fd)
{
	struct rtattr *info, *data, *other;
	union request r;

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
	union request r;
	struct ifinfomsg *m = begin(&r, RTM_NEWLINK, 0, sizeof(*m));

	m->ifi_index = (int)ifindex;
	m->ifi_flags = m->ifi_change = IFF_UP;
	return talk(&r);
}

/* Sets the device's addresses, which are those of generated packets (plan/packet.h), and brings it
 * up. The other end becomes a permanent neighbour, so that no ARP is sent. */
static int configure(unsigned int ifindex, enum bb_veth_end end)
{
	static const uint32_t addrs[BB_VETH_ENDS] = {BB_VETH_NEAR_ADDR, BB_VETH_FAR_ADDR};
	static const uint8_t macs[BB_VETH_ENDS][MAC_BYTES] = {{2, 0, 0, 0, 0, 1},
							      {2, 0, 0, 0, 0, 2}};
	enum bb_veth_end other = end == BB_VETH_NEAR ? BB_VETH_FAR : BB_VETH_NEAR;
	uint32_t addr = htonl(addrs[end]), other_addr = htonl(addrs[other]);
	union request r;
	struct ifinfomsg *link = begin(&r, RTM_NEWLINK, 0, sizeof(*link));

	link->ifi_index = (int)ifindex;
	add_bytes(&r, IFLA_ADDRESS, macs[end], MAC_BYTES);
	int rc = talk(&r);
	if (rc)
		return rc;
	struct ifaddrmsg *a = begin(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof(*a));
	a->ifa_family = AF_INET;
	a->ifa_prefixlen = 24;
	a->ifa_index = ifindex;
	add_bytes(&r, IFA_LOCAL, &addr, sizeof(addr));
	rc = talk(&r);
	if (rc)
		return rc;
	rc = bb_rtnl__up(ifindex);
	if (rc)
		return rc;
	struct ndmsg *neighbour = begin(&r, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE,
					sizeof(*neighbour));
	neighbour->ndm_family = AF_INET;
	neighbour->ndm_ifindex = (int)ifindex;
	neighbour->ndm_state = NUD_PERMANENT;
	add_bytes(&r, NDA_DST, &other_addr, sizeof(other_addr));
	add_bytes(&r, NDA_LLADDR, macs[other], MAC_BYTES);
	return talk(&r);
}

/* Turns errors that mean "not available here" into -ENOTSUP, so that the caller can skip the
 * case. */
static int unsupported_or(int rc)
{
	return rc == -EOPNOTSUPP || rc == -EPERM ? -ENOTSUP : rc;
}

struct bb_xdp_port {
	unsigned int ifindex;
	int link_fd; /* link of the attached program; -1 if there never was one */
	bool used;
};

/* Adds two connected devices to net->ports. The thread must be in the namespace `net->netns_fd`. */
static int add_pair(struct bb_xdp_net *net, struct bb_err *err)
{
	char names[2][IFNAMSIZ];

	for (size_t i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "bb%zu", net->n_ports + i);
	int rc = add_veth(names[0], names[1], -1);
	for (size_t i = 0; !rc && i < 2; i++) {
		struct bb_xdp_port *port = bb_append(&net->ports, &net->n_ports, sizeof(*port));

		*port = (struct bb_xdp_port){.ifindex = if_nametoindex(names[i]), .link_fd = -1};
		if (!port->ifindex)
			rc = -errno;
	}
	if (rc)
		return bb_fail(err, unsupported_or(rc),
			       "XDP is measured attached to a veth device, and none can be made "
			       "(%s); modprobe veth?",
			       strerror(-rc));
	return 0;
}

int bb_xdp_net__open(struct bb_xdp_net *ret_net, struct bb_err *err)
{
	struct bb_xdp_net net = {.netns_fd = -1};
	int home_fd = -1, rc = bb_netns__open(&net.netns_fd, err);

	if (!rc)
		rc = bb_netns__enter(net.netns_fd, &home_fd, err);
	if (!rc)
		rc = bb_netns__leave(home_fd, add_pair(&net, err), err);
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
		bb_close(&net->ports[i].link_fd);
	free(net->ports);
	close(net->netns_fd);
	*net = (struct bb_xdp_net){.netns_fd = -1};
}

/* bpf_link_update() fails with -EINVAL if one program has the expected attach type BPF_XDP and the
 * other has 0 (net/core/dev.c, bpf_xdp_link_update). The port then gets a new link. */
static int put_on(struct bb_xdp_port *port, int prog_fd)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	int fd = port->link_fd >= 0 ? bpf_link_update(port->link_fd, prog_fd, NULL) : -EINVAL;

	if (fd != -EINVAL)
		return fd;
	bb_close(&port->link_fd);
	fd = bpf_link_create(prog_fd, (int)port->ifindex, BPF_XDP, &opts);
	if (fd < 0)
		return fd;
	port->link_fd = fd;
	return 0;
}

/* Attaches the program to an unused port. If `linked` is true, prefers a port with a link, else
 * takes only a port without one. If there is none, adds two devices. */
static int put_on_free(struct bb_xdp_net *net, int prog_fd, bool linked, size_t *ret_port,
		       struct bb_err *err)
{
	size_t port = SIZE_MAX;
	int rc = 0;

	for (size_t i = 0; i < net->n_ports; i++)
		if (!net->ports[i].used && (linked || net->ports[i].link_fd < 0) &&
		    (port == SIZE_MAX || net->ports[port].link_fd < 0))
			port = i;
	if (port == SIZE_MAX) {
		port = net->n_ports;
		rc = add_pair(net, err);
	}
	if (!rc) {
		rc = put_on(&net->ports[port], prog_fd);
		if (rc)
			rc = bb_fail(err, unsupported_or(rc),
				     "cannot attach the XDP program to our veth device: %s",
				     strerror(-rc));
	}
	*ret_port = port;
	return rc;
}

int bb_xdp_net__attach(struct bb_xdp_net *net, int prog_fd, size_t *ret_port, struct bb_err *err)
{
	int home_fd = -1, rc = bb_netns__enter(net->netns_fd, &home_fd, err);
	size_t n, wanted = 1, filler_port;

	if (rc)
		return rc;
	rc = put_on_free(net, prog_fd, true, ret_port, err);
	/* Attach empty programs ("fillers") until the number of programs is a power of two. If that
	 * power is above 48, the most that the kernel's XDP dispatcher takes, attach none. */
	n = BB_SUM(net->ports, net->n_ports, it->link_fd >= 0);
	while (wanted < n)
		wanted *= 2;
	for (; !rc && wanted <= DISPATCHER_MAX && n < wanted; n++) {
		int fd = bb_empty_prog__load(BPF_PROG_TYPE_XDP, BPF_XDP, 0, "bb_filler");

		rc = fd < 0 ? bb_fail(err, fd, "cannot load an empty XDP program: %s",
				      strerror(-fd))
			    : put_on_free(net, fd, false, &filler_port, err);
		bb_close(&fd);
	}
	rc = bb_netns__leave(home_fd, rc, err);
	if (!rc)
		net->ports[*ret_port].used = !net->one_at_a_time;
	return rc;
}

void bb_xdp_net__detach(struct bb_xdp_net *net, size_t port)
{
	net->ports[port].used = false;
	if (net->one_at_a_time)
		bb_close(&net->ports[port].link_fd);
}

static const struct bb_veth_pair no_pair = {.netns_fd = {-1, -1},
					    .near_counts_fd = -1,
					    .link_fd = -1,
					    .near_link_fd = -1};
static const char *const veth_names[BB_VETH_ENDS] = {"near", "far"};

static int switch_ipv6_off(void)
{
	static const char *const paths[] = {
		"/proc/sys/net/ipv6/conf/all/disable_ipv6",
		"/proc/sys/net/ipv6/conf/default/disable_ipv6",
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < BB_LEN(paths); i++) {
		int fd = open(paths[i], O_WRONLY | O_CLOEXEC);

		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || write(fd, "1", 1) != 1)
			rc = -errno;
		bb_close(&fd);
	}
	return rc;
}

/* Prepares one end in two steps. The first step switches IPv6 off and, at the far end, makes both
 * devices. The second step (`has_device`) configures the device. */
static int set_up_end(struct bb_veth_pair *p, enum bb_veth_end end, bool has_device,
		      struct bb_err *err)
{
	int home_fd = -1, rc = bb_netns__enter(p->netns_fd[end], &home_fd, err);

	if (rc)
		return rc;
	if (has_device) {
		p->ifindex[end] = if_nametoindex(veth_names[end]);
		rc = p->ifindex[end] ? configure(p->ifindex[end], end) : -errno;
	} else {
		rc = switch_ipv6_off();
		if (!rc && end == BB_VETH_FAR)
			rc = add_veth(veth_names[BB_VETH_FAR], veth_names[BB_VETH_NEAR],
				      p->netns_fd[BB_VETH_NEAR]);
	}
	if (!rc && has_device && end == BB_VETH_NEAR) {
		p->near_counts_fd = open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC);
		rc = p->near_counts_fd < 0 ? -errno : 0;
	}
	if (rc)
		rc = bb_fail(err, unsupported_or(rc),
			     "a pair of veth devices to send packets through cannot be set up "
			     "(%s); modprobe veth?",
			     strerror(-rc));
	return bb_netns__leave(home_fd, rc, err);
}

int bb_veth_pair__open(struct bb_veth_pair *ret_pair, struct bb_err *err)
{
	struct bb_veth_pair p = no_pair;
	int rc = 0;

	for (enum bb_veth_end end = 0; !rc && end < BB_VETH_ENDS; end++)
		rc = bb_netns__open(&p.netns_fd[end], err);
	for (int pass = 0; pass < 2; pass++)
		for (enum bb_veth_end end = 0; !rc && end < BB_VETH_ENDS; end++)
			rc = set_up_end(&p, end, pass, err);
	if (rc)
		bb_veth_pair__close(&p);
	else
		*ret_pair = p;
	return rc;
}

void bb_veth_pair__close(struct bb_veth_pair *p)
{
	const int fds[] = {p->link_fd, p->near_link_fd, p->near_counts_fd,
			   p->netns_fd[BB_VETH_NEAR], p->netns_fd[BB_VETH_FAR]};

	for (size_t i = 0; i < BB_LEN(fds); i++)
		if (fds[i] > 0)
			close(fds[i]);
	*p = no_pair;
}

static int link_at(const struct bb_veth_pair *p, enum bb_veth_end end, int prog_fd, bool is_xdp,
		   int *ret_link_fd, struct bb_err *err)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = is_xdp ? XDP_FLAGS_DRV_MODE : 0);
	enum bpf_attach_type hook = is_xdp ? BPF_XDP : (enum bpf_attach_type)TCX_INGRESS;
	int home_fd = -1, fd, rc = bb_netns__enter(p->netns_fd[end], &home_fd, err);

	if (rc)
		return rc;
	fd = bpf_link_create(prog_fd, (int)p->ifindex[end], hook, &opts);
	if (fd == -EINVAL && !is_xdp)
		rc = bb_fail(err, -ENOTSUP,
			     "this kernel attaches no sched_cls program by a link (tcx, Linux "
			     "6.6)");
	else if (fd < 0)
		rc = bb_fail(err, unsupported_or(fd),
			     "cannot attach the program to our veth device: %s", strerror(-fd));
	else
		*ret_link_fd = fd;
	return bb_netns__leave(home_fd, rc, err);
}

int bb_veth_pair__put_on(struct bb_veth_pair *p, int prog_fd, uint32_t prog_type,
			 struct bb_err *err)
{
	bool is_xdp = prog_type == BPF_PROG_TYPE_XDP;
	int rc;

	if (!is_xdp && prog_type != BPF_PROG_TYPE_SCHED_CLS)
		return bb_fail(err, -ENOTSUP,
			       "packets run programs of the types xdp and sched_cls (SEC(\"xdp\"), "
			       "SEC(\"tc\")); 'with: step, trigger: test-run' measures others");
	if (p->link_fd > 0 && p->prog_type == prog_type) {
		rc = bpf_link_update(p->link_fd, prog_fd, NULL);
		return rc ? bb_fail(err, rc, "cannot replace the program on our veth device: %m")
			  : 0;
	}
	bb_close(&p->link_fd);
	p->prog_type = prog_type;
	return link_at(p, BB_VETH_FAR, prog_fd, is_xdp, &p->link_fd, err);
}

int bb_veth_pair__receive(struct bb_veth_pair *p, int prog_fd, struct bb_err *err)
{
	int rc = bb_veth_pair__put_on(p, prog_fd, BPF_PROG_TYPE_XDP, err);

	return rc ? rc : link_at(p, BB_VETH_NEAR, prog_fd, true, &p->near_link_fd, err);
}

int bb_veth_parse_packets(const char *text, const char *device, uint64_t *ret_received,
			  uint64_t *ret_sent)
{
	uint64_t numbers[10];
	char name[64];

	snprintf(name, sizeof(name), " %s:", device);
	const char *at = strstr(text, name);
	if (!at)
		return -EPROTO;
	/* 8 counters for receiving, then 8 for sending: bytes, packets, ... */
	at += strlen(name);
	for (size_t i = 0; i < BB_LEN(numbers); i++) {
		at += strspn(at, " ");
		if (bb_parse_digits(&at, &numbers[i]))
			return -EPROTO;
	}
	*ret_received = numbers[1];
	*ret_sent = numbers[9];
	return 0;
}

int bb_veth_pair__packets(const struct bb_veth_pair *p, struct bb_veth_packets *ret_packets,
			  struct bb_err *err)
{
	char text[2048];
	ssize_t n = pread(p->near_counts_fd, text, sizeof(text) - 1, 0);
	int rc = n < 0 ? -errno : 0;

	if (!rc) {
		text[n] = '\0';
		rc = bb_veth_parse_packets(text, veth_names[BB_VETH_NEAR], &ret_packets->received,
					   &ret_packets->sent);
	}
	return rc ? bb_fail(err, rc,
			    "cannot read /proc/net/dev in the network namespace of the packets: %m")
		  : 0;
}
