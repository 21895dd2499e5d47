/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/target.h"

/* True if no loaded program of the target can change the map: the verifier accepts each of them
 * with a map that programs may only read (BPF_F_RDONLY_PROG) instead. False for LRU maps, because a
 * lookup changes their order, and false if unknown. */
bool bb_target__only_reads(const struct bb_target *t, const struct bb_contents_map *map);
