/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_USER_H
#define BB_BASE_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* Root becomes that user for good, groups and all; nothing for others, and for root itself. 0 or
 * -errno. */
int bb_become_user(uid_t uid, gid_t gid);

/* Root of another user namespace has its capabilities over that namespace, not over BPF and perf.
 */
bool bb_user__is_initial_namespace(void);

#endif
