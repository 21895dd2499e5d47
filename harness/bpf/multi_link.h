/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_MULTI_LINK_H
#define BB_BPF_MULTI_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
struct bb_multi_places {
	const uint64_t *offsets, *counters, *cookies;
	uint32_t n;
};

/* To those places of the file. `pid`: of that process; -1: of all. 0 or -errno. */
int bb_multi_link__to_file(int prog_fd, uint32_t attach_type, bool is_return, const char *path,
			   const struct bb_multi_places *places, pid_t pid, int *ret_link_fd);

#endif
