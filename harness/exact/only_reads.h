/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/target.h"

/* True if the verifier shows that no loaded program of the target can change the map. The verifier
 * shows this if it accepts each program with a map that programs may only read (BPF_F_RDONLY_PROG)
 * instead of `map`. False for LRU maps, because a lookup changes their order. False also if the
 * answer is not known. */
bool bb_target__only_reads(const struct bb_target *t, const struct bb_contents_map *map);
