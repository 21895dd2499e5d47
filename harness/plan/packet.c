/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/packet.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Header sizes and offsets: IEEE 802.3, RFC 791, RFC 8200, RFC 9293, RFC 768. */
#define ETH_BYTES 14u
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define TCP_BYTES 20u
#define UDP_BYTES 8u
#define TYPE_IPV4 0x0800u
#define TYPE_IPV6 0x86ddu
#define PROTO_TCP 6u
#define PROTO_UDP 17u
#define PROTO_EXPERIMENT 253u
#define TCP_CHECKSUM_AT 16u /* in its header */
#define UDP_CHECKSUM_AT 6u

static void put16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static unsigned int get16(const uint8_t *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

void bb_packet__init(struct bb_packet *p)
{
	*p = (struct bb_packet){
		.eth_src = {2, 0, 0, 0, 0, 1},
		.eth_dst = {2, 0, 0, 0, 0, 2},
		.eth_type = 0x88b5,
		.ttl = 64,
	};
}

static size_t ip_bytes(const struct bb_packet *p)
{
	return p->ip == BB_PACKET_IPV4 ? IPV4_BYTES : p->ip == BB_PACKET_IPV6 ? IPV6_BYTES : 0;
}

size_t bb_packet__headers(const struct bb_packet *p)
{
	return ETH_BYTES + ip_bytes(p) +
	       (p->l4 == BB_PACKET_TCP   ? TCP_BYTES
		: p->l4 == BB_PACKET_UDP ? UDP_BYTES
					 : 0);
}

static uint8_t protocol_of(const struct bb_packet *p)
{
	return p->l4 == BB_PACKET_TCP   ? PROTO_TCP
	       : p->l4 == BB_PACKET_UDP ? PROTO_UDP
					: PROTO_EXPERIMENT;
}

static void write_ipv4(const struct bb_packet *p, uint8_t *at, size_t len)
{
	at[0] = 0x45; /* version 4, 5 words */
	put16(at + 2, len);
	at[6] = 0x40; /* don't fragment */
	at[8] = p->ttl;
	at[9] = protocol_of(p);
	memcpy(at + 12, p->ip_src, 4);
	memcpy(at + 16, p->ip_dst, 4);
}

static void write_ipv6(const struct bb_packet *p, uint8_t *at, size_t len)
{
	at[0] = 0x60;
	put16(at + 4, len - IPV6_BYTES);
	at[6] = protocol_of(p);
	at[7] = p->ttl;
	memcpy(at + 8, p->ip_src, 16);
	memcpy(at + 24, p->ip_dst, 16);
}

static void write_l4(const struct bb_packet *p, uint8_t *at, size_t len)
{
	put16(at, p->src_port);
	put16(at + 2, p->dst_port);
	if (p->l4 == BB_PACKET_UDP) {
		put16(at + 4, len);
		return;
	}
	at[12] = 0x50;         /* 5 words */
	at[13] = 0x02;         /* SYN */
	put16(at + 14, 65535); /* window */
}

void bb_packet__write(const struct bb_packet *p, uint8_t *frame, size_t size)
{
	uint8_t *ip = frame + ETH_BYTES, *l4 = ip + ip_bytes(p);

	assert(size >= bb_packet__headers(p) && size <= BB_FRAME_MAX_BYTES && (p->ip || !p->l4));
	memset(frame, 0, size);
	memcpy(frame, p->eth_dst, 6);
	memcpy(frame + 6, p->eth_src, 6);
	put16(frame + 12, p->ip == BB_PACKET_IPV4   ? TYPE_IPV4
			  : p->ip == BB_PACKET_IPV6 ? TYPE_IPV6
						    : p->eth_type);
	if (p->ip == BB_PACKET_IPV4)
		write_ipv4(p, ip, size - ETH_BYTES);
	else if (p->ip == BB_PACKET_IPV6)
		write_ipv6(p, ip, size - ETH_BYTES);
	if (p->l4)
		write_l4(p, l4, (size_t)(frame + size - l4));
	bb_frame__fix_checksums(frame, size);
}

static uint32_t sum16(uint32_t sum, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += get16(data + i);
	if (len & 1)
		sum += (uint32_t)data[len - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

uint16_t bb_inet_checksum(uint32_t sum, const uint8_t *data, size_t len)
{
	return (uint16_t)~sum16(sum, data, len);
}

/* `sum` has the addresses of the pseudo-header already. */
static void fix_l4(uint8_t *l4, size_t len, unsigned int protocol, uint32_t sum)
{
	size_t at = protocol == PROTO_TCP ? TCP_CHECKSUM_AT : UDP_CHECKSUM_AT;
	unsigned int checksum;

	if ((protocol != PROTO_TCP || len < TCP_BYTES) &&
	    (protocol != PROTO_UDP || len < UDP_BYTES))
		return;
	put16(l4 + at, 0);
	checksum = bb_inet_checksum(sum + protocol + (uint32_t)len, l4, len);
	if (protocol == PROTO_UDP && !checksum)
		checksum = 0xffff; /* 0 would say that there is none */
	put16(l4 + at, checksum);
}

int bb_frame__is_ipv4(const uint8_t *frame, size_t len)
{
	return len >= ETH_BYTES + IPV4_BYTES && get16(frame + 12) == TYPE_IPV4 &&
	       frame[ETH_BYTES] >> 4 == 4;
}

static void fix_ipv4(uint8_t *ip, size_t room)
{
	size_t header = (size_t)(ip[0] & 15) * 4, total = get16(ip + 2);
	bool fragment = get16(ip + 6) & 0x3fff; /* more to come, or not the first */

	if (header < IPV4_BYTES || header > room)
		return;
	put16(ip + 10, 0);
	put16(ip + 10, bb_inet_checksum(0, ip, header));
	if (total >= header && total <= room && !fragment)
		fix_l4(ip + header, total - header, ip[9], sum16(0, ip + 12, 8));
}

static void fix_ipv6(uint8_t *ip, size_t room)
{
	size_t payload = get16(ip + 4);

	if (payload <= room - IPV6_BYTES)
		fix_l4(ip + IPV6_BYTES, payload, ip[6], sum16(0, ip + 8, 32));
}

void bb_frame__fix_checksums(uint8_t *frame, size_t len)
{
	if (bb_frame__is_ipv4(frame, len))
		fix_ipv4(frame + ETH_BYTES, len - ETH_BYTES);
	else if (len >= ETH_BYTES + IPV6_BYTES && get16(frame + 12) == TYPE_IPV6 &&
		 frame[ETH_BYTES] >> 4 == 6)
		fix_ipv6(frame + ETH_BYTES, len - ETH_BYTES);
}
