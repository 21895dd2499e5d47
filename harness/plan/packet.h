/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Generated Ethernet frames, with correct lengths and checksums and a payload of zeros. They have
 * no frame check sequence, because programs never see one. */
#define BB_FRAME_MIN_BYTES 14u /* length of an Ethernet header */
#define BB_FRAME_MAX_BYTES 65535u
/* shortest frame on a wire (IEEE 802.3), without its frame check sequence */
#define BB_FRAME_USUAL_BYTES 60u

#define BB_TCP_SYN 0x02u

enum bb_packet_ip {
	BB_PACKET_NO_IP,
	BB_PACKET_IPV4,
	BB_PACKET_IPV6,
};

enum bb_packet_l4 {
	/* no header after the IP header, which then has protocol 253, for experiments (RFC 3692) */
	BB_PACKET_NO_L4,
	BB_PACKET_TCP,
	BB_PACKET_UDP,
	BB_PACKET_ICMP, /* an echo request; with IPv6 an ICMPv6 message */
};

struct bb_packet {
	uint8_t eth_src[6], eth_dst[6];
	uint32_t eth_type; /* used only if `ip` is BB_PACKET_NO_IP */
	enum bb_packet_ip ip;
	/* network byte order; an IPv4 address takes the first 4 bytes */
	uint8_t ip_src[16], ip_dst[16];
	uint32_t ttl;                /* time to live (IPv4) or hop limit (IPv6) */
	enum bb_packet_l4 l4;        /* BB_PACKET_NO_L4 if there is no IP header */
	uint32_t src_port, dst_port; /* ports of TCP or UDP, in host byte order */
	uint32_t tcp_flags;          /* as in byte 13 of a TCP header */
};

/* Sets the defaults: the locally administered MAC addresses 02:00:00:00:00:01 (source) and
 * 02:00:00:00:00:02 (destination), EtherType 0x88b5 (for experiments), TTL 64, the TCP flag SYN. */
void bb_packet__init(struct bb_packet *p);

/* `size` must be at least the length of the headers, and at most BB_FRAME_MAX_BYTES. */
void bb_packet__write(const struct bb_packet *p, uint8_t *frame, size_t size);

#define BB_USUAL_FRAME_BYTES 160u /* no frame of bb_packet__usual() is longer */

/* Writes frame number `nth` of a list of frames that programs often look for: TCP, UDP and ICMP
 * over IPv4 and IPv6, some with a VLAN tag, TCP timestamps or an outer IPv4 header, and ARP.
 * Returns the frame's length in bytes, or 0 after the last frame. */
size_t bb_packet__usual(size_t nth, uint8_t frame[BB_USUAL_FRAME_BYTES]);

/* Recomputes the checksum of an IPv4 header, and of TCP, UDP or ICMP in IPv4 or directly after an
 * IPv6 header. Skips truncated headers. In a fragment, recomputes only the IPv4 header's. */
void bb_frame__fix_checksums(uint8_t *frame, size_t len);

/* True if the frame has a complete IPv4 header, by its EtherType and version. */
bool bb_frame__is_ipv4(const uint8_t *frame, size_t len);

/* Two frames belong to one flow if these bytes are equal: the protocol, the addresses and, for TCP
 * and UDP, the ports. If no IP header follows the Ethernet header, they are the frame's first 40
 * bytes. */
struct bb_flow {
	uint8_t bytes[40];
};

void bb_frame__flow(const uint8_t *frame, size_t len, struct bb_flow *ret_flow);

/* Moves the frame to another flow: adds `nth` to its IP source address and, with TCP or UDP, to its
 * source port. Returns false if it has no complete IP header after its Ethernet header. */
bool bb_frame__move_flow(uint8_t *frame, size_t len, uint32_t nth);

/* Returns the Internet checksum (RFC 1071) of data[len], to be stored high byte first. `sum` is the
 * sum of other 16-bit words that it covers, or 0. */
uint16_t bb_inet_checksum(uint32_t sum, const uint8_t *data, size_t len);
