/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fun_xdp.h"

/*
 * The versions v1 to v4 of fun_xdp (bpf/fun_xdp.bpf.c) as functions of user space. `addr` holds the
 * four bytes of an address as a little-endian machine reads them. Each function returns true if its
 * version pushes something for this address. `*ret_kind` then receives the kind that is pushed;
 * otherwise it does not change. v0 has no function, because it pushes nothing.
 */
bool bb_source_addr_v1(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v2(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v3(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v4(uint32_t addr, enum bb_source_addr *ret_kind);
