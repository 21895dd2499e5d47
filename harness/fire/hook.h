/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>

#include "fire/firer.h"

/* An open attach point, on which programs take turns. Opening does the slow part, such as opening
 * the perf event of a tracepoint or uprobe. Attaching and detaching a program then take
 * microseconds, so that compared programs need not be attached at the same time. */
struct bb_hook {
	struct bb_attach_point point;
	struct perf_event_attr attr; /* what the perf events of this hook have in common */
	char path[4096];             /* file, or function of the kernel, that `attr` points to */
	/* for a multi link to functions of the kernel: the names of the functions; owned */
	char **functions;
	size_t n_functions;
	struct bb_user_addresses *addresses;
	/* for each address, the perf event and the attached program's link to it; -1 means none */
	int *events, *links;
	uint32_t n_events;
	pid_t pid;                       /* of uprobes: the probed process; -1 means all */
	const struct bb_fire_site *site; /* borrowed; NULL means none */
	/* Two idle programs on a raw tracepoint; -1 means none. The kernel patches the tracepoint's
	 * code when the first and the second program are attached, which takes 12 ms; later
	 * programs are attached quickly. The idle programs add to the time of each event. */
	int idle_fd[2];
};

/*
 * `pid`: the process whose functions are probed; -1 means all processes. `site`: borrowed, needed
 * for programs of a cgroup or network namespace; NULL means none. `idle`: allows idle programs on a
 * raw tracepoint. Returns -ENOTSUP with the reason if bpfbench cannot attach here, -ENOENT with a
 * similar name if the hook does not exist.
 */
int bb_hook__open(const struct bb_attach_point *point, pid_t pid, const struct bb_fire_site *site,
		  bool idle, struct bb_hook *ret_hook, struct bb_err *err);
/* the kernel frees the hook in the background (fire/later.h) */
void bb_hook__close(struct bb_hook *h);
void bb_hook__close_now(struct bb_hook *h); /* waits until the kernel has freed the hook */

/* Completes the attach point of a tracepoint's program, as far as tracefs allows. A number or a
 * name without its group becomes the full name. A program without a target gets the event that it
 * is named after. */
void bb_hook__name_event(struct bb_attach_point *p, const char *program);

/* Attaches a program. `*ret_link_fd` is -1 if the hook itself keeps the links. */
int bb_hook__put(const struct bb_hook *h, int prog_fd, int *ret_link_fd, struct bb_err *err);

/* Detaches the program. The kernel completes that in the background (fire/later.h). If the
 * program acts on every process, this waits instead, because the program must not act on us. */
void bb_hook__take_off(const struct bb_hook *h, int link_fd);
