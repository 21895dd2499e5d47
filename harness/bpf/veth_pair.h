/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_VETH_PAIR_H
#define BB_BPF_VETH_PAIR_H

#include <stdint.h>

#include "base/err.h"

/*
 * Two devices that are each other's wire, each in a network namespace of its own, both up: a packet
 * sent from the near end arrives at the far end, where a program is attached. Nothing else is on
 * the wire: IPv6 is off, neighbours are permanent entries, so neither router solicitations nor ARP
 * run the program. The kernel runs the receiver on the CPU that sends.
 *
 * The namespaces are held by descriptors, the attachment is a BPF link: all of it goes with this
 * process, however it ends.
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

/* -ENOTSUP with the reason where there can be no network namespace or no veth device. */
int bb_veth_pair__open(struct bb_veth_pair *ret_pair, struct bb_err *err);
void bb_veth_pair__close(struct bb_veth_pair *p); /* a closed or zeroed one does no harm */

/*
 * Put a program on the far end, in the place of the one before: XDP in native mode, sched_cls at
 * the ingress (tcx: Linux 6.6). `prog_type` is BPF_PROG_TYPE_*. -ENOTSUP: any other type, not
 * permitted, or no tcx.
 */
int bb_veth_pair__put_on(struct bb_veth_pair *p, int prog_fd, uint32_t prog_type,
			 struct bb_err *err);

/* Packets that the near end has sent so far and the far end has received. 0 or -errno with a
 * message. */
int bb_veth_pair__sent(const struct bb_veth_pair *p, uint64_t *ret_packets, struct bb_err *err);

/* From the text of /proc/net/dev (NUL-terminated): packets that `device` transmitted. 0 or -EPROTO.
 */
int bb_veth_parse_sent(const char *text, const char *device, uint64_t *ret_packets);

#endif
