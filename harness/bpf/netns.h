/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Private network namespaces and devices in them. Each namespace is held by a descriptor only, and
 * programs are attached by BPF links, so everything disappears with this process, however it ends.
 * Every function but bb_netns__enter() and bb_netns__leave() returns with the calling thread in the
 * namespace in which the function was called.
 *
 * Functions return 0, or -errno with a message; -ENOTSUP if network namespaces or veth devices are
 * not available.
 */

/* Makes a network namespace. It ends when `*ret_fd` and all other descriptors of it are closed. */
int bb_netns__open(int *ret_fd, struct bb_err *err);

/* bb_netns__enter() moves the calling thread into the namespace; `*ret_home_fd` is a descriptor of
 * the namespace from which the thread comes. bb_netns__leave() moves the thread back there and
 * closes `home_fd`. It returns `rc`, or -errno with a message if the thread cannot go back. */
int bb_netns__enter(int netns_fd, int *ret_home_fd, struct bb_err *err);
int bb_netns__leave(int home_fd, int rc, struct bb_err *err);

/* Brings up a device of the calling thread's network namespace. Returns 0 or -errno. */
int bb_rtnl__up(unsigned int ifindex);

/*
 * Veth devices to which XDP programs are attached, as they are in production. The devices are down,
 * so no packet reaches the programs; they run by test runs. The kernel calls an attached XDP
 * program directly, through its XDP dispatcher. It calls a program that is not attached through a
 * pointer, which costs 10 ns more with retpolines (net/core/filter.c, kernel/bpf/dispatcher.c).
 *
 * The dispatcher finds a program by a binary search over the addresses of all attached programs.
 * Among three programs, the one with the highest address takes two instructions less than the
 * others. So empty programs are attached, too, until the number of programs is a power of two.
 */
struct bb_xdp_net {
	int netns_fd;
	/* ports[n_ports]: one for each device, because a device can have only one program */
	struct bb_xdp_port *ports;
	size_t n_ports;
	/*
	 * true: at most one program is attached at a time. Attaching a program takes the place of
	 * the one before, and bb_xdp_net__detach() detaches at once. So the dispatcher always takes
	 * the same number of instructions. Set it before the first program is attached.
	 */
	bool one_at_a_time;
};

int bb_xdp_net__open(struct bb_xdp_net *ret_net, struct bb_err *err);
void bb_xdp_net__close(struct bb_xdp_net *net); /* does nothing if `net` is closed or zeroed */

/* Attaches a program to a free port by a BPF link (Linux 5.9). `*ret_port` is the port's index, for
 * bb_xdp_net__detach(). Returns -ENOTSUP if this is not permitted or there is no veth. Takes
 * milliseconds, because the kernel rebuilds its dispatcher and waits for all CPUs. */
int bb_xdp_net__attach(struct bb_xdp_net *net, int prog_fd, size_t *ret_port, struct bb_err *err);

/* Makes the port free for another program. Unless `one_at_a_time` is set, the old program stays
 * attached until then, or until bb_xdp_net__close(). The reason: replacing a program changes the
 * kernel's dispatcher once, whereas detaching and attaching changes it twice. */
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
#define BB_VETH_MAX_FRAME 1514u       /* bytes: MTU of 1500 and the Ethernet header */

struct bb_veth_pair {
	int netns_fd[BB_VETH_ENDS]; /* the namespace of each end */
	unsigned int ifindex[BB_VETH_ENDS];
	int near_counts_fd; /* the open file /proc/net/dev of the near end's namespace */
	int link_fd;        /* link of the program at the far end; -1: no program is attached */
	int near_link_fd;   /* link of the program at the near end; -1: no program is attached */
	uint32_t prog_type; /* type of the program at the far end, BPF_PROG_TYPE_* */
};

int bb_veth_pair__open(struct bb_veth_pair *ret_pair, struct bb_err *err);
void bb_veth_pair__close(struct bb_veth_pair *p); /* does nothing if closed or zeroed */

/* Attaches a program to the far end, in place of the previous one. XDP programs are attached in
 * native mode, sched_cls programs at the ingress (tcx, Linux 6.6). `prog_type` is BPF_PROG_TYPE_*.
 * Returns -ENOTSUP for other types, if attaching is not permitted, or without tcx. */
int bb_veth_pair__put_on(struct bb_veth_pair *p, int prog_fd, uint32_t prog_type,
			 struct bb_err *err);

/* Attaches an XDP program to both ends. Otherwise the near end would not receive the packets that
 * the far end's program sends: a veth device needs an XDP program itself for that. */
int bb_veth_pair__receive(struct bb_veth_pair *p, int prog_fd, struct bb_err *err);

/* Reads how many packets the near end has received. */
int bb_veth_pair__received(const struct bb_veth_pair *p, uint64_t *ret_packets, struct bb_err *err);

/* Reads how many packets the near end has sent. By then, the far end has received all of them. */
int bb_veth_pair__sent(const struct bb_veth_pair *p, uint64_t *ret_packets, struct bb_err *err);

/* Parses the text of /proc/net/dev: the numbers of packets that `device` received and
 * transmitted. Returns 0 or -EPROTO. */
int bb_veth_parse_packets(const char *text, const char *device, uint64_t *ret_received,
			  uint64_t *ret_sent);
