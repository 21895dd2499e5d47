/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inputs of a test run: every form, every error with its place, and generated packets checked
 * by the RFCs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan/packet.h"
#include "plan/scenario.h"
#include "plan/field.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The first input is in line 8. Its first key is in column 10, after "      - {". */
#define HEAD                                                                                       \
	"name: n\nobject: o\nvariants: [{name: a}]\ndrive:\n  - with: step\n    trigger: "         \
	"test-run\n    inputs:\n"
#define IN(mapping) HEAD "      - {" mapping "}\n"
#define ETH "\"0202020202020101010101010800\"" /* 14 bytes */
#define IPV4 "ipv4: {src: 10.0.0.1, dst: 10.0.0.2}"
#define IPV6 "ipv6: {src: '2001:db8::1', dst: '2001:db8::2'}"

/* A folder for the files of a test. Scenarios are parsed as if they were in it. */
struct folder {
	char dir[64];
};

static struct folder make_folder(void)
{
	struct folder f = {.dir = "/tmp/bb_test_input.XXXXXX"};

	assert_non_null(mkdtemp(f.dir));
	return f;
}

static void put_file(const struct folder *f, const char *name, const void *data, size_t len)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void remove_folder(const struct folder *f, const char *const *names, size_t n)
{
	char path[128];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(f->dir), 0);
}

static struct bb_scenario *must_parse_at(const char *path, const char *text)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	if (bb_scenario__parse(text, strlen(text), path, &s, &err))
		fail_msg("%s", err.msg);
	return s;
}

static struct bb_scenario *must_parse(const char *text)
{
	return must_parse_at("t.yml", text);
}

static const struct bb_inputs *inputs_of(const struct bb_scenario *s)
{
	return &s->drives[0].inputs;
}

struct bad {
	const char *text;
	unsigned int line, col;
	const char *says;
};

static void expect_bad_at(const char *path, const struct bad *bad)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};
	char where[160];
	int rc = bb_scenario__parse(bad->text, strlen(bad->text), path, &s, &err);

	snprintf(where, sizeof(where), "%s:%u:%u: ", path, bad->line, bad->col);
	if (rc != -EINVAL || err.code != -EINVAL || strncmp(err.msg, where, strlen(where)) ||
	    !strstr(err.msg, bad->says) || strchr(err.msg, '\n'))
		fail_msg("rc %d\n  for:  %s\n  says: %s\n  not:  %s%s", rc, bad->text, err.msg,
			 where, bad->says);
	assert_null(s);
}

static void test_none(void **state)
{
	struct bb_scenario *s = must_parse("name: n\nobject: o\nvariants: [{name: a}]\n"
					   "drive: [{with: step, trigger: test-run}]\n");

	(void)state;
	assert_int_equal(inputs_of(s)->n, 0);
	bb_scenario__free(s);
}

static void test_hex(void **state)
{
	static const uint8_t bytes[] = {0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x01, 0x01,
					0x01, 0x01, 0x01, 0x01, 0x08, 0x00, 0xAB};
	static const uint8_t out[] = {0xde, 0xad};
	struct bb_scenario *s = must_parse(
		IN("name: syn, hex: \"02:02:02:02:02:02 010101010101 0800\\n aB\", "
		   "retval: 2, out_hex: dead") "      - name: b.2\n        hex: "
					       "0202020202020101010101010800\n");
	const struct bb_input *v = inputs_of(s)->v;

	(void)state;
	assert_int_equal(inputs_of(s)->n, 2);
	assert_string_equal(v[0].name, "syn");
	assert_int_equal(v[0].len, sizeof(bytes));
	assert_memory_equal(v[0].data, bytes, sizeof(bytes));
	assert_true(v[0].has_retval);
	assert_int_equal(v[0].retval, 2);
	assert_int_equal(v[0].out_len, sizeof(out));
	assert_memory_equal(v[0].out, out, sizeof(out));
	assert_string_equal(v[1].name, "b.2");
	assert_int_equal(v[1].len, 14); /* digits only are a text here, not a number */
	assert_false(v[1].has_retval || v[1].is_context || v[0].is_context);
	assert_null(v[1].out);
	bb_scenario__free(s);
}

/* The values of linux/bpf.h and linux/pkt_cls.h. */
static void test_retval(void **state)
{
	static const struct {
		const char *text;
		uint32_t value;
	} cases[] = {
		{"0", 0},
		{"4294967295", UINT32_MAX},
		{"-1", UINT32_MAX},
		{"-2147483648", 0x80000000},
		{"0x10", 16},
		{"XDP_ABORTED", 0},
		{"XDP_DROP", 1},
		{"XDP_PASS", 2},
		{"XDP_TX", 3},
		{"XDP_REDIRECT", 4},
		{"TC_ACT_UNSPEC", UINT32_MAX},
		{"TC_ACT_OK", 0},
		{"TC_ACT_SHOT", 2},
		{"TC_ACT_REDIRECT", 7},
		{"\"XDP_TX\"", 3},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bb_scenario *s;
		char text[512];

		snprintf(text, sizeof(text), IN("retval: %s, name: a, hex: " ETH), cases[i].text);
		s = must_parse(text);
		assert_true(inputs_of(s)->v[0].has_retval);
		assert_true(inputs_of(s)->v[0].retval == cases[i].value);
		bb_scenario__free(s);
	}
}

static void test_context(void **state)
{
	struct folder f = make_folder();
	static const char *const names[] = {"c.bin"};
	struct bb_scenario *s;
	char path[128];

	(void)state;
	put_file(&f, "c.bin", "\0\1\2", 3);
	snprintf(path, sizeof(path), "%s/x.yml", f.dir);
	s = must_parse_at(path, IN("name: a, context_hex: \"7f\", retval: -1") "      - "
									       "{context_file: "
									       "c.bin, name: b}\n");
	assert_int_equal(inputs_of(s)->n, 2);
	assert_true(inputs_of(s)->v[0].is_context && inputs_of(s)->v[1].is_context);
	assert_int_equal(inputs_of(s)->v[0].len, 1);
	assert_int_equal(inputs_of(s)->v[0].data[0], 0x7f);
	assert_int_equal(inputs_of(s)->v[1].len, 3);
	assert_memory_equal(inputs_of(s)->v[1].data, "\0\1\2", 3);
	bb_scenario__free(s);
	remove_folder(&f, names, ARRAY_LEN(names));
}

