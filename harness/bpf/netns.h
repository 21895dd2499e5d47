/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_NETNS_H
#define BB_BPF_NETNS_H

#include "base/err.h"

/*
 * Network namespaces that nobody else has. Each is held by a descriptor and by nothing else, so it
 * goes with this process, however it ends, and its devices with it. 0, or -errno with a message.
 */

/* Make one; the calling thread stays in its own. -ENOTSUP with the reason where there can be none.
 */
int bb_netns__open(int *ret_fd, struct bb_err *err);

/* Into that namespace, and home again: leave() closes *home_fd. It takes and returns `rc`, or says
 * that it failed itself. */
int bb_netns__enter(int netns_fd, int *ret_home_fd, struct bb_err *err);
int bb_netns__leave(int home_fd, int rc, struct bb_err *err);

#endif
