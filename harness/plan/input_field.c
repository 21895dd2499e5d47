/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the key `inputs` of a scenario: bytes, files, packet captures, sweeps and contexts. */
#include "plan/field.h"

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#define PCAP_DONT_INCLUDE_PCAP_BPF_H /* pcap/bpf.h conflicts with linux/bpf.h */
#include <pcap/dlt.h>
#include <pcap/pcap.h>

#include "base/io.h"
#include "base/parse.h"
#include "plan/packet.h"

#define CAPTURE_MAX_BYTES ((size_t)64 << 20)
/* offset in a frame of `src_low`: 14 bytes of Ethernet and 12 of IPv4 stand before it */
#define SRC_LOW_AT 26u
/* bytes of XDP metadata; older kernels accept at most 32 (xdp_metalen_invalid() in net/xdp.h) */
#define METADATA_MAX_BYTES 252

/* Stores data[len] in the member. `called` names it in messages. */
static int set_bytes(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, const char *called, void *data, size_t len,
		     void *base)
{
	if ((double)len < f->min || (double)len > f->max)
		return bb_yaml__fail(r, node, "%s has %zu bytes; it must have from %.0f to %.0f",
				     called, len, f->min, f->max);
	*(struct bb_bytes *)bb_field__member(f, base) = (struct bb_bytes){data, len};
	return 0;
}

int bb_field__hex(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base)
{
	size_t size, len = 0, at = 0;

	if (node->kind != BB_YAML_TEXT || bb_yaml__is_nothing(node))
		return bb_yaml__fail(r, node, "%s must be a text of hexadecimal bytes, not %s",
				     f->name, bb_yaml__show(node).text);
	size = strlen(node->text) / 2 + 1;
	uint8_t *data = bb_arena__own(r->arena, bb_calloc(1, size));
	if (bb_parse_hex(node->text, data, size, &len, &at))
		return bb_yaml__fail(r, node,
				     "%s: bytes of two hexadecimal digits each are expected; "
				     "character %zu is wrong",
				     f->name, at + 1);
	return set_bytes(r, f, node, f->name, data, len, base);
}

int bb_field__path(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   char **ret_path)
{
	const char *slash = strrchr(r->path, '/');
	size_t folder = slash ? (size_t)(slash - r->path) + 1 : 0;

	if (node->kind != BB_YAML_TEXT || bb_yaml__is_nothing(node) || !*node->text)
		return bb_yaml__fail(r, node, "%s must be the name of a file, not %s", f->name,
				     bb_yaml__show(node).text);
	folder = node->text[0] == '/' ? 0 : folder;
	*ret_path = bb_arena__own(r->arena,
				  bb_asprintf("%.*s%s", (int)folder, r->path, node->text));
	return 0;
}

int bb_field__file(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	char *path, *data = NULL, called[200];
	size_t len = 0;
	int rc = bb_field__path(r, f, node, &path);

	if (rc)
		return rc;
	rc = bb_read_file(path, (size_t)f->max, &data, &len, NULL);
	if (rc == -EFBIG)
		return bb_yaml__fail(r, node, "%s %s has more than %.0f bytes", f->name,
				     bb_yaml__show(node).text, f->max);
	if (rc)
		return bb_yaml__fail(r, node, "cannot read %s %s: %s", f->name,
				     bb_yaml__show(node).text,
				     rc == -EINVAL ? "not a regular file" : strerror(-rc));
	snprintf(called, sizeof(called), "%s %s", f->name, bb_yaml__show(node).text);
	return set_bytes(r, f, node, called, bb_arena__own(r->arena, data), len, base);
}

static void add_copy(struct bb_arena *arena, struct bb_bytes_list *list, const uint8_t *data,
		     size_t len)
{
	BB_PUSH(list->v, list->n,
		(struct bb_bytes){.data = bb_arena__own(arena, bb_memdup(data, len)), .len = len});
}

static int read_packets(pcap_t *pcap, size_t max_packets, struct bb_arena *arena,
			struct bb_bytes_list *list, struct bb_err *err)
{
	const char *type = pcap_datalink_val_to_name(pcap_datalink(pcap));
	struct pcap_pkthdr *h;
	const uint8_t *data;
	int more;