/* A context beside a packet: each packet of the entry gets a context of its own. */
static void test_context_of_packets(void **state)
{
	struct bb_scenario *s = must_parse(
		IN("name: a, hex: " ETH
		   ", ctx_hex: \"01 02\"") "      - {name: b, sweep: {hex: " ETH ", byte: 13, to: "
					   "2}, skb: {mark: "
					   "5, priority: "
					   "4294967295, ingress_ifindex: 3,\n"
					   "          ifindex: 1, cb: [7, 7, 9], tstamp: "
					   "18446744073709551615, wire_len: 65536, gso_segs: 8, "
					   "gso_size: 10,\n"
					   "          hwtstamp: 11}}\n"
					   "      - {name: c, hex: " ETH ", xdp: {ingress_ifindex: "
					   "2, rx_queue_index: 1, "
					   "metadata: \"a1 a2 a3 "
					   "a4\"}}\n"
					   "      - {name: d, hex: " ETH ", xdp: {}}\n");
	const struct bb_input *v = inputs_of(s)->v;

	(void)state;
	assert_int_equal(inputs_of(s)->n, 6);
	assert_int_equal(v[0].ctx_kind, BB_CTX_BYTES);
	assert_int_equal(v[0].ctx_len, 2);
	assert_memory_equal(v[0].ctx, "\1\2", 2);
	for (size_t i = 1; i < 4; i++) {
		struct __sk_buff skb;

		assert_int_equal(v[i].ctx_kind, BB_CTX_SKB);
		assert_int_equal(v[i].ctx_len, sizeof(skb));
		memcpy(&skb, v[i].ctx, sizeof(skb));
		assert_true(skb.mark == 5 && skb.priority == UINT32_MAX &&
			    skb.ingress_ifindex == 3 && skb.ifindex == 1);
		assert_true(skb.cb[0] == 7 && skb.cb[1] == 7 && skb.cb[2] == 9 && !skb.cb[3] &&
			    !skb.cb[4]);
		assert_true(skb.tstamp == UINT64_MAX && skb.wire_len == 65536 &&
			    skb.gso_segs == 8 && skb.gso_size == 10);
		assert_true(skb.hwtstamp == 11 && !skb.len && !skb.data_end);
		assert_int_equal(v[i].len, 14);
	}
	for (size_t i = 4; i < 6; i++) {
		struct xdp_md md;
		size_t metadata = i == 4 ? 4 : 0;

		assert_int_equal(v[i].ctx_kind, BB_CTX_XDP);
		assert_int_equal(v[i].ctx_len, sizeof(md));
		memcpy(&md, v[i].ctx, sizeof(md));
		assert_int_equal(md.ingress_ifindex, i == 4 ? 2 : 0);
		assert_int_equal(md.rx_queue_index, i == 4);
		assert_int_equal(md.data, metadata);
		assert_int_equal(md.data_end, 14 + metadata);
		assert_int_equal(v[i].len, 14 + metadata);
		assert_memory_equal(v[i].data, "\xa1\xa2\xa3\xa4", metadata);
		assert_memory_equal(v[i].data + metadata, v[0].data, 14);
	}
	bb_scenario__free(s);
}

/* A relative file name is relative to the scenario, whatever the current folder; an absolute name
 * is used as it is. */
static void test_file(void **state)
{
	struct folder f = make_folder();
	static const char *const names[] = {"p.bin", "s.bin", "l.bin", "x.yml"};
	uint8_t *data = calloc(1, 65536);
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};
	char path[128], text[512];

	(void)state;
	assert_non_null(data);
	data[13] = 7;
	put_file(&f, "p.bin", data, 65535);
	put_file(&f, "s.bin", data, 13);
	put_file(&f, "l.bin", data, 65536);
	snprintf(text, sizeof(text),
		 IN("name: a, file: p.bin") "      - {name: b, file: %s/p.bin}\n", f.dir);
	put_file(&f, "x.yml", text, strlen(text));
	snprintf(path, sizeof(path), "%s/x.yml", f.dir);
	if (bb_scenario__read(path, false, &s, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(inputs_of(s)->v[i].len, 65535);
		assert_memory_equal(inputs_of(s)->v[i].data, data, 65535);
	}
	bb_scenario__free(s);
	expect_bad_at(path, &(struct bad){IN("name: a, file: s.bin"), 8, 25,
					  "file 's.bin' has 13 bytes; it must have from 14 to "
					  "65535"});
	expect_bad_at(path, &(struct bad){IN("name: a, file: l.bin"), 8, 25,
					  "file 'l.bin' has more than 65535 bytes"});
	expect_bad_at(path, &(struct bad){IN("name: a, file: q.bin"), 8, 25,
					  "cannot read file 'q.bin': No such file"});
	expect_bad_at(path, &(struct bad){IN("name: a, file: ."), 8, 25,
					  "cannot read file '.': Is a directory"});
	expect_bad_at(path, &(struct bad){IN("name: a, file: /dev/zero"), 8, 25,
					  "'/dev/zero': not a regular file"});
	free(data);
	remove_folder(&f, names, ARRAY_LEN(names));
}

/* Ones' complement sum of all 16-bit words, the checksum included. It is 0xffff if the checksum is
 * right (RFC 1071, 1). */
static uint32_t ones_sum(uint64_t sum, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum += (uint64_t)data[i] << (i % 2 ? 0 : 8);
	while (sum > 0xffff)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint32_t)sum;
}

static unsigned int be16(const uint8_t *p)
{
	return p[0] * 256u + p[1];
}

static void check_ipv4(const uint8_t *frame, size_t len, uint8_t protocol)
{
	const uint8_t *ip = frame + 14;

	assert_int_equal(be16(frame + 12), 0x0800);
	assert_int_equal(ip[0], 0x45);
	assert_int_equal(be16(ip + 2), len - 14);
	assert_int_equal(ip[8], 64);
	assert_int_equal(ip[9], protocol);
	assert_int_equal(ones_sum(0, ip, 20), 0xffff);
	/* The pseudo-header: addresses, protocol, length (RFC 9293, 3.1; RFC 768). */
	if (protocol == 6 || protocol == 17)
		assert_int_equal(ones_sum(ones_sum(0, ip + 12, 8) + protocol + len - 34, ip + 20,
					  len - 34),
				 0xffff);
}

