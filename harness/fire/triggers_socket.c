/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of sockets, in a network namespace that nobody else has: over its loopback device. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fire/sockets.h"
#include "fire/trigger.h"

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static socklen_t loopback(int family, uint16_t port, union address *ret_address)
{
	memset(ret_address, 0, sizeof(*ret_address));
	if (family == AF_INET) {
		ret_address->in = (struct sockaddr_in){.sin_family = AF_INET,
						       .sin_port = htons(port),
						       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		return sizeof(ret_address->in);
	}
	ret_address->in6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
						 .sin6_port = htons(port),
						 .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	return sizeof(ret_address->in6);
}

/* fd[0] bound to a port of the loopback device that the kernel chose; *ret_address has it. */
static int bound(struct bb_firing *f, int family, int type, union address *ret_address)
{
	socklen_t len = loopback(family, 0, ret_address);

	f->fd[0] = socket(family, type | SOCK_CLOEXEC, 0);
	return f->fd[0] < 0 || bind(f->fd[0], &ret_address->any, len) ||
			       getsockname(f->fd[0], &ret_address->any, &len)
		       ? -errno
		       : 0;
}

static socklen_t length_of(const union address *a)
{
	return a->any.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

static union address *address_of(const struct bb_firing *f)
{
	return (union address *)(void *)f->page;
}

/* --- UDP --- */

/* fd[0] receives, fd[1] sends to it; the address is in our page. */
static int open_udp_of(struct bb_firing *f, int family)
{
	int rc = bound(f, family, SOCK_DGRAM, address_of(f));

	if (rc)
		return rc;
	f->fd[1] = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return f->fd[1] < 0 ? -errno : 0;
}

int bb_firing__open_udp(struct bb_firing *f)
{
	return open_udp_of(f, AF_INET);
}

static int open_udp6(struct bb_firing *f)
{
	return open_udp_of(f, AF_INET6);
}

static int fire_udp(struct bb_firing *f)
{
	const union address *to = address_of(f);
	char byte = 0;

	return sendto(f->fd[1], &byte, 1, 0, &to->any, length_of(to)) < 0 ||
			       recv(f->fd[0], &byte, 1, 0) < 0
		       ? -errno
		       : 0;
}

static int fire_udp_msg(struct bb_firing *f)
{
	union address from, *to = address_of(f);
	char byte = 0;
	struct iovec v = {&byte, 1};
	struct msghdr out = {.msg_name = to,
			     .msg_namelen = length_of(to),
			     .msg_iov = &v,
			     .msg_iovlen = 1},
		      in = {.msg_name = &from,
			    .msg_namelen = sizeof(from),
			    .msg_iov = &v,
			    .msg_iovlen = 1};

	return sendmsg(f->fd[1], &out, 0) < 0 || recvmsg(f->fd[0], &in, 0) < 0 ? -errno : 0;
}

/* The receiver has no room for one more. */
static int open_udp_full(struct bb_firing *f)
{
	const int least = 1;
	const union address *to = address_of(f);
	char byte = 0;
	int rc = bb_firing__open_udp(f);

	if (rc || setsockopt(f->fd[0], SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)))
		return rc ? rc : -errno;
	for (int i = 0; i < 16; i++)
		sendto(f->fd[1], &byte, 1, MSG_DONTWAIT, &to->any, length_of(to));
	return 0;
}

static int fire_udp_send(struct bb_firing *f)
{
	const union address *to = address_of(f);
	char byte = 0;

	return sendto(f->fd[1], &byte, 1, 0, &to->any, length_of(to)) < 0 ? -errno : 0;
}

/* A socket of datagrams that is told whom it talks to: connect(2) without a packet. */
static int fire_udp_connect(struct bb_firing *f)
{
	const union address *to = address_of(f);

	return connect(f->fd[1], &to->any, length_of(to)) ? -errno : 0;
}

/* --- TCP --- */

static int open_listener_of(struct bb_firing *f, int family)
{
	int rc = bound(f, family, SOCK_STREAM, address_of(f));

	return rc ? rc : listen(f->fd[0], 8) ? -errno : 0;
}

static int open_listener(struct bb_firing *f)
{
	return open_listener_of(f, AF_INET);
}

static int open_listener6(struct bb_firing *f)
{
	return open_listener_of(f, AF_INET6);
}

/* A connection: *ret_client and *ret_server. Both are reset when they are closed, so that no port
 * waits for a minute. */
static int connect_pair(const struct bb_firing *f, int *ret_client, int *ret_server)
{
	const struct linger reset = {.l_onoff = 1};
	const union address *to = address_of(f);

	*ret_server = -1;
	*ret_client = socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*ret_client < 0)
		return -errno;
	if (!setsockopt(*ret_client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) &&
	    !connect(*ret_client, &to->any, length_of(to)))
		*ret_server = accept4(f->fd[0], NULL, NULL, SOCK_CLOEXEC);
	return *ret_server < 0 ? -errno : 0;
}

