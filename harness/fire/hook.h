/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>

#include "fire/firer.h"

/* An open attach point, on which programs take turns. Opening does the slow part, such as making
 * the perf event of a tracepoint or uprobe. Attaching and detaching a program then take
 * microseconds, so compared programs need not be attached at the same time. */
struct bb_hook {
	struct bb_attach_point point;
	struct perf_event_attr attr; /* the attributes that all perf events of this hook have */
	/* path of the file, or name of the kernel function, that the probe is in */
	char path[4096];
	/* for a multi link: names of the kernel functions, functions[n_functions]; owned */
	char **functions;
	size_t n_functions;
	/* addresses of the probes in `path`; owned; NULL: there are none */
	struct bb_user_addresses *addresses;
	/* events[n_events], links[n_events]: for each address, the perf event, and the link by
	 * which the program is attached to it; -1: not open */
	int *events, *links;
	uint32_t n_events;
	pid_t pid; /* for uprobes: the probed process; -1: all */
	/* the site of the process that fires; borrowed; NULL: there is none */
	const struct bb_fire_site *site;
	/* Links of two idle programs on a raw tracepoint; -1 means none. The kernel patches the
	 * tracepoint when the first and the second program are attached, which takes 12 ms. Later
	 * programs are attached quickly. The idle programs add to the time of each event. */
	int idle_fd[2];
};

/*
 * Opens a hook. `pid`: the process whose functions are probed; -1 means all processes. `site`:
 * borrowed, needed for programs of a cgroup or network namespace; NULL means none. `idle`: allows
 * idle programs on a raw tracepoint. Returns 0; -ENOTSUP with the reason if bpfbench cannot attach
 * here; -ENOENT with a similar name if the hook does not exist; or another -errno.
 */
int bb_hook__open(const struct bb_attach_point *point, pid_t pid, const struct bb_fire_site *site,
		  bool idle, struct bb_hook *ret_hook, struct bb_err *err);
/* closes a hook; the kernel frees it in the background (fire/later.h) */
void bb_hook__close(struct bb_hook *h);
/* closes a hook and waits until the kernel has freed it */
void bb_hook__close_now(struct bb_hook *h);

/* Completes the name of a tracepoint, as far as tracefs allows: a number, or a name without its
 * group, becomes the full name. If the attach point has no name, it gets the name of the event that
 * the program is named after. */
void bb_hook__name_event(struct bb_attach_point *p, const char *program);

/* Attaches a program. *ret_link_fd receives the link, or -1 if `h` keeps the links (h->links).
 * Returns 0, or -errno with a message. */
int bb_hook__put(const struct bb_hook *h, int prog_fd, int *ret_link_fd, struct bb_err *err);

/* Detaches the program. The kernel completes the detaching in the background (fire/later.h). But if
 * the program may affect every process, waits until the kernel has detached it, because the program
 * must not affect us. */
void bb_hook__take_off(const struct bb_hook *h, int link_fd);
