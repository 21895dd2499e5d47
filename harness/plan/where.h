/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_WHERE_H
#define BB_PLAN_WHERE_H

#include <stdint.h>

struct bb_where { /* where in the file an item stands, 1-based, for messages */
	uint32_t line, col;
};

#endif
