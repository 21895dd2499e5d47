/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_PACKET_FIELD_H
#define BB_PLAN_PACKET_FIELD_H

#include "plan/field.h"

/*
 * Reader of struct bb_bytes from {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, tcp: {src: 1234, dst: 80},
 * size: 64}: a generated frame (plan/packet.h). `eth`, `ipv4` or `ipv6`, `tcp` or `udp`, and
 * `size`, the frame's length, all may be left out.
 */
int bb_field__packet(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base);

#endif