	if (pcap_datalink(pcap) != DLT_EN10MB)
		return bb_fail(err, -EINVAL,
			       "its packets have the link type %s; only Ethernet (EN10MB) is "
			       "supported",
			       type ? type : "unknown");
	while ((more = pcap_next_ex(pcap, &h, &data)) != PCAP_ERROR_BREAK) {
		if (more != 1)
			return bb_fail(err, -EINVAL, "packet %zu: %s", list->n, pcap_geterr(pcap));
		if (list->n == max_packets)
			return bb_fail(err, -EINVAL, "more than %zu packets", max_packets);
		if (h->caplen < h->len)
			return bb_fail(err, -EINVAL,
				       "packet %zu was cut by the capture, %u of its %u bytes are "
				       "there; capture whole packets (tcpdump -s 0)",
				       list->n, h->caplen, h->len);
		if (h->caplen < BB_FRAME_MIN_BYTES || h->caplen > BB_FRAME_MAX_BYTES)
			return bb_fail(err, -EINVAL,
				       "packet %zu has %u bytes; a packet has from %u to %u",
				       list->n, h->caplen, BB_FRAME_MIN_BYTES, BB_FRAME_MAX_BYTES);
		add_copy(arena, list, data, h->caplen);
	}
	return list->n ? 0 : bb_fail(err, -EINVAL, "it holds no packet");
}

int bb_pcap__read(const char *path, size_t max_packets, struct bb_arena *arena,
		  struct bb_bytes_list *ret_list, struct bb_err *err)
{
	struct bb_bytes_list list = {0};
	char *data, why[PCAP_ERRBUF_SIZE] = "";
	pcap_t *pcap = NULL;
	FILE *file;
	size_t len;
	/* libpcap would also open a pipe or an endless device, so read the file here */
	int rc = bb_read_file(path, CAPTURE_MAX_BYTES, &data, &len, NULL);

	if (rc)
		return bb_fail(err, rc, "%s", rc == -EINVAL ? "not a regular file" : strerror(-rc));
	file = len ? fmemopen(data, len, "r") : NULL;
	if (file)
		pcap = pcap_fopen_offline(file, why); /* on success, pcap_close() closes the file */
	if (pcap) {
		rc = read_packets(pcap, max_packets, arena, &list, err);
		pcap_close(pcap);
	} else if (file) {
		fclose(file);
		rc = bb_fail(err, -EINVAL, "not a capture: %s", why);
	} else {
		rc = bb_fail(err, -EINVAL, "the file is empty");
	}
	free(data);
	if (rc)
		free(list.v);
	else
		*ret_list = list;
	return rc;
}

struct xdp {
	struct xdp_md md;
	struct bb_bytes metadata; /* bytes that stand before the packet in memory */
};

static int read_u64(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		    void *base)
{
	uint64_t v = 0;

	if (node->kind != BB_YAML_TEXT || node->quoted || bb_parse_u64(node->text, &v))
		return bb_yaml__fail(r, node,
				     "%s must be a whole number of 64 bits without a sign, not %s",
				     f->name, bb_yaml__show(node).text);
	memcpy(bb_field__member(f, base), &v, sizeof(v));
	return 0;
}

static int read_cb(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	struct __sk_buff *skb = base;
	struct bb_field word = *f;
	int rc = bb_field__check_list(r, f, node, "whole numbers");

	if (!rc && node->n > BB_LEN(skb->cb))
		rc = bb_yaml__fail(r, node, "%s has %zu words at most, not %zu", f->name,
				   BB_LEN(skb->cb), node->n);
	for (size_t i = 0; !rc && i < node->n; i++, word.offset += sizeof(__u32))
		rc = bb_field__u32(r, &word, &node->items[i], base);
	return rc;
}

static const struct bb_type u64 = {.read = read_u64,
				   .schema = "{\"type\": \"integer\", \"minimum\": 0}"},
			    cb = {.read = read_cb,
				  .schema = "{\"type\": \"array\", \"minItems\": 1, "
					    "\"maxItems\": 5, \"items\": {\"type\": \"integer\"}}"};

