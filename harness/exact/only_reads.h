/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/target.h"

/* True if the verifier shows that no loaded program of the target can change the map. For this, it
 * must accept each program with the map replaced by one that programs may only read
 * (BPF_F_RDONLY_PROG). False if that is not known, and for LRU maps, whose order a lookup
 * changes. */
bool bb_target__only_reads(const struct bb_target *t, const struct bb_contents_map *map);
