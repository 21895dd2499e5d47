/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>

#include "base/std.h"

/* Attaches programs to hooks that the libbpf of Debian 12 does not support. */

/* Opens a perf event. Every overflow of the event runs the program `prog_fd`. `pid` 0 means this
 * thread and -1 all processes; `cpu` -1 means any CPU. The event starts disabled. Closing the
 * descriptor detaches the program. Returns 0 or -errno with a message. */
int bb_perf_event__open(struct perf_event_attr *attr, pid_t pid, int cpu, int prog_fd, int *ret_fd,
			struct bb_err *err);

int bb_perf_event__enable(int fd);
int bb_perf_event__disable(int fd);

/* Loads a program that only returns `retval`. `name` may be NULL. Returns a descriptor or -errno.
 */
int bb_empty_prog__load(uint32_t type, uint32_t attach_type, int32_t retval, const char *name);

/*
 * Makes sure that libbpf can look up tracepoints. If tracefs is not mounted, this moves the calling
 * thread into a mount namespace of its own and mounts tracefs there. Threads and processes that the
 * thread starts later are in that namespace, too. The machine's mounts stay unchanged, and the
 * namespace ends with the last process in it. The thread stays in it for good, because returning by
 * setns() would take the thread out of a chroot.
 *
 * Returns 0 if tracefs is mounted now, or -errno with the reason.
 */
int bb_tracefs__provide(struct bb_err *err);

/* Multi links: one link attaches a program to many functions, as in SEC("kprobe.multi/..."),
 * "kprobe.session", "uprobe.multi" and "uprobe.session". The libbpf and the headers of Debian 12 do
 * not know multi links, so this code calls bpf(2) directly. */

/* Values of enum bpf_attach_type for multi links, and the Linux version that introduced each. */
#define BB_TRACE_KPROBE_MULTI 42   /* Linux 5.18 */
#define BB_TRACE_UPROBE_MULTI 48   /* Linux 6.6 */
#define BB_TRACE_KPROBE_SESSION 56 /* Linux 6.10 */
#define BB_TRACE_UPROBE_SESSION 57 /* Linux 6.13 */

/* True for the two types of links to kernel functions. */
bool bb_multi_link__is_of_kernel(uint32_t attach_type);
/* True for the two types of links to functions of files (user space). */
bool bb_multi_link__is_of_users(uint32_t attach_type);

/* True if the kernel has multi links of this type. The kernel is asked only once for each type. */
bool bb_multi_link__is_there(uint32_t attach_type);

/* Attaches the program to the entries of the kernel functions names[n], or to their returns if
 * `is_return`. Closing `*ret_link_fd` detaches the program. Returns 0 or -errno. */
int bb_multi_link__to_kernel(int prog_fd, uint32_t attach_type, bool is_return,
			     const char *const *names, uint32_t n, int *ret_link_fd);

/* Functions or probes in a file, by their offsets in it: arrays of `n` elements. `counters`
 * (semaphores of static probes) and `cookies` may be NULL. */
struct bb_multi_addresses {
	const uint64_t *offsets, *counters, *cookies;
	uint32_t n;
};

/* Attaches the program to these addresses of the file `path`, or to the returns of the functions
 * there if `is_return`. `pid` is the only process in which the program runs; -1 means all
 * processes. Closing `*ret_link_fd` detaches the program. Returns 0 or -errno. */
int bb_multi_link__to_file(int prog_fd, uint32_t attach_type, bool is_return, const char *path,
			   const struct bb_multi_addresses *addresses, pid_t pid, int *ret_link_fd);

struct bpf_object;

/*
 * A program of a section "struct_ops/..." is one of the functions in a struct, and this struct is
 * the value of a map of type struct_ops. The kernel calls the functions as soon as the map is
 * registered. We register the map by a link (Linux 6.4), which ends when its last descriptor is
 * closed. Without a link, the map would stay registered if bpfbench were killed.
 */
#define BB_ATTACH_STRUCT_OPS 44 /* BPF_STRUCT_OPS of enum bpf_attach_type */

/* Makes it possible to register the object's struct_ops maps by links. Call it before the load. */
void bb_struct_ops__prepare(struct bpf_object *obj);
/* Writes the values of the loaded object's struct_ops maps, and leaves no map registered. */
void bb_struct_ops__fill(struct bpf_object *obj);

/* Returns the descriptor of the struct_ops map that has the program as a member, borrowed; -1 if no
 * map has it. The object must be loaded, and bb_struct_ops__fill() called. */
int bb_struct_ops__map_of(const struct bpf_object *obj, int prog_fd);

/* Writes to ret_name the name of the TCP congestion control that the struct_ops map contains. A
 * socket chooses the congestion control by this name. Returns 0; -ENOTSUP with a message if the map
 * holds another struct, or if `map_fd` is -1. */
int bb_struct_ops__tcp_name(int map_fd, char *ret_name, size_t size, struct bb_err *err);