#define SKB(m) #m, .offset = offsetof(struct __sk_buff, m)
#define XDP(m) #m, .offset = offsetof(struct xdp, md.m)
#define U32 .type = &bb_type_u32, .min = 0, .max

/* Members of __sk_buff that convert___skb_to_skb() in net/bpf/test_run.c accepts, with their
 * ranges. It refuses a context in which another member is not zero. */
static const struct bb_field skb_fields[] = {
	{SKB(mark), U32 = UINT32_MAX},
	{SKB(priority), U32 = UINT32_MAX},
	{SKB(ingress_ifindex), U32 = INT32_MAX},
	{SKB(ifindex), U32 = INT32_MAX},
	{SKB(cb), .type = &cb, .min = 0, .max = UINT32_MAX},
	{SKB(tstamp), .type = &u64},
	{SKB(wire_len), U32 = 65536},
	{SKB(gso_segs), U32 = UINT16_MAX},
	{SKB(gso_size), U32 = UINT16_MAX},
	{SKB(hwtstamp), .type = &u64},
};

/* Members of xdp_md that xdp_convert_md_to_buff() in net/bpf/test_run.c accepts. `data` and
 * `data_end` follow from the packet. */
static const struct bb_field xdp_fields[] = {
	{XDP(ingress_ifindex), U32 = INT32_MAX},
	{XDP(rx_queue_index), U32 = UINT16_MAX},
	{"metadata", &bb_type_bytes, BB_AT(xdp, metadata), .read = bb_field__hex, .min = 4,
	 .max = METADATA_MAX_BYTES},
};

static const struct bb_kind skb_kind = {BB_KIND("skb", "{mark: 5}", skb_fields)};
static const struct bb_kind xdp_kind = {
	BB_KIND("xdp", "{ingress_ifindex: 2, rx_queue_index: 1}", xdp_fields)};

static int read_xdp(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		    void *base)
{
	const struct xdp *xdp = bb_field__member(f, base);
	int rc = bb_type_part.read(r, f, node, base);

	if (!rc && xdp->md.rx_queue_index && !xdp->md.ingress_ifindex)
		return bb_yaml__fail(r, node,
				     "rx_queue_index needs ingress_ifindex, the device that has "
				     "the queue");
	if (!rc && xdp->metadata.len % 4)
		return bb_yaml__fail(r, bb_yaml__get(node, "metadata"),
				     "metadata has %zu bytes; it must be a multiple of 4",
				     xdp->metadata.len);
	return rc;
}

struct bb_phrase bb_ctx__members(enum bb_ctx_kind kind)
{
	const struct bb_kind *k = kind == BB_CTX_SKB ? &skb_kind : &xdp_kind;
	const char *names[BB_KIND_MAX_KEYS];
	size_t n = 0;

	for (; (kind == BB_CTX_SKB || kind == BB_CTX_XDP) && n < k->n_fields; n++)
		names[n] = k->fields[n].name;
	return bb_phrase__join(names, n);
}

const char *bb_ctx__next_skb_member(const struct bb_input *in, size_t *at,
				    struct __sk_buff *ret_alone)
{
	static const uint8_t zeros[sizeof(struct __sk_buff)];

	while (*at < BB_LEN(skb_fields)) {
		const struct bb_field *f = &skb_fields[(*at)++];
		size_t size = f->type == &cb    ? sizeof(ret_alone->cb)
			      : f->type == &u64 ? sizeof(uint64_t)
						: sizeof(uint32_t);

		if (f->offset + size > in->ctx_len || !memcmp(in->ctx + f->offset, zeros, size))
			continue;
		memset(ret_alone, 0, sizeof(*ret_alone));
		/* 1 is valid for every member except wire_len, which must be at least the packet's
		 * length. As an ifindex, 1 is the loopback device. */
		*(uint8_t *)((char *)ret_alone + f->offset) = 1;
		if (f->offset == offsetof(struct __sk_buff, wire_len))
			ret_alone->wire_len = (uint32_t)in->len;
		return f->name;
	}
	return NULL;
}

