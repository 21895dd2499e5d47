/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_PROG_TYPE_H
#define BB_BPF_PROG_TYPE_H

#include <stdint.h>

/* 6.4: newer than headers and libbpf of Debian 12 */
#define BB_PROG_TYPE_NETFILTER 32u
#define BB_ATTACH_NETFILTER 45u

struct bb_prog_type_name {
	char text[32];
};

/* The kernel's word for a program type, "xdp" or "sched_cls"; "type-99" where libbpf does not know
 * it. */
struct bb_prog_type_name bb_prog_type_name(uint32_t type);

#endif
