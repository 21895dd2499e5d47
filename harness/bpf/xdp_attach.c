/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/xdp_attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/netns.h"

struct bb_xdp_port {
	unsigned int ifindex;
	int link_fd; /* -1: no program yet */
	bool used;
};

/* One more pair of devices: two ports. In the namespace. */
static int add_pair(struct bb_xdp_net *net, struct bb_err *err)
{
	struct bb_xdp_port *ports = reallocarray(net->ports, net->n_ports + 2, sizeof(*ports));
	char names[2][IFNAMSIZ];
	int rc;

	if (!ports)
		return bb_fail_nomem(err);
	net->ports = ports;
	for (size_t i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "bb%zu", net->n_ports + i);
	rc = bb_rtnl__add_veth(names[0], names[1], -1);
	for (size_t i = 0; !rc && i < 2; i++) {
		ports[net->n_ports + i] = (struct bb_xdp_port){.ifindex = if_nametoindex(names[i]),
							       .link_fd = -1};
		if (!ports[net->n_ports + i].ifindex)
			rc = -errno;
	}
	if (rc)
		return bb_fail(err, bb_rtnl__unsupported_or(rc),
			       "XDP is measured attached to a veth device, and none can be made "
			       "(%s); modprobe veth?",
			       strerror(-rc));
	net->n_ports += 2;
	return 0;
}

int bb_xdp_net__open(struct bb_xdp_net *ret_net, struct bb_err *err)
{
	struct bb_xdp_net net = {.netns_fd = -1};
	int home_fd = -1, rc = bb_netns__open(&net.netns_fd, err);

	if (!rc)
		rc = bb_netns__enter(net.netns_fd, &home_fd, err);
	if (!rc)
		rc = bb_netns__leave(home_fd, add_pair(&net, err), err);
	if (rc)
		bb_xdp_net__close(&net);
	else
		*ret_net = net;
	return rc;
}

void bb_xdp_net__close(struct bb_xdp_net *net)
{
	if (!net || net->netns_fd <= 0)
		return;
	for (size_t i = 0; i < net->n_ports; i++)
		if (net->ports[i].link_fd >= 0)
			close(net->ports[i].link_fd);
	free(net->ports);
	close(net->netns_fd);
	*net = (struct bb_xdp_net){.netns_fd = -1};
}

/* A link takes programs of one expected attach type, BPF_XDP or 0, and refuses others by EINVAL
 * (net/core/dev.c, bpf_xdp_link_update): these need a link of their own. */
static int put_on(struct bb_xdp_port *port, int prog_fd)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	int fd = port->link_fd >= 0 ? bpf_link_update(port->link_fd, prog_fd, NULL) : -EINVAL;

	if (fd != -EINVAL)
		return fd;
	if (port->link_fd >= 0)
		close(port->link_fd);
	port->link_fd = -1;
	fd = bpf_link_create(prog_fd, (int)port->ifindex, BPF_XDP, &opts);
	if (fd < 0)
		return fd;
	port->link_fd = fd;
	return 0;
}

int bb_xdp_net__attach(struct bb_xdp_net *net, int prog_fd, size_t *ret_port, struct bb_err *err)
{
	size_t port = SIZE_MAX;
	int home_fd = -1, rc = bb_netns__enter(net->netns_fd, &home_fd, err);

	if (rc)
		return rc;
	/* a port that is free: at best one with a program to take the place of */
	for (size_t i = 0; i < net->n_ports; i++)
		if (!net->ports[i].used && (port == SIZE_MAX || net->ports[port].link_fd < 0))
			port = i;
	if (port == SIZE_MAX) {
		port = net->n_ports;
		rc = add_pair(net, err);
	}
	if (!rc) {
		rc = put_on(&net->ports[port], prog_fd);
		if (rc)
			rc = bb_fail(err, bb_rtnl__unsupported_or(rc),
				     "cannot attach the XDP program to our veth device: %s",
				     strerror(-rc));
	}
	rc = bb_netns__leave(home_fd, rc, err);
	if (rc)
		return rc;
	net->ports[port].used = true;
	*ret_port = port;
	return 0;
}

void bb_xdp_net__detach(struct bb_xdp_net *net, size_t port)
{
	net->ports[port].used = false;
}