/* How an item of the list gives its packets or its context. Forms of packets come first. */
enum { HEX, FROM_FILE, PACKET, PCAP, SWEEP, CONTEXT_HEX, CONTEXT_FILE, N_FORMS };

/* The name of a form is also the key that gives it. */
static const struct bb_mode modes[] = {
	[HEX] = {"hex", "hex"},
	[FROM_FILE] = {"file", "file"},
	[PACKET] = {"packet", "packet"},
	[PCAP] = {"pcap", "pcap"},
	[SWEEP] = {"sweep", "sweep"},
	[CONTEXT_HEX] = {"context_hex", "context_hex"},
	[CONTEXT_FILE] = {"context_file", "context_file"},
};
#define IN(form) BB_BIT(form)
#define ANY_FORM (BB_BIT(N_FORMS) - 1)
#define PACKET_FORMS (BB_BIT(CONTEXT_HEX) - 1)

/* An item of the list, as read from the file. It becomes one or several inputs. */
struct entry {
	/* what all its inputs have in common; `name` is NULL if not given, and the other pointers
	 * are NULL */
	struct bb_input common;
	struct bb_bytes data; /* the packet or context of a single input */
	/* packets of several inputs, named by numbers; n is 0 if the item is one input, `data` */
	struct bb_bytes_list many;
	uint32_t first_number; /* number of the first packet in `many` */
	uint32_t flows;        /* number of flows to make from the packet `data`; 0 if not given */
	/* added to source address and port of each flow; 0 if not given, which means 1 */
	uint32_t flow_step;
	struct bb_bytes out;
	struct bb_bytes ctx; /* the packet's context, also that of `skb` or `xdp` */
	struct __sk_buff skb;
	struct xdp xdp;
};

static int read_pcap(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	struct entry *e = base;
	struct bb_err why = {0};
	char *path;
	int rc = bb_field__path(r, f, node, &path);

	if (rc)
		return rc;
	rc = bb_pcap__read(path, BB_MIX_MAX, r->arena, &e->many, &why);
	return rc ? bb_yaml__fail(r, node, "cannot use %s %s: %s", f->name,
				  bb_yaml__show(node).text, why.msg)
		  : 0;
}

#define VALUE(name)                                                                                \
	{                                                                                          \
#name, (uint32_t)name                                                              \
	}
static const struct {
	const char *name;
	uint32_t value;
} retvals[] = {
	VALUE(XDP_ABORTED),   VALUE(XDP_DROP),          VALUE(XDP_PASS),
	VALUE(XDP_TX),        VALUE(XDP_REDIRECT),      VALUE(TC_ACT_UNSPEC),
	VALUE(TC_ACT_OK),     VALUE(TC_ACT_RECLASSIFY), VALUE(TC_ACT_SHOT),
	VALUE(TC_ACT_PIPE),   VALUE(TC_ACT_STOLEN),     VALUE(TC_ACT_QUEUED),
	VALUE(TC_ACT_REPEAT), VALUE(TC_ACT_REDIRECT),   VALUE(TC_ACT_TRAP),
};

static int read_retval(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	struct entry *e = base;
	const char *names[BB_LEN(retvals)];
	const char *word = node->kind == BB_YAML_TEXT ? node->text : "";
	int64_t v = 0;
	int rc = node->quoted ? -EINVAL : bb_parse_i64(word, &v);

	if (rc == -ERANGE || (!rc && (v < INT32_MIN || v > UINT32_MAX)))
		return bb_yaml__fail(r, node, "%s must fit into 32 bits, not %s", f->name,
				     bb_yaml__show(node).text);
	for (size_t i = 0; rc && i < BB_LEN(retvals); i++) {
		names[i] = retvals[i].name;
		if (!strcmp(word, retvals[i].name)) {
			v = retvals[i].value;
			rc = 0;
		}
	}
	if (rc)
		return bb_yaml__fail(r, node,
				     "%s must be a whole number or a name such as XDP_PASS or "
				     "TC_ACT_OK, not %s%s%s",
				     f->name, node->quoted ? "the quoted text " : "",
				     bb_yaml__show(node).text,
				     bb_phrase__suggest(word, names, BB_LEN(names)).text);
	e->common.has_retval = true;
	e->common.retval = (uint32_t)v;
	return 0;
}

