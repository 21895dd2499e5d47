/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/veth_pair.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "bpf/netns.h"

#define TCX_INGRESS 46 /* BPF_TCX_INGRESS, 6.6: newer than the headers of Debian 12 */
#define PREFIX 24
#define TX_PACKETS_AT                                                                              \
	9 /* of the numbers of a device in /proc/net/dev, after the 8 that it received */

static const char *const names[BB_VETH_ENDS] = {"near", "far"};
static const uint32_t addrs[BB_VETH_ENDS] = {BB_VETH_NEAR_ADDR, BB_VETH_FAR_ADDR};
/* As generated packets have them (plan/packet.h), so that these are for the device that they come
 * to. */
static const uint8_t macs[BB_VETH_ENDS][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

/* In a namespace of ours: it concerns nobody else. -ENOENT: there is no IPv6. */
static int switch_ipv6_off(void)
{
	static const char *const paths[] = {
		"/proc/sys/net/ipv6/conf/all/disable_ipv6",
		"/proc/sys/net/ipv6/conf/default/disable_ipv6",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = open(paths[i], O_WRONLY | O_CLOEXEC), rc = 0;

		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || write(fd, "1", 1) != 1)
			rc = -errno;
		if (fd >= 0)
			close(fd);
		if (rc)
			return rc;
	}
	return 0;
}

/* In the namespace of that end. */
static int set_up_end(struct bb_veth_pair *p, enum bb_veth_end end)
{
	enum bb_veth_end other = end == BB_VETH_NEAR ? BB_VETH_FAR : BB_VETH_NEAR;
	int rc;

	p->ifindex[end] = if_nametoindex(names[end]);
	rc = p->ifindex[end] ? bb_rtnl__set_mac(p->ifindex[end], macs[end]) : -errno;
	if (!rc)
		rc = bb_rtnl__add_addr(p->ifindex[end], addrs[end], PREFIX);
	if (!rc)
		rc = bb_rtnl__up(p->ifindex[end]);
	if (!rc)
		rc = bb_rtnl__add_neigh(p->ifindex[end], addrs[other], macs[other]);
	if (!rc && end == BB_VETH_NEAR) {
		p->near_counts_fd = open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC);
		rc = p->near_counts_fd < 0 ? -errno : 0;
	}
	return rc;
}

/* One step of the making, in the namespace of that end. */
static int in_namespace(struct bb_veth_pair *p, enum bb_veth_end end,
			int (*step)(struct bb_veth_pair *, enum bb_veth_end), struct bb_err *err)
{
	int home_fd = -1, rc = bb_netns__enter(p->netns_fd[end], &home_fd, err);

	if (rc)
		return rc;
	rc = step(p, end);
	if (rc)
		rc = bb_fail(err, bb_rtnl__unsupported_or(rc),
			     "a pair of veth devices to send packets through cannot be set up "
			     "(%s); "
			     "modprobe veth?",
			     strerror(-rc));
	return bb_netns__leave(home_fd, rc, err);
}

static int prepare_end(struct bb_veth_pair *p, enum bb_veth_end end)
{
	int rc = switch_ipv6_off();

	if (!rc && end == BB_VETH_FAR) /* the last one: both namespaces are ready */
		rc = bb_rtnl__add_veth(names[BB_VETH_FAR], names[BB_VETH_NEAR],
				       p->netns_fd[BB_VETH_NEAR]);
	return rc;
}

int bb_veth_pair__open(struct bb_veth_pair *ret_pair, struct bb_err *err)
{
	struct bb_veth_pair p = {.netns_fd = {-1, -1}, .near_counts_fd = -1, .link_fd = -1};
	int rc = 0;

	for (enum bb_veth_end end = 0; !rc && end < BB_VETH_ENDS; end++)
		rc = bb_netns__open(&p.netns_fd[end], err);
	for (enum bb_veth_end end = 0; !rc && end < BB_VETH_ENDS; end++)
		rc = in_namespace(&p, end, prepare_end, err);
	for (enum bb_veth_end end = 0; !rc && end < BB_VETH_ENDS; end++)
		rc = in_namespace(&p, end, set_up_end, err);
	if (rc)
		bb_veth_pair__close(&p);
	else
		*ret_pair = p;
	return rc;
}

