/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_HOOK_H
#define BB_FIRE_HOOK_H

#include <linux/perf_event.h>

#include "base/err.h"
#include "base/std.h"
#include "fire/attach_point.h"
#include "fire/firer.h"
#include "fire/user_function.h"

/*
 * An attach point, made ready for programs that take turns on it. The slow part is done when it is
 * opened (a perf event of a tracepoint or uprobe); putting a program on it and taking it off then
 * take microseconds, so that programs which are compared are never attached together.
 */
struct bb_hook {
	struct bb_attach_point point;
	struct perf_event_attr attr; /* of its perf events, but for what each has of its own */
	char path[4096];             /* the file or kernel function that attr points to */
	/* where one link goes to many functions: of the kernel, or at offsets in the file */
	char **functions;
	size_t n_functions;
	struct bb_user_addresses *addresses;
	/* perf events, one a place, and the links of the program that is there; -1: none */
	int *events, *links;
	uint32_t n_events;
	pid_t pid;                       /* uprobe: of which process; -1: of all */
	const struct bb_fire_site *site; /* borrowed; NULL: there is none */
	/* two programs that do nothing, on a raw tracepoint: the kernel patches its own code for
	 * the first and the second, which takes 12 ms; -1: none. Calling them costs the target
	 * time. */
	int idle_fd[2];
};

/*
 * `pid`: the process whose functions are probed (-1: all processes). `site` is borrowed, for
 * programs of its cgroup or network; NULL: there is none. `idle`: may programs that do nothing be
 * on it, too? -ENOTSUP with the reason: nothing is attached here; -ENOENT: there is no such hook
 * here, with the nearest names.
 */
int bb_hook__open(const struct bb_attach_point *point, pid_t pid, const struct bb_fire_site *site,
		  bool idle, struct bb_hook *ret_hook, struct bb_err *err);
void bb_hook__close(struct bb_hook *h);     /* it goes later (fire/later.h) */
void bb_hook__close_now(struct bb_hook *h); /* returns when it has gone */

/*
 * The event's whole name, where it can be known, for a tracepoint that is known by its number or
 * without its group; the event that the program is named after, where a program of a tracepoint has
 * no place.
 */
void bb_hook__name_event(struct bb_attach_point *p, const char *program);

/* Put a program on it. *ret_link_fd: -1 where the hook keeps the links. */
int bb_hook__put(const struct bb_hook *h, int prog_fd, int *ret_link_fd, struct bb_err *err);

/* Take it off. What is slow about that goes on for a while (fire/later.h), but
 * not where the program acts on all: it must not meet us. */
void bb_hook__take_off(const struct bb_hook *h, int link_fd);

#endif