static void check_ipv6(const uint8_t *frame, size_t len, uint8_t protocol)
{
	const uint8_t *ip = frame + 14;

	assert_int_equal(be16(frame + 12), 0x86dd);
	assert_int_equal(ip[0], 0x60);
	assert_int_equal(be16(ip + 4), len - 54);
	assert_int_equal(ip[6], protocol);
	assert_int_equal(ip[7], 64);
	if (protocol == 6 || protocol == 17) /* RFC 8200, 8.1 */
		assert_int_equal(ones_sum(ones_sum(0, ip + 8, 32) + protocol + len - 54, ip + 40,
					  len - 54),
				 0xffff);
}

static void test_packets(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		int version;
		uint8_t protocol;
	} cases[] = {
		{"{" IPV4 ", tcp: {src: 1234, dst: 80}, size: 64}", 64, 4, 6},
		{"{" IPV4 ", tcp: {src: 1234, dst: 80}, size: 54}", 54, 4, 6},
		{"{" IPV4 ", udp: {src: 1234, dst: 53}, size: 1514}", 1514, 4, 17},
		{"{size: 65535, udp: {src: 1234, dst: 53}, " IPV4 "}", 65535, 4, 17},
		/* With an odd byte at the end. */
		{"{" IPV4 ", udp: {src: 1234, dst: 53}, size: 43}", 43, 4, 17},
		{"{" IPV4 "}", 60, 4, 253},
		{"{" IPV6 ", tcp: {src: 1234, dst: 80}}", 74, 6, 6},
		{"{" IPV6 ", udp: {src: 1234, dst: 53}, size: 101}", 101, 6, 17},
		{"{" IPV6 ", size: 54}", 54, 6, 253},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[512];
		struct bb_scenario *s;
		const struct bb_input *in;
		const uint8_t *l4;

		snprintf(text, sizeof(text), IN("name: a, packet: %s"), cases[i].text);
		s = must_parse(text);
		in = inputs_of(s)->v;
		assert_int_equal(in->len, cases[i].len);
		(cases[i].version == 4 ? check_ipv4 : check_ipv6)(in->data, in->len,
								  cases[i].protocol);
		l4 = in->data + (cases[i].version == 4 ? 34 : 54);
		if (cases[i].protocol != 253)
			assert_int_equal(be16(l4), 1234);
		if (cases[i].protocol == 17)
			assert_int_equal(be16(l4 + 4), in->data + in->len - l4);
		if (cases[i].protocol == 6) {
			assert_int_equal(be16(l4 + 2), 80);
			assert_int_equal(l4[12], 0x50);
		}
		bb_scenario__free(s);
	}
}

static void test_tcp_flags(void **state)
{
	/* The bits are those of RFC 9293, 3.1. */
	static const struct {
		const char *text;
		uint8_t flags;
	} cases[] = {
		{"", 0x02},
		{", tcp_flags: []", 0},
		{", tcp_flags: [ack]", 0x10},
		{", tcp_flags: [ack, syn]", 0x12},
		{", tcp_flags: [fin, rst, psh, urg, ece, cwr]", 0xed},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int version = 4; version <= 6; version += 2) {
			char text[512];
			struct bb_scenario *s;
			const struct bb_input *in;

			snprintf(text, sizeof(text),
				 IN("name: a, packet: {%s, tcp: {src: 1, dst: 80}%s}"),
				 version == 4 ? IPV4 : IPV6, cases[i].text);
			s = must_parse(text);
			in = inputs_of(s)->v;
			(version == 4 ? check_ipv4 : check_ipv6)(in->data, in->len, 6);
			assert_int_equal(in->data[(version == 4 ? 34 : 54) + 13], cases[i].flags);
			bb_scenario__free(s);
		}
}

static void test_addresses(void **state)
{
	static const uint8_t macs[] = {0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x02, 0, 0, 0, 0, 9};
	static const uint8_t v4[] = {10, 0, 0, 1, 192, 168, 255, 254},
			     v6[] = {0x20, 0x01, 0x0d, 0xb8, 0, 0};
	struct bb_scenario *s = must_parse(IN("name: a, packet: {eth: {dst: aa:bb:cc:dd:ee:ff, "
					      "src: \"02:00:00:00:00:09\"}, "
					      "ipv4: {src: 10.0.0.1, dst: 192.168.255.254, ttl: "
					      "3}}") "      - {name: b, packet: {" IPV6 "}}\n"
						     "      - {name: c, packet: {eth: {type: "
						     "0x0806}}}\n      - {name: d, packet: {size: "
						     "14}}\n");
	const struct bb_input *v = inputs_of(s)->v;

	(void)state;
	assert_memory_equal(v[0].data, macs, sizeof(macs));
	assert_memory_equal(v[0].data + 26, v4, sizeof(v4));
	assert_int_equal(v[0].data[22], 3);
	assert_memory_equal(v[1].data + 22, v6, sizeof(v6));
	assert_int_equal(v[1].data[22 + 15], 1);
	assert_int_equal(v[1].data[38 + 15], 2);
	assert_int_equal(be16(v[2].data + 12), 0x0806);
	assert_int_equal(v[2].len, 60);
	assert_int_equal(v[3].len, 14);
	bb_scenario__free(s);
}

/* RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 add up to ddf2. */
static void test_checksum_rfc1071(void **state)
{
	static const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	(void)state;
	assert_int_equal(bb_inet_checksum(0, bytes, sizeof(bytes)), 0xffff - 0xddf2);
	assert_int_equal(bb_inet_checksum(0, bytes, 0), 0xffff);
	assert_int_equal(bb_inet_checksum(0, bytes + 2, 1), 0xffff - 0xf200);
}

/* The header in Wikipedia's "Internet checksum", whose checksum is b861. The frame is cut off, so
 * the checksum of UDP is not changed. */
static void test_checksum_ipv4(void **state)
{
	uint8_t frame[14 + 20 + 8] = {
		[12] = 0x08, 0x00, 0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00,
		0x40,        0x11, 0x12, 0x34, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8,
		0x00,        0xc7, 1,    2,    3,    4,    5,    6,    7,    8,
	};
	static const uint8_t udp[] = {1, 2, 3, 4, 5, 6, 7, 8};

	(void)state;
	bb_frame__fix_checksums(frame, sizeof(frame));
	assert_int_equal(be16(frame + 24), 0xb861);
	assert_memory_equal(frame + 34, udp, sizeof(udp));
}

/* In UDP, a checksum of 0 means "none", so 0 is sent as ffff (RFC 768). One source port in 65536
 * leads to it. */
