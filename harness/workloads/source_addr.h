/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"
#include "fun_xdp.h"

/* The versions v1 to v4 of fun_xdp (bpf/fun_xdp.bpf.c) as functions of user space. v0 has no
 * function, because it pushes nothing. `addr` has the four bytes of an address as a little-endian
 * machine reads them. Each function returns true, with the value in `*ret_kind`, if its version of
 * the program pushes a value to the queue for this address. */
bool bb_source_addr_v1(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v2(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v3(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v4(uint32_t addr, enum bb_source_addr *ret_kind);
