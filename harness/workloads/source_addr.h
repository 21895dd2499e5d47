/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_WORKLOADS_SOURCE_ADDR_H
#define BB_WORKLOADS_SOURCE_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "fun_xdp.h"

/*
 * The records that the versions of fun_xdp (bpf/fun_xdp.bpf.c) push for an address, by functions of
 * user space: `addr` is the address's four bytes read on a little-endian machine. Is something
 * pushed? Then *ret_kind says of which kind; else it is left as it was. v0 pushes nothing.
 */
bool bb_source_addr_v1(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v2(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v3(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v4(uint32_t addr, enum bb_source_addr *ret_kind);

#endif
