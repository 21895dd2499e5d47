/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_TAKE_H
#define BB_CAPTURE_TAKE_H

#include <linux/perf_event.h>
#include <linux/seccomp.h>

#include "base/std.h"
#include "capture/capture.h"
#include "capture/remote.h"

/*
 * A capture that is being taken: capture/supervise.h hands it the system calls of the command one
 * by one, while the caller waits in them, and at last asks it for the whole. Descriptors of the
 * command's maps, types and programs are held until then.
 */
struct bb_held_object {
	int fd;
	uint32_t id; /* the kernel's */
};

/* A load, beside its program in the capture. */
struct bb_taken_load {
	int target_fd;      /* the program that it replaces or watches; -1 */
	uint32_t target_id; /* its id; 0: it has none */
	uint64_t rights;    /* of the thread that made it (capture/rights.h) */
	int lacks_rights;   /* -errno: the kernel refuses it for them, and not to root; 0 */
};

/* A program of the kernel that may be one of ours. */
struct bb_seen_prog {
	uint32_t id, type;
	uint8_t tag[BPF_TAG_SIZE];
	char kernel_name[16];
	bool stayed;  /* it was there when the capture ended */
	int32_t prog; /* of the capture; BB_CAPTURE_NONE: not known, or none */
};

/* The inner map that BPF_MAP_CREATE was given; the kernel does not tell it later. */
struct bb_template {
	char kernel_name[16];
	uint32_t type, key_size, value_size, max_entries;
	int32_t inner;
};

/* A perf event that was opened and may get a program. */
struct bb_opened_event {
	pid_t tgid;
	struct perf_event_attr attr;
	char name[256]; /* of the function or file of a dynamic probe; may be empty */
};

/* Where to see whether the kernel did as an attaching call asked. */
enum bb_attached_by {
	BB_ATTACHED_SURELY, /* it did, or it cannot be asked, or its answer is known */
	BB_ATTACHED_BY_EVENT,
	BB_ATTACHED_BY_LINK,
	BB_ATTACHED_BY_PROG, /* BPF_PROG_ATTACH: the target is asked */
};

/* An attachment, until the programs are known. */
struct bb_pending_attachment {
	uint32_t prog_id;
	pid_t tid; /* the thread that makes the call */
	enum bb_attached_by by;
	int fd;      /* the event or the target; -1 */
	bool by_btf; /* where it is attached stands in the program */
};

struct bb_take {
	struct bb_capture *capture;
	struct bb_held_object *maps, *btfs; /* as in the capture */
	struct bb_taken_load *loads;        /* as its progs */
	struct bb_seen_prog *seen;          /* by id when the capture ends */
	struct bb_template *templates;
	struct bb_opened_event *events;
	struct bb_pending_attachment *pending;        /* as its attachments */
	struct bb_pending_attachment *pending_inputs; /* as its inputs */
	size_t n_maps, n_btfs, n_loads, n_seen, n_templates, n_events, n_pending, n_pending_inputs;
	uint32_t *links; /* the programs of links that are of no attachment yet */
	size_t n_links;
	uint32_t last_link_id;  /* links up to here have been seen */
	uint32_t first_prog_id; /* programs of the kernel from here on may be ours */
	uint64_t rights;        /* that it had at all loads and makings of maps */
	int unreadable;    /* -errno: a caller's memory or descriptors could not be copied; 0 */
	bool supervises;   /* it asked to be told of system calls, as we are, and is refused */
	size_t n_calls;    /* that were looked at */
	uint64_t spent_ns; /* in all of them */
};

int bb_take__begin(const char *const *argv, struct bb_take *ret_take, struct bb_err *err);

/*
 * Note a call that is about to be made. Nothing stops the command: data that cannot be read are not
 * in the capture. -ENOMEM. bb_take__undo() forgets it again: a signal broke the call off, and it
 * will come anew.
 */
struct bb_take_mark {
	size_t n_progs, n_attachments, n_inputs, n_templates, n_events;
};
int bb_take__call(struct bb_take *t, const struct seccomp_notif *call,
		  struct bb_take_mark *ret_mark);
void bb_take__undo(struct bb_take *t, const struct bb_take_mark *mark);

/*
 * Which attachments are there? What is not is refused when its thread is known to be back from the
 * call: at another call of `tid`; at the end, when it does something else. In between (TURN)
 * nothing is.
 */
enum bb_settle_when { BB_SETTLE_CALL, BB_SETTLE_TURN, BB_SETTLE_END };
void bb_take__settle(struct bb_take *t, enum bb_settle_when when, pid_t tid);

/* Ask the kernel for what only it knows, while the command still runs: which programs there are,
 * what the maps hold (up to max_bytes in all; 0: nothing), what is attached by netlink to devices
 * of our network namespace and that of the process `command`. */
int bb_take__ask_kernel(struct bb_take *t, pid_t command, size_t max_bytes, struct bb_err *err);

/* The whole; t keeps nothing of it. Every program is loaded once more, with the command's own maps:
 * what the kernel refuses is known then, and the others' tags. -ENOTSUP when there is nothing to
 * measure: `how_ended` is as below. */
int bb_take__end(struct bb_take *t, const char *how_ended, struct bb_capture **ret_capture,
		 struct bb_err *err);
void bb_take__free(struct bb_take *t);

/* Did the command load nothing that can be measured? bb_take__say_nothing() says why, and what to
 * do, and returns -ENOTSUP. `how_ended` follows the command's name: "", or ", which ended .., ". */
bool bb_take__has_nothing(const struct bb_take *t);
int bb_take__say_nothing(const struct bb_take *t, const char *how_ended, struct bb_err *err);

/* For the files of this folder that take part in a capture only. */

/* The index of a descriptor's map or BTF in the capture, which takes it over, or closes it when it
 * is known. -errno. */
int32_t bb_take__map(struct bb_take *t, int fd);
int32_t bb_take__btf(struct bb_take *t, int fd);
/* The entry of a program; NULL: out of memory, or it cannot be asked. Its descriptor stays the
 * caller's. */
struct bb_seen_prog *bb_take__seen(struct bb_take *t, int fd);
/* One attachment more, and what is pending of it; NULL: there are too many, or no memory. */
struct bb_captured_attachment *bb_take__attachment(struct bb_take *t, uint32_t prog_id,
						   const char *kind);

/* The contents of the maps (objects.c). */
int bb_take__entries(struct bb_take *t, size_t max_bytes, struct bb_err *err);

/* The programs on network devices (attach.c). 0 or -errno. */
int bb_take__devices(struct bb_take *t, pid_t command);

/* Closes what belongs to it. */
void bb_pending__done(struct bb_pending_attachment *p);

/* "sched_switch", the kernel says; tracefs, where it is mounted, that it is one of sched's. This
 * takes milliseconds: the command is not to wait for it. */
void bb_name_tracepoint(struct bb_captured_attachment *a);

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