static void test_udp_checksum_is_never_zero(void **state)
{
	size_t n_ones = 0;

	(void)state;
	for (uint32_t port = 0; port < 65536; port++) {
		struct bb_packet p;
		uint8_t frame[42];

		bb_packet__init(&p);
		p.ip = BB_PACKET_IPV4;
		p.l4 = BB_PACKET_UDP;
		p.src_port = (uint16_t)port;
		bb_packet__write(&p, frame, sizeof(frame));
		assert_int_not_equal(be16(frame + 40), 0);
		n_ones += be16(frame + 40) == 0xffff;
	}
	assert_int_equal(n_ones, 1);
}

/* Each kind of frame has the expected EtherType and protocol, and its checksums are right. */
static void test_usual_frames(void **state)
{
	static const struct {
		uint32_t type;
		uint8_t protocol;
	} want[] = {{0x0800, 6},  {0x0800, 17}, {0x86dd, 6}, {0x86dd, 17}, {0x0800, 1},
		    {0x86dd, 58}, {0x0800, 6},  {0x86dd, 6}, {0x8100, 6},  {0x8100, 17},
		    {0x0800, 4},  {0x0800, 41}, {0x0806, 0}};
	uint8_t frame[BB_USUAL_FRAME_BYTES], fixed[BB_USUAL_FRAME_BYTES];
	size_t len;

	(void)state;
	for (size_t i = 0; i < BB_LEN(want); i++) {
		uint8_t *inner = frame + 14 + 20;

		len = bb_packet__usual(i, frame);
		assert_in_range(len, 60, sizeof(frame));
		assert_int_equal(be16(frame + 12), want[i].type);
		memcpy(fixed, frame, len);
		bb_frame__fix_checksums(fixed, len);
		assert_memory_equal(frame, fixed, len);
		if (want[i].type == 0x8100) /* skip the VLAN tag */
			memmove(frame + 12, frame + 16, len - 16);
		if (be16(frame + 12) == 0x0800)
			assert_int_equal(frame[14 + 9], want[i].protocol);
		if (be16(frame + 12) == 0x86dd)
			assert_int_equal(frame[14 + 6], want[i].protocol);
		if (want[i].protocol == 4 || want[i].protocol == 41)
			assert_int_equal(inner[0] >> 4, want[i].protocol == 4 ? 4 : 6);
		if (want[i].protocol == 1)
			assert_int_equal(bb_inet_checksum(0, inner, len - 34), 0);
	}
	assert_int_equal(bb_packet__usual(BB_LEN(want), frame), 0);
}

/* No odd frame is read or written beyond its end (ASan sees it), and a frame that is not IP is not
 * changed. */
static void test_fix_checksums_of_anything(void **state)
{
	(void)state;
	for (size_t len = 1; len < 90; len++) {
		for (uint32_t kind = 0; kind < 8; kind++) {
			uint8_t *frame = malloc(len), *before = malloc(len);

			assert_non_null(frame);
			assert_non_null(before);
			memset(frame, kind & 1 ? 0xff : 0x11, len);
			if (len > 14) {
				frame[12] = kind & 2 ? 0x08 : 0x86;
				frame[13] = kind & 2 ? 0x00 : 0xdd;
				frame[14] = kind & 4 ? (kind & 2 ? 0x4f : 0x60) : 0x11;
			}
			memcpy(before, frame, len);
			bb_frame__fix_checksums(frame, len);
			if (!(kind & 4))
				assert_memory_equal(frame, before, len);
			free(frame);
			free(before);
		}
	}
}

static void test_sweep_addresses(void **state)
{
	struct bb_scenario *s = must_parse(IN("sweep: {packet: {ipv4: {src: 99.2.3.4, dst: "
					      "10.0.0.2}, "
					      "tcp: {src: 1234, dst: 80}, size: 64}, byte: "
					      "src_low}, retval: XDP_PASS"));
	const struct bb_inputs *in = inputs_of(s);

	(void)state;
	assert_int_equal(in->n, 256);
	for (size_t i = 0; i < 256; i++) {
		char name[8], address[INET_ADDRSTRLEN], expected[INET_ADDRSTRLEN];

		snprintf(name, sizeof(name), "%zu", i);
		snprintf(expected, sizeof(expected), "%zu.2.3.4", i);
		assert_string_equal(in->v[i].name, name);
		assert_non_null(inet_ntop(AF_INET, in->v[i].data + 26, address, sizeof(address)));
		assert_string_equal(address, expected);
		assert_int_equal(in->v[i].len, 64);
		assert_int_equal(in->v[i].retval, 2);
		check_ipv4(in->v[i].data, in->v[i].len, 6); /* the checksums are right, too */
	}
	bb_scenario__free(s);
}

/* A sweep of one byte by its offset changes nothing else. */
static void test_sweep_bytes(void **state)
{
	struct bb_scenario *s = must_parse(
		IN("name: ttl, sweep: {packet: {" IPV4
		   "}, byte: 22, from: 9, to: 11}") "      - {name: last, sweep: "
						    "{hex: " ETH ", byte: 13, from: "
						    "255}}\n");
	const struct bb_input *v = inputs_of(s)->v;

	(void)state;
	assert_int_equal(inputs_of(s)->n, 4);
	assert_string_equal(v[0].name, "ttl-9");
	assert_string_equal(v[2].name, "ttl-11");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(v[i].data[22], 9 + i);
		assert_memory_equal(v[i].data, v[0].data, 22);
		assert_memory_equal(v[i].data + 23, v[0].data + 23, v[0].len - 23);
	}
	assert_string_equal(v[3].name, "last-255");
	assert_int_equal(v[3].data[13], 255);
	assert_false(v[3].has_retval);
	bb_scenario__free(s);
}

/* A packet capture written by hand (pcap-savefile(5)), in this machine's byte order or in the
 * other. */
struct capture {
	uint8_t data[512];
	size_t len;
	bool swapped;
};

static void put32(struct capture *c, uint32_t value)
{
	value = c->swapped ? __builtin_bswap32(value) : value;
	assert_true(c->len + 4 <= sizeof(c->data));
	memcpy(c->data + c->len, &value, 4);
	c->len += 4;
}

static struct capture begin_capture(uint32_t link_type, bool swapped)
{
	struct capture c = {.swapped = swapped};

	put32(&c, 0xa1b2c3d4);
	/* version 2.4 */
	put32(&c,
	      swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? 2u << 16 | 4 : 4u << 16 | 2);
	put32(&c, 0);
	put32(&c, 0);
	put32(&c, 65535); /* snapshot length */
	put32(&c, link_type);
	return c;
}

