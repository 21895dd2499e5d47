/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_REPLAY_H
#define BB_CAPTURE_REPLAY_H

#include <linux/bpf.h>

#include "capture/capture.h"

#define BB_TOKEN_FD (1U << 16) /* BPF_F_TOKEN_FD, 6.9: of a program's or map's flags */

/*
 * The kernel's objects for one load of programs of a capture: descriptors by index, -1 where there
 * is none. They are made when they are needed, or put there by the caller; all are closed in the
 * end.
 */
struct bb_replay {
	const struct bb_capture *capture; /* borrowed */
	int *maps, *btfs, *progs;
};

/* -ENOMEM. */
int bb_replay__open(const struct bb_capture *c, struct bb_replay *ret_replay, struct bb_err *err);

/*
 * Load program `prog` and all that it needs: its maps, made anew with their entries, the programs
 * that it may call by prog arrays, and the one that it is attached to. r->progs[prog] is its
 * descriptor. -ENOTSUP where the kernel refuses it.
 */
int bb_replay__load(struct bb_replay *r, size_t prog, char *log, size_t log_size,
		    struct bb_err *err);

/* The program alone, with what is there by now; log[log_size] gets the verifier's words at
 * `log_level`, 0: none. 0 or -errno without a message. */
int bb_replay__load_one(struct bb_replay *r, size_t prog, uint32_t log_level, char *log,
			uint32_t log_size);

/* Its instructions with the descriptors of this replay in them; *ret_insns has room for n_insns. */
void bb_replay__put_fds(const struct bb_replay *r, size_t prog, struct bpf_insn *ret_insns);

/* Call `visit` for each map that an instruction or fd_array of the program names, until it returns
 * nonzero, which is returned. */
int bb_captured_prog__each_map(const struct bb_captured_prog *p,
			       int (*visit)(void *arg, size_t map), void *arg);

void bb_replay__done(struct bb_replay *r); /* takes one that was never opened, zeroed */

/* The id of an open BTF; `name` gets that of the kernel or its module, "" for a program's. 0 or
 * -errno. */
int bb_btf_info(int fd, struct bpf_btf_info *ret_info, char *name, unsigned int name_size);

#endif
