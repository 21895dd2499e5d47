/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The signal that asked us to stop (SIGINT, SIGTERM, SIGHUP); 0: none. The handler sets it; code
 * that goes on after a signal sets it to 0; long loops read it. */
extern volatile sig_atomic_t bb_stop_signal;

/* The signal handler calls this function. NULL: no function. base/deadline.h uses it to break
 * off long system calls. */
extern void (*volatile bb_stop_now)(void);

/* Installs the handlers. A second signal of one kind ends the process at once. */
void bb_stop__install(void);