static void put_packet(struct capture *c, uint8_t fill, uint32_t len, uint32_t original_len)
{
	put32(c, 1); /* s */
	put32(c, 2); /* us */
	put32(c, len);
	put32(c, original_len);
	assert_true(c->len + len <= sizeof(c->data));
	memset(c->data + c->len, fill, len);
	c->len += len;
}

static void test_pcap(void **state)
{
	static const char *const names[] = {"a.pcap"};
	struct folder f = make_folder();
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/x.yml", f.dir);
	for (int swapped = 0; swapped < 2; swapped++) {
		struct capture c = begin_capture(1, swapped);
		struct bb_scenario *s;

		put_packet(&c, 0xa1, 14, 14);
		put_packet(&c, 0xb2, 61, 61);
		put_packet(&c, 0xc3, 60, 60);
		put_file(&f, "a.pcap", c.data, c.len);
		s = must_parse_at(path, IN("pcap: a.pcap, name: web, retval: 1"));
		assert_int_equal(inputs_of(s)->n, 3);
		for (size_t i = 0; i < 3; i++) {
			static const size_t lens[] = {14, 61, 60};
			static const uint8_t fills[] = {0xa1, 0xb2, 0xc3};
			const struct bb_input *in = &inputs_of(s)->v[i];
			char name[8];

			snprintf(name, sizeof(name), "web-%zu", i);
			assert_string_equal(in->name, name);
			assert_int_equal(in->len, lens[i]);
			for (size_t k = 0; k < in->len; k++)
				assert_int_equal(in->data[k], fills[i]);
			assert_true(in->has_retval && in->retval == 1 && !in->is_context);
		}
		bb_scenario__free(s);
	}
	remove_folder(&f, names, ARRAY_LEN(names));
}

static void expect_bad_pcap(const struct folder *f, const uint8_t *data, size_t len,
			    const char *says)
{
	struct bad bad = {IN("name: a, pcap: a.pcap"), 8, 25, says};
	char path[128];

	put_file(f, "a.pcap", data, len);
	snprintf(path, sizeof(path), "%s/x.yml", f->dir);
	expect_bad_at(path, &bad);
}

static void test_bad_pcap(void **state)
{
	static const char *const names[] = {"a.pcap"};
	struct folder f = make_folder();
	struct capture none = begin_capture(1, false), c = none, sll = begin_capture(113, false),
		       many = {.len = 0};
	struct bb_bytes_list list = {0};
	struct bb_arena arena = {0};
	struct bb_err err = {0};
	char path[128];

	(void)state;
	expect_bad_pcap(&f, c.data, 0, "cannot use pcap 'a.pcap': the file is empty");
	expect_bad_pcap(&f, c.data, 3, "cannot use pcap 'a.pcap': not a capture: ");
	expect_bad_pcap(&f, (const uint8_t *)"This is no capture at all.", 26,
			"cannot use pcap 'a.pcap': not a capture: ");
	expect_bad_pcap(&f, c.data, c.len, "it holds no packet");
	put_packet(&c, 1, 60, 60);
	expect_bad_pcap(&f, c.data, c.len - 1, "packet 0: ");
	many = c;
	put_packet(&c, 1, 60, 1500);
	expect_bad_pcap(&f, c.data, c.len,
			"packet 1 was cut by the capture, 60 of its 1500 bytes are there; capture "
			"whole");
	c = none;
	put_packet(&c, 1, 13, 13);
	expect_bad_pcap(&f, c.data, c.len, "packet 0 has 13 bytes; a packet has from 14 to 65535");
	put_packet(&sll, 1, 60, 60);
	expect_bad_pcap(&f, sll.data, sll.len,
			"its packets have the link type LINUX_SLL; only Ethernet");
	snprintf(path, sizeof(path), "%s/a.pcap", f.dir);
	put_packet(&many, 1, 60, 60);
	put_file(&f, "a.pcap", many.data, many.len);
	assert_int_equal(bb_pcap__read(path, 1, &arena, &list, &err), -EINVAL);
	assert_string_equal(err.msg, "more than 1 packets");
	assert_int_equal(bb_pcap__read(path, 2, &arena, &list, &err), 0);
	assert_int_equal(list.n, 2);
	free(list.v);
	list = (struct bb_bytes_list){0};
	bb_arena__done(&arena);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(bb_pcap__read(path, 2, &arena, &list, &err), -ENOENT);
	assert_int_equal(list.n, 0);
	put_file(&f, "a.pcap", "", 0);
	remove_folder(&f, names, ARRAY_LEN(names));
}

#define ETH_IN(more) IN("name: a, hex: " ETH ", " more)

