/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/packet.h"

#include <arpa/inet.h>
#include <net/ethernet.h>

#include "base/parse.h"
#include "plan/field.h"

/* Header sizes and offsets, from IEEE 802.3 and RFC 791, 8200, 9293, 768. */
#define ETH_BYTES 14u
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define TCP_BYTES 20u
#define UDP_BYTES 8u
#define ICMP_BYTES 8u
#define VLAN_BYTES 4u
#define ETH_TYPE_MIN 0x600 /* a smaller number is the length of the payload (IEEE 802.3) */
#define PROTO_EXPERIMENT 253u

/* Headers that may follow an IP header. `bytes` is the shortest length of the header. */
static const struct l4 {
	uint32_t protocol, bytes, checksum_at;
	bool has_pseudo_header; /* the checksum also covers the IP addresses and the protocol */
} l4_headers[] = {
	{IPPROTO_TCP, TCP_BYTES, 16, true},
	{IPPROTO_UDP, UDP_BYTES, 6, true},
	{IPPROTO_ICMP, ICMP_BYTES, 2, false},
	{IPPROTO_ICMPV6, ICMP_BYTES, 2, true},
};

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
		.tcp_flags = BB_TCP_SYN,
	};
}

static size_t ip_bytes(const struct bb_packet *p)
{
	return p->ip == BB_PACKET_IPV4 ? IPV4_BYTES : p->ip == BB_PACKET_IPV6 ? IPV6_BYTES : 0;
}

static size_t headers_of(const struct bb_packet *p)
{
	static const size_t l4_bytes[] = {[BB_PACKET_TCP] = TCP_BYTES,
					  [BB_PACKET_UDP] = UDP_BYTES,
					  [BB_PACKET_ICMP] = ICMP_BYTES};

	return ETH_BYTES + ip_bytes(p) + l4_bytes[p->l4];
}

