/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers of programs that decide about packets of a network namespace. They may turn away what is
 * sent to them, so nobody waits for it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fire/sockets.h"
#include "fire/trigger.h"

#define LOOPBACK_IFINDEX 1 /* of every network namespace */
#define DISCARD_PORT 9     /* RFC 863 */

/* bb_firing__open_udp() has put the receiver's address there. It has arrived when it is sent,
 * unless the CPU is busy with others. */
static int fire_datagram(struct bb_firing *f)
{
	const struct sockaddr *to = (const struct sockaddr *)(void *)f->page;
	char byte = 0;
	ssize_t n = sendto(f->fd[1], &byte, 1, MSG_DONTWAIT, to, sizeof(struct sockaddr_in));
	int rc = n < 0 ? -errno : 0;

	while (recv(f->fd[0], &byte, 1, MSG_DONTWAIT) > 0)
		;
	return rc;
}

/* The page holds a frame with a datagram that nobody takes. */
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
	f->args[0] = sizeof(frame);
	f->fd[0] = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* it receives nothing */
	return f->fd[0] < 0 || bind(f->fd[0], (struct sockaddr *)&lo, sizeof(lo)) ? -errno : 0;
}

/* Its checksum is zero, so IP drops it as soon as it has come round. */
static int fire_frame(struct bb_firing *f)
{
	return send(f->fd[0], f->page, (size_t)f->args[0], MSG_DONTWAIT) < 0 ? -errno : 0;
}

const struct bb_trigger bb_triggers_packet[] = {
	{.name = "datagram",
	 .doc = "send a datagram of 1 byte, and take it if it arrives",
	 .words = "local_in sk_lookup",
	 .open = bb_firing__open_udp,
	 .fire = fire_datagram},
	{.name = "frame",
	 .doc = "send a frame of Ethernet, IPv4 and UDP by a packet socket",
	 .words = "flow_dissector packet_sendmsg packet_snd",
	 .open = open_frame,
	 .fire = fire_frame},
	{0},
};
