/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>
#include <linux/seccomp.h>

#include "capture/capture.h"
#include "capture/remote.h"

/* A capture that is being taken. capture/watched.h passes each watched system call of the command
 * to bb_take__call(), while the calling thread waits in the kernel. capture/supervise.h ends the
 * capture. Until then, the capture's items hold descriptors of the command's maps, BTFs and
 * programs. */

/* A program in the kernel that the command may have loaded. */
struct bb_seen_prog {
	uint32_t id, type;
	uint8_t tag[BPF_TAG_SIZE];
	char kernel_name[16];
	bool stayed; /* true: the program was still loaded when the capture ended */
	/* index of the program in the capture; BB_CAPTURE_NONE if unknown or not in the capture */
	int32_t prog;
};

/* A map of maps that the command made. `inner` is the index of the map that BPF_MAP_CREATE was
 * given as template of the inner maps. The kernel cannot be asked for the template later. */
struct bb_template {
	char kernel_name[16];
	uint32_t type, key_size, value_size, max_entries;
	int32_t inner;
};

/* A perf event that the command opened, to which it may attach a program. */
struct bb_opened_event {
	pid_t tgid;
	struct perf_event_attr attr;
	char name[256]; /* function or file of a dynamic probe; may be empty */
};

struct bb_take {
	struct bb_capture *capture;
	struct bb_seen_prog *seen; /* sorted by id when the capture ends */
	struct bb_template *templates;
	struct bb_opened_event *events;
	size_t n_seen, n_templates, n_events;
	/* program ids of the new links that are not matched with an attachment yet, one for each
	 * link */
	uint32_t *links;
	size_t n_links;
	uint32_t last_link_id;  /* links with an id up to this one have been seen */
	uint32_t first_prog_id; /* the command's programs have an id >= this one */
	/* the rights that all loads and map creations so far had in common (capture/remote.h) */
	uint64_t rights;
	int unreadable; /* -errno if the command's memory or descriptors could not be copied */
	/* true: the command tried to get a seccomp listener; the kernel allows only one, and
	 * bpfbench has it */
	bool supervises;
	size_t n_calls;    /* system calls that were handled */
	uint64_t spent_ns; /* time spent on these system calls */
};

struct bb_take bb_take__begin(const char *const *argv);

/* Records a system call that the command is about to make. If some data cannot be read, the record
 * lacks them, and the command goes on. `*ret_mark` is for bb_take__undo(), which removes the record
 * of a call that a signal interrupted, because the command will make the call again. */
struct bb_take_mark {
	size_t n_progs, n_attachments, n_inputs, n_templates, n_events;
};
void bb_take__call(struct bb_take *t, const struct seccomp_notif *call,
		   struct bb_take_mark *ret_mark);
void bb_take__undo(struct bb_take *t, const struct bb_take_mark *mark);

/*
 * Finds out which attachments the kernel has made. An attachment that the kernel does not have
 * counts as refused once the thread that asked for it has returned from the attaching call. `when`
 * says what is known of that thread. BB_SETTLE_CALL: thread `tid` makes another call, so it has
 * returned. BB_SETTLE_END: the capture ends, and /proc says whether each thread has returned.
 * BB_SETTLE_TURN: nothing is known, and no attachment is marked as refused.
 */
enum bb_settle_when { BB_SETTLE_CALL, BB_SETTLE_TURN, BB_SETTLE_END };
void bb_take__settle(struct bb_take *t, enum bb_settle_when when, pid_t tid);

/* Asks the kernel, while the command still runs, for three things: the loaded programs; the entries
 * of the maps (at most max_bytes in all; 0 means none); and the programs that netlink attached to
 * network devices, in our network namespace and in that of the process `command`. */
int bb_take__ask_kernel(struct bb_take *t, pid_t command, size_t max_bytes, struct bb_err *err);

/* Records that the program with the kernel's id `id` runs in place of program `prog` of the
 * capture. Call this after bb_take__ask_kernel(). */
void bb_take__replaced(struct bb_take *t, uint32_t id, int32_t prog);

