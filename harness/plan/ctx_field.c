/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/ctx_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define METADATA_MAX_BYTES                                                                         \
	252 /* a multiple of 4; in older kernels 32 (net/xdp.h, xdp_metalen_invalid) */

struct xdp {
	struct xdp_md md;
	struct bb_bytes metadata;
};

static int read_u64(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		    void *base)
{
	uint64_t v = 0;

	if (node->kind != BB_YAML_TEXT || node->quoted || bb_parse_u64(node->text, &v))
		return bb_yaml__fail(r, node,
				     "%s must be a whole number of 64 bits without a sign, not %s",
				     f->name, bb_yaml__show(node).text);
	memcpy((char *)base + f->offset, &v, sizeof(v));
	return 0;
}

static int read_cb(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	struct bb_field word = *f;
	int rc = bb_field__check_list(r, f, node, "whole numbers");

	if (!rc && node->n > ARRAY_LEN(((struct __sk_buff *)base)->cb))
		rc = bb_yaml__fail(r, node, "%s has %zu words at most, not %zu", f->name,
				   ARRAY_LEN(((struct __sk_buff *)base)->cb), node->n);
	for (size_t i = 0; !rc && i < node->n; i++, word.offset += sizeof(__u32))
		rc = bb_field__u32(r, &word, &node->items[i], base);
	return rc;
}

static const struct bb_type u64 = {.read = read_u64}, cb = {.read = read_cb};

#define SKB(m) #m, .offset = offsetof(struct __sk_buff, m)
#define XDP(m) #m, .offset = offsetof(struct xdp, md.m)
#define U32 .type = &bb_type_u32, .min = 0, .max

/* What convert___skb_to_skb() takes, and within which bounds (net/bpf/test_run.c); anything else
 * must be zero. */
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

/* And xdp_convert_md_to_buff(); data and data_end follow from the packet. */
static const struct bb_field xdp_fields[] = {
	{XDP(ingress_ifindex), U32 = INT32_MAX},
	{XDP(rx_queue_index), U32 = UINT16_MAX},
	{"metadata", &bb_type_bytes, BB_BYTES_AT(xdp, metadata), .read = bb_field__hex, .min = 4,
	 .max = METADATA_MAX_BYTES},
};

static const struct bb_kind skb_kind = {BB_KIND("skb", "{mark: 5}", skb_fields)};
static const struct bb_kind xdp_kind = {
	BB_KIND("xdp", "{ingress_ifindex: 2, rx_queue_index: 1}", xdp_fields)};

struct bb_phrase bb_ctx_spec__members(enum bb_ctx_kind kind)
{
	const struct bb_kind *k = kind == BB_CTX_SKB ? &skb_kind : &xdp_kind;
	const char *names[BB_KIND_MAX_KEYS];
	size_t n = 0;

	for (; (kind == BB_CTX_SKB || kind == BB_CTX_XDP) && n < k->n_fields; n++)
		names[n] = k->fields[n].name;
	return bb_phrase__join(names, n);
}

static size_t size_of_skb_field(const struct bb_field *f)
{
	if (f->type == &cb)
		return sizeof(((struct __sk_buff *)0)->cb);
	return f->type == &u64 ? sizeof(uint64_t) : sizeof(uint32_t);
}

const char *bb_ctx_spec__next_skb_member(const struct bb_input *in, size_t *at,
					 struct __sk_buff *ret_alone)
{
	static const uint8_t zeros[sizeof(struct __sk_buff)];

	while (*at < ARRAY_LEN(skb_fields)) {
		const struct bb_field *f = &skb_fields[(*at)++];

		if (f->offset + size_of_skb_field(f) > in->ctx_len ||
		    !memcmp(in->ctx + f->offset, zeros, size_of_skb_field(f)))
			continue;
		memset(ret_alone, 0, sizeof(*ret_alone));
		*(uint8_t *)((char *)ret_alone + f->offset) = 1; /* the loopback device, for one */
		if (f->offset == offsetof(struct __sk_buff, wire_len))
			ret_alone->wire_len = (uint32_t)in->len;
		return f->name;
	}
	return NULL;
}

