/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_TAKE_CALL_H
#define BB_CAPTURE_TAKE_CALL_H

#include "capture/remote.h"
#include "capture/take.h"

#define BB_TAKE_KNOWN 64 /* maps of one program: MAX_USED_MAPS of the kernel */

/* A system call of the command that is being looked at: for take.c and attach.c only. */
struct bb_take_call {
	struct bb_take *t;
	/* maps that its descriptors are of: instructions name the same ones again and again */
	struct {
		int fd;
		int32_t map;
	} known[BB_TAKE_KNOWN];
	size_t n_known;
	struct bb_remote from;
	union bpf_attr attr; /* zero behind what the caller gave */
};

/* Calls that attach (attach.c). What cannot be read is not in the capture. */
void bb_take_attach__link(struct bb_take_call *call);
void bb_take_attach__raw_tracepoint(struct bb_take_call *call);
void bb_take_attach__prog_attach(struct bb_take_call *call);
void bb_take_attach__event(struct bb_take_call *call, int event_fd, int prog_fd);
void bb_take_attach__socket(struct bb_take_call *call, uint64_t option, uint64_t value_at);

#endif