static int fire_tcp(struct bb_firing *f)
{
	int client, server, rc = connect_pair(f, &client, &server);

	if (client >= 0)
		close(client);
	if (server >= 0)
		close(server);
	return rc;
}

/* The server closes first, and then both have said goodbye. */
static int fire_tcp_close(struct bb_firing *f)
{
	const struct linger no_reset = {0};
	int client, server, rc = connect_pair(f, &client, &server);

	if (client >= 0)
		setsockopt(client, SOL_SOCKET, SO_LINGER, &no_reset, sizeof(no_reset));
	if (client >= 0)
		close(client);
	if (server >= 0)
		close(server);
	return rc;
}

int bb_firing__open_tcp(struct bb_firing *f)
{
	const int on = 1;
	int rc = open_listener(f);

	if (!rc)
		rc = connect_pair(f, &f->fd[1], &f->fd[2]);
	if (!rc)
		setsockopt(f->fd[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return rc;
}

static int fire_stream(struct bb_firing *f)
{
	char byte = 0;

	return send(f->fd[1], &byte, 1, MSG_NOSIGNAL) < 0 || recv(f->fd[2], &byte, 1, 0) < 0
		       ? -errno
		       : 0;
}

static int fire_refused_tcp(struct bb_firing *f)
{
	union address nobody;
	socklen_t len = loopback(AF_INET, 1, &nobody);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)f;
	if (fd < 0)
		return -errno;
	connect(fd, &nobody.any, len);
	close(fd);
	return 0;
}

/* --- calls on one socket --- */

static int fire_socket(struct bb_firing *f)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)f;
	return fd < 0 || close(fd) ? -errno : 0;
}

static int fire_socket6(struct bb_firing *f)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)f;
	return fd < 0 || close(fd) ? -errno : 0;
}

static int fire_bind_of(int family)
{
	union address a;
	socklen_t len = loopback(family, 0, &a);
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = bind(fd, &a.any, len) ? -errno : 0;
	close(fd);
	return rc;
}

static int fire_bind(struct bb_firing *f)
{
	(void)f;
	return fire_bind_of(AF_INET);
}

static int fire_bind6(struct bb_firing *f)
{
	(void)f;
	return fire_bind_of(AF_INET6);
}

static int fire_listen(struct bb_firing *f)
{
	return listen(f->fd[0], 8) ? -errno : 0;
}

static int fire_getsockopt(struct bb_firing *f)
{
	int value;
	socklen_t len = sizeof(value);

	return getsockopt(f->fd[0], SOL_SOCKET, SO_RCVBUF, &value, &len) ? -errno : 0;
}

