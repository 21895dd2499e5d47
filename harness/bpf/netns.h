/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_NETNS_H
#define BB_BPF_NETNS_H

#include "base/err.h"
#include "base/std.h"

/*
 * Network namespaces that nobody else has, and devices of ours in them. Each namespace is held by a
 * descriptor and by nothing else, and programs are attached by BPF links: all of it goes with this
 * process, however it ends. The calling thread is in its own namespace again when a function
 * returns. 0, or -errno with a message; -ENOTSUP with the reason where there can be no network
 * namespace or no veth device.
 */
int bb_netns__open(int *ret_fd, struct bb_err *err);

/* Into that namespace, and home again: leave() closes *home_fd. It takes and returns `rc`, or says
 * that it failed itself. */
int bb_netns__enter(int netns_fd, int *ret_home_fd, struct bb_err *err);
int bb_netns__leave(int home_fd, int rc, struct bb_err *err);

/* In the calling thread's network namespace. 0 or -errno, as the kernel says it. */
int bb_rtnl__up(unsigned int ifindex);

/*
 * A place where XDP programs are attached without a packet ever reaching them: veth devices, all of
 * them down. The kernel calls an attached XDP program directly, through its XDP dispatcher, and any
 * other through a pointer, which with retpolines costs 10 ns more (net/core/filter.c,
 * kernel/bpf/dispatcher.c): attached is how it runs in production.
 */
struct bb_xdp_net {
	int netns_fd;
	struct bb_xdp_port *ports; /* one device each: a device takes one program */
	size_t n_ports;
};

int bb_xdp_net__open(struct bb_xdp_net *ret_net, struct bb_err *err);
void bb_xdp_net__close(struct bb_xdp_net *net); /* a closed or zeroed one does no harm */

/*
 * Attach a program (a BPF link: Linux 5.9); *ret_port is for detach. -ENOTSUP: not
 * permitted, or no veth. The kernel builds its dispatcher anew each time, which waits for all CPUs:
 * milliseconds.
 */
int bb_xdp_net__attach(struct bb_xdp_net *net, int prog_fd, size_t *ret_port, struct bb_err *err);

/*
 * The port is free again. The program stays where it is until another takes the port or the
 * namespace is closed: putting one in the place of another changes the dispatcher once, to take it
 * off and put the other on twice.
 */
void bb_xdp_net__detach(struct bb_xdp_net *net, size_t port);

/*
 * Two devices that are each other's wire, each in a namespace of its own, both up: a packet sent
 * from the near end arrives at the far end, where a program is attached. Nothing else is on the
 * wire: IPv6 is off, neighbours are permanent entries, so neither router solicitations nor ARP run
 * the program. The kernel runs the receiver on the CPU that sends.
 */
enum bb_veth_end { BB_VETH_NEAR, BB_VETH_FAR, BB_VETH_ENDS };

#define BB_VETH_NEAR_ADDR 0x0a000001u /* 10.0.0.1, host order */
#define BB_VETH_FAR_ADDR 0x0a000002u  /* 10.0.0.2 */
#define BB_VETH_MAX_FRAME 1514u       /* MTU 1500 and the Ethernet header */

struct bb_veth_pair {
	int netns_fd[BB_VETH_ENDS]; /* for the sockets at either end */
	unsigned int ifindex[BB_VETH_ENDS];
	int near_counts_fd; /* /proc/net/dev of the near end */
	int link_fd;        /* of the program; -1: none yet */
	uint32_t prog_type; /* that the link is for */
};

int bb_veth_pair__open(struct bb_veth_pair *ret_pair, struct bb_err *err);
void bb_veth_pair__close(struct bb_veth_pair *p); /* a closed or zeroed one does no harm */

/*
 * Put a program on the far end, in the place of the one before: XDP in native mode, sched_cls at
 * the ingress (tcx: Linux 6.6). `prog_type` is BPF_PROG_TYPE_*. -ENOTSUP: any other type, not
 * permitted, or no tcx.
 */
int bb_veth_pair__put_on(struct bb_veth_pair *p, int prog_fd, uint32_t prog_type,
			 struct bb_err *err);

/* Packets that the near end has sent so far and the far end has received. */
int bb_veth_pair__sent(const struct bb_veth_pair *p, uint64_t *ret_packets, struct bb_err *err);

/* From the text of /proc/net/dev: packets that `device` transmitted. 0 or -EPROTO. */
int bb_veth_parse_sent(const char *text, const char *device, uint64_t *ret_packets);

#endif