/*
 * Removes from the capture each program i for which gone[i] is true, and the maps and BTFs to which
 * no remaining program refers. Each removed program lowers the indexes of the programs after it by
 * 1. ids[n_ids] are the ids that the removed programs had in the kernel, as far as they are known;
 * their attachments and test runs are removed, too. Call this only before bb_take__ask_kernel().
 */
void bb_take__forget(struct bb_take *t, const bool *gone, const uint32_t *ids, size_t n_ids);

/* Completes the capture and hands it to the caller; frees `t`. Loads every program once more, with
 * the command's own maps, to learn which programs the kernel refuses, and the tags of the others.
 * Returns -ENOTSUP if there is nothing to measure. `how_ended`: see bb_take__say_nothing(). */
int bb_take__end(struct bb_take *t, const char *how_ended, struct bb_capture **ret_capture,
		 struct bb_err *err);
void bb_take__free(struct bb_take *t);

/* Reports why the command loaded nothing that can be measured, and what to do. Returns -ENOTSUP.
 * `how_ended` follows the command's name: "" or, for example, ", which was killed,". */
int bb_take__say_nothing(const struct bb_take *t, const char *how_ended, struct bb_err *err);

/* --- for the files of this folder only --- */

/* These two functions add the map or BTF with the descriptor `fd` to the capture, unless the
 * capture has it already. They return its index in the capture, or -errno. They take ownership of
 * `fd`. */
int32_t bb_take__map(struct bb_take *t, int fd);
int32_t bb_take__btf(struct bb_take *t, int fd);
/* Names the map with the index `map`: its name in the kernel, and a number if maps with lower
 * indexes have the same name in the kernel. */
void bb_take__name_map(struct bb_take *t, size_t map);
/* Returns the element of t->seen for the program with the descriptor `fd`, and adds it if it is
 * new; NULL if the kernel gives no information about the program. The element is valid until the
 * next call of this function. The caller keeps `fd`. */
struct bb_seen_prog *bb_take__seen(struct bb_take *t, int fd);
/* Appends an attachment to the capture and returns it; NULL if the capture has too many. */
struct bb_captured_attachment *bb_take__attachment(struct bb_take *t, uint32_t prog_id,
						   const char *kind);

/* Reads the entries of the maps (objects.c). */
int bb_take__entries(struct bb_take *t, size_t max_bytes, struct bb_err *err);

/* Finds the programs on network devices (attach.c). Returns 0 or -errno. */
int bb_take__devices(struct bb_take *t, pid_t command);

/* Closes the attachment's descriptor, and sets `by` to BB_ATTACHED_SURELY. */
void bb_taken_attachment__done(struct bb_taken_attachment *p);

/* Puts the group of a tracepoint before the tracepoint's name: "sched_switch" becomes
 * "sched/sched_switch". This reads tracefs and takes milliseconds, so it must not run while the
 * command waits. */
void bb_name_tracepoint(struct bb_captured_attachment *a);

/* limit: cached maps; MAX_USED_MAPS of the kernel, the most maps of one program */
#define BB_TAKE_KNOWN 64

/* The system call that is being handled; for take.c and attach.c only. */
struct bb_take_call {
	struct bb_take *t;
	/* cache of the maps' indexes by descriptor, because instructions name the same maps many
	 * times */
	struct {
		int fd;
		int32_t map;
	} known[BB_TAKE_KNOWN];
	size_t n_known;
	struct bb_remote from;
	union bpf_attr attr; /* arguments of bpf(); bytes that the command did not give are 0 */
};

/* Each of these functions adds to the capture the attachment that one kind of system call asks for
 * (attach.c). What cannot be read from the command stays empty in the attachment. */
void bb_take_attach__link(struct bb_take_call *call);
void bb_take_attach__raw_tracepoint(struct bb_take_call *call);
void bb_take_attach__prog_attach(struct bb_take_call *call);
void bb_take_attach__event(struct bb_take_call *call, int event_fd, int prog_fd);
void bb_take_attach__socket(struct bb_take_call *call, uint64_t option, uint64_t value_at);