/* A sweep: copies of `frame` in which the byte at offset `byte` has the values `from` to `to`. */
struct sweep {
	struct bb_bytes frame;
	bool is_address; /* the key `byte` is src_low, so each copy needs new checksums */
	uint32_t byte, from, to;
};

static int read_swept_byte(const struct bb_reader *r, const struct bb_field *f,
			   const struct bb_yaml *node, void *base)
{
	static const char *const fields[] = {"src_low"};
	const char *word = node->kind == BB_YAML_TEXT ? node->text : "";
	struct sweep *s = base;
	int64_t v = 0;

	if (node->quoted || bb_parse_i64(word, &v)) {
		if (strcmp(word, fields[0]))
			return bb_yaml__fail(r, node,
					     "%s must be an offset in the packet or %s, not %s%s",
					     f->name, fields[0], bb_yaml__show(node).text,
					     bb_phrase__suggest(word, fields, 1).text);
		s->is_address = true;
		v = SRC_LOW_AT;
	}
	if (v < 0 || v >= (int64_t)BB_FRAME_MAX_BYTES)
		return bb_yaml__fail(r, node, "%s must be from 0 to %u, not %s", f->name,
				     BB_FRAME_MAX_BYTES - 1, bb_yaml__show(node).text);
	s->byte = (uint32_t)v;
	return 0;
}

#define PACKET_BYTES .min = BB_FRAME_MIN_BYTES, .max = BB_FRAME_MAX_BYTES
#define FRAME .mapping = &bb_packet_kind
#define OTHER_BYTES .min = 1, .max = BB_FRAME_MAX_BYTES
#define BYTES(type, m, reader) &bb_type_bytes, BB_AT(type, m), .read = (reader)

static const struct bb_type retval = {.read = read_retval,
				      .schema = "{\"type\": [\"integer\", \"string\"], "
						"\"pattern\": \"^(XDP|TC_ACT)_\"}"},
			    swept_byte = {.read = read_swept_byte,
					  .schema = "{\"anyOf\": [{\"type\": \"integer\"}, "
						    "{\"const\": \"src_low\"}]}"};

static const struct bb_field sweep_fields[] = {
	{"packet", BYTES(sweep, frame, bb_field__packet), .with = IN(PACKET), FRAME},
	{"hex", BYTES(sweep, frame, bb_field__hex), .with = IN(HEX), PACKET_BYTES},
	{"byte", &swept_byte, .required = true},
	{"from", &bb_type_u32, BB_AT(sweep, from), .min = 0, .max = UINT8_MAX},
	{"to", &bb_type_u32, BB_AT(sweep, to), .min = 0, .max = UINT8_MAX},
};

static const struct bb_kind sweep_kind = {
	BB_KIND("sweep", "{packet: {...}, byte: src_low, from: 0, to: 255}", sweep_fields),
	BB_MODES(modes),
};

static int read_sweep(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	struct entry *e = base;
	struct sweep s = {.to = UINT8_MAX};
	bool has_hex = node->kind == BB_YAML_MAP && bb_yaml__get(node, "hex");
	int rc = bb_kind__read(r, &sweep_kind, node, has_hex ? IN(HEX) : IN(PACKET), &s);
	const struct bb_yaml *byte = rc ? NULL : bb_yaml__get(node, "byte");

	(void)f;
	if (!rc && !s.frame.data)
		rc = bb_yaml__fail(r, node, "a sweep needs the key 'packet' or 'hex'");
	else if (!rc && s.is_address && !bb_frame__is_ipv4(s.frame.data, s.frame.len))
		rc = bb_yaml__fail(r, byte, "src_low needs an IPv4 packet, and this is none");
	else if (!rc && s.byte >= s.frame.len)
		rc = bb_yaml__fail(r, byte, "byte %u is not in the packet of %zu bytes", s.byte,
				   s.frame.len);
	else if (!rc && s.from > s.to)
		rc = bb_yaml__fail(r, node, "a sweep from %u to %u is empty", s.from, s.to);
	e->first_number = s.from;
	for (uint32_t v = s.from; !rc && v <= s.to; v++) {
		s.frame.data[s.byte] = (uint8_t)v;
		if (s.is_address)
			bb_frame__fix_checksums(s.frame.data, s.frame.len);
		add_copy(r->arena, &e->many, s.frame.data, s.frame.len);
	}
	return rc;
}

