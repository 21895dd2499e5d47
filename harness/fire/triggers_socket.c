/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of sockets, over the loopback device of a private network namespace. */
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sys/un.h>

#include "bpf/attach.h"
#include "base/io.h"
#include "fire/triggers.h"

static int family_of(const struct bb_firing *f)
{
	return f->trigger->is_ipv6 ? AF_INET6 : AF_INET;
}

/* Writes a loopback address with this port to the trigger's page. Returns its length. */
static socklen_t loopback(const struct bb_firing *f, uint16_t port)
{
	struct bb_firing_page *page = bb_firing__page(f);

	memset(&page->address, 0, sizeof(page->address));
	if (f->trigger->is_ipv6) {
		page->address.in6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
							  .sin6_port = htons(port),
							  .sin6_addr = IN6ADDR_LOOPBACK_INIT};
		return sizeof(page->address.in6);
	}
	page->address.in = (struct sockaddr_in){.sin_family = AF_INET,
						.sin_port = htons(port),
						.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	return sizeof(page->address.in);
}

/* fd[0] is bound to a port that the kernel chooses. Its address is in the trigger's page. */
static int open_bound(struct bb_firing *f, int type)
{
	struct sockaddr *a = &bb_firing__page(f)->address.any;
	socklen_t len = loopback(f, 0);

	f->fd[0] = socket(family_of(f), type | SOCK_CLOEXEC, 0);
	return bb_failed(f->fd[0] < 0 || bind(f->fd[0], a, len) || getsockname(f->fd[0], a, &len));
}

/* fd[0] receives. fd[1] sends to fd[0], whose address is in the trigger's page. */
static int open_udp(struct bb_firing *f)
{
	int rc = open_bound(f, SOCK_DGRAM);

	if (rc)
		return rc;
	f->fd[1] = socket(family_of(f), SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return bb_failed(f->fd[1] < 0);
}

static int open_udp_connected(struct bb_firing *f)
{
	return open_udp(f)
		       ?: bb_failed(connect(f->fd[1], &bb_firing__page(f)->address.any,
					    bb_firing__address_bytes(f)));
}

static int fire_udp_msg(struct bb_firing *f)
{
	struct bb_firing_page *page = bb_firing__page(f);
	struct sockaddr_in6 from;
	struct msghdr out = {.msg_name = &page->address,
			     .msg_namelen = bb_firing__address_bytes(f),
			     .msg_iov = &page->vector,
			     .msg_iovlen = 1},
		      in = out;

	in.msg_name = &from;
	in.msg_namelen = sizeof(from);
	return bb_failed(sendmsg(f->fd[1], &out, 0) < 0 || recvmsg(f->fd[0], &in, 0) < 0);
}

/* Fills the receiver's buffer, so that the next datagram is dropped. */
static int open_udp_full(struct bb_firing *f)
{
	const int least = 1;
	int rc = open_udp(f);

	if (rc || setsockopt(f->fd[0], SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)))
		return rc ? rc : -errno;
	for (int i = 0; i < 16; i++)
		sendto(f->fd[1], "", 1, MSG_DONTWAIT, &bb_firing__page(f)->address.any,
		       bb_firing__address_bytes(f));
	return 0;
}

static int open_listener(struct bb_firing *f)
{
	return open_bound(f, SOCK_STREAM) ?: bb_failed(listen(f->fd[0], 8));
}

/* Closing the sockets resets the connection, so that no port stays in TIME_WAIT. */
static int connect_pair(const struct bb_firing *f, int *ret_client, int *ret_server)
{
	const struct linger reset = {.l_onoff = 1};

	*ret_server = -1;
	*ret_client = socket(family_of(f), SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*ret_client < 0)
		return -errno;
	if (!setsockopt(*ret_client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) &&
	    !connect(*ret_client, &bb_firing__page(f)->address.any, bb_firing__address_bytes(f)))
		*ret_server = accept4(f->fd[0], NULL, NULL, SOCK_CLOEXEC);
	return bb_failed(*ret_server < 0);
}

/* With option 1, both ends send a FIN. With option 0, the connection is reset. */
static int fire_tcp(struct bb_firing *f)
{
	const struct linger no_reset = {0};
	int client, server, rc = connect_pair(f, &client, &server);

	if (client >= 0 && f->trigger->option)
		setsockopt(client, SOL_SOCKET, SO_LINGER, &no_reset, sizeof(no_reset));
	bb_close(&client);
	bb_close(&server);
	return rc;
}

