/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_HELPER_H
#define BB_EXACT_HELPER_H

#include <stdint.h>

/* Facts about the kernel's helpers, by number. Their list is closed: newer functions are kfuncs. */

/* How many registers from r1 on a helper reads; 5 for one that nothing is known of. */
unsigned int bb_helper__args(int32_t id);

/* "map_lookup_elem"; NULL: unknown to the headers this was built with. */
const char *bb_helper__name(int32_t id);

#endif
