/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/bpf.h>

#include "capture/capture.h"

#define BB_TOKEN_FD (1U << 16) /* BPF_F_TOKEN_FD of Linux 6.9, in the flags of a program or map */

/* Maps, BTFs and programs made from a capture. Element i of each array is the descriptor of the
 * capture's element i, or -1 if it does not exist yet. */
struct bb_replay {
	const struct bb_capture *capture; /* borrowed */
	int *maps, *btfs, *progs;
	bool is_taken; /* maps and BTFs are the command's own, whose descriptors are borrowed */
};

struct bb_replay bb_replay__open(const struct bb_capture *c);
/* Of a capture that is being taken (capture/take.h), as it is now: with the command's own maps,
 * BTFs and target programs. bb_replay__load() does not work with it. */
struct bb_replay bb_replay__open_taken(const struct bb_capture *c);

/* Loads program `prog` and all that it needs: maps with the captured entries, the programs in its
 * prog arrays, and its target program. Stores its descriptor in r->progs[prog]. If the kernel
 * refuses a program, returns the kernel's -errno, and log[log_size] has the verifier's log. */
int bb_replay__load(struct bb_replay *r, size_t prog, char *log, size_t log_size,
		    struct bb_err *err);

/* The arguments of a load (BPF_PROG_LOAD), and the arrays in them that are not the capture's. */
struct bb_replay_load {
	union bpf_attr attr;
	struct bpf_insn *insns; /* with descriptors instead of indexes */
	int *fd_array;
};

/* Prepares the load of one program with the maps and programs that exist already. Returns 0, or
 * -errno if a BTF of it cannot be loaded. */
int bb_replay__begin_load(struct bb_replay *r, size_t prog, struct bb_replay_load *ret_load);
void bb_replay_load__done(struct bb_replay_load *l); /* accepts a zeroed struct */

/* Loads one program with the maps and programs that exist already. log_level 0 means no log.
 * Returns 0 or -errno, without a message. */
int bb_replay__load_one(struct bb_replay *r, size_t prog, uint32_t log_level, char *log,
			uint32_t log_size);

/* Copies the program's instructions to ret_insns[n_insns], with descriptors instead of indexes. */
void bb_replay__put_fds(const struct bb_replay *r, size_t prog, struct bpf_insn *ret_insns);

/* Iterates over the maps that the program's instructions or fd_array refer to. Returns the index of
 * the next map, or -1 after the last. `*at` is 0 before the first call. */
int32_t bb_captured_prog__next_map(const struct bb_captured_prog *p, uint32_t *at);

void bb_replay__done(struct bb_replay *r); /* accepts a zeroed struct */

/* `name` receives "vmlinux", the name of a module, or "" for other BTF. Returns 0 or -errno. */
int bb_btf_info(int fd, struct bpf_btf_info *ret_info, char *name, unsigned int name_size);

/* BPF_OBJ_GET_INFO_BY_FD does not tell a program from a map or link. So this reads
 * /proc/self/fd. */
bool bb_fd_is_program(int fd);
