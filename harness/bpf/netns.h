/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_NETNS_H
#define BB_BPF_NETNS_H

#include "base/err.h"

#include <stdint.h>

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

/*
 * The few requests to rtnetlink that devices of our own need, in the calling thread's network
 * namespace; 0 or -errno, as the kernel says it.
 */

/* A new pair of veth devices, both down. The peer goes to `peer_netns_fd`; -1: to the same
 * namespace. */
int bb_rtnl__add_veth(const char *name, const char *peer, int peer_netns_fd);

int bb_rtnl__up(unsigned int ifindex);

/* IPv4 `addr` (host order) with a prefix of `prefix` bits. */
int bb_rtnl__add_addr(unsigned int ifindex, uint32_t addr, uint8_t prefix);

/* A permanent neighbour: IPv4 `addr` is at `mac`, so no ARP is sent. */
int bb_rtnl__add_neigh(unsigned int ifindex, uint32_t addr, const uint8_t mac[6]);

/* Change the hardware address. */
int bb_rtnl__set_mac(unsigned int ifindex, const uint8_t mac[6]);

/* The kernel's errors that mean "not available here" become -ENOTSUP, for the caller to skip. */
int bb_rtnl__unsupported_or(int rc);

#endif
