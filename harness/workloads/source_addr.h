/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_WORKLOADS_SOURCE_ADDR_H
#define BB_WORKLOADS_SOURCE_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "fun_xdp.h"

/*
 * What the versions of fun_xdp (bpf/fun_xdp.bpf.c) push for an address, as functions of user space.
 * `addr` has the address's four bytes as a little-endian machine reads them. Returns true if
 * something is pushed, and *ret_kind receives its kind; otherwise *ret_kind does not change. v0
 * pushes nothing.
 */
bool bb_source_addr_v1(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v2(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v3(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v4(uint32_t addr, enum bb_source_addr *ret_kind);

#endif
