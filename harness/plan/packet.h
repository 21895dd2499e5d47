/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Generated Ethernet frames, with correct lengths and checksums and a payload of zeros. They have
 * no frame check sequence, because programs never see one. */
#define BB_FRAME_MIN_BYTES 14u /* length of an Ethernet header */
#define BB_FRAME_MAX_BYTES 65535u
/* length of the shortest frame on a wire (IEEE 802.3), not counting its frame check sequence */
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
	BB_PACKET_ICMP, /* an echo request; with IPv6 it is an ICMPv6 message */
};

struct bb_packet {
	uint8_t eth_src[6], eth_dst[6];
	uint32_t eth_type; /* EtherType, used only if `ip` is BB_PACKET_NO_IP */
	enum bb_packet_ip ip;
	/* network byte order; an IPv4 address takes the first 4 bytes */
	uint8_t ip_src[16], ip_dst[16];
	uint32_t ttl; /* time to live (IPv4) or hop limit (IPv6) */
	/* header after the IP header; BB_PACKET_NO_L4 if there is no IP header */
	enum bb_packet_l4 l4;
	uint32_t src_port, dst_port; /* ports of TCP or UDP, in host byte order */
	uint32_t tcp_flags;          /* flags of a TCP header, as its byte 13 has them */
};

/* Sets the defaults: the locally administered MAC addresses 02:00:00:00:00:01 (source) and
 * 02:00:00:00:00:02 (destination), EtherType 0x88b5 (for experiments), TTL 64, the TCP flag SYN. */
void bb_packet__init(struct bb_packet *p);

/* Writes a frame of `size` bytes. `size` must be at least the length of the frame's headers, and at
 * most BB_FRAME_MAX_BYTES. */
void bb_packet__write(const struct bb_packet *p, uint8_t *frame, size_t size);

/* Length in bytes of the longest frame that bb_packet__usual() writes. */
#define BB_USUAL_FRAME_BYTES 160u

/* Writes frame number `nth`, from 0, of a list of frames that programs often look for. The list has
 * TCP, UDP and ICMP over IPv4 and IPv6, some with a VLAN tag or TCP timestamps; IPv4 and IPv6 in
 * IPv4; and ARP. Returns the frame's length in bytes, or 0 if the list has no frame `nth`. */
size_t bb_packet__usual(size_t nth, uint8_t frame[BB_USUAL_FRAME_BYTES]);

/* Recomputes the checksum of an IPv4 header, and the checksum of TCP, UDP or ICMP in IPv4 or
 * directly after an IPv6 header. Skips truncated headers. In a fragment, recomputes only the
 * checksum of the IPv4 header. */
void bb_frame__fix_checksums(uint8_t *frame, size_t len);

/* True if the frame has a complete IPv4 header, by its EtherType and version. */
int bb_frame__is_ipv4(const uint8_t *frame, size_t len);

/* Identifies the flow of a frame: two frames belong to one flow if these bytes are equal. They hold
 * the protocol, the addresses and, for TCP and UDP, the ports. If no IP header follows the Ethernet
 * header, they hold the first 40 bytes of the frame. Unused bytes are 0. */
struct bb_flow {
	uint8_t bytes[40];
};

void bb_frame__flow(const uint8_t *frame, size_t len, struct bb_flow *ret_flow);

/* Moves the frame to another flow: adds `nth` to its IP source address and, with TCP or UDP, to its
 * source port, and recomputes the checksums. Returns false if the frame has no complete IP header
 * after its Ethernet header. */
bool bb_frame__move_flow(uint8_t *frame, size_t len, uint32_t nth);

/* Returns the Internet checksum (RFC 1071) of data[len], which the caller stores high byte first.
 * `sum` is the sum of the 16-bit words that the checksum covers besides data[len]; 0: no others. */
uint16_t bb_inet_checksum(uint32_t sum, const uint8_t *data, size_t len);