/* The member, which nothing has set yet. */
static int begin(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		 void *base, enum bb_ctx_kind kind, struct bb_ctx_spec **ret_c)
{
	struct bb_ctx_spec *c = (struct bb_ctx_spec *)(void *)((char *)base + f->offset);

	if (c->kind != BB_CTX_NONE)
		return bb_yaml__fail(r, node,
				     "an input has one context: ctx_hex, ctx_file, skb or xdp");
	c->kind = kind;
	*ret_c = c;
	return 0;
}

int bb_field__ctx_hex(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	struct bb_field bytes = *f;
	struct bb_ctx_spec *c = NULL;
	int rc = begin(r, f, node, base, BB_CTX_BYTES, &c);

	bytes.offset += offsetof(struct bb_ctx_spec, bytes);
	return rc ? rc : bb_field__hex(r, &bytes, node, base);
}

int bb_field__ctx_file(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	struct bb_field bytes = *f;
	struct bb_ctx_spec *c = NULL;
	int rc = begin(r, f, node, base, BB_CTX_BYTES, &c);

	bytes.offset += offsetof(struct bb_ctx_spec, bytes);
	return rc ? rc : bb_field__file(r, &bytes, node, base);
}

int bb_field__skb(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base)
{
	struct bb_ctx_spec *c = NULL;
	int rc = begin(r, f, node, base, BB_CTX_SKB, &c);

	if (rc)
		return rc;
	c->bytes = (struct bb_bytes){.data = calloc(1, sizeof(struct __sk_buff)),
				     .len = sizeof(struct __sk_buff)};
	return c->bytes.data ? bb_kind__read(r, &skb_kind, node, 0, c->bytes.data)
			     : bb_fail_nomem(r->err);
}

int bb_field__xdp(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base)
{
	struct xdp xdp = {0};
	struct bb_ctx_spec *c = NULL;
	int rc = begin(r, f, node, base, BB_CTX_XDP, &c);

	if (rc)
		return rc;
	rc = bb_kind__read(r, &xdp_kind, node, 0, &xdp);
	c->metadata = xdp.metadata;
	if (!rc && xdp.md.rx_queue_index && !xdp.md.ingress_ifindex)
		rc = bb_yaml__fail(r, node,
				   "rx_queue_index needs ingress_ifindex, the device that has the "
				   "queue");
	if (!rc && xdp.metadata.len % 4)
		rc = bb_yaml__fail(r, bb_yaml__get(node, "metadata"),
				   "metadata has %zu bytes; it must be a multiple of 4",
				   xdp.metadata.len);
	if (rc)
		return rc;
	c->bytes = (struct bb_bytes){.data = malloc(sizeof(xdp.md)), .len = sizeof(xdp.md)};
	if (!c->bytes.data)
		return bb_fail_nomem(r->err);
	memcpy(c->bytes.data, &xdp.md, sizeof(xdp.md));
	return 0;
}

/* To the kernel the metadata is the first part of the packet, and the context says how long both
 * are. */
static int put_metadata(const struct bb_bytes *metadata, struct bb_input *in)
{
	struct xdp_md *md = (struct xdp_md *)(void *)in->ctx;
	uint8_t *data = realloc(in->data, metadata->len + in->len);

	if (!data)
		return -ENOMEM;
	in->data = data;
	if (metadata->len) {
		memmove(data + metadata->len, data, in->len);
		memcpy(data, metadata->data, metadata->len);
	}
	in->len += metadata->len;
	md->data = (__u32)metadata->len;
	md->data_end = (__u32)in->len;
	return 0;
}

int bb_ctx_spec__give(const struct bb_ctx_spec *c, struct bb_input *in)
{
	if (c->kind == BB_CTX_NONE)
		return 0;
	in->ctx = malloc(c->bytes.len);
	if (!in->ctx)
		return -ENOMEM;
	memcpy(in->ctx, c->bytes.data, c->bytes.len);
	in->ctx_len = c->bytes.len;
	in->ctx_kind = c->kind;
	return c->kind == BB_CTX_XDP ? put_metadata(&c->metadata, in) : 0;
}

static const struct bb_field ctx_rows[] = {
	{NULL, &bb_type_bytes, BB_BYTES_AT(bb_ctx_spec, bytes)},
	{NULL, &bb_type_bytes, BB_BYTES_AT(bb_ctx_spec, metadata)},
};

const struct bb_kind bb_ctx_kind = {BB_ROWS(bb_ctx_spec, ctx_rows)};
