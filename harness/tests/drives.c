/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linked with tests, benches and fuzzers: the drives are there before main(), as main.c has them.
 */
#include "drivers/driver.h"

static __attribute__((constructor)) void begin(void)
{
	bb_drivers__register();
}
