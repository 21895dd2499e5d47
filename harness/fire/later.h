/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Closes a link or perf event in a new thread, because close() waits for an RCU grace period: 50 ms
 * for a tracepoint, 200 ms for a uprobe (Linux 6.18). The program is detached on return. */
void bb_close_later(int fd);

void bb_close_later__wait(void);
