/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_XDP_ATTACH_H
#define BB_BPF_XDP_ATTACH_H

#include <stddef.h>

#include "base/err.h"

/*
 * A place where XDP programs are attached without a packet ever reaching them: veth devices, all of
 * them down, in a network namespace that nobody else has. The kernel calls an attached XDP program
 * directly, through its XDP dispatcher, and any other through a pointer, which with retpolines
 * costs 10 ns more (net/core/filter.c, kernel/bpf/dispatcher.c): attached is how it runs in
 * production.
 *
 * The namespace is held by a descriptor and by nothing else, the attachments are BPF links: all of
 * it goes with this process, however it ends. The calling thread is in its own namespace again when
 * a function returns.
 */
struct bb_xdp_net {
	int netns_fd;
	struct bb_xdp_port *ports; /* one device each: a device takes one program */
	size_t n_ports;
};

/* -ENOTSUP with the reason where there can be no network namespace or no veth device. */
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

#endif
