/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/bpf.h>

#include "capture/capture.h"

#define BB_TOKEN_FD (1U << 16) /* BPF_F_TOKEN_FD of Linux 6.9, in the flags of a program or map */

/*
 * The kernel's objects for one load of a capture's programs. Element i of an array is the
 * descriptor of the capture's object i; -1 means that the object does not exist yet. Loading a
 * program makes the objects that it needs, unless the caller has put their descriptors into the
 * arrays. bb_replay__done() closes all descriptors.
 */
struct bb_replay {
	const struct bb_capture *capture; /* borrowed */
	int *maps, *btfs, *progs;
};

struct bb_replay bb_replay__open(const struct bb_capture *c);

/* Loads program `prog` and everything that it needs: new maps with the captured entries, the
 * programs in its prog arrays, and the program that it is attached to. r->progs[prog] is then its
 * descriptor. If the kernel refuses a program, log[log_size] receives the verifier's log, and the
 * result is the kernel's -errno. */
int bb_replay__load(struct bb_replay *r, size_t prog, char *log, size_t log_size,
		    struct bb_err *err);

/* Loads one program with the objects that exist already. log[log_size] receives the verifier's log;
 * log_level 0 means no log. Returns 0 or -errno, without a message. */
int bb_replay__load_one(struct bb_replay *r, size_t prog, uint32_t log_level, char *log,
			uint32_t log_size);

/* Copies the program's instructions, and replaces the indexes in the copy by this replay's
 * descriptors. `ret_insns` must have room for n_insns. */
void bb_replay__put_fds(const struct bb_replay *r, size_t prog, struct bpf_insn *ret_insns);

/* Iterates over the maps to which instructions or the fd_array of the program refer: returns the
 * index of the next one, -1 after the last. `*at` is 0 before the first call. */
int32_t bb_captured_prog__next_map(const struct bb_captured_prog *p, uint32_t *at);

void bb_replay__done(struct bb_replay *r); /* accepts a zeroed struct */

/* Reads information about the BTF behind `fd`. `name` receives "vmlinux", the module's name, or ""
 * for the BTF of a program. Returns 0 or -errno. */
int bb_btf_info(int fd, struct bpf_btf_info *ret_info, char *name, unsigned int name_size);

/* True if `fd` is the descriptor of a BPF program. Reads the name in /proc/self/fd, because
 * BPF_OBJ_GET_INFO_BY_FD does not tell a program from a map or a link. */
bool bb_fd_is_program(int fd);
