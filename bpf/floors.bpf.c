// SPDX-License-Identifier: GPL-2.0-only
/*
 * A floor for each program type that bpfbench can drive: a program that returns at once, with the
 * value that lets its event proceed. Its run time is the cost of calling any program of the type,
 * including the cost of bpf_stats.
 */
#include "bb_bpf.h"

#include <linux/pkt_cls.h>

#define ACCEPT 1 /* lets a cgroup's event proceed; the same value as SK_PASS and NF_ACCEPT */

#define FLOOR(name, section, retval)                                                               \
	SEC(section) int empty_##name(void *ctx)                                                   \
	{                                                                                          \
		return retval;                                                                     \
	}

FLOOR(perf_event, "perf_event", 0)
FLOOR(socket_filter, "socket", 0)
FLOOR(sched_cls, "tc", TC_ACT_OK)
FLOOR(sched_act, "action", TC_ACT_OK)
FLOOR(cgroup_skb, "cgroup_skb/ingress", ACCEPT)
FLOOR(lwt_in, "lwt_in", 0)
FLOOR(lwt_out, "lwt_out", 0)
FLOOR(lwt_xmit, "lwt_xmit", 0)
FLOOR(xdp, "xdp", XDP_PASS)
FLOOR(flow_dissector, "flow_dissector", 0)
FLOOR(sk_lookup, "sk_lookup", ACCEPT)
FLOOR(netfilter, "netfilter",
      /* libbpf before 1.2 does not know this section: it opens the object and does not load this
	 program */
      ACCEPT)
/* The next three use task_rename, a tracepoint that runs only when a thread is renamed. */
FLOOR(raw_tracepoint, "raw_tp/task_rename", 0)
FLOOR(tracepoint, "tp/task/task_rename", 0)
FLOOR(tracing, "tp_btf/task_rename", 0)
FLOOR(kprobe, "kprobe", 0)
FLOOR(cgroup_sock, "cgroup/sock_create", ACCEPT)
FLOOR(cgroup_sock_addr, "cgroup/connect4", ACCEPT)
FLOOR(cgroup_sockopt, "cgroup/setsockopt", ACCEPT)
FLOOR(cgroup_sysctl, "cgroup/sysctl", ACCEPT)
FLOOR(cgroup_device, "cgroup/dev", ACCEPT)
FLOOR(sock_ops, "sockops", ACCEPT)
FLOOR(syscall, "syscall", 0)