static const struct bad bad_inputs[] = {
	{"name: n\nobject: o\nvariants: [{name: a}]\ndrive: [{with: step, trigger: test-run, "
	 "inputs: []}]\n",
	 4, 49, "inputs must not be an empty list"},
	{"name: n\nobject: o\nvariants: [{name: a}]\ndrive: [{with: step, trigger: test-run, "
	 "inputs: {name: a}}]\n",
	 4, 49,
	 "inputs must be a list of mappings such as {name: syn, hex: \"0800 4500\"}, not a "
	 "mapping"},
	{HEAD "      - a\n", 8, 9,
	 "an input must be a mapping such as {name: syn, hex: \"0800 4500\"}, not 'a'"},
	{IN("name: a"), 8, 9,
	 "an input needs one of the keys: hex, file, packet, pcap, sweep, context_hex, "
	 "context_file"},
	{IN("name: a, hexx: 00"), 8, 19, "unknown key 'hexx' (did you mean 'hex'?)"},
	{IN("hex: " ETH), 8, 9, "an input needs the key 'name'"},
	{IN("pcap: /dev/null"), 8, 16, "cannot use pcap '/dev/null': not a regular file"},
	{IN("name: a b, hex: " ETH), 8, 16, "name 'a b' must be letters, digits"},
	{IN("name: -a, hex: " ETH), 8, 16, "begin with a letter, digit or '_'"},
	{ETH_IN("file: x"), 8, 56,
	 "key 'file' does not belong to 'hex' but to file; hex takes: name, hex, ctx_hex,"},
	{IN("name: a, context_hex: '00', out_hex: '00'"), 8, 38,
	 "key 'out_hex' does not belong to 'context_hex' but to hex"},
	{IN("name: a, pcap: p, out_hex: '00'"), 8, 25, "cannot use pcap 'p': No such file"},
	{IN("name: a, out_hex: '00', pcap: p"), 8, 19,
	 "key 'out_hex' does not belong to 'pcap' but to hex, file, packet"},
	{IN("name: a, hex: []"), 8, 24, "hex must be a text of hexadecimal bytes, not a list"},
	{IN("name: a, hex: "), 8, 24, "hex must be a text of hexadecimal bytes, not nothing"},
	{IN("name: a, hex: ''"), 8, 24, "hex has 0 bytes; it must have from 14 to 65535"},
	{IN("name: a, hex: 02020202020201010101010108"), 8, 24,
	 "hex has 13 bytes; it must have from 14 to 65535"},
	{IN("name: a, hex: 00112"), 8, 24,
	 "hex: bytes of two hexadecimal digits each are expected; character 6 is wrong"},
	{IN("name: a, hex: 0x0011"), 8, 24, "character 2 is wrong"},
	{IN("name: a, context_hex: ''"), 8, 32,
	 "context_hex has 0 bytes; it must have from 1 to 65535"},
	{ETH_IN("out_hex: ''"), 8, 65, "out_hex has 0 bytes; it must have from 1 to 65535"},
	{ETH_IN("out_hex: 0"), 8, 65, "out_hex: bytes of two hexadecimal digits"},
	{IN("name: a, file: []"), 8, 25, "file must be the name of a file, not a list"},
	{IN("name: a, file: ''"), 8, 25, "file must be the name of a file, not ''"},
	{IN("name: a, file: \"a\\eb\""), 8, 25, "cannot read file 'a\\x1bb': No such file"},
	{ETH_IN("retval: XDP_PAS"), 8, 64,
	 "or a name such as XDP_PASS or TC_ACT_OK, not 'XDP_PAS' (did you mean 'XDP_PASS'?)"},
	{ETH_IN("retval: 1.5"), 8, 64,
	 "retval must be a whole number or a name such as XDP_PASS or TC_ACT_OK, not '1.5'"},
	{ETH_IN("retval: \"2\""), 8, 64, "not the quoted text '2'"},
	{ETH_IN("retval: [2]"), 8, 64, "not a list"},
	{ETH_IN("retval: 4294967296"), 8, 64, "retval must fit into 32 bits, not '4294967296'"},
	{ETH_IN("retval: -2147483649"), 8, 64, "retval must fit into 32 bits"},
	{ETH_IN("retval: 99999999999999999999"), 8, 64, "retval must fit into 32 bits"},
	{ETH_IN("retval: 2") "      - {name: b, hex: " ETH "}\n      - {name: a, hex: " ETH "}\n",
	 10, 16, "input 'a' is given twice; the first is at 8:16"},
	{ETH_IN("retval: 2") "      - {name: a, hex: " ETH "}\n      - {name: b, hex: " ETH
			     "}\n      - {name: b, hex: " ETH "}\n",
	 9, 16, "input 'a' is given twice; the first is at 8:16"}, /* the first duplicate of two */
	{IN("sweep: {packet: {" IPV4 "}, byte: src_low, to: 9}") "      - {name: 7, hex: " ETH "}"
								 "\n",
	 9, 16, "input '7' is given twice; the first is at 8:9"},
};

/* The value of a key of three letters is in column 61. */
static const struct bad bad_contexts[] = {
	{IN("name: a, context_hex: '00', skb: {}"), 8, 38,
	 "key 'skb' does not belong to 'context_hex' but to hex, file, packet, pcap"},
	{ETH_IN("skb: 5"), 8, 61, "skb must be a mapping such as {mark: 5}, not '5'"},
	{ETH_IN("skb: {mrk: 5}"), 8, 62,
	 "unknown key 'mrk' (did you mean 'mark'?); skb takes: mark, priority, ingress_ifindex, "
	 "ifindex, cb, tstamp, wire_len, gso_segs, gso_size, hwtstamp"},
	{ETH_IN("skb: {len: 5}"), 8, 62, "unknown key 'len'; skb takes: mark,"},
	{ETH_IN("skb: {mark: -1}"), 8, 68, "mark must be from 0 to 4294967295, not '-1'"},
	{ETH_IN("skb: {wire_len: 65537}"), 8, 72, "wire_len must be from 0 to 65536"},
	{ETH_IN("skb: {tstamp: -1}"), 8, 70,
	 "tstamp must be a whole number of 64 bits without a sign, not '-1'"},
	{ETH_IN("skb: {cb: 5}"), 8, 66, "cb must be a list of whole numbers, not '5'"},
	{ETH_IN("skb: {cb: [1, 2, 3, 4, 5, 6]}"), 8, 66, "cb has 5 words at most, not 6"},
	{ETH_IN("skb: {cb: [1, x]}"), 8, 70, "cb must be a whole number, not 'x'"},
	{ETH_IN("xdp: {mark: 5}"), 8, 62,
	 "unknown key 'mark'; xdp takes: ingress_ifindex, rx_queue_index, metadata"},
	{ETH_IN("xdp: {rx_queue_index: 1}"), 8, 61,
	 "rx_queue_index needs ingress_ifindex, the device that has the queue"},
	{ETH_IN("xdp: {metadata: \"0102\"}"), 8, 72,
	 "metadata has 2 bytes; it must have from 4 to 252"},
	{ETH_IN("xdp: {metadata: \"0102030405\"}"), 8, 72,
	 "metadata has 5 bytes; it must be a multiple of 4"},
	{ETH_IN("xdp: {metadata: x}"), 8, 72, "metadata: bytes of two hexadecimal digits"},
	{ETH_IN("xdp: {}, skb: {}"), 8, 70,
	 "an input has one context: ctx_hex, ctx_file, skb or xdp"},
	{ETH_IN("skb: {}, ctx_hex: \"00\""), 8, 74, "an input has one context"},
	{ETH_IN("ctx_hex: ''"), 8, 65, "ctx_hex has 0 bytes; it must have from 1 to 65535"},
	{ETH_IN("ctx_file: /nowhere"), 8, 66, "cannot read ctx_file '/nowhere': No such file"},
};

#define PACKET(p) IN("name: a, packet: {" p "}") /* the first key of the packet is in column 28 */

