/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Closes a link or perf event in a new thread, and returns when that thread has begun. The kernel
 * detaches the program at once, but then close() waits for an RCU grace period: 50 ms for a
 * tracepoint, 200 ms for a uprobe (Linux 6.18). */
void bb_close_later(int fd);

/* Waits until all threads of bb_close_later() have ended. */
void bb_close_later__wait(void);