void bb_packet__write(const struct bb_packet *p, uint8_t *frame, size_t size)
{
	const uint8_t protocols[] = {PROTO_EXPERIMENT, IPPROTO_TCP, IPPROTO_UDP,
				     p->ip == BB_PACKET_IPV6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP};
	uint8_t *ip = frame + ETH_BYTES, *l4 = ip + ip_bytes(p);

	assert(size >= headers_of(p) && size <= BB_FRAME_MAX_BYTES && (p->ip || !p->l4));
	memset(frame, 0, size);
	memcpy(frame, p->eth_dst, 6);
	memcpy(frame + 6, p->eth_src, 6);
	put16(frame + 12, p->eth_type);
	if (p->ip == BB_PACKET_IPV4) {
		put16(frame + 12, ETHERTYPE_IP);
		ip[0] = 0x45; /* version 4, header of 5 words */
		put16(ip + 2, size - ETH_BYTES);
		ip[6] = 0x40; /* the flag "don't fragment" */
		ip[8] = (uint8_t)p->ttl;
		ip[9] = protocols[p->l4];
		memcpy(ip + 12, p->ip_src, 4);
		memcpy(ip + 16, p->ip_dst, 4);
	} else if (p->ip == BB_PACKET_IPV6) {
		put16(frame + 12, ETHERTYPE_IPV6);
		ip[0] = 0x60;
		put16(ip + 4, size - ETH_BYTES - IPV6_BYTES);
		ip[6] = protocols[p->l4];
		ip[7] = (uint8_t)p->ttl;
		memcpy(ip + 8, p->ip_src, 16);
		memcpy(ip + 24, p->ip_dst, 16);
	}
	if (p->l4 == BB_PACKET_ICMP) {
		l4[0] = p->ip == BB_PACKET_IPV6 ? 128 : 8; /* echo request */
		put16(l4 + 6, 1);                          /* sequence number */
	} else if (p->l4) {
		put16(l4, p->src_port);
		put16(l4 + 2, p->dst_port);
	}
	if (p->l4 == BB_PACKET_UDP) {
		put16(l4 + 4, (size_t)(frame + size - l4));
	} else if (p->l4 == BB_PACKET_TCP) {
		l4[12] = 0x50; /* header of 5 words */
		l4[13] = (uint8_t)p->tcp_flags;
		put16(l4 + 14, 65535); /* size of the receive window */
	}
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

/* `sum` is the sum of the 16-bit words of the IP addresses, for the pseudo-header. */
static void fix_l4(uint8_t *l4, size_t len, unsigned int protocol, uint32_t sum)
{
	const struct l4 *h = BB_FIND(l4_headers, BB_LEN(l4_headers), it->protocol == protocol);

	if (!h || len < h->bytes)
		return;
	put16(l4 + h->checksum_at, 0);
	unsigned int checksum =
		bb_inet_checksum(h->has_pseudo_header ? sum + protocol + (uint32_t)len : 0, l4,
				 len);
	if (protocol == IPPROTO_UDP && !checksum)
		checksum = 0xffff; /* in UDP, 0 means "no checksum" */
	put16(l4 + h->checksum_at, checksum);
}

bool bb_frame__is_ipv4(const uint8_t *frame, size_t len)
{
	return len >= ETH_BYTES + IPV4_BYTES && get16(frame + 12) == ETHERTYPE_IP &&
	       frame[ETH_BYTES] >> 4 == 4;
}

static bool is_ipv6_frame(const uint8_t *frame, size_t len)
{
	return len >= ETH_BYTES + IPV6_BYTES && get16(frame + 12) == ETHERTYPE_IPV6 &&
	       frame[ETH_BYTES] >> 4 == 6;
}

void bb_frame__fix_checksums(uint8_t *frame, size_t len)
{
	bool is_ipv4 = bb_frame__is_ipv4(frame, len), is_ipv6 = is_ipv6_frame(frame, len);
	uint8_t *ip = frame + ETH_BYTES;
	size_t room = len - ETH_BYTES;

	if (is_ipv4) {
		size_t header = (size_t)(ip[0] & 15) * 4, total = get16(ip + 2);
		/* true if more fragments follow, or if this is not the first fragment */
		bool fragment = get16(ip + 6) & 0x3fff;

		if (header < IPV4_BYTES || header > room)
			return;
		put16(ip + 10, 0);
		put16(ip + 10, bb_inet_checksum(0, ip, header));
		if (total >= header && total <= room && !fragment)
			fix_l4(ip + header, total - header, ip[9], sum16(0, ip + 12, 8));
	} else if (is_ipv6 && get16(ip + 4) <= room - IPV6_BYTES) {
		fix_l4(ip + IPV6_BYTES, get16(ip + 4), ip[6], sum16(0, ip + 8, 32));
	}
}

/* offsets in a frame of the fields that identify its flow */
struct flow_at {
	size_t addresses, address_bytes, protocol;
	size_t ports; /* 0 if the frame has no ports */
};

static bool find_flow(const uint8_t *frame, size_t len, struct flow_at *ret_at)
{
	bool is_ipv4 = bb_frame__is_ipv4(frame, len), is_first = true;
	size_t l4 = ETH_BYTES + IPV6_BYTES;

	if (!is_ipv4 && !is_ipv6_frame(frame, len))
		return false;
	*ret_at = is_ipv4 ? (struct flow_at){ETH_BYTES + 12, 4, ETH_BYTES + 9, 0}
			  : (struct flow_at){ETH_BYTES + 8, 16, ETH_BYTES + 6, 0};
	if (is_ipv4) {
		l4 = ETH_BYTES + (size_t)(frame[ETH_BYTES] & 15) * 4;
		/* a fragment after the first one has no ports */
		is_first = !(get16(frame + ETH_BYTES + 6) & 0x1fff);
	}
	if (is_first && l4 + 4 <= len && l4 >= ETH_BYTES + IPV4_BYTES &&
	    (frame[ret_at->protocol] == IPPROTO_TCP || frame[ret_at->protocol] == IPPROTO_UDP))
		ret_at->ports = l4;
	return true;
}

void bb_frame__flow(const uint8_t *frame, size_t len, struct bb_flow *ret_flow)
{
	struct flow_at at;
	uint8_t *to = ret_flow->bytes;

	memset(ret_flow, 0, sizeof(*ret_flow));
	if (!find_flow(frame, len, &at)) {
		memcpy(to, frame, len < sizeof(ret_flow->bytes) ? len : sizeof(ret_flow->bytes));
		return;
	}
	to[0] = (uint8_t)at.address_bytes;
	to[1] = frame[at.protocol];
	memcpy(to + 2, frame + at.addresses, 2 * at.address_bytes);
	if (at.ports)
		memcpy(to + 2 + 2 * at.address_bytes, frame + at.ports, 4);
}

bool bb_frame__move_flow(uint8_t *frame, size_t len, uint32_t nth)
{
	struct flow_at at;

	if (!find_flow(frame, len, &at))
		return false;
	uint8_t *low = frame + at.addresses + at.address_bytes - 4;
	put16(low + 2, get16(low + 2) + (nth & 0xffff));
	put16(low, get16(low) + (nth >> 16) + (get16(low + 2) < (nth & 0xffff)));
	if (at.ports)
		put16(frame + at.ports, get16(frame + at.ports) + (nth & 0xffff));
	bb_frame__fix_checksums(frame, len);
	return true;
}

enum usual_form { PLAIN, TAGGED, TIMESTAMPED, TUNNELLED, ARP };

static const struct {
	enum bb_packet_ip ip;
	enum bb_packet_l4 l4;
	enum usual_form form;
} usual[] = {
	{BB_PACKET_IPV4, BB_PACKET_TCP, PLAIN},       {BB_PACKET_IPV4, BB_PACKET_UDP, PLAIN},
	{BB_PACKET_IPV6, BB_PACKET_TCP, PLAIN},       {BB_PACKET_IPV6, BB_PACKET_UDP, PLAIN},
	{BB_PACKET_IPV4, BB_PACKET_ICMP, PLAIN},      {BB_PACKET_IPV6, BB_PACKET_ICMP, PLAIN},
	{BB_PACKET_IPV4, BB_PACKET_TCP, TIMESTAMPED}, {BB_PACKET_IPV6, BB_PACKET_TCP, TIMESTAMPED},
	{BB_PACKET_IPV4, BB_PACKET_TCP, TAGGED},      {BB_PACKET_IPV6, BB_PACKET_UDP, TAGGED},
	{BB_PACKET_IPV4, BB_PACKET_UDP, TUNNELLED},   {BB_PACKET_IPV6, BB_PACKET_TCP, TUNNELLED},
	{BB_PACKET_NO_IP, BB_PACKET_NO_L4, ARP},
};

size_t bb_packet__usual(size_t nth, uint8_t frame[BB_USUAL_FRAME_BYTES])
{
	/* prefixes of addresses that are reserved for documentation (RFC 5737, RFC 3849) */
	static const uint8_t address[][4] = {{192, 0, 2, 0}, {0x20, 0x01, 0x0d, 0xb8}};
	/* "who has 192.0.2.2?" (RFC 826) */
	static const uint8_t arp[] = {0,   1, 8, 0, 6, 4, 0, 1, 2, 0, 0,   0, 0, 1,
				      192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 192, 0, 2, 2};
	/* the TCP option "timestamps" (RFC 7323); it overwrites the first bytes of the payload */
	static const uint8_t timestamps[] = {1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1};
	/* the IPv4 header of a tunnel, without lengths */
	static const uint8_t outer[IPV4_BYTES] = {0x45, [6] = 0x40, [8] = 64, [12] = 192, 0, 2,
						  1,    192,        0,        2,          2};
	uint8_t *ip = frame + ETH_BYTES, *tcp;
	size_t len = 128;
	struct bb_packet p;

	if (nth >= BB_LEN(usual))
		return 0;
	bb_packet__init(&p);
	p.ip = usual[nth].ip;
	p.l4 = usual[nth].l4;
	p.src_port = 49152; /* the first dynamic port */
	p.dst_port = 443;
	memcpy(p.ip_src, address[p.ip == BB_PACKET_IPV6], sizeof(address[0]));
	memcpy(p.ip_dst, p.ip_src, sizeof(p.ip_src));
	p.ip_src[p.ip == BB_PACKET_IPV6 ? 15 : 3] = 1;
	p.ip_dst[p.ip == BB_PACKET_IPV6 ? 15 : 3] = 2;
	if (usual[nth].form == ARP) {
		p.eth_type = ETHERTYPE_ARP;
		len = BB_FRAME_USUAL_BYTES;
	}
	bb_packet__write(&p, frame, len);
	if (usual[nth].form == ARP) {
		memcpy(ip, arp, sizeof(arp));
	} else if (usual[nth].form == TIMESTAMPED) {
		tcp = ip + ip_bytes(&p);
		put16(tcp + 12, 0x8018); /* header of 8 words; PSH and ACK */
		put16(tcp + 10, 1);      /* low 16 bits of the acknowledgment number */
		memcpy(tcp + TCP_BYTES, timestamps, sizeof(timestamps));
		bb_frame__fix_checksums(frame, len);
	} else if (usual[nth].form == TUNNELLED) {
		memmove(ip + IPV4_BYTES, ip, len - ETH_BYTES);
		memcpy(ip, outer, sizeof(outer));
		len += IPV4_BYTES;
		ip[9] = p.ip == BB_PACKET_IPV6 ? IPPROTO_IPV6 : IPPROTO_IPIP;
		put16(ip + 2, len - ETH_BYTES);
		put16(frame + 12, ETHERTYPE_IP);
		bb_frame__fix_checksums(frame, len);
	} else if (usual[nth].form == TAGGED) {
		memmove(frame + 12 + VLAN_BYTES, frame + 12, len - 12);
		put16(frame + 12, ETHERTYPE_VLAN);
		put16(frame + 14, 1); /* the default VLAN */
		len += VLAN_BYTES;
	}
	return len;
}

struct spec {
	struct bb_packet packet;
	uint32_t size; /* from the key `size`; 0 if not given */
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
	memcpy(bb_field__member(f, base), mac, sizeof(mac));
	return 0;
}

static int read_address(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, void *base)
{
	const struct spec *s = base;
	bool is_ipv4 = s->packet.ip == BB_PACKET_IPV4;
	uint8_t address[16] = {0};

	if (node->kind != BB_YAML_TEXT ||
	    inet_pton(is_ipv4 ? AF_INET : AF_INET6, node->text, address) != 1)
		return bb_yaml__fail(r, node, "%s must be an %s, not %s", f->name,
				     is_ipv4 ? "IPv4 address such as 10.0.0.1"
					     : "IPv6 address such as 2001:db8::1",
				     bb_yaml__show(node).text);
	memcpy(bb_field__member(f, base), address, sizeof(address));
	return 0;
}

#define AT(m) .offset = offsetof(struct spec, m)

static const struct bb_type mac = {.read = read_mac, .schema = BB_SCHEMA_TEXT},
			    address = {.read = read_address, .schema = BB_SCHEMA_TEXT};

static const struct bb_field eth_fields[] = {
	{"src", &mac, AT(packet.eth_src)},
	{"dst", &mac, AT(packet.eth_dst)},
	{"type", &bb_type_u32, AT(packet.eth_type), .min = ETH_TYPE_MIN, .max = UINT16_MAX},
};

static const struct bb_field ipv4_fields[] = {
	{"src", &address, AT(packet.ip_src), .required = true},
	{"dst", &address, AT(packet.ip_dst), .required = true},
	{"ttl", &bb_type_u32, AT(packet.ttl), .min = 0, .max = UINT8_MAX},
};

static const struct bb_field ipv6_fields[] = {
	{"src", &address, AT(packet.ip_src), .required = true},
	{"dst", &address, AT(packet.ip_dst), .required = true},
	{"hop_limit", &bb_type_u32, AT(packet.ttl), .min = 0, .max = UINT8_MAX},
};

static const struct bb_field port_fields[] = {
	{"src", &bb_type_u32, AT(packet.src_port), .required = true, .min = 0, .max = UINT16_MAX},
	{"dst", &bb_type_u32, AT(packet.dst_port), .required = true, .min = 0, .max = UINT16_MAX},
};

static const struct bb_kind eth_kind = {BB_KIND("eth", "{dst: 02:00:00:00:00:01}", eth_fields)};
static const struct bb_kind ipv4_kind = {
	BB_KIND("ipv4", "{src: 10.0.0.1, dst: 10.0.0.2}", ipv4_fields)};
static const struct bb_kind ipv6_kind = {
	BB_KIND("ipv6", "{src: 2001:db8::1, dst: 2001:db8::2}", ipv6_fields)};
static const struct bb_kind tcp_kind = {BB_KIND("tcp", "{src: 1234, dst: 80}", port_fields)};
static const struct bb_kind udp_kind = {BB_KIND("udp", "{src: 1234, dst: 53}", port_fields)};

/* Fails if the packet already has a header of that layer. */
static int read_header(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	struct bb_packet *p = &((struct spec *)base)->packet;
	bool is_ip = f->of == &ipv4_kind || f->of == &ipv6_kind;

	if (is_ip ? p->ip != BB_PACKET_NO_IP : p->l4 != BB_PACKET_NO_L4)
		return bb_yaml__fail(r, node, "a packet has either %s",
				     is_ip ? "ipv4 or ipv6" : "tcp or udp");
	if (is_ip)
		p->ip = f->of == &ipv4_kind ? BB_PACKET_IPV4 : BB_PACKET_IPV6;
	else
		p->l4 = f->of == &tcp_kind ? BB_PACKET_TCP : BB_PACKET_UDP;
	return bb_kind__read(r, f->of, node, 0, base);
}

/* bit i of the flags in a TCP header is tcp_flags[i] (RFC 9293, 3.1) */
static const char *const tcp_flags[] = {"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"};

static const struct bb_field packet_fields[] = {
	{"eth", &bb_type_part, .of = &eth_kind},
	{"ipv4", &bb_type_part, .read = read_header, .of = &ipv4_kind},
	{"ipv6", &bb_type_part, .read = read_header, .of = &ipv6_kind},
	{"tcp", &bb_type_part, .read = read_header, .of = &tcp_kind},
	{"udp", &bb_type_part, .read = read_header, .of = &udp_kind},
	{"tcp_flags", &bb_type_names, AT(packet.tcp_flags), .choices = tcp_flags,
	 .n_choices = BB_LEN(tcp_flags)},
	{"size", &bb_type_u32, AT(size), .min = BB_FRAME_MIN_BYTES, .max = BB_FRAME_MAX_BYTES},
};

const struct bb_kind bb_packet_kind = {
	BB_KIND("packet", "{ipv4: {src: 10.0.0.1, dst: 10.0.0.2}}", packet_fields)};

int bb_field__packet(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	struct bb_bytes *dest = bb_field__member(f, base), made;
	const struct bb_yaml *eth, *type, *flags;
	struct spec s = {0};

	bb_packet__init(&s.packet);
	int rc = bb_kind__read(r, &bb_packet_kind, node, 0, &s);
	if (rc)
		return rc;
	size_t headers = headers_of(&s.packet);
	eth = bb_yaml__get(node, "eth");
	type = eth ? bb_yaml__get(eth, "type") : NULL;
	flags = bb_yaml__get(node, "tcp_flags");
	if (s.packet.l4 && !s.packet.ip)
		return bb_yaml__fail(r, node, "a packet with %s needs ipv4 or ipv6",
				     s.packet.l4 == BB_PACKET_TCP ? "tcp" : "udp");
	if (flags && s.packet.l4 != BB_PACKET_TCP)
		return bb_yaml__fail(r, flags, "a packet with tcp_flags needs tcp");
	if (type && s.packet.ip)
		return bb_yaml__fail(r, type, "%s sets the type; leave it out",
				     s.packet.ip == BB_PACKET_IPV4 ? "ipv4" : "ipv6");
	if (s.size && s.size < headers)
		return bb_yaml__fail(r, bb_yaml__get(node, "size"),
				     "size %u is less than the %zu bytes of the packet's headers",
				     s.size, headers);
	made.len = s.size                           ? s.size
		   : headers > BB_FRAME_USUAL_BYTES ? headers
						    : BB_FRAME_USUAL_BYTES;
	made.data = bb_arena__own(r->arena, bb_calloc(1, made.len));
	bb_packet__write(&s.packet, made.data, made.len);
	*dest = made;
	return 0;
}
