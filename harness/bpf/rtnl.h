/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_RTNL_H
#define BB_BPF_RTNL_H

#include <stdint.h>

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