void bb_veth_pair__close(struct bb_veth_pair *p)
{
	const int fds[] = {p->link_fd, p->near_counts_fd, p->netns_fd[BB_VETH_NEAR],
			   p->netns_fd[BB_VETH_FAR]};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] > 0)
			close(fds[i]);
	*p = (struct bb_veth_pair){.netns_fd = {-1, -1}, .near_counts_fd = -1, .link_fd = -1};
}

int bb_veth_pair__put_on(struct bb_veth_pair *p, int prog_fd, uint32_t prog_type,
			 struct bb_err *err)
{
	bool is_xdp = prog_type == BPF_PROG_TYPE_XDP;
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = is_xdp ? XDP_FLAGS_DRV_MODE : 0);
	int home_fd = -1, rc;

	if (!is_xdp && prog_type != BPF_PROG_TYPE_SCHED_CLS)
		return bb_fail(err, -ENOTSUP,
			       "packets run programs of the types xdp and sched_cls (SEC(\"xdp\"), "
			       "SEC(\"tc\")); 'with: step, trigger: test-run' measures others");
	if (p->link_fd > 0 && p->prog_type == prog_type) {
		rc = bpf_link_update(p->link_fd, prog_fd, NULL);
		return rc ? bb_fail(err, rc, "cannot replace the program on our veth device: %s",
				    strerror(-rc))
			  : 0;
	}
	if (p->link_fd > 0)
		close(p->link_fd);
	p->link_fd = -1;
	rc = bb_netns__enter(p->netns_fd[BB_VETH_FAR], &home_fd, err);
	if (rc)
		return rc;
	rc = bpf_link_create(prog_fd, (int)p->ifindex[BB_VETH_FAR],
			     is_xdp ? BPF_XDP : (enum bpf_attach_type)TCX_INGRESS, &opts);
	if (rc >= 0) {
		p->link_fd = rc;
		p->prog_type = prog_type;
		rc = 0;
	} else if (rc == -EINVAL && !is_xdp) {
		rc = bb_fail(err, -ENOTSUP,
			     "this kernel attaches no sched_cls program by a link (tcx, Linux "
			     "6.6)");
	} else {
		rc = bb_fail(err, bb_rtnl__unsupported_or(rc),
			     "cannot attach the program to our veth device: %s", strerror(-rc));
	}
	return bb_netns__leave(home_fd, rc, err);
}

int bb_veth_parse_sent(const char *text, const char *device, uint64_t *ret_packets)
{
	char name[64], number[24];
	const char *at;

	snprintf(name, sizeof(name), " %s:", device);
	at = strstr(text, name);
	if (!at)
		return -EPROTO;
	at += strlen(name);
	for (int i = 0; i < TX_PACKETS_AT; i++) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	at += strspn(at, " ");
	snprintf(number, sizeof(number), "%.*s", (int)strcspn(at, " \n"), at);
	return bb_parse_u64(number, ret_packets) ? -EPROTO : 0;
}

int bb_veth_pair__sent(const struct bb_veth_pair *p, uint64_t *ret_packets, struct bb_err *err)
{
	char text[2048];
	ssize_t n = pread(p->near_counts_fd, text, sizeof(text) - 1, 0);
	int rc = n < 0 ? -errno : 0;

	if (!rc) {
		text[n] = '\0';
		rc = bb_veth_parse_sent(text, names[BB_VETH_NEAR], ret_packets);
	}
	return rc ? bb_fail(err, rc,
			    "cannot read /proc/net/dev in the network namespace of the "
			    "packets: %s",
			    strerror(-rc))
		  : 0;
}
