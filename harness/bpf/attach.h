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

/* Loads a program that returns 0. `name` may be NULL. Returns a descriptor or -errno. */
int bb_empty_prog__load(uint32_t type, uint32_t attach_type, const char *name);

/*
 * Makes sure that libbpf can look up tracepoints. If tracefs is not mounted, this moves the calling
 * thread into a mount namespace of its own and mounts tracefs there. Threads and processes that the
 * thread starts later are in that namespace, too. The machine's mounts stay unchanged, and the
 * namespace ends with the last process in it. The thread cannot return to the old namespace,
 * because setns() would leave a chroot.
 *
 * Returns 0 if tracefs is mounted now, or -errno with the reason.
 */
int bb_tracefs__provide(struct bb_err *err);

/* Links of one program to many functions at once: SEC("kprobe.multi/..."), "kprobe.session",
 * "uprobe.multi", "uprobe.session". The libbpf and the headers of Debian 12 do not know them, so
 * this code calls bpf(2) directly. */

/* Values of enum bpf_attach_type, and the first Linux that has each. */
#define BB_TRACE_KPROBE_MULTI 42   /* Linux 5.18 */
#define BB_TRACE_UPROBE_MULTI 48   /* Linux 6.6 */
#define BB_TRACE_KPROBE_SESSION 56 /* Linux 6.10 */
#define BB_TRACE_UPROBE_SESSION 57 /* Linux 6.13 */

/* true for KPROBE_MULTI and KPROBE_SESSION */
bool bb_multi_link__is_of_kernel(uint32_t attach_type);
/* true for UPROBE_MULTI and UPROBE_SESSION */
bool bb_multi_link__is_of_users(uint32_t attach_type);

/* True if the kernel supports links of this type. The kernel is asked once for each type. */
bool bb_multi_link__is_there(uint32_t attach_type);

/* Links the program to the entries or returns of the named kernel functions. Returns 0 or
 * -errno. */
int bb_multi_link__to_kernel(int prog_fd, uint32_t attach_type, bool is_return,
			     const char *const *names, uint32_t n, int *ret_link_fd);

/* Addresses in a file, in arrays of `n` elements. `counters` (semaphores of static probes) and
 * `cookies` may be NULL. */
struct bb_multi_addresses {
	const uint64_t *offsets, *counters, *cookies;
	uint32_t n;
};

/* Links the program to these addresses of the file, in the process `pid`; -1 means in all
 * processes. Returns 0 or -errno. */
int bb_multi_link__to_file(int prog_fd, uint32_t attach_type, bool is_return, const char *path,
			   const struct bb_multi_addresses *addresses, pid_t pid, int *ret_link_fd);

struct bpf_object;

/*
 * A program of a section "struct_ops/..." is a member of a struct of functions, which is the value
 * of a map of type struct_ops. The kernel calls the functions once the map is registered. We
 * register the map by a link (Linux 6.4), which ends when its last descriptor is closed. Without a
 * link, the map would stay registered if bpfbench were killed.
 */
#define BB_ATTACH_STRUCT_OPS 44 /* BPF_STRUCT_OPS of enum bpf_attach_type */

/* Makes the object's struct_ops maps registrable by links. The caller loads the object
 * afterwards. */
void bb_struct_ops__prepare(struct bpf_object *obj);
/* Writes the values of the loaded object's struct_ops maps, and leaves no map registered. */
void bb_struct_ops__fill(struct bpf_object *obj);

/* Returns the descriptor of the struct_ops map that contains the program, borrowed; -1 if no map
 * does. The object must be loaded and filled. */
int bb_struct_ops__map_of(const struct bpf_object *obj, int prog_fd);

/* The struct_ops map `map_fd` holds a TCP congestion control. Writes the name by which a socket
 * chooses it. -ENOTSUP with a message if the map holds another struct, or if `map_fd` is -1. */
int bb_struct_ops__tcp_name(int map_fd, char *ret_name, size_t size, struct bb_err *err);
