/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Private network namespaces, and devices in them. A namespace is held only by a descriptor, and
 * programs are attached by BPF links, so nothing remains when this process ends. Functions that
 * cannot get a namespace or a veth device fail with -ENOTSUP. Only bb_netns__enter() and
 * bb_netns__leave() change the namespace of the calling thread. */

int bb_netns__open(int *ret_fd, struct bb_err *err);

/* bb_netns__leave() moves the calling thread back to the namespace `home_fd` and closes `home_fd`.
 * It returns `rc`, or -errno if the thread cannot go back. */
int bb_netns__enter(int netns_fd, int *ret_home_fd, struct bb_err *err);
int bb_netns__leave(int home_fd, int rc, struct bb_err *err);

/* Returns 0, or -errno without a message. */
int bb_rtnl__up(unsigned int ifindex);

/*
 * Veth devices to which XDP programs are attached, because the kernel runs attached programs
 * faster: it calls them directly, through its XDP dispatcher. It calls other programs through a
 * pointer, which costs 10 ns more with retpolines (net/core/filter.c, kernel/bpf/dispatcher.c). The
 * devices are down, so that no packet runs the programs.
 *
 * The dispatcher finds a program by a binary search over the addresses of all attached programs.
 * Among three programs, the one with the highest address takes two instructions less than the
 * others. So empty programs are attached until the number of programs is a power of two.
 */
struct bb_xdp_net {
	int netns_fd;
	/* one for each device, because a device can have only one program */
	struct bb_xdp_port *ports;
	size_t n_ports;
	/* If true, at most one program is attached at a time, so that the dispatcher always takes
	 * the same number of instructions. Set it before the first program is attached. */
	bool one_at_a_time;
};

int bb_xdp_net__open(struct bb_xdp_net *ret_net, struct bb_err *err);
void bb_xdp_net__close(struct bb_xdp_net *net); /* does nothing if closed or zeroed */

/* Attaches a program to a free port by a BPF link (Linux 5.9). `*ret_port` is for
 * bb_xdp_net__detach(). Takes milliseconds, because the kernel rebuilds its dispatcher and waits
 * for all CPUs. */
int bb_xdp_net__attach(struct bb_xdp_net *net, int prog_fd, size_t *ret_port, struct bb_err *err);

/* Makes the port free. Its program stays attached until another one takes its place, because this
 * changes the kernel's dispatcher only once. With `one_at_a_time` it is detached at once. */
void bb_xdp_net__detach(struct bb_xdp_net *net, size_t port);

/* Two connected veth devices, each in a namespace of its own. A packet sent from the near end
 * arrives at the far end, where a program is attached. No other packets run the program: IPv6 is
 * off, so there are no router solicitations, and neighbours are permanent, so there is no ARP. The
 * kernel handles a received packet on the CPU that sent it. */
enum bb_veth_end { BB_VETH_NEAR, BB_VETH_FAR, BB_VETH_ENDS };

#define BB_VETH_NEAR_ADDR 0x0a000001u /* 10.0.0.1, host order */
#define BB_VETH_FAR_ADDR 0x0a000002u  /* 10.0.0.2 */
#define BB_VETH_MAX_FRAME 1514u       /* bytes, for an MTU of 1500 and the Ethernet header */

struct bb_veth_pair {
	int netns_fd[BB_VETH_ENDS];
	unsigned int ifindex[BB_VETH_ENDS];
	int near_counts_fd; /* /proc/net/dev of the near end's namespace */
	int link_fd;        /* at the far end; -1 if no program is attached */
	int near_link_fd;   /* at the near end; -1 if no program is attached */
	uint32_t prog_type; /* BPF_PROG_TYPE_* of the program at the far end */
};

int bb_veth_pair__open(struct bb_veth_pair *ret_pair, struct bb_err *err);
void bb_veth_pair__close(struct bb_veth_pair *p); /* does nothing if closed or zeroed */

/* Attaches a program to the far end, in place of the previous one: XDP in native mode, sched_cls at
 * the ingress (tcx, Linux 6.6). Fails with -ENOTSUP for other program types. */
int bb_veth_pair__put_on(struct bb_veth_pair *p, int prog_fd, uint32_t prog_type,
			 struct bb_err *err);

/* Attaches an XDP program to both ends. Without a program of its own, the near end's veth device
 * would not receive the packets that the far end's program sends. */
int bb_veth_pair__receive(struct bb_veth_pair *p, int prog_fd, struct bb_err *err);

struct bb_veth_packets {
	uint64_t received, sent;
};

/* Reads how many packets the near end has received and sent. The far end has received all of the
 * sent ones by then. */
int bb_veth_pair__packets(const struct bb_veth_pair *p, struct bb_veth_packets *ret_packets,
			  struct bb_err *err);

/* Reads from the text of /proc/net/dev how many packets `device` received and sent. Returns 0 or
 * -EPROTO. */
int bb_veth_parse_packets(const char *text, const char *device, uint64_t *ret_received,
			  uint64_t *ret_sent);
