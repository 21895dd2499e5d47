/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linked with tests, benches and fuzzers. Registers the drives before main(), as main.c does. */
#include "drivers/driver.h"

static __attribute__((constructor)) void begin(void)
{
	bb_drivers__register();
}