static int fire_setsockopt(struct bb_firing *f)
{
	const int on = 1;

	return setsockopt(f->fd[0], SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ? -errno : 0;
}

static int fire_getsockname(struct bb_firing *f)
{
	union address a;
	socklen_t len = sizeof(a);

	return getsockname(f->fd[0], &a.any, &len) ? -errno : 0;
}

static int open_connected_udp(struct bb_firing *f)
{
	int rc = bb_firing__open_udp(f);

	return rc ? rc : fire_udp_connect(f);
}

static int fire_getpeername(struct bb_firing *f)
{
	union address a;
	socklen_t len = sizeof(a);

	return getpeername(f->fd[1], &a.any, &len) ? -errno : 0;
}

/* --- UNIX sockets --- */

static int open_unix(struct bb_firing *f)
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->fd + 1) ? -errno : 0;
}

static int fire_socketpair(struct bb_firing *f)
{
	int fd[2];

	(void)f;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -errno;
	close(fd[0]);
	close(fd[1]);
	return 0;
}

static int open_unix_listener(struct bb_firing *f)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	strcpy(a.sun_path + 1, "bpfbench"); /* a name in the network namespace, not a file */
	f->fd[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	memcpy(f->page, &a, sizeof(a));
	return f->fd[0] < 0 || bind(f->fd[0], (struct sockaddr *)&a, sizeof(a)) ||
			       listen(f->fd[0], 8)
		       ? -errno
		       : 0;
}

static int fire_unix_connect(struct bb_firing *f)
{
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), server = -1, rc = 0;

	if (client < 0)
		return -errno;
	if (connect(client, (struct sockaddr *)(void *)f->page, sizeof(struct sockaddr_un)))
		rc = -errno;
	else
		server = accept4(f->fd[0], NULL, NULL, SOCK_CLOEXEC);
	if (server >= 0)
		close(server);
	close(client);
	return rc;
}

