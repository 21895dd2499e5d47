/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/test_run_types.h"

#include <linux/bpf.h>

#include "bpf/prog_type.h"

#define PROG_TYPE_SYSCALL 31 /* since Linux 5.14 */

/* Ethernet, IPv4, UDP and 22 zeros: the shortest frame, 64 bytes. Addresses of RFC 5737, port 9. */
static const uint8_t udp_frame[64] = {
	0x02, 0, 0,   0,  0, 0x02, 0x02, 0, 0,  0,  0,    0x01, 0x08, 0x00,
	0x45, 0, 0,   50, 0, 0,    0x40, 0, 64, 17, 0xb6, 0xb7, 192,  0,
	2,    1, 192, 0,  2, 2,    0,    9, 0,  9,  0,    30,   0,    0,
};

/* the most arguments that a raw tracepoint has (MAX_BPF_FUNC_ARGS) */
static const uint8_t no_arguments[12 * sizeof(uint64_t)];

/* The kernel refuses a sk_lookup context without an address family. */
static const struct bpf_sk_lookup ipv4_udp_lookup = {.family = 2 /* AF_INET */,
						     .protocol = 17 /* UDP */};

#define BYTES(of) .data = (uint8_t *)(uintptr_t)(of), .len = sizeof(of)

static const struct bb_input frame = {.name = (char *)(uintptr_t) "udp-64", BYTES(udp_frame)};
static const struct bb_input arguments = {.name = (char *)(uintptr_t) "zeros",
					  .is_context = true,
					  BYTES(no_arguments)};
static const struct bb_input nothing = {.name = (char *)(uintptr_t) "none", .is_context = true};
static const struct bb_input lookup = {
	.name = (char *)(uintptr_t) "ipv4-udp",
	.is_context = true,
	.data = (uint8_t *)(uintptr_t)&ipv4_udp_lookup,
	.len = sizeof(ipv4_udp_lookup),
};

static const char *const xdp_names[] = {"XDP_ABORTED", "XDP_DROP",     "XDP_PASS",
					"XDP_TX",      "XDP_REDIRECT", NULL};
static const char *const tc_names[] = {
	"TC_ACT_OK",     "TC_ACT_RECLASSIFY", "TC_ACT_SHOT",     "TC_ACT_PIPE", "TC_ACT_STOLEN",
	"TC_ACT_QUEUED", "TC_ACT_REPEAT",     "TC_ACT_REDIRECT", "TC_ACT_TRAP", NULL,
};
static const char *const sk_names[] = {"SK_DROP", "SK_PASS", NULL};
static const char *const nf_names[] = {"NF_DROP", "NF_ACCEPT", NULL};

#define A_PACKET                                                                                   \
	.takes_repeat = true, .has_output = true, .otherwise = &frame,                             \
	.wants = "a packet of 14 bytes to about a page, with its Ethernet header and the IP "      \
		 "header that this announces"

#define AN_SKB                                                                                     \
	A_PACKET, .takes_ctx = BB_CTX_SKB,                                                         \
		  .ctx_wants = "devices that there are in this network namespace, a wire_len no "  \
			       "less than the packet, and zero "                                   \
			       "in all members of struct __sk_buff but"

static const struct bb_test_run_type types[] = {
	{BPF_PROG_TYPE_SOCKET_FILTER, "socket_filter", AN_SKB},
	{BPF_PROG_TYPE_SCHED_CLS, "sched_cls", AN_SKB, .retvals = tc_names},
	{BPF_PROG_TYPE_SCHED_ACT, "sched_act", AN_SKB, .retvals = tc_names},
	{BPF_PROG_TYPE_CGROUP_SKB, "cgroup_skb", AN_SKB, .retvals = sk_names},
	{BPF_PROG_TYPE_LWT_IN, "lwt_in", AN_SKB},
	{BPF_PROG_TYPE_LWT_OUT, "lwt_out", AN_SKB},
	{BPF_PROG_TYPE_LWT_XMIT, "lwt_xmit", AN_SKB},
	{
		BPF_PROG_TYPE_XDP,
		"xdp",
		A_PACKET,
		.takes_ctx = BB_CTX_XDP,
		.retvals = xdp_names,
		.ctx_wants = "a device that there is in this network namespace, one of its receive "
			     "queues, in data the length of the metadata and in data_end that of "
			     "all; by name",
	},
	{
		BPF_PROG_TYPE_FLOW_DISSECTOR,
		"flow_dissector",
		A_PACKET,
		.takes_ctx = BB_CTX_BYTES,
		.ctx_wants = "a struct bpf_flow_keys with nothing but flags",
	},
	{
		.prog_type = BPF_PROG_TYPE_SK_LOOKUP,
		.name = "sk_lookup",
		.takes_context = true,
		.takes_repeat = true,
		.otherwise = &lookup,
		.wants = "a struct bpf_sk_lookup with its family, its protocol and no socket",
		.retvals = sk_names,
	},
	{
		.prog_type = BB_PROG_TYPE_NETFILTER,
		.name = "netfilter",
		.takes_repeat = true,
		.otherwise = &frame,
		.wants = "an Ethernet frame with an IPv4 or IPv6 header",
		.retvals = nf_names,
		.takes_ctx = BB_CTX_BYTES,
		.ctx_wants = "a struct nf_hook_state with nothing but hook and pf",
	},
	{
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.name = "raw_tracepoint",
		.takes_context = true,
		.otherwise = &arguments,
		.wants = "a context of 8 bytes an argument, 12 arguments at most, with all that "
			 "the program reads",
	},
	{
		.prog_type = PROG_TYPE_SYSCALL,
		.name = "syscall",
		.takes_context = true,
		.writes_context = true,
		.otherwise = &nothing,
		.wants = "a context as long as the program reads, 65535 bytes at most",
	},
};

