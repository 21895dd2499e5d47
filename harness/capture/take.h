/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>
#include <linux/seccomp.h>

#include "capture/capture.h"
#include "capture/remote.h"

/* A capture that is being taken. capture/watched.h passes each watched call of the command to
 * bb_take__call(), while the calling thread waits in the kernel. */

/* A program in the kernel that the command may have loaded. */
struct bb_seen_prog {
	uint32_t id, type;
	uint8_t tag[BPF_TAG_SIZE];
	char kernel_name[16];
	bool stayed; /* true if the program was still loaded when the capture ended */
	/* index in the capture; BB_CAPTURE_NONE if unknown */
	int32_t prog;
};

/* A map of maps of the command. `inner` is the index of the map that was its inner_map_fd, because
 * the kernel does not tell this later. */
struct bb_template {
	char kernel_name[16];
	uint32_t type, key_size, value_size, max_entries;
	int32_t inner;
};

/* A perf event that the command opened, to which it may attach a program. */
struct bb_opened_event {
	pid_t tgid;
	struct perf_event_attr attr;
	char name[256]; /* function of a kprobe, or file of a uprobe; may be empty */
};

struct bb_take {
	struct bb_capture *capture;
	struct bb_seen_prog *seen; /* sorted by id when the capture ends */
	struct bb_template *templates;
	struct bb_opened_event *events;
	size_t n_seen, n_templates, n_events;
	/* program id of each new link that is not matched with an attachment yet */
	uint32_t *links;
	size_t n_links;
	uint32_t last_link_id;  /* links up to this id have been seen */
	uint32_t first_prog_id; /* programs with a lower id are not the command's */
	/* rights (capture/remote.h) that all loads and map creations had so far */
	uint64_t rights;
	int unreadable; /* -errno if the command's memory or descriptors could not be copied */
	/* true if the command asked for a seccomp listener, and got none because bpfbench has it */
	bool supervises;
	size_t n_calls;    /* watched calls that were handled */
	uint64_t spent_ns; /* total time to handle these calls */
	/* index of the program that the last call loads; BB_CAPTURE_NONE if it loads none, or if
	 * its code cannot be read */
	int32_t loading;
};

struct bb_take bb_take__begin(const char *const *argv);

/* Records a watched call before the kernel executes it. Data that cannot be read are missing in the
 * record. If a signal interrupts the call, the command makes it again, so bb_take__undo() with
 * `*ret_mark` removes the record. */
struct bb_take_mark {
	size_t n_progs, n_attachments, n_inputs, n_templates, n_events;
};
void bb_take__call(struct bb_take *t, const struct seccomp_notif *call,
		   struct bb_take_mark *ret_mark);
void bb_take__undo(struct bb_take *t, const struct bb_take_mark *mark);

/* Asks the kernel which attachments exist. A missing attachment counts as refused once its thread
 * has returned from the attaching call. With BB_SETTLE_CALL, thread `tid` has returned, because it
 * makes another call. With BB_SETTLE_END, /proc says whether each thread has returned. With
 * BB_SETTLE_TURN, nothing is known, so no attachment counts as refused. */
enum bb_settle_when { BB_SETTLE_CALL, BB_SETTLE_TURN, BB_SETTLE_END };
void bb_take__settle(struct bb_take *t, enum bb_settle_when when, pid_t tid);

/* Asks the kernel for the loaded programs, the programs on network devices, and the entries of maps
 * (at most max_bytes in all). Call this while `command` runs, because devices in its network
 * namespace count, too. */
int bb_take__ask_kernel(struct bb_take *t, pid_t command, size_t max_bytes, struct bb_err *err);

/* Records that the program with the kernel's id `id` runs in place of the capture's program `prog`.
 * Call this after bb_take__ask_kernel(). */
void bb_take__replaced(struct bb_take *t, uint32_t id, int32_t prog);

/* Removes each program i with a true gone[i], and the maps and BTFs that no remaining program
 * needs. The indexes of later programs become lower. ids[n_ids] are the kernel's ids of the removed
 * programs, as far as they are known. Attachments and test runs of these ids are removed, too. Call
 * this only before bb_take__ask_kernel(). */
void bb_take__forget(struct bb_take *t, const bool *gone, const uint32_t *ids, size_t n_ids);

/* Completes the capture, hands it to the caller, and frees `t`. Loads every program once more with
 * the command's own maps, to learn whether the kernel refuses it. Returns -ENOTSUP if there is
 * nothing to measure. `how_ended` is as for bb_take__say_nothing(). */
int bb_take__end(struct bb_take *t, const char *how_ended, struct bb_capture **ret_capture,
		 struct bb_err *err);
void bb_take__free(struct bb_take *t);

/* Reports why the command loaded nothing that can be measured, and what to do. Returns -ENOTSUP.
 * `how_ended` follows the command's name in the message, such as ", which was killed," or "". */
int bb_take__say_nothing(const struct bb_take *t, const char *how_ended, struct bb_err *err);

/* --- for the files of this folder only --- */

/* Add a map or BTF, unless the capture has it already. Take ownership of `fd`. Return the index, or
 * -errno. */
int32_t bb_take__map(struct bb_take *t, int fd);
int32_t bb_take__btf(struct bb_take *t, int fd);
/* Names map number `map` as in the kernel, with a number if an earlier map has that name. */
void bb_take__name_map(struct bb_take *t, size_t map);
/* Returns the element of t->seen for the program `fd`, which it adds if needed. NULL means that the
 * kernel gives no information. The element is valid until the next call. */
struct bb_seen_prog *bb_take__seen(struct bb_take *t, int fd);
/* Appends an attachment to the capture. Returns NULL if the capture has too many. */
struct bb_captured_attachment *bb_take__attachment(struct bb_take *t, uint32_t prog_id,
						   const char *kind);

int bb_take__entries(struct bb_take *t, size_t max_bytes, struct bb_err *err);

int bb_take__devices(struct bb_take *t, pid_t command);

void bb_taken_attachment__done(struct bb_taken_attachment *p);

/* limit: cached maps; MAX_USED_MAPS of the kernel, the most maps of a program */
#define BB_TAKE_KNOWN 64

/* The watched call that is being handled, for take.c and attach.c only. */
struct bb_take_call {
	struct bb_take *t;
	/* cache of the maps' indexes, because instructions name the same maps many times */
	struct {
		int fd;
		int32_t map;
	} known[BB_TAKE_KNOWN];
	size_t n_known;
	struct bb_remote from;
	/* arguments of bpf(); bytes that the command did not give are 0 */
	union {
		char attr_bytes[512]; /* also of attributes that bpfbench does not know */
		union bpf_attr attr;
	};
	uint32_t attr_size; /* as the command gave it, which may be more than 512 */
};

/* Each adds an attachment. What cannot be read from the command stays empty. */
void bb_take_attach__link(struct bb_take_call *call);
void bb_take_attach__raw_tracepoint(struct bb_take_call *call);
void bb_take_attach__prog_attach(struct bb_take_call *call);
void bb_take_attach__event(struct bb_take_call *call, int event_fd, int prog_fd);
void bb_take_attach__socket(struct bb_take_call *call, uint64_t option, uint64_t value_at);