const struct bb_trigger bb_triggers_socket[] = {
	{.name = "socket",
	 .doc = "make a UDP socket and close it",
	 .words = "socket inet_create sock_create inet_sock_create sock_release inet_sock_release "
		  "inet_release",
	 .fire = fire_socket},
	{.name = "socket6",
	 .doc = "the same for IPv6",
	 .words = "inet6_create inet6_release",
	 .fire = fire_socket6},
	{.name = "getsockopt",
	 .doc = "ask for an option of a socket",
	 .words = "getsockopt",
	 .open = bb_firing__open_udp,
	 .fire = fire_getsockopt},
	{.name = "setsockopt",
	 .doc = "set an option of a socket",
	 .words = "setsockopt",
	 .open = bb_firing__open_udp,
	 .fire = fire_setsockopt},
	{.name = "getsockname",
	 .doc = "ask a socket for its address",
	 .words = "getsockname getsockname4",
	 .open = bb_firing__open_udp,
	 .fire = fire_getsockname},
	{.name = "getsockname6",
	 .doc = "the same for IPv6",
	 .words = "getsockname6",
	 .open = open_udp6,
	 .fire = fire_getsockname},
	{.name = "getpeername",
	 .doc = "ask a socket whom it talks to",
	 .words = "getpeername getpeername4",
	 .open = open_connected_udp,
	 .fire = fire_getpeername},
	{.name = "listen",
	 .doc = "listen on a socket that does",
	 .words = "listen inet_listen "
		  "inet_csk_listen_start",
	 .open = open_listener,
	 .fire = fire_listen},
	{.name = "udp-connect",
	 .doc = "tell a UDP socket whom it talks to",
	 .words = "connect connect4 udp_connect ip4_datagram_connect",
	 .open = bb_firing__open_udp,
	 .fire = fire_udp_connect},
	{.name = "udp6-connect",
	 .doc = "the same for IPv6",
	 .words = "connect6 ip6_datagram_connect",
	 .open = open_udp6,
	 .fire = fire_udp_connect},
	{.name = "bind",
	 .doc = "a UDP socket, bound to a port",
	 .words = "bind bind4 post_bind4 inet_bind",
	 .fire = fire_bind},
	{.name = "bind6",
	 .doc = "the same for IPv6",
	 .words = "bind6 post_bind6 inet6_bind",
	 .fire = fire_bind6},
	{.name = "udp",
	 .doc = "send a datagram of 1 byte and receive it",
	 .words = "sendto recvfrom udp_sendmsg udp_recvmsg sendmsg4 recvmsg4 net_dev_queue "
		  "net_dev_xmit "
		  "netif_rx netif_receive_skb ingress egress skb consume_skb cgroup_skb ip_rcv "
		  "softirq_entry softirq_exit softirq_raise softirq napi_poll net_dev_start_xmit "
		  "kfree_skb skb_copy_datagram_iovec udp_rcv sock_queue_rcv_skb",
	 .open = bb_firing__open_udp,
	 .fire = fire_udp},
	{.name = "udp-full",
	 .doc = "a datagram to a socket that has no room for it",
	 .words = "udp_fail_queue_rcv_skb sock_rcvqueue_full kfree_skb",
	 .open = open_udp_full,
	 .fire = fire_udp_send},
	{.name = "udp-msg",
	 .doc = "the same by sendmsg and recvmsg",
	 .words = "sendmsg recvmsg sendmsg4 recvmsg4",
	 .open = bb_firing__open_udp,
	 .fire = fire_udp_msg},
	{.name = "udp6",
	 .doc = "a datagram of 1 byte over IPv6",
	 .words = "sendmsg6 recvmsg6 udpv6_sendmsg udpv6_recvmsg",
	 .open = open_udp6,
	 .fire = fire_udp_msg},
	{.name = "unix",
	 .doc = "a byte through a UNIX socket",
	 .words = "unix_stream_sendmsg unix_stream_recvmsg unix sendto recvfrom",
	 .open = open_unix,
	 .fire = fire_stream},
	{.name = "socketpair",
	 .doc = "make two connected UNIX sockets and close them",
	 .words = "socketpair",
	 .fire = fire_socketpair},
	{.name = "unix-connect",
	 .doc = "a connection over a UNIX socket, accepted and closed",
	 .words = "connect_unix unix_stream_connect unix_accept",
	 .open = open_unix_listener,
	 .fire = fire_unix_connect},
	{.name = "tcp-send",
	 .doc = "a byte over an open TCP connection, received",
	 .words = "tcp_sendmsg tcp_recvmsg tcp_probe tcp_rcv_space_adjust tcp_cleanup_rbuf "
		  "tcp_rcv_established "
		  "sock_send_length sock_recv_length tcp_v4_do_rcv tcp_transmit_skb sk_msg sk_skb "
		  "inet_sendmsg inet_recvmsg",
	 .open = bb_firing__open_tcp,
	 .fire = fire_stream},
	{.name = "tcp",
	 .doc = "a TCP connection: connect, accept, reset",
	 .words = "accept accept4 connect tcp_v4_connect inet_csk_accept inet_sock_set_state "
		  "tcp_set_state "
		  "tcp_send_reset tcp_receive_reset tcp_destroy_sock tcp_rcv_state_process "
		  "sock_ops "
		  "sockops tcp_close tcp_v4_syn_recv_sock inet_csk_complete_hashdance tcp_connect",
	 .open = open_listener,
	 .fire = fire_tcp},
	{.name = "tcp-close",
	 .doc = "a TCP connection: connect, accept, closed by both",
	 .words = "tcp_close tcp_fin tcp_time_wait tcp_set_state inet_sock_set_state",
	 .open = open_listener,
	 .fire = fire_tcp_close},
	{.name = "tcp6",
	 .doc = "the same over IPv6",
	 .words = "tcp_v6_connect connect6",
	 .open = open_listener6,
	 .fire = fire_tcp},
	{.name = "tcp-refused",
	 .doc = "connect to a port where nobody listens",
	 .words = "tcp_send_reset tcp_receive_reset tcp_v4_send_reset",
	 .fire = fire_refused_tcp},
	{0},
};