static const struct bb_type pcap = {read_pcap, BB_SCHEMA_TEXT}, sweep = {.read = read_sweep};

#define OF_ENTRY(m, reader) BYTES(entry, m, reader)

static const struct bb_field entry_fields[] = {
	{"name", &bb_type_name, BB_AT(entry, common.name)},
	{"hex", OF_ENTRY(data, bb_field__hex), .with = IN(HEX), PACKET_BYTES},
	{"file", OF_ENTRY(data, bb_field__file), .with = IN(FROM_FILE), PACKET_BYTES},
	{"packet", OF_ENTRY(data, bb_field__packet), .with = IN(PACKET), FRAME},
	{"pcap", &pcap, .with = IN(PCAP)},
	{"sweep", &sweep, .with = IN(SWEEP), .mapping = &sweep_kind},
	{"context_hex", OF_ENTRY(data, bb_field__hex), .with = IN(CONTEXT_HEX), OTHER_BYTES},
	{"context_file", OF_ENTRY(data, bb_field__file), .with = IN(CONTEXT_FILE), OTHER_BYTES},
	{"ctx_hex", OF_ENTRY(ctx, bb_field__hex), .with = PACKET_FORMS, OTHER_BYTES},
	{"ctx_file", OF_ENTRY(ctx, bb_field__file), .with = PACKET_FORMS, OTHER_BYTES},
	{"skb", &bb_type_part, BB_AT(entry, skb), .with = PACKET_FORMS, .of = &skb_kind},
	{"xdp", &bb_type_part, BB_AT(entry, xdp), .with = PACKET_FORMS, .of = &xdp_kind,
	 .read = read_xdp},
	{"flows", &bb_type_u32, BB_AT(entry, flows), .with = IN(HEX) | IN(FROM_FILE) | IN(PACKET),
	 .min = 1, .max = BB_MIX_MAX},
	{"flow_step", &bb_type_u32, BB_AT(entry, flow_step),
	 .with = IN(HEX) | IN(FROM_FILE) | IN(PACKET), .min = 1, .max = UINT32_MAX},
	{"weight", &bb_type_double, BB_AT(entry, common.weight), .min = 1e-9, .max = 1e9},
	{"retval", &retval, BB_AT(entry, common.retval)},
	{"out_hex", OF_ENTRY(out, bb_field__hex), .with = IN(HEX) | IN(FROM_FILE) | IN(PACKET),
	 OTHER_BYTES},
};

const struct bb_kind bb_input_kind = {
	BB_KIND("an input", "{name: syn, hex: \"0800 4500\"}", entry_fields),
	BB_MODES(modes),
};

struct builder {
	const struct bb_reader *r;
	struct bb_inputs inputs;
	size_t bytes;
};

