/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_PACKET_H
#define BB_PLAN_PACKET_H

#include "base/std.h"

/*
 * Generated Ethernet frames: right lengths, right checksums, and as payload zeros. No frame check
 * sequence, as programs never see one.
 */
#define BB_FRAME_MIN_BYTES 14u /* an Ethernet header */
#define BB_FRAME_MAX_BYTES 65535u
#define BB_FRAME_USUAL_BYTES                                                                       \
	60u /* the shortest frame on a wire, without the check sequence (IEEE 802.3) */

enum bb_packet_ip {
	BB_PACKET_NO_IP,
	BB_PACKET_IPV4,
	BB_PACKET_IPV6,
};

enum bb_packet_l4 {
	BB_PACKET_NO_L4, /* under IP: protocol 253, for experiments (RFC 3692) */
	BB_PACKET_TCP,   /* a SYN */
	BB_PACKET_UDP,
};

struct bb_packet {
	uint8_t eth_src[6], eth_dst[6];
	uint32_t eth_type; /* without IP only */
	enum bb_packet_ip ip;
	uint8_t ip_src[16], ip_dst[16]; /* network order; IPv4: the first 4 bytes */
	uint32_t ttl;                   /* or hop limit */
	enum bb_packet_l4 l4;           /* needs IP */
	uint32_t src_port, dst_port;    /* host order */
};

/* Locally administered MAC addresses 02:00:00:00:00:01 to :02, EtherType 0x88b5 (for experiments),
 * TTL 64. */
void bb_packet__init(struct bb_packet *p);

/* Write the frame of `size` bytes, <= BB_FRAME_MAX_BYTES and no less than its headers. */
void bb_packet__write(const struct bb_packet *p, uint8_t *frame, size_t size);

/*
 * Set the checksums of an IPv4 header and of the TCP or UDP in it or directly behind an IPv6 header
 * anew, after a change. Frames of anything else, and cut ones, stay as they are.
 */
void bb_frame__fix_checksums(uint8_t *frame, size_t len);

/* Is it an Ethernet frame with a whole IPv4 header, by its EtherType and version? */
int bb_frame__is_ipv4(const uint8_t *frame, size_t len);

/* The Internet checksum (RFC 1071) of len bytes, continued from `sum` (0 at first). It is stored
 * high byte first. */
uint16_t bb_inet_checksum(uint32_t sum, const uint8_t *data, size_t len);

#endif
