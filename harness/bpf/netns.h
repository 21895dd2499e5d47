/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Private network namespaces and devices in them. Each namespace is held by a descriptor only, and
 * programs are attached by BPF links, so everything disappears with this process, however it ends.
 * Every function returns with the calling thread in its own namespace again.
 *
 * Functions return 0, or -errno with a message; -ENOTSUP if network namespaces or veth devices are
 * not available.
 */
int bb_netns__open(int *ret_fd, struct bb_err *err);

/* Enter moves the calling thread into the namespace. Leave moves it back and closes `home_fd`;
 * it returns `rc`, or its own error with a message. */
int bb_netns__enter(int netns_fd, int *ret_home_fd, struct bb_err *err);
int bb_netns__leave(int home_fd, int rc, struct bb_err *err);

/* Brings up a device of the calling thread's network namespace. Returns 0 or the kernel's
 * -errno. */
int bb_rtnl__up(unsigned int ifindex);

/*
 * Veth devices to which XDP programs are attached. The devices are down, so no packet reaches the
 * programs. The kernel calls an attached XDP program directly, through its XDP dispatcher. It calls
 * any other program through a pointer, which costs 10 ns more with retpolines (net/core/filter.c,
 * kernel/bpf/dispatcher.c). In production, programs are attached.
 */
struct bb_xdp_net {
	int netns_fd;
	struct bb_xdp_port *ports; /* one for each device, because a device takes one program */
	size_t n_ports;
};

int bb_xdp_net__open(struct bb_xdp_net *ret_net, struct bb_err *err);
void bb_xdp_net__close(struct bb_xdp_net *net); /* does nothing if closed or zeroed */

/* Attaches a program by a BPF link (Linux 5.9). *ret_port is for bb_xdp_net__detach(). -ENOTSUP if
 * this is not permitted or there is no veth. Takes milliseconds, because the kernel rebuilds its
 * dispatcher and waits for all CPUs. */
int bb_xdp_net__attach(struct bb_xdp_net *net, int prog_fd, size_t *ret_port, struct bb_err *err);

/* Frees the port. The program stays attached until another one replaces it or the namespace is
 * closed. The reason is that replacing a program changes the kernel's dispatcher once, whereas
 * detaching and attaching changes it twice. */
void bb_xdp_net__detach(struct bb_xdp_net *net, size_t port);

/*
 * Two connected veth devices, each up and in a namespace of its own. A packet sent from the near
 * end arrives at the far end, where a program is attached. No other packets run the program: IPv6
 * is off, which prevents router solicitations, and neighbours are permanent entries, which prevents
 * ARP. The kernel handles a received packet on the CPU that sent it.
 */
enum bb_veth_end { BB_VETH_NEAR, BB_VETH_FAR, BB_VETH_ENDS };

#define BB_VETH_NEAR_ADDR 0x0a000001u /* 10.0.0.1, host order */
#define BB_VETH_FAR_ADDR 0x0a000002u  /* 10.0.0.2, host order */
#define BB_VETH_MAX_FRAME 1514u       /* MTU of 1500 and the Ethernet header */

struct bb_veth_pair {
	int netns_fd[BB_VETH_ENDS]; /* for sockets of either end */
	unsigned int ifindex[BB_VETH_ENDS];
	int near_counts_fd; /* open /proc/net/dev of the near end */
	int link_fd;        /* link of the program; -1 means none */
	int near_link_fd;   /* link of the program at the near end; -1 means none */
	uint32_t prog_type; /* type of the link's program */
};

int bb_veth_pair__open(struct bb_veth_pair *ret_pair, struct bb_err *err);
void bb_veth_pair__close(struct bb_veth_pair *p); /* does nothing if closed or zeroed */

/* Attaches a program to the far end instead of the previous one. XDP programs are attached in
 * native mode, sched_cls programs at the ingress (tcx, Linux 6.6). `prog_type` is BPF_PROG_TYPE_*.
 * -ENOTSUP for other types, if not permitted, or without tcx. */
int bb_veth_pair__put_on(struct bb_veth_pair *p, int prog_fd, uint32_t prog_type,
			 struct bb_err *err);

/* Attaches an XDP program to both ends, so that each end receives the packets that XDP programs
 * send from the other end. */
int bb_veth_pair__receive(struct bb_veth_pair *p, int prog_fd, struct bb_err *err);

/* Reads how many packets the near end has received. */
int bb_veth_pair__received(const struct bb_veth_pair *p, uint64_t *ret_packets, struct bb_err *err);

/* Reads how many packets the near end has sent. The far end has then received all of them. */
int bb_veth_pair__sent(const struct bb_veth_pair *p, uint64_t *ret_packets, struct bb_err *err);

/* Parses the text of /proc/net/dev: the numbers of packets that `device` received and
 * transmitted. Returns 0 or -EPROTO. */
int bb_veth_parse_packets(const char *text, const char *device, uint64_t *ret_received,
			  uint64_t *ret_sent);