static const struct bad bad_packets[] = {
	{IN("name: a, packet: x"), 8, 27,
	 "packet must be a mapping such as {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}}, not 'x'"},
	{PACKET("ipv5: {}"), 8, 28,
	 "unknown key 'ipv5' (did you mean 'ipv4'?); packet takes: eth, ipv4, ipv6, tcp, udp, "
	 "tcp_flags, size"},
	{PACKET("ipv4: {src: 10.0.0.1}"), 8, 34, "ipv4 needs the key 'dst'"},
	{PACKET("ipv4: {src: 10.0.0.256, dst: 10.0.0.2}"), 8, 40,
	 "src must be an IPv4 address such as 10.0.0.1, not '10.0.0.256'"},
	{PACKET("ipv4: {src: [], dst: 10.0.0.2}"), 8, 40,
	 "src must be an IPv4 address such as 10.0.0.1, not a list"},
	{PACKET("ipv6: {src: 10.0.0.1, dst: '::1'}"), 8, 40,
	 "src must be an IPv6 address such as 2001:db8::1, not '10.0.0.1'"},
	{PACKET("ipv4: {src: 10.0.0.1, dst: 10.0.0.2, ttl: 256}"), 8, 70,
	 "ttl must be from 0 to 255, not '256'"},
	{PACKET(IPV4 ", ipv6: {}"), 8, 72, "a packet has either ipv4 or ipv6"},
	{PACKET(IPV4 ", udp: {src: 1, dst: 2}, tcp: {src: 1, dst: 2}"), 8, 94,
	 "a packet has either tcp or udp"},
	{PACKET("tcp: {src: 1, dst: 2}"), 8, 27, "a packet with tcp needs ipv4 or ipv6"},
	{PACKET(IPV4 ", tcp_flags: [ack], udp: {src: 1, dst: 2}"), 8, 77,
	 "a packet with tcp_flags needs tcp"},
	{PACKET(IPV4 ", tcp: {src: 1, dst: 2}, tcp_flags: ack"), 8, 100,
	 "tcp_flags must be a list of names, not 'ack'"},
	{PACKET(IPV4 ", tcp: {src: 1, dst: 2}, tcp_flags: [ack, akc]"), 8, 106,
	 "unknown tcp_flags 'akc' (did you mean 'ack'?); there are: fin, syn, rst, psh, ack, urg, "
	 "ece, cwr"},
	{PACKET(IPV4 ", tcp: {src: 1}"), 8, 71, "tcp needs the key 'dst'"},
	{PACKET(IPV4 ", tcp: {src: 65536, dst: 1}"), 8, 77,
	 "src must be from 0 to 65535, not '65536'"},
	{PACKET("eth: {src: 02:00:00:00:00}"), 8, 39,
	 "src must be a MAC address such as 02:00:00:00:00:01, not '02:00"},
	{PACKET("eth: {dst: 02:00:00:00:00:00:00}"), 8, 39, "dst must be a MAC address"},
	{PACKET("eth: {type: 1535}"), 8, 40, "type must be from 1536 to 65535, not '1535'"},
	{PACKET("eth: {type: 2048}, " IPV4), 8, 40, "ipv4 sets the type; leave it out"},
	{PACKET("size: 13"), 8, 34, "size must be from 14 to 65535, not '13'"},
	{PACKET("size: 65536"), 8, 34, "size must be from 14 to 65535, not '65536'"},
	{PACKET(IPV4 ", size: 33"), 8, 72,
	 "size 33 is less than the 34 bytes of the packet's headers"},
	{PACKET(IPV6 ", tcp: {src: 1, dst: 2}, size: 73"), 8, 105,
	 "size 73 is less than the 74 bytes"},
};

#define SWEPT(p) IN("sweep: {" p "}") /* the first key of the sweep is in column 18 */

static const struct bad bad_sweeps[] = {
	{IN("sweep: 5"), 8, 17,
	 "sweep must be a mapping such as {packet: {...}, byte: src_low, from: 0, to: 255}, not "
	 "'5'"},
	{SWEPT("byte: 1"), 8, 17, "a sweep needs the key 'packet' or 'hex'"},
	{SWEPT("packet: {" IPV4 "}"), 8, 17, "sweep needs the key 'byte'"},
	{SWEPT("packet: {" IPV4 "}, hex: " ETH ", byte: 1"), 8, 18,
	 "key 'packet' does not belong to 'hex' but to packet"},
	{SWEPT("hex: " ETH ", byte: src_lo"), 8, 61,
	 "byte must be an offset in the packet or src_low, not 'src_lo' (did you"},
	{SWEPT("hex: " ETH ", byte: []"), 8, 61,
	 "byte must be an offset in the packet or src_low, not a list"},
	{SWEPT("hex: " ETH ", byte: -1"), 8, 61, "byte must be from 0 to 65534, not '-1'"},
	{SWEPT("hex: " ETH ", byte: 14"), 8, 61, "byte 14 is not in the packet of 14 bytes"},
	{SWEPT("hex: " ETH ", byte: src_low"), 8, 61,
	 "src_low needs an IPv4 packet, and this is none"},
	{SWEPT("packet: {" IPV6 "}, byte: src_low"), 8, 82, "src_low needs an IPv4 packet"},
	{SWEPT("hex: " ETH ", byte: 1, to: 256"), 8, 68, "to must be from 0 to 255, not '256'"},
	{SWEPT("hex: " ETH ", byte: 1, from: 2, to: 1"), 8, 17, "a sweep from 2 to 1 is empty"},
};

#define TEST_BAD(table)                                                                            \
	static void test_##table(void **state)                                                     \
	{                                                                                          \
		(void)state;                                                                       \
		for (size_t i = 0; i < ARRAY_LEN(table); i++)                                      \
			expect_bad_at("t.yml", &(table)[i]);                                       \
	}

TEST_BAD(bad_inputs)
TEST_BAD(bad_contexts)
TEST_BAD(bad_packets)
TEST_BAD(bad_sweeps)

#define MIX(order, rest)                                                                           \
	"name: n\nobject: o\nvariants: [{name: a}]\ndrive:\n  - with: step\n    trigger: "         \
	"test-run\n    order: " order "\n    inputs:\n" rest
#define TWO "      - {name: a, hex: " ETH "}\n      - {name: b, hex: " ETH "}\n"

