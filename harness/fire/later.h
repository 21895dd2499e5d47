/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_LATER_H
#define BB_FIRE_LATER_H

/*
 * close(2) of a link or perf event by a thread of its own. The kernel takes the program
 * off its hook at once, and then waits for a grace period of RCU before close() returns: 50 ms
 * for a tracepoint, 200 ms for a uprobe (Linux 6.18). Returns when the thread has begun.
 */
void bb_close_later(int fd);

/* Until all of them have gone. */
void bb_close_later__wait(void);

#endif
