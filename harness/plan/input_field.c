/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/field.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "plan/bytes.h"
#include "plan/ctx_field.h"
#include "plan/input.h"
#include "plan/packet.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SRC_LOW_AT                                                                                 \
	26u /* in a frame: 14 bytes of Ethernet, 12 of IPv4 before the source address              \
	     */

/* The forms of an input, by the key that makes one. */
enum { HEX, FROM_FILE, PACKET, PCAP, SWEEP, CONTEXT_HEX, CONTEXT_FILE }; /* packets first */

static const char *const forms[] = {
	[HEX] = "hex",
	[FROM_FILE] = "file",
	[PACKET] = "packet",
	[PCAP] = "pcap",
	[SWEEP] = "sweep",
	[CONTEXT_HEX] = "context_hex",
	[CONTEXT_FILE] = "context_file",
};
static const struct bb_mode modes[] = {
	[HEX] = {"hex", "hex"},
	[FROM_FILE] = {"file", "file"},
	[PACKET] = {"packet", "packet"},
	[PCAP] = {"pcap", "pcap"},
	[SWEEP] = {"sweep", "sweep"},
	[CONTEXT_HEX] = {"context_hex", "context_hex"},
	[CONTEXT_FILE] = {"context_file", "context_file"},
};
#define ANY_FORM (BB_BIT(ARRAY_LEN(forms)) - 1)
#define PACKET_FORMS (BB_BIT(CONTEXT_HEX) - 1)

/* One item of the list, which may stand for many inputs. */
struct entry {
	char *name;                /* NULL: not given */
	struct bb_bytes data;      /* of one input */
	struct bb_bytes_list many; /* or of many, named by number */
	uint32_t first_number;
	bool has_retval;
	uint32_t retval;
	struct bb_bytes out;
	struct bb_ctx_spec ctx;
};

struct sweep {
	struct bb_bytes frame;
	bool is_address; /* byte: src_low */
	uint32_t byte, from, to;
};

/* The list so far, and where each input stands, for the message on a name given twice. */
struct builder {
	const struct bb_reader *r;
	struct bb_inputs inputs;
	const struct bb_yaml **where;
	size_t bytes;
};

static int read_pcap(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	struct entry *e = base;
	char *path = NULL;
	struct bb_err why = {0};
	int rc = bb_field__path(r, f, node, &path);

	if (rc)
		return rc;
	rc = bb_pcap__read(path, BB_INPUTS_MAX, &e->many, &why);
	free(path);
	if (rc)
		return bb_yaml__fail(r, node, "cannot use %s %s: %s", f->name,
				     bb_yaml__show(node).text, why.msg);
	return 0;
}

/* Return values by the names that programs use for them. */
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
	const char *names[ARRAY_LEN(retvals)];
	const char *word = node->kind == BB_YAML_TEXT ? node->text : "";
	int64_t v = 0;
	int rc = node->quoted ? -EINVAL : bb_parse_i64(word, &v);

	if (rc == -ERANGE || (!rc && (v < INT32_MIN || v > UINT32_MAX)))
		return bb_yaml__fail(r, node, "%s must fit into 32 bits, not %s", f->name,
				     bb_yaml__show(node).text);
	for (size_t i = 0; rc && i < ARRAY_LEN(retvals); i++) {
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
				     bb_phrase__suggest(word, names, ARRAY_LEN(names)).text);
	e->has_retval = true;
	e->retval = (uint32_t)v;
	return 0;
}