int bb_firing__open_tcp(struct bb_firing *f)
{
	const int on = 1;
	int rc = open_listener(f) ?: connect_pair(f, &f->fd[1], &f->fd[2]);

	if (!rc)
		setsockopt(f->fd[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return rc;
}

static int fire_refused_tcp(struct bb_firing *f)
{
	socklen_t len = loopback(f, 1);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	connect(fd, &bb_firing__page(f)->address.any, len);
	close(fd);
	return 0;
}

static int fire_bind(struct bb_firing *f)
{
	socklen_t len = loopback(f, 0);
	int fd = socket(family_of(f), SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = bb_failed(fd < 0 || bind(fd, &bb_firing__page(f)->address.any, len));

	bb_close(&fd);
	return rc;
}

static int open_unix(struct bb_firing *f)
{
	return bb_failed(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->fd + 1));
}

static int fire_socketpair(struct bb_firing *)
{
	int fd[2];

	return bb_failed(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) || close(fd[0]) ||
			 close(fd[1]));
}

/* an abstract name, which is no file */
static const struct sockaddr_un unix_name = {.sun_family = AF_UNIX, .sun_path = "\0bpfbench"};

static int open_unix_listener(struct bb_firing *f)
{
	const struct sockaddr *a = (const struct sockaddr *)&unix_name;

	f->fd[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bb_failed(f->fd[0] < 0 || bind(f->fd[0], a, sizeof(unix_name)) ||
			 listen(f->fd[0], 8));
}

static int fire_unix_connect(struct bb_firing *f)
{
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), server = -1, rc = 0;

	if (client < 0)
		return -errno;
	if (connect(client, (const struct sockaddr *)&unix_name, sizeof(unix_name)))
		rc = -errno;
	else
		server = accept4(f->fd[0], NULL, NULL, SOCK_CLOEXEC);
	bb_close(&server);
	close(client);
	return rc;
}

const struct bb_trigger bb_triggers_socket[] = {
	{"socket", "make a UDP socket and close it",
	 "socket inet_create sock_create inet_sock_create sock_release inet_sock_release "
	 "inet_release",
	 BB_FIRES(BB_MAKE(socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))},
	{"socket6", "as `socket`, for IPv6", "inet6_create inet6_release",
	 BB_FIRES(BB_MAKE(socket, AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0))},
	{"getsockopt", "ask for an option of a socket", "getsockopt", open_udp,
	 BB_FIRES(BB_DO(getsockopt, FD0, SOL_SOCKET, SO_RCVBUF, BUFFER, LENGTH))},
	{"setsockopt", "set an option of a socket", "setsockopt", open_udp,
	 BB_FIRES(BB_DO(setsockopt, FD0, SOL_SOCKET, SO_REUSEADDR, ONE, sizeof(int)))},
	{"getsockname", "ask a socket for its address", "getsockname getsockname4", open_udp,
	 BB_FIRES(BB_DO(getsockname, FD0, BUFFER, LENGTH))},
	{"getsockname6", "as `getsockname`, for IPv6", "getsockname6", open_udp,
	 BB_FIRES(BB_DO(getsockname, FD0, BUFFER, LENGTH)), .is_ipv6 = true},
	{"getpeername", "ask a socket for its peer", "getpeername getpeername4", open_udp_connected,
	 BB_FIRES(BB_DO(getpeername, FD1, BUFFER, LENGTH))},
	{"listen", "listen on a socket that listens already",
	 "listen inet_listen inet_csk_listen_start", open_listener,
	 BB_FIRES(BB_DO(listen, FD0, 8))},
	{"udp-connect", "tell a UDP socket its peer",
	 "connect connect4 udp_connect ip4_datagram_connect", open_udp,
	 BB_FIRES(BB_DO(connect, FD1, ADDRESS, ADDRESS_BYTES))},
	{"udp6-connect", "as `udp-connect`, for IPv6", "connect6 ip6_datagram_connect", open_udp,
	 BB_FIRES(BB_DO(connect, FD1, ADDRESS, ADDRESS_BYTES)), .is_ipv6 = true},
	{"bind", "a UDP socket, bound to a port", "bind bind4 post_bind4 inet_bind",
	 .fire = fire_bind},
	{"bind6", "as `bind`, for IPv6", "bind6 post_bind6 inet6_bind", .fire = fire_bind,
	 .is_ipv6 = true},
	{"udp", "send a datagram of 1 byte and receive it",
	 "sendto recvfrom udp_sendmsg udp_recvmsg sendmsg4 recvmsg4 net_dev_queue net_dev_xmit "
	 "netif_rx netif_receive_skb ingress egress skb consume_skb cgroup_skb ip_rcv "
	 "softirq_entry softirq_exit softirq_raise softirq napi_poll net_dev_start_xmit kfree_skb "
	 "skb_copy_datagram_iovec udp_rcv sock_queue_rcv_skb",
	 open_udp,
	 BB_FIRES(BB_DO(sendto, FD1, ZEROS, 1, 0, ADDRESS, ADDRESS_BYTES),
		  BB_DO(recvfrom, FD0, BUFFER, 1))},
	{"udp-full", "a datagram to a socket that has no room for it",
	 "udp_fail_queue_rcv_skb sock_rcvqueue_full kfree_skb", open_udp_full,
	 BB_FIRES(BB_DO(sendto, FD1, ZEROS, 1, 0, ADDRESS, ADDRESS_BYTES))},
	{"udp-msg", "as `udp`, by sendmsg and recvmsg", "sendmsg recvmsg sendmsg4 recvmsg4",
	 open_udp, .fire = fire_udp_msg},
	{"udp6", "a datagram of 1 byte over IPv6", "sendmsg6 recvmsg6 udpv6_sendmsg udpv6_recvmsg",
	 open_udp, .fire = fire_udp_msg, .is_ipv6 = true},
	{"unix", "a byte through a UNIX socket",
	 "unix_stream_sendmsg unix_stream_recvmsg unix sendto recvfrom", open_unix,
	 BB_FIRES(BB_DO(sendto, FD1, ZEROS, 1, MSG_NOSIGNAL), BB_DO(recvfrom, FD2, BUFFER, 1))},
	{"socketpair", "make two connected UNIX sockets and close them", "socketpair",
	 .fire = fire_socketpair},
	{"unix-connect", "a connection over a UNIX socket, accepted and closed",
	 "connect_unix unix_stream_connect unix_accept", open_unix_listener,
	 .fire = fire_unix_connect},
	{"tcp-send", "a byte over an open TCP connection, received",
	 "tcp_sendmsg tcp_recvmsg tcp_probe tcp_rcv_space_adjust tcp_cleanup_rbuf "
	 "tcp_rcv_established sock_send_length sock_recv_length tcp_v4_do_rcv tcp_transmit_skb "
	 "sk_msg sk_skb inet_sendmsg inet_recvmsg",
	 bb_firing__open_tcp,
	 BB_FIRES(BB_DO(sendto, FD1, ZEROS, 1, MSG_NOSIGNAL), BB_DO(recvfrom, FD2, BUFFER, 1))},
	{"tcp", "a TCP connection: connect, accept, reset",
	 "accept accept4 connect tcp_v4_connect inet_csk_accept inet_sock_set_state tcp_set_state "
	 "tcp_send_reset tcp_receive_reset tcp_destroy_sock tcp_rcv_state_process sock_ops sockops "
	 "tcp_close tcp_v4_syn_recv_sock inet_csk_complete_hashdance tcp_connect",
	 open_listener, .fire = fire_tcp},
	{"tcp-close", "a TCP connection: connect, accept, closed by both",
	 "tcp_close tcp_fin tcp_time_wait tcp_set_state inet_sock_set_state", open_listener,
	 .fire = fire_tcp, .option = 1},
	{"tcp6", "as `tcp`, over IPv6", "tcp_v6_connect connect6", open_listener, .fire = fire_tcp,
	 .is_ipv6 = true},
	{"tcp-refused", "connect to a port where nobody listens",
	 "tcp_send_reset tcp_receive_reset tcp_v4_send_reset", .fire = fire_refused_tcp},
	{0},
};

/* --- packets; nothing waits for their arrival, because programs may drop them --- */

#define LOOPBACK_IFINDEX 1 /* index of the loopback device in every network namespace */
#define DISCARD_PORT 9     /* the port of the discard service: RFC 863 */

/* The datagram arrives before sendto() returns, unless the CPU is busy with other work. */
static int fire_datagram(struct bb_firing *f)
{
	char byte = 0;
	int rc = bb_failed(sendto(f->fd[1], &byte, 1, MSG_DONTWAIT,
				  &bb_firing__page(f)->address.any,
				  bb_firing__address_bytes(f)) < 0);

	while (recv(f->fd[0], &byte, 1, MSG_DONTWAIT) > 0)
		;
	return rc;
}

/* Writes a frame with a UDP datagram, whose port has no socket, to the trigger's page. */
static int open_frame(struct bb_firing *f)
{
	const struct {
		struct ether_header ether;
		struct iphdr ip;
		struct udphdr udp;
	} __attribute__((packed)) frame = {
		.ether.ether_type = htons(ETHERTYPE_IP),
		.ip = {.version = 4,
		       .ihl = 5,
		       .tot_len = htons(sizeof(struct iphdr) + sizeof(struct udphdr)),
		       .ttl = 1,
		       .protocol = IPPROTO_UDP,
		       .saddr = htonl(INADDR_LOOPBACK),
		       .daddr = htonl(INADDR_LOOPBACK)},
		.udp = {.source = htons(DISCARD_PORT),
			.dest = htons(DISCARD_PORT),
			.len = htons(sizeof(struct udphdr))},
	};
	struct sockaddr_ll lo = {.sll_family = AF_PACKET, .sll_ifindex = LOOPBACK_IFINDEX};

	memcpy(f->page, &frame, sizeof(frame));
	f->own = sizeof(frame);
	/* with protocol 0, the socket receives nothing */
	f->fd[0] = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	return bb_failed(f->fd[0] < 0 || bind(f->fd[0], (struct sockaddr *)&lo, sizeof(lo)));
}

/* The kernel drops the frame on arrival, because its IP checksum is zero. */
static int fire_frame(struct bb_firing *f)
{
	return bb_failed(send(f->fd[0], f->page, (size_t)f->own, MSG_DONTWAIT) < 0);
}

const struct bb_trigger bb_triggers_packet[] = {
	{"datagram", "send a datagram of 1 byte, and take it if it arrives", "local_in sk_lookup",
	 open_udp, .fire = fire_datagram},
	{"frame", "send a frame of Ethernet, IPv4 and UDP by a packet socket",
	 "flow_dissector packet_sendmsg packet_snd", open_frame, .fire = fire_frame},
	{0},
};

/* --- TCP congestion control by the program (struct_ops) on fd[1], one end of a connection --- */

#define NAME_BYTES 16 /* TCP_CA_NAME_MAX */
#define ANSWER_MS 2000
/* limit: ms until the kernel notices a lost segment, which normally takes 200 ms */
#define LOST_MS 1000
#define RESEND_US 40000
#define HURRY_ANSWERS 16
#ifndef TCP_RTO_MIN_US
#define TCP_RTO_MIN_US 45
#endif

/* The name is in the second page, because the first page has the connection's address. */
static char *name_of(const struct bb_firing *f)
{
	return f->page + f->page_bytes;
}

static int open_named(struct bb_firing *f)
{
	return bb_struct_ops__tcp_name(f->point->map_fd, name_of(f), NAME_BYTES, NULL);
}

static int connect_chosen(struct bb_firing *f)
{
	return bb_firing__open_tcp(f)
		       ?: bb_failed(setsockopt(f->fd[1], IPPROTO_TCP, TCP_CONGESTION, name_of(f),
					       (socklen_t)strnlen(name_of(f), NAME_BYTES)));
}

static int open_chosen(struct bb_firing *f)
{
	return open_named(f) ?: connect_chosen(f);
}

static int send_byte(int fd)
{
	return bb_failed(send(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1);
}

static int take_byte(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char byte;

	if (poll(&p, 1, ANSWER_MS) != 1)
		return -ETIMEDOUT;
	return bb_failed(recv(fd, &byte, 1, MSG_DONTWAIT) != 1);
}

static int pass(int from, int to)
{
	return send_byte(from) ?: take_byte(to);
}

/* The segment with the second byte acknowledges the first byte. */
static int fire_congestion(struct bb_firing *f)
{
	return pass(f->fd[1], f->fd[2]) ?: pass(f->fd[2], f->fd[1]);
}

/* Shortens the time until a lost segment is sent again, from 200 ms towards RESEND_US. Each
 * acknowledged byte takes away a quarter of the difference. Older kernels lack TCP_RTO_MIN_US. */
static int hurry(struct bb_firing *f)
{
	const int us = RESEND_US;
	int rc = 0;

	if (setsockopt(f->fd[1], IPPROTO_TCP, TCP_RTO_MIN_US, &us, sizeof(us)))
		return 0;
	for (int i = 0; !rc && i < HURRY_ANSWERS; i++)
		rc = fire_congestion(f);
	return rc;
}

static int open_hurried(struct bb_firing *f)
{
	return open_chosen(f) ?: hurry(f);
}

static void close_ends(struct bb_firing *f)
{
	for (int i = 0; i < 3; i++)
		bb_close(&f->fd[i]);
}

static int fire_congestion_connect(struct bb_firing *f)
{
	int rc = connect_chosen(f);

	close_ends(f);
	return rc;
}

/* If `all`, a filter makes the socket drop all incoming segments. */
static int lose(int fd, bool all)
{
	struct sock_filter drop = {.code = BPF_RET | BPF_K, .k = 0};
	struct sock_fprog filter = {.len = 1, .filter = &drop};
	int unused = 0;

	return bb_failed(setsockopt(fd, SOL_SOCKET, all ? SO_ATTACH_FILTER : SO_DETACH_FILTER,
				    all ? (void *)&filter : (void *)&unused,
				    all ? sizeof(filter) : sizeof(unused)));
}

static int wait_for_loss(int fd)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	for (int i = 0; i < LOST_MS; i++) {
		if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
			return -errno;
		if (info.tcpi_ca_state == TCP_CA_Loss)
			return 0;
		usleep(1000);
	}
	return -ETIMEDOUT;
}

static int fire_loss(struct bb_firing *f)
{
	int rc = lose(f->fd[2], true) ?: send_byte(f->fd[1]) ?: wait_for_loss(f->fd[1]);

	lose(f->fd[2], false);
	return rc ?: take_byte(f->fd[2]) ?: pass(f->fd[2], f->fd[1]);
}

/* Makes the kernel believe that a segment was lost, although only its acknowledgement was late. The
 * sender drops acknowledgements, and the receiver drops retransmissions, until the sender assumes a
 * loss. The acknowledgement has the time stamp of the first transmission, so the kernel then undoes
 * its reaction (RFC 3522). Each firing uses a new connection, because late acknowledgements delay
 * retransmissions. */
static int fire_undo(struct bb_firing *f)
{
	int rc = connect_chosen(f) ?: hurry(f);

	if (!rc) {
		rc = lose(f->fd[1], true) ?: pass(f->fd[1], f->fd[2]) ?: lose(f->fd[2], true)
		     ?: wait_for_loss(f->fd[1]);
		lose(f->fd[1], false);
		lose(f->fd[2], false);
		rc = rc ?: pass(f->fd[2], f->fd[1]);
	}
	close_ends(f);
	return rc;
}

const struct bb_trigger bb_triggers_tcp[] = {
	{"tcp-congestion",
	 "a byte and its answer over a connection that uses the program's congestion control",
	 "acked cong_avoid cong_control in_ack_event cwnd_event", open_chosen,
	 .fire = fire_congestion, .at = BB_AT_STRUCT_OPS},
	{"tcp-congestion-connect",
	 "make a connection, choose the program's congestion control for it, close it",
	 "init release", open_named, .fire = fire_congestion_connect, .at = BB_AT_STRUCT_OPS},
	{"tcp-congestion-loss",
	 "lose a segment of such a connection, which is sent again after 40 or 200 ms",
	 "ssthresh set_state state", open_hurried, .fire = fire_loss, .at = BB_AT_STRUCT_OPS},
	{"tcp-congestion-undo",
	 "take a segment of such a connection for lost, which was not, after 40 or 200 ms",
	 "undo_cwnd undo", open_named, .fire = fire_undo, .at = BB_AT_STRUCT_OPS},
	{0},
};
