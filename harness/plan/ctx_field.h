/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_CTX_FIELD_H
#define BB_PLAN_CTX_FIELD_H

#include <linux/bpf.h>

#include "plan/bytes.h"
#include "plan/field.h"
#include "plan/input.h"

/* The context of a packet as an entry of `inputs:` gives it, once for all packets that it stands
 * for. */
struct bb_ctx_spec {
	enum bb_ctx_kind kind;
	struct bb_bytes bytes;
	struct bb_bytes metadata; /* xdp: the bytes in front of the packet */
};

/*
 * Readers of struct bb_ctx_spec:
 *
 * - ctx_hex: "05 00 00 00", ctx_file: a.bin: bytes of the structure; the rest of it is zero
 * - skb: {mark: 5, cb: [1, 2]}: a struct __sk_buff, of which the kernel accepts these members
 * - xdp: {ingress_ifindex: 2, rx_queue_index: 1, metadata: "01 00 00 00"}: a struct xdp_md
 */
bb_read_value bb_field__ctx_hex, bb_field__ctx_file, bb_field__skb, bb_field__xdp;

/* The members of the structure that may be set by name, for messages; "" where there are none. */
struct bb_phrase bb_ctx_spec__members(enum bb_ctx_kind kind);

/*
 * To learn which member a kernel refuses: the name of the input's next skb member from *at on that
 * is set, and that member alone, with a value that is right wherever the member is known. NULL:
 * there is no more.
 */
const char *bb_ctx_spec__next_skb_member(const struct bb_input *in, size_t *at,
					 struct __sk_buff *ret_alone);

/* Give the input, which has its packet, a context of its own. 0 or -ENOMEM. */
int bb_ctx_spec__give(const struct bb_ctx_spec *c, struct bb_input *in);
extern const struct bb_kind bb_ctx_kind;

#endif
