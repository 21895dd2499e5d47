/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_OPEN_AS_H
#define BB_BASE_OPEN_AS_H

#include <sys/types.h>

/* open(2), close-on-exec, with the rights of that user where we are root: in a child, which hands
 * the descriptor over. An fd or -errno. */
int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags);

#endif
