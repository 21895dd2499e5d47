/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/field.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "plan/bytes.h"
#include "plan/packet.h"

#define ETH_TYPE_MIN 0x600 /* what is less is a length, not a type (IEEE 802.3) */

/* A packet as it is read: numbers are as wide as bb_field__u32() writes them. */
struct spec {
	struct bb_packet packet;
	uint32_t eth_type; /* 0: not given */
	uint32_t ttl, src_port, dst_port;
	uint32_t size; /* 0: not given */
};

static int read_mac(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		    void *base)
{
	uint8_t mac[6];
	size_t len = 0, at;

	if (node->kind != BB_YAML_TEXT || bb_parse_hex(node->text, mac, sizeof(mac), &len, &at) ||
	    len != sizeof(mac))
		return bb_yaml__fail(r, node,
				     "%s must be a MAC address such as 02:00:00:00:00:01, not %s",
				     f->name, bb_yaml__show(node).text);
	memcpy((char *)base + f->offset, mac, sizeof(mac));
	return 0;
}

static int read_address(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, int family, void *base)
{
	uint8_t address[16] = {0};

	if (node->kind != BB_YAML_TEXT || inet_pton(family, node->text, address) != 1)
		return bb_yaml__fail(r, node, "%s must be an %s, not %s", f->name,
				     family == AF_INET ? "IPv4 address such as 10.0.0.1"
						       : "IPv6 address such as 2001:db8::1",
				     bb_yaml__show(node).text);
	memcpy((char *)base + f->offset, address, sizeof(address));
	return 0;
}

static int read_ipv4_address(const struct bb_reader *r, const struct bb_field *f,
			     const struct bb_yaml *node, void *base)
{
	return read_address(r, f, node, AF_INET, base);
}

static int read_ipv6_address(const struct bb_reader *r, const struct bb_field *f,
			     const struct bb_yaml *node, void *base)
{
	return read_address(r, f, node, AF_INET6, base);
}

#define AT(m) .offset = offsetof(struct spec, m)

static const struct bb_type mac = {.read = read_mac}, ipv4_address = {.read = read_ipv4_address},
			    ipv6_address = {.read = read_ipv6_address};

static const struct bb_field eth_fields[] = {
	{"src", &mac, AT(packet.eth_src)},
	{"dst", &mac, AT(packet.eth_dst)},
	{"type", &bb_type_u32, AT(eth_type), .min = ETH_TYPE_MIN, .max = UINT16_MAX},
};

static const struct bb_field ipv4_fields[] = {
	{"src", &ipv4_address, AT(packet.ip_src), .required = true},
	{"dst", &ipv4_address, AT(packet.ip_dst), .required = true},
	{"ttl", &bb_type_u32, AT(ttl), .min = 0, .max = UINT8_MAX},
};

static const struct bb_field ipv6_fields[] = {
	{"src", &ipv6_address, AT(packet.ip_src), .required = true},
	{"dst", &ipv6_address, AT(packet.ip_dst), .required = true},
	{"hop_limit", &bb_type_u32, AT(ttl), .min = 0, .max = UINT8_MAX},
};

static const struct bb_field port_fields[] = {
	{"src", &bb_type_u32, AT(src_port), .required = true, .min = 0, .max = UINT16_MAX},
	{"dst", &bb_type_u32, AT(dst_port), .required = true, .min = 0, .max = UINT16_MAX},
};

static const struct bb_kind eth_kind = {BB_KIND("eth", "{dst: 02:00:00:00:00:01}", eth_fields)};
static const struct bb_kind ipv4_kind = {
	BB_KIND("ipv4", "{src: 10.0.0.1, dst: 10.0.0.2}", ipv4_fields)};
static const struct bb_kind ipv6_kind = {
	BB_KIND("ipv6", "{src: 2001:db8::1, dst: 2001:db8::2}", ipv6_fields)};
static const struct bb_kind tcp_kind = {BB_KIND("tcp", "{src: 1234, dst: 80}", port_fields)};
static const struct bb_kind udp_kind = {BB_KIND("udp", "{src: 1234, dst: 53}", port_fields)};

static int read_ip(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	struct spec *s = base;

	if (s->packet.ip)
		return bb_yaml__fail(r, node, "a packet has either ipv4 or ipv6");
	s->packet.ip = f->of == &ipv4_kind ? BB_PACKET_IPV4 : BB_PACKET_IPV6;
	return bb_kind__read(r, f->of, node, 0, base);
}

static int read_l4(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	struct spec *s = base;

	if (s->packet.l4)
		return bb_yaml__fail(r, node, "a packet has either tcp or udp");
	s->packet.l4 = f->of == &tcp_kind ? BB_PACKET_TCP : BB_PACKET_UDP;
	return bb_kind__read(r, f->of, node, 0, base);
}

static const struct bb_field packet_fields[] = {
	{"eth", &bb_type_keys, .of = &eth_kind},
	{"ipv4", &bb_type_keys, .read = read_ip, .of = &ipv4_kind},
	{"ipv6", &bb_type_keys, .read = read_ip, .of = &ipv6_kind},
	{"tcp", &bb_type_keys, .read = read_l4, .of = &tcp_kind},
	{"udp", &bb_type_keys, .read = read_l4, .of = &udp_kind},
	{"size", &bb_type_u32, AT(size), .min = BB_FRAME_MIN_BYTES, .max = BB_FRAME_MAX_BYTES},
};

static const struct bb_kind packet_kind = {
	BB_KIND("packet", "{ipv4: {src: 10.0.0.1, dst: 10.0.0.2}}", packet_fields)};

/* What no key alone can say. */
static int check_whole(const struct bb_reader *r, const struct bb_yaml *node, const struct spec *s)
{
	size_t headers = bb_packet__headers(&s->packet);

	if (s->packet.l4 && !s->packet.ip)
		return bb_yaml__fail(r, node, "a packet with %s needs ipv4 or ipv6",
				     s->packet.l4 == BB_PACKET_TCP ? "tcp" : "udp");
	if (s->eth_type && s->packet.ip)
		return bb_yaml__fail(r, bb_yaml__get(bb_yaml__get(node, "eth"), "type"),
				     "%s sets the type; leave it out",
				     s->packet.ip == BB_PACKET_IPV4 ? "ipv4" : "ipv6");
	if (s->size && s->size < headers)
		return bb_yaml__fail(r, bb_yaml__get(node, "size"),
				     "size %u is less than the %zu bytes of the packet's headers",
				     s->size, headers);
	return 0;
}

int bb_field__packet(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	struct bb_bytes *dest = (struct bb_bytes *)(void *)((char *)base + f->offset), made;
	struct spec s = {0};
	int rc;

	bb_packet__init(&s.packet);
	s.ttl = s.packet.ttl;
	rc = bb_kind__read(r, &packet_kind, node, 0, &s);
	rc = rc ? rc : check_whole(r, node, &s);
	if (rc)
		return rc;
	s.packet.ttl = (uint8_t)s.ttl;
	s.packet.src_port = (uint16_t)s.src_port;
	s.packet.dst_port = (uint16_t)s.dst_port;
	s.packet.eth_type = s.eth_type ? (uint16_t)s.eth_type : s.packet.eth_type;
	made.len = bb_packet__headers(&s.packet);
	if (made.len < BB_FRAME_USUAL_BYTES)
		made.len = BB_FRAME_USUAL_BYTES;
	made.len = s.size ? s.size : made.len;
	made.data = malloc(made.len);
	if (!made.data)
		return bb_fail_nomem(r->err);
	bb_packet__write(&s.packet, made.data, made.len);
	free(dest->data);
	*dest = made;
	return 0;
}