static int read_swept_byte(const struct bb_reader *r, const struct bb_field *f,
			   const struct bb_yaml *node, void *base)
{
	static const char *const fields[] = {"src_low"};
	struct sweep *s = base;
	int64_t v = 0;

	if (node->kind != BB_YAML_TEXT || node->quoted || bb_parse_i64(node->text, &v)) {
		const char *word = node->kind == BB_YAML_TEXT ? node->text : "";

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
#define OTHER_BYTES .min = 1, .max = BB_FRAME_MAX_BYTES
#define IN(form) BB_BIT(form)
#define BYTES(type, m, reader) &bb_type_bytes, BB_BYTES_AT(type, m), .read = (reader)

static const struct bb_type retval = {.read = read_retval}, swept_byte = {.read = read_swept_byte};

static const struct bb_field sweep_fields[] = {
	{"packet", BYTES(sweep, frame, bb_field__packet), .with = IN(PACKET)},
	{"hex", BYTES(sweep, frame, bb_field__hex), .with = IN(HEX), PACKET_BYTES},
	{"byte", &swept_byte, .required = true},
	{"from", &bb_type_u32, BB_AT(sweep, from), .min = 0, .max = UINT8_MAX},
	{"to", &bb_type_u32, BB_AT(sweep, to), .min = 0, .max = UINT8_MAX},
};

static const struct bb_kind sweep_kind = {
	BB_KIND("sweep", "{packet: {...}, byte: src_low, from: 0, to: 255}", sweep_fields),
	BB_MODES(modes),
};

static int check_sweep(const struct bb_reader *r, const struct bb_yaml *node, const struct sweep *s)
{
	const struct bb_yaml *byte = bb_yaml__get(node, "byte");

	if (s->is_address && !bb_frame__is_ipv4(s->frame.data, s->frame.len))
		return bb_yaml__fail(r, byte, "src_low needs an IPv4 packet, and this is none");
	if (s->byte >= s->frame.len)
		return bb_yaml__fail(r, byte, "byte %u is not in the packet of %zu bytes", s->byte,
				     s->frame.len);
	if (s->from > s->to)
		return bb_yaml__fail(r, node, "a sweep from %u to %u is empty", s->from, s->to);
	return 0;
}

static int read_sweep(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	struct entry *e = base;
	struct sweep s = {.to = UINT8_MAX};
	bool has_hex = node->kind == BB_YAML_MAP && bb_yaml__get(node, "hex");
	int rc = bb_kind__read(r, &sweep_kind, node, has_hex ? IN(HEX) : IN(PACKET), &s);

	(void)f;
	if (!rc && !s.frame.data)
		rc = bb_yaml__fail(r, node, "a sweep needs the key 'packet' or 'hex'");
	rc = rc ? rc : check_sweep(r, node, &s);
	e->first_number = s.from;
	for (uint32_t v = s.from; !rc && v <= s.to; v++) {
		s.frame.data[s.byte] = (uint8_t)v;
		if (s.is_address)
			bb_frame__fix_checksums(s.frame.data, s.frame.len);
		if (bb_bytes_list__add(&e->many, s.frame.data, s.frame.len))
			rc = bb_fail_nomem(r->err);
	}
	free(s.frame.data);
	return rc;
}

static const struct bb_field bytes_rows[] = {{NULL, &bb_type_bytes, BB_AT(bb_bytes, data)}};
static const struct bb_kind bytes_kind = {BB_ROWS(bb_bytes, bytes_rows)};

#define OF_ENTRY(m, reader) BYTES(entry, m, reader)
#define MANY(reader)                                                                               \
	&bb_type_list, BB_LIST_AT(entry, many.v, many.n), .read = (reader), .of = &bytes_kind
#define CTX(reader) &bb_type_part, BB_AT(entry, ctx), .read = (reader), .of = &bb_ctx_kind

static const struct bb_field entry_fields[] = {
	{"name", &bb_type_name, BB_AT(entry, name)},
	{"hex", OF_ENTRY(data, bb_field__hex), .with = IN(HEX), PACKET_BYTES},
	{"file", OF_ENTRY(data, bb_field__file), .with = IN(FROM_FILE), PACKET_BYTES},
	{"packet", OF_ENTRY(data, bb_field__packet), .with = IN(PACKET)},
	{"pcap", MANY(read_pcap), .with = IN(PCAP)},
	{"sweep", MANY(read_sweep), .with = IN(SWEEP)},
	{"context_hex", OF_ENTRY(data, bb_field__hex), .with = IN(CONTEXT_HEX), OTHER_BYTES},
	{"context_file", OF_ENTRY(data, bb_field__file), .with = IN(CONTEXT_FILE), OTHER_BYTES},
	{"ctx_hex", CTX(bb_field__ctx_hex), .with = PACKET_FORMS, OTHER_BYTES},
	{"ctx_file", CTX(bb_field__ctx_file), .with = PACKET_FORMS, OTHER_BYTES},
	{"skb", CTX(bb_field__skb), .with = PACKET_FORMS},
	{"xdp", CTX(bb_field__xdp), .with = PACKET_FORMS},
	{"retval", &retval, BB_AT(entry, retval)},
	{"out_hex", OF_ENTRY(out, bb_field__hex), .with = IN(HEX) | IN(FROM_FILE) | IN(PACKET),
	 OTHER_BYTES},
};

static const struct bb_kind entry_kind = {
	BB_KIND("an input", "{name: syn, hex: \"0800 4500\"}", entry_fields),
	BB_MODES(modes),
};

static const struct bb_field input_rows[] = {
	{NULL, &bb_type_text, BB_AT(bb_input, name)},
	{NULL, &bb_type_bytes, BB_LIST_AT(bb_input, data, len)},
	{NULL, &bb_type_bytes, BB_LIST_AT(bb_input, ctx, ctx_len)},
	{NULL, &bb_type_bytes, BB_LIST_AT(bb_input, out, out_len)},
};

const struct bb_kind bb_input_kind = {BB_ROWS(bb_input, input_rows)};

/* Takes over `data`, on failure too. `number` < 0: the name is the entry's own. */
static int add_input(struct builder *b, const struct bb_yaml *node, const struct entry *e,
		     uint8_t *data, size_t len, int64_t number, bool is_context)
{
	struct bb_input *in = &b->inputs.v[b->inputs.n];
	int n;

	b->where[b->inputs.n++] = node;
	*in = (struct bb_input){.data = data,
				.len = len,
				.is_context = is_context,
				.has_retval = e->has_retval,
				.retval = e->retval};
	if (number < 0)
		n = asprintf(&in->name, "%s", e->name);
	else
		n = asprintf(&in->name, "%s%s%lld", e->name ? e->name : "", e->name ? "-" : "",
			     (long long)number);
	if (n < 0) {
		in->name = NULL;
		return bb_fail_nomem(b->r->err);
	}
	if (bb_ctx_spec__give(&e->ctx, in))
		return bb_fail_nomem(b->r->err);
	if (n > BB_NAME_MAX_BYTES)
		return bb_yaml__fail(b->r, node, "the name '%s' would have more than %d bytes",
				     in->name, BB_NAME_MAX_BYTES);
	b->bytes += in->len + in->ctx_len;
	if (b->bytes > BB_INPUTS_MAX_BYTES)
		return bb_yaml__fail(b->r, node, "the inputs have more than %zu MiB together",
				     BB_INPUTS_MAX_BYTES >> 20);
	return 0;
}

static int make_room(struct builder *b, const struct bb_yaml *node, size_t more)
{
	size_t n = b->inputs.n + more;
	struct bb_input *v;
	const struct bb_yaml **where;

	if (n > BB_INPUTS_MAX)
		return bb_yaml__fail(b->r, node,
				     "a drive can have at most %u inputs, and with this it has %zu",
				     BB_INPUTS_MAX, n);
	v = reallocarray(b->inputs.v, n, sizeof(*v));
	if (!v)
		return bb_fail_nomem(b->r->err);
	b->inputs.v = v;
	where = reallocarray(b->where, n, sizeof(const struct bb_yaml *));
	if (!where)
		return bb_fail_nomem(b->r->err);
	b->where = where;
	return 0;
}

static int add_entry(struct builder *b, const struct bb_yaml *node, struct entry *e,
		     unsigned int form)
{
	const struct bb_yaml *name = bb_yaml__get(node, "name");
	const struct bb_yaml *where = name ? name : node;
	bool is_context = form == CONTEXT_HEX || form == CONTEXT_FILE;
	int rc = make_room(b, where, e->many.n ? e->many.n : 1);

	if (!rc && !e->many.n) {
		rc = add_input(b, where, e, e->data.data, e->data.len, -1, is_context);
		e->data.data = NULL;
		b->inputs.v[b->inputs.n - 1].out = e->out.data;
		b->inputs.v[b->inputs.n - 1].out_len = e->out.len;
		e->out.data = NULL;
	}
	for (size_t i = 0; !rc && i < e->many.n; i++) {
		rc = add_input(b, where, e, e->many.v[i].data, e->many.v[i].len,
			       (int64_t)(e->first_number + i), false);
		e->many.v[i].data = NULL;
	}
	return rc;
}

/* The form is the first key that makes one. Without any, wrong keys are complained about first: one
 * may be a slip. */
static int read_entry(struct builder *b, const struct bb_yaml *node)
{
	struct entry e = {0};
	unsigned int form = ARRAY_LEN(forms);
	int rc;

	for (size_t i = 0; node->kind == BB_YAML_MAP && form == ARRAY_LEN(forms) && i < node->n;
	     i++)
		for (form = 0;
		     form < ARRAY_LEN(forms) && strcmp(node->items[2 * i].text, forms[form]);
		     form++)
			;
	rc = bb_kind__read(b->r, &entry_kind, node,
			   form < ARRAY_LEN(forms) ? BB_BIT(form) : ANY_FORM, &e);
	if (!rc && form == ARRAY_LEN(forms))
		rc = bb_yaml__fail(b->r, node, "an input needs one of the keys: %s",
				   bb_phrase__join(forms, ARRAY_LEN(forms)).text);
	if (!rc && !e.name && form != SWEEP)
		rc = bb_yaml__fail(b->r, node, "an input needs the key 'name'");
	if (!rc)
		rc = add_entry(b, node, &e, form);
	bb_kind__done(&entry_kind, &e);
	return rc;
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct bb_input *v = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int order = strcmp(v[i].name, v[j].name);

	return order ? order : (i > j) - (i < j);
}

static int check_names(const struct builder *b)
{
	const struct bb_inputs *in = &b->inputs;
	size_t *order = calloc(in->n, sizeof(*order)), twice = SIZE_MAX, first = 0;

	if (!order)
		return bb_fail_nomem(b->r->err);
	for (size_t i = 0; i < in->n; i++)
		order[i] = i;
	qsort_r(order, in->n, sizeof(*order), by_name, in->v);
	for (size_t i = 1; i < in->n; i++) {
		if (strcmp(in->v[order[i - 1]].name, in->v[order[i]].name) || order[i] > twice)
			continue;
		first = order[i - 1];
		twice = order[i];
	}
	free(order);
	if (twice == SIZE_MAX)
		return 0;
	return bb_yaml__fail(b->r, b->where[twice],
			     "input '%s' is given twice; the first is at %u:%u", in->v[twice].name,
			     b->where[first]->line, b->where[first]->col);
}

/* What f describes is empty yet. */
int bb_field__inputs(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	struct bb_inputs *dest = (struct bb_inputs *)(void *)((char *)base + f->offset);
	struct builder b = {.r = r};
	int rc = bb_field__check_list(r, f, node,
				      "mappings such as {name: syn, hex: \"0800 4500\"}");

	for (size_t i = 0; !rc && i < node->n; i++)
		rc = read_entry(&b, &node->items[i]);
	if (!rc)
		rc = check_names(&b);
	free(b.where);
	*dest = b.inputs;
	return rc;
}