/* Appends input `nth` of the entry to b->inputs. */
static int add_input(struct builder *b, const struct bb_yaml *node, const struct entry *e,
		     const struct bb_bytes *packet, size_t nth)
{
	const struct bb_bytes *metadata = &e->xdp.metadata;
	const char *name = e->common.name ? e->common.name : "";
	struct bb_arena *arena = b->r->arena;
	struct bb_input *in = bb_append(&b->inputs.v, &b->inputs.n, sizeof(*in));
	struct xdp_md *md;

	*in = e->common;
	in->where = (struct bb_where){node->line, node->col};
	in->data = packet->data;
	in->len = packet->len;
	in->out = e->out.data;
	in->out_len = e->out.len;
	if (e->many.n)
		in->name = bb_arena__own(arena, bb_asprintf("%s%s%zu", name, *name ? "-" : "",
							    e->first_number + nth));
	in->ctx = in->ctx_len ? bb_arena__own(arena, bb_memdup(e->ctx.data, in->ctx_len)) : NULL;
	if (in->ctx_kind == BB_CTX_XDP) {
		/* The kernel expects the metadata before the packet's bytes. `data` is its length,
		 * and `data_end` is the length of metadata and packet together. */
		if (metadata->len) {
			in->data = bb_arena__extend(arena, metadata->data, metadata->len, in->len,
						    1);
			memcpy(in->data + metadata->len, packet->data, in->len);
		}
		in->len += metadata->len;
		md = (struct xdp_md *)(void *)in->ctx;
		md->data = (__u32)metadata->len;
		md->data_end = (__u32)in->len;
	}
	if (strlen(in->name) > BB_NAME_MAX_BYTES)
		return bb_yaml__fail(b->r, node, "the name '%s' would have more than %d bytes",
				     in->name, BB_NAME_MAX_BYTES);
	b->bytes += in->len + in->ctx_len;
	if (b->bytes > BB_INPUTS_MAX_BYTES)
		return bb_yaml__fail(b->r, node, "the inputs have more than %zu MiB together",
				     BB_INPUTS_MAX_BYTES >> 20);
	return 0;
}

/* Finds the bytes of the context. Fails if a second key gives a context. */
static int choose_ctx(const struct bb_reader *r, const struct bb_yaml *node, struct entry *e)
{
	static const struct {
		const char *key;
		enum bb_ctx_kind kind;
	} kinds[] = {{"ctx_hex", BB_CTX_BYTES},
		     {"ctx_file", BB_CTX_BYTES},
		     {"skb", BB_CTX_SKB},
		     {"xdp", BB_CTX_XDP}};

	for (size_t i = 0; i < node->n; i++)
		for (size_t k = 0; k < BB_LEN(kinds); k++) {
			if (strcmp(node->items[2 * i].text, kinds[k].key))
				continue;
			if (e->common.ctx_kind != BB_CTX_NONE)
				return bb_yaml__fail(r, &node->items[2 * i + 1],
						     "an input has one context: ctx_hex, ctx_file, "
						     "skb or xdp");
			e->common.ctx_kind = kinds[k].kind;
		}
	if (e->common.ctx_kind == BB_CTX_SKB)
		e->ctx = (struct bb_bytes){(uint8_t *)&e->skb, sizeof(e->skb)};
	else if (e->common.ctx_kind == BB_CTX_XDP)
		e->ctx = (struct bb_bytes){(uint8_t *)&e->xdp.md, sizeof(e->xdp.md)};
	e->common.ctx_len = e->ctx.len;
	return 0;
}

/* Makes copies of the packet with different source addresses and source ports. */
static int make_flows(const struct builder *b, const struct bb_yaml *node, struct entry *e)
{
	const struct bb_yaml *flows = bb_yaml__get(node, "flows");
	uint32_t step = e->flow_step ? e->flow_step : 1;
	/* an order needs two inputs, also in an outline */
	uint32_t made = b->r->is_outline && e->flows > 2 ? 2 : e->flows;

	/* copies i and k are one flow if i * step and k * step are equal in their low 32 bits */
	if ((uint64_t)e->flows * (step & -step) > UINT64_C(1) << 32)
		return bb_yaml__fail(b->r, bb_yaml__get(node, "flow_step"),
				     "with this step, some of the %u flows are the same; an odd "
				     "number makes all of them different",
				     e->flows);
	if (e->out.data)
		return bb_yaml__fail(b->r, bb_yaml__get(node, "out_hex"),
				     "out_hex is the output of one packet, and flows makes many");
	if (b->bytes + e->data.len * e->flows > BB_INPUTS_MAX_BYTES)
		return bb_yaml__fail(b->r, flows,
				     "%u flows of %zu bytes each: the inputs have more than %zu "
				     "MiB together; make fewer flows, or a shorter packet",
				     e->flows, e->data.len, BB_INPUTS_MAX_BYTES >> 20);
	for (uint32_t i = 0; i < made; i++) {
		add_copy(b->r->arena, &e->many, e->data.data, e->data.len);
		if (!bb_frame__move_flow(e->many.v[i].data, e->data.len, i * step))
			return bb_yaml__fail(b->r, flows,
					     "flows differ in IP addresses and ports, and this "
					     "packet has no IP header after its Ethernet header");
	}
	return 0;
}

