/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_OWN_FUNCTION_H
#define BB_FIRE_OWN_FUNCTION_H

#include <stdint.h>

/*
 * A function that does nothing, to put programs of functions on (BB_AT_OWN_FUNCTION): they find
 * these six values where the arguments of a function are, and `ret` where its result is.
 */
uint64_t bb_own_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
			 uint64_t ret);

#endif