/* Advice for types without a test run. Such a type that is not listed runs only under its real
 * event. */
static const struct {
	uint32_t prog_type;
	const char *instead;
} instead[] = {
	{BPF_PROG_TYPE_PERF_EVENT, "'trigger: page-fault' makes them run, and so does 'with: "
				   "in-situ'"},
	{BPF_PROG_TYPE_TRACING, "it would call the kernel's own test functions, not the function "
				"that they are attached to"},
	{BPF_PROG_TYPE_TRACEPOINT, "a raw_tp program on the same tracepoint has one"},
};

int bb_test_run_type__refuse(uint32_t prog_type, struct bb_err *err)
{
	const char *words = "they run only under their real event";

	for (size_t i = 0; i < BB_LEN(instead); i++)
		if (instead[i].prog_type == prog_type)
			words = instead[i].instead;
	return bb_fail(err, -ENOTSUP,
		       "programs of type %s have no test run in this kernel ('trigger: test-run'): "
		       "%s",
		       bb_prog_type_name(prog_type).text, words);
}

int bb_test_run_type__find(uint32_t prog_type, const struct bb_test_run_type **ret_type,
			   struct bb_err *err)
{
	*ret_type = BB_FIND(types, BB_LEN(types), it->prog_type == prog_type);
	return *ret_type ? 0 : bb_test_run_type__refuse(prog_type, err);
}

int bb_test_run_type__check(const struct bb_test_run_type *type, const char *program,
			    const struct bb_input *in, struct bb_err *err)
{
	static const char *const names[] =
		{[BB_CTX_BYTES] = "ctx_hex", [BB_CTX_SKB] = "skb", [BB_CTX_XDP] = "xdp"};

	if (in->is_context != type->takes_context)
		return bb_fail(err, -EINVAL, "input '%s' is a %s; a %s program ('%s') takes %s",
			       in->name, in->is_context ? "context" : "packet", type->name, program,
			       type->wants);
	if (in->ctx && in->ctx_kind != BB_CTX_BYTES && in->ctx_kind != type->takes_ctx)
		return bb_fail(err, -EINVAL,
			       "input '%s' has the key '%s'; a %s program ('%s') takes '%s'",
			       in->name, names[in->ctx_kind], type->name, program,
			       names[type->takes_ctx]);
	if (in->out && !type->has_output && !type->writes_context)
		return bb_fail(err, -EINVAL,
			       "input '%s' expects an output; a test run of a %s program has none",
			       in->name, type->name);
	return 0;
}

struct bb_retval_words bb_test_run_type__retval(const struct bb_test_run_type *type,
						uint32_t retval)
{
	struct bb_retval_words w;
	const char *name = NULL;

	for (uint32_t i = 0; type->retvals && type->retvals[i] && !name; i++)
		if (i == retval)
			name = type->retvals[i];
	if (retval == UINT32_MAX && type->retvals == tc_names)
		name = "TC_ACT_UNSPEC";
	snprintf(w.text, sizeof(w.text), "%lld%s%s%s",
		 (long long)((int32_t)retval < 0 ? (int32_t)retval : (int64_t)retval),
		 name ? " (" : "", name ? name : "", name ? ")" : "");
	return w;
}
