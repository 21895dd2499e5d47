/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>

#include "base/std.h"

/* Attaches programs to perf events, to many functions by one link, and as struct_ops. */

/* Opens a perf event that runs the program `prog_fd` at each overflow. It starts disabled. `pid` 0
 * means this thread, `pid` -1 all processes, and `cpu` -1 any CPU. Closing `*ret_fd` detaches the
 * program. */
int bb_perf_event__open(struct perf_event_attr *attr, pid_t pid, int cpu, int prog_fd, int *ret_fd,
			struct bb_err *err);

int bb_perf_event__enable(int fd);
int bb_perf_event__disable(int fd);

/* Loads a program that only returns `retval`, and returns a descriptor or -errno. */
int bb_empty_prog__load(uint32_t type, uint32_t attach_type, int32_t retval, const char *name);

/* Makes sure that libbpf can look up tracepoints. If tracefs is not mounted, this moves the calling
 * thread into a mount namespace of its own and mounts tracefs there. The machine's mounts stay
 * unchanged. The thread never leaves the namespace, because returning by setns() would take it out
 * of a chroot. */
int bb_tracefs__provide(struct bb_err *err);

/* A multi link attaches one program to many functions, as in SEC("kprobe.multi/..."),
 * "kprobe.session", "uprobe.multi" and "uprobe.session". This code calls bpf(2) directly, because
 * the libbpf and the headers of Debian 12 know only the first of these types. */

/* Values of enum bpf_attach_type, and the Linux version that introduced each. */
#define BB_TRACE_KPROBE_MULTI 42   /* Linux 5.18 */
#define BB_TRACE_UPROBE_MULTI 48   /* Linux 6.6 */
#define BB_TRACE_KPROBE_SESSION 56 /* Linux 6.10 */
#define BB_TRACE_UPROBE_SESSION 57 /* Linux 6.13 */

bool bb_multi_link__is_of_kernel(uint32_t attach_type);
bool bb_multi_link__is_of_users(uint32_t attach_type);

/* True if the kernel supports links of this type. The kernel is asked only once for each type. */
bool bb_multi_link__is_there(uint32_t attach_type);

/* Attaches the program to the entries of the kernel functions names[n], or to their returns if
 * `is_return`. Closing `*ret_link_fd` detaches the program. */
int bb_multi_link__to_kernel(int prog_fd, uint32_t attach_type, bool is_return,
			     const char *const *names, uint32_t n, int *ret_link_fd);

/* Offsets of functions or static probes (USDT) in a file. `counters` are the probes' semaphores.
 * `counters` and `cookies` may be NULL. */
struct bb_multi_addresses {
	const uint64_t *offsets, *counters, *cookies;
	uint32_t n;
};

/* Attaches the program to these addresses of the file `path`, or to the returns of the functions
 * there if `is_return`. It runs only in the process `pid`, or in all if `pid` is -1. Closing
 * `*ret_link_fd` detaches it. */
int bb_multi_link__to_file(int prog_fd, uint32_t attach_type, bool is_return, const char *path,
			   const struct bb_multi_addresses *addresses, pid_t pid, int *ret_link_fd);

struct bpf_object;

/* A program of a section "struct_ops/..." is one function of a struct. The struct is the value of a
 * struct_ops map, and the kernel calls its functions while the map is registered. We register the
 * map by a link (Linux 6.4), which ends when its descriptor is closed. Without a link, the map
 * would stay registered if bpfbench were killed. */
#define BB_ATTACH_STRUCT_OPS 44

/* Lets the object's struct_ops maps be registered by links. Call it before the load. */
void bb_struct_ops__prepare(struct bpf_object *obj);
/* Writes the values of the struct_ops maps of a loaded object, and leaves no map registered. */
void bb_struct_ops__fill(struct bpf_object *obj);

/* Returns the struct_ops map that has the program as a member, borrowed, or -1. The maps must be
 * filled. */
int bb_struct_ops__map_of(const struct bpf_object *obj, int prog_fd);

/* Writes the name by which a socket can choose the TCP congestion control in this struct_ops map.
 * Fails with -ENOTSUP if the map holds another struct, or if `map_fd` is -1. */
int bb_struct_ops__tcp_name(int map_fd, char *ret_name, size_t size, struct bb_err *err);