static const struct bad bad_mixes[] = {
	{MIX("zip", TWO), 7, 12, "unknown order 'zip' (did you mean 'zipf'?)"},
	{MIX("random", "      - {name: a, hex: " ETH "}\n"), 7, 12, "two inputs or more"},
	{MIX("random", TWO "      - {name: c, hex: " ETH ", weight: 0}\n"), 11, 64, "weight"},
	{MIX("random", TWO "      - {name: c, hex: " ETH ", weight: 1}\n"), 7, 12, "(1 of 3 have"},
	{MIX("zipf", "      - {name: a, flows: 2, weight: 1, packet: {" IPV4 "}}\n"), 7, 12,
	 "which needs 'order: random'"},
	{MIX("random", TWO "      - {name: c, hex: " ETH ", out_hex: " ETH "}\n"), 7, 12,
	 "input 'c' has out_hex"},
	{MIX("random", "      - {name: a, hex: " ETH ", flows: 2}\n"), 9, 63, "no IP header"},
	{MIX("random", "      - {name: a, packet: {" IPV4 "}, flows: 0}\n"), 9, 74, "flows"},
	{MIX("random", "      - {name: a, packet: {" IPV4 "}, flows: 1048577}\n"), 9, 74, "flows"},
	{MIX("random", "      - {name: a, packet: {" IPV4 ", size: 1500}, flows: 100000}\n"), 9, 86,
	 "100000 flows of 1500 bytes each: the inputs have more than 64 MiB"},
	{MIX("random", "      - {name: a, packet: {" IPV4 "}, flows: 2, out_hex: " ETH "}\n"), 9,
	 86, "out_hex is the output of one packet"},
	{MIX("random", "      - {name: a, packet: {" IPV4 "}, flows: 9, flow_step: 0}\n"), 9, 88,
	 "flow_step"},
	{MIX("random", "      - {name: a, packet: {" IPV4 "}, flow_step: 3}\n"), 9, 78,
	 "flow_step needs 'flows', the number of flows"},
	{MIX("random", "      - {name: a, packet: {" IPV4 "}, flows: 65537, flow_step: 65536}\n"),
	 9, 92, "an odd number makes all of them different"},
	{"name: n\nobject: o\nvariants: [{name: a}]\ndrive:\n  - {with: slope, order: random, "
	 "inputs: [{name: a, hex: " ETH "}]}\n",
	 5, 19, "order"},
	{"name: n\nobject: o\nvariants: [{name: a}]\ndrive:\n  - {with: lines, trigger: test-run, "
	 "order: random, inputs: [{name: a, hex: " ETH "}, {name: b, hex: " ETH "}]}\n",
	 5, 45, "lines times the runs of one input"},
};
TEST_BAD(bad_mixes)

static void test_flows(void **state)
{
	struct bb_scenario *s = must_parse(MIX("random", "      - {name: a, flows: 100000, weight: "
							 "2, packet: {" IPV4 ", udp: {src: 1, dst: "
							 "2}, size: 64}}\n"));
	const struct bb_input *v = inputs_of(s)->v;

	(void)state;
	assert_int_equal(s->drives[0].order, BB_ORDER_RANDOM);
	assert_int_equal(inputs_of(s)->n, 100000);
	assert_string_equal(v[99999].name, "a-99999");
	assert_int_equal(v[0].data[29], 1);
	assert_int_equal(v[3].data[29], 4);
	assert_int_equal(be16(v[3].data + 34), 4);
	assert_true(v[99999].weight == 2);
	bb_scenario__free(s);

	/* The source is 10.0.0.1 + i * 65536. The port stays. */
	s = must_parse(MIX("random", "      - {name: a, flows: 65536, flow_step: 65536, packet: "
				     "{" IPV4 ", udp: {src: 7, dst: 2}, size: 64}}\n"));
	v = inputs_of(s)->v;
	assert_memory_equal(v[1].data + 26, ((const uint8_t[]){10, 1, 0, 1}), 4);
	assert_memory_equal(v[65535].data + 26, ((const uint8_t[]){9, 255, 0, 1}), 4);
	assert_int_equal(be16(v[65535].data + 34), 7);
	bb_scenario__free(s);
}

/* Returns a scenario with `n` sweeps of 256 inputs each, and `more` single inputs. */
static char *many_inputs(size_t n, size_t more, const char *size)
{
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);

	assert_non_null(mem);
	fputs(HEAD, mem);
	for (size_t i = 0; i < n; i++)
		fprintf(mem, "      - {name: s%zu, sweep: {packet: {size: %s}, byte: 0}}\n", i,
			size);
	for (size_t i = 0; i < more; i++)
		fprintf(mem, "      - {name: x%zu, hex: " ETH "}\n", i);
	fclose(mem);
	return text;
}

static void test_limits(void **state)
{
	struct bad bad = {NULL, 8, 7, "can have at most 4096, not 4097; with 'order'"};
	char *text = many_inputs(16, 0, "14"), long_name[160];
	struct bb_scenario *s = must_parse(text);

	(void)state;
	assert_int_equal(inputs_of(s)->n, 4096);
	assert_string_equal(inputs_of(s)->v[4095].name, "s15-255");
	bb_scenario__free(s);
	free(text);
	bad.text = text = many_inputs(16, 1, "14");
	expect_bad_at("t.yml", &bad);
	free(text);
	bad = (struct bad){text = many_inputs(5, 0, "65535"), 12, 16,
			   "the inputs have more than 64 MiB together"};
	expect_bad_at("t.yml", &bad);
	free(text);
	memset(long_name, 'x', 127);
	long_name[127] = '\0';
	if (asprintf(&text, IN("name: %s, sweep: {hex: " ETH ", byte: 0}"), long_name) < 0)
		fail();
	bad = (struct bad){text, 8, 16, "-0' would have more than 128 bytes"};
	expect_bad_at("t.yml", &bad);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_retval),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_context_of_packets),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_tcp_flags),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_checksum_rfc1071),
		cmocka_unit_test(test_checksum_ipv4),
		cmocka_unit_test(test_udp_checksum_is_never_zero),
		cmocka_unit_test(test_usual_frames),
		cmocka_unit_test(test_fix_checksums_of_anything),
		cmocka_unit_test(test_sweep_addresses),
		cmocka_unit_test(test_sweep_bytes),
		cmocka_unit_test(test_pcap),
		cmocka_unit_test(test_bad_pcap),
		cmocka_unit_test(test_bad_inputs),
		cmocka_unit_test(test_bad_contexts),
		cmocka_unit_test(test_bad_packets),
		cmocka_unit_test(test_bad_sweeps),
		cmocka_unit_test(test_bad_mixes),
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
