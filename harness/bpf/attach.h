/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_ATTACH_H
#define BB_BPF_ATTACH_H

#include <linux/perf_event.h>

#include "base/err.h"
#include "base/std.h"

/* Where programs are attached by other means than libbpf of Debian 12 has. */

/*
 * Open a perf event on process `pid` (0: this thread; -1: all) on `cpu` (-1: any) and let each
 * overflow of it run `prog_fd`. The event is made disabled; closing the fd detaches the program. 0
 * or -errno with a message.
 */
int bb_perf_event__open(struct perf_event_attr *attr, pid_t pid, int cpu, int prog_fd, int *ret_fd,
			struct bb_err *err);

int bb_perf_event__enable(int fd);
int bb_perf_event__disable(int fd);

/*
 * Make sure that libbpf can look up tracepoints: where tracefs is not mounted, move this thread,
 * and all that it starts from now on, into a mount namespace of its own and mount tracefs there.
 * The machine's mounts stay as they are, and ours ends with the last process in it. There is no way
 * back into the old namespace: setns() would leave a chroot.
 *
 * 0, also when it was mounted before, or -errno with the reason.
 */
int bb_tracefs__provide(struct bb_err *err);

/*
 * Links of one program to many functions at once: SEC("kprobe.multi/..."), "kprobe.session",
 * "uprobe.multi", "uprobe.session". They are newer than libbpf and the headers of Debian 12, so
 * bpf(2) is called as it is.
 */

/* enum bpf_attach_type. */
#define BB_TRACE_KPROBE_MULTI 42   /* Linux 5.18 */
#define BB_TRACE_UPROBE_MULTI 48   /* 6.6 */
#define BB_TRACE_KPROBE_SESSION 56 /* 6.10 */
#define BB_TRACE_UPROBE_SESSION 57 /* 6.13 */

bool bb_multi_link__is_of_kernel(uint32_t attach_type); /* KPROBE_MULTI, KPROBE_SESSION */
bool bb_multi_link__is_of_users(uint32_t attach_type);  /* UPROBE_MULTI, UPROBE_SESSION */

/* Has the kernel links of that type? It is asked once. */
bool bb_multi_link__is_there(uint32_t attach_type);

/* To the entries or returns of functions of the kernel. 0 or -errno. */
int bb_multi_link__to_kernel(int prog_fd, uint32_t attach_type, bool is_return,
			     const char *const *names, uint32_t n, int *ret_link_fd);

/* Places in a file: x[n]. Counters of static probes and cookies may be NULL. */
struct bb_multi_addresses {
	const uint64_t *offsets, *counters, *cookies;
	uint32_t n;
};

/* To those places of the file. `pid`: of that process; -1: of all. 0 or -errno. */
int bb_multi_link__to_file(int prog_fd, uint32_t attach_type, bool is_return, const char *path,
			   const struct bb_multi_addresses *addresses, pid_t pid, int *ret_link_fd);

struct bpf_object;

/*
 * Programs of section "struct_ops/..." are members of a struct of functions, a map of type
 * struct_ops, which the kernel calls from where it is registered. It is registered by a link (Linux
 * 6.4), which goes with its last descriptor: without one, it would stay when bpfbench is killed.
 */
#define BB_ATTACH_STRUCT_OPS 44 /* BPF_STRUCT_OPS of enum bpf_attach_type */

void bb_struct_ops__prepare(struct bpf_object *obj); /* before it is loaded */
void bb_struct_ops__fill(struct bpf_object *obj);    /* after; nothing is registered yet */

/* Of the object that is loaded and filled: the map that has the program. -1: none. */
int bb_struct_ops__map_of(const struct bpf_object *obj, int prog_fd);

/* The name that a TCP congestion control is chosen by. -ENOTSUP with a message: it is none. */
int bb_struct_ops__tcp_name(int map_fd, char *ret_name, size_t size, struct bb_err *err);

#endif
