/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>

#include "fire/firer.h"

/* An open attach point, on which programs take turns. Opening does the slow part, such as making a
 * perf event. Attaching and detaching a program then take microseconds. */
struct bb_hook {
	struct bb_attach_point point;
	struct perf_event_attr attr; /* the attributes of all perf events of this hook */
	/* the file, or the kernel function, that the probe is in */
	char path[4096];
	/* for a multi link: the kernel functions; owned */
	char **functions;
	size_t n_functions;
	/* the probes in `path`; owned; NULL if there are none */
	struct bb_user_addresses *addresses;
	/* for each address, the perf event, and the link of the program to it; -1 if not open */
	int *events, *links;
	uint32_t n_events;
	pid_t pid; /* for uprobes: the probed process; -1 means all */
	const struct bb_fire_site *site;
	/* Links of two idle programs on a raw tracepoint, or -1. With them, other programs are
	 * attached quickly. Otherwise the kernel patches the tracepoint, which takes 12 ms. The
	 * idle programs add to the time of each event. */
	int idle_fd[2];
};

/* Opens a hook. `pid` is the process whose functions are probed; -1 means all. `site` may be NULL,
 * except for programs of a cgroup or network namespace. `idle` allows idle programs. Returns 0,
 * -ENOTSUP if bpfbench cannot attach here, -ENOENT if the hook does not exist, or another
 * -errno. */
int bb_hook__open(const struct bb_attach_point *point, pid_t pid, const struct bb_fire_site *site,
		  bool idle, struct bb_hook *ret_hook, struct bb_err *err);
/* Closes a hook. The kernel frees it in the background (fire/later.h). */
void bb_hook__close(struct bb_hook *h);
/* Closes a hook, and waits until the kernel has freed it. */
void bb_hook__close_now(struct bb_hook *h);

/* Completes the name of a tracepoint, which may lack its group or be a number. An empty name
 * becomes that of the event that the program is named after. Needs tracefs. */
void bb_hook__name_event(struct bb_attach_point *p, const char *program);

/* Attaches a program. *ret_link_fd receives its link, or -1 if the links are in h->links. Returns
 * 0, or -errno with a message. */
int bb_hook__put(const struct bb_hook *h, int prog_fd, int *ret_link_fd, struct bb_err *err);

/* Detaches the program in the background (fire/later.h). A program that can affect every process is
 * detached before this returns, so that it does not affect us. */
void bb_hook__take_off(const struct bb_hook *h, int link_fd);