/* The first key that is in modes[] sets the item's mode. If there is none, the message is about the
 * first unknown key, which may be a misspelling of one. */
static int read_entry(struct builder *b, const struct bb_yaml *node)
{
	const struct bb_yaml *name, *where;
	const char *forms[N_FORMS];
	struct entry e = {0};
	unsigned int form = N_FORMS;
	size_t n;

	for (size_t i = 0; i < N_FORMS; i++)
		forms[i] = modes[i].name;
	for (size_t i = 0; node->kind == BB_YAML_MAP && form == N_FORMS && i < node->n; i++)
		for (form = 0; form < N_FORMS && strcmp(node->items[2 * i].text, forms[form]);)
			form++;
	int rc = bb_kind__read(b->r, &bb_input_kind, node, form < N_FORMS ? BB_BIT(form) : ANY_FORM,
			       &e);
	if (!rc && form == N_FORMS)
		rc = bb_yaml__fail(b->r, node, "an input needs one of the keys: %s",
				   bb_phrase__join(forms, N_FORMS).text);
	if (!rc && !e.common.name && form != SWEEP)
		rc = bb_yaml__fail(b->r, node, "an input needs the key 'name'");
	if (!rc && e.flow_step && !e.flows)
		rc = bb_yaml__fail(b->r, bb_yaml__get(node, "flow_step"),
				   "flow_step needs 'flows', the number of flows");
	rc = rc ? rc : choose_ctx(b->r, node, &e);
	rc = rc || !e.flows ? rc : make_flows(b, node, &e);
	e.common.is_context = form == CONTEXT_HEX || form == CONTEXT_FILE;
	name = rc ? NULL : bb_yaml__get(node, "name");
	where = name ? name : node;
	n = e.many.n ? e.many.n : 1;
	if (!rc && b->inputs.n + n > BB_MIX_MAX)
		rc = bb_yaml__fail(b->r, where,
				   "a mix can have at most %zu inputs, and with this it has %zu",
				   BB_MIX_MAX, b->inputs.n + n);
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_input(b, where, &e, e.many.n ? &e.many.v[i] : &e.data, i);
	free(e.many.v);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	const struct bb_input *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name) ?: BB_ORDER(*x, *y);
}

int bb_field__inputs(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	struct bb_inputs *dest = bb_field__member(f, base);
	const struct bb_input **order, *twice = NULL, *first = NULL;
	struct builder b = {.r = r};
	int rc = bb_field__check_list(r, f, node,
				      "mappings such as {name: syn, hex: \"0800 4500\"}");

	for (size_t i = 0; !rc && i < node->n; i++)
		rc = read_entry(&b, &node->items[i]);
	order = rc ? NULL : bb_calloc(b.inputs.n, sizeof(*order));
	for (size_t i = 0; order && i < b.inputs.n; i++)
		order[i] = &b.inputs.v[i];
	if (order)
		qsort(order, b.inputs.n, sizeof(*order), by_name);
	/* report the repetition that comes first in the file */
	for (size_t i = 1; order && i < b.inputs.n; i++)
		if (!strcmp(order[i - 1]->name, order[i]->name) && (!twice || order[i] < twice)) {
			first = order[i - 1];
			twice = order[i];
		}
	if (twice)
		rc = bb_yaml__fail(r, &twice->where,
				   "input '%s' is given twice; the first is at %u:%u", twice->name,
				   first->where.line, first->where.col);
	free(order);
	*dest = b.inputs;
	bb_arena__own(r->arena, dest->v);
	return rc;
}
