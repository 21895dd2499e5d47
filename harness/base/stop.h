/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_STOP_H
#define BB_BASE_STOP_H

#include "base/std.h"

/* The signal that asked us to stop (SIGINT, SIGTERM, SIGHUP), or 0. Long loops look at it; the
 * handler only sets it. */
extern volatile sig_atomic_t bb_stop_signal;

/* The handler calls it, if it is not NULL: base/deadline.h breaks off long system calls. */
extern void (*volatile bb_stop_now)(void);

/* Catch those signals from now on. A second one of the same kind ends the process at once. */
void bb_stop__install(void);

#endif
