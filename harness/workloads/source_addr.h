/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fun_xdp.h"

/*
 * The versions v1 to v4 of fun_xdp (bpf/fun_xdp.bpf.c) as functions of user space: what a version
 * pushes for the address `addr`. `addr` has the address's four bytes as a little-endian machine
 * reads them. Return true if something is pushed; `*ret_kind` then receives its kind, and does not
 * change otherwise. v0 has no function, because it pushes nothing.
 */
bool bb_source_addr_v1(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v2(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v3(uint32_t addr, enum bb_source_addr *ret_kind);
bool bb_source_addr_v4(uint32_t addr, enum bb_source_addr *ret_kind);
