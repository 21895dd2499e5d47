/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_INPUT_FIELD_H
#define BB_PLAN_INPUT_FIELD_H

#include "plan/field.h"

/*
 * Reader of struct bb_inputs from a list of mappings, in one of these forms each. File names are
 * relative to the scenario's folder.
 *
 * - {name: a, hex: "0800 4500 ..."}: these bytes
 * - {name: a, file: a.bin}: the bytes of a file
 * - {name: a, packet: {ipv4: {...}, tcp: {...}}}: a generated frame, see plan/packet_field.h
 * - {name: a, pcap: a.pcap}: every packet of a capture: a-0, a-1, ...
 * - {sweep: {packet: {...}, byte: src_low}}: 256 frames that differ in one byte, called 0, 1, ...;
 *   with a name, a-0, a-1, ...
 * - {name: a, context_hex: "00"}, {name: a, context_file: a.bin}: a context, for types without a
 *   packet
 *
 * Beside a packet, or many of them, there may be its context: `ctx_hex`, `ctx_file`, `skb`, `xdp`
 * (plan/ctx_field.h).
 *
 * `retval`, a number or a name such as XDP_PASS or TC_ACT_OK, is the expected return value of the
 * program; `out_hex`, not for many at once nor for contexts, the packet that it is expected to
 * leave, behind its metadata where it has some. Both are of the variants, not of their floor.
 *
 * The base of a sweep is `packet` or `hex`; `from` and `to` (0 and 255) bound the values. `byte` is
 * the offset of a byte of the frame, and nothing else is changed then, or `src_low`: the low byte
 * of the IPv4 source address as a program on a little-endian machine reads it, without bpf_ntohl(),
 * that is the first of its four bytes: N of N.0.0.1. Checksums are kept right then.
 */
#define BB_INPUTS_MAX 4096u
#define BB_INPUTS_MAX_BYTES ((size_t)64 << 20) /* all together */

int bb_field__inputs(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base);

#endif
