/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_PLACE_H
#define BB_FIRE_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "fire/call_child.h"

/*
 * Where triggers are fired: a network namespace that nobody else has, a cgroup with nobody else in
 * it, a CPU. What a process of ours holds goes with it; the cgroup's folder is removed when the
 * place is closed, or by a keeper, a process that does nothing else, when we end in another way.
 */
struct bb_fire_place {
	int cpu, other_cpu; /* other_cpu -1: there is none */
	int netns_fd;       /* -1: as we have it; `why_no_netns` says why */
	int cgroup_fd;      /* -1: there is none; `why_no_cgroup` says why */
	char cgroup[256];   /* its path */
	uint64_t cgroup_id;
	char why_no_netns[200], why_no_cgroup[200];
	struct bb_fire_user user; /* set by whoever opens it; zeroed: root, and no helper */
	pid_t keeper;             /* 0: none */
	int keeper_fd;
};

int bb_fire_place__open(int cpu, int other_cpu, struct bb_fire_place *ret_place,
			struct bb_err *err);
void bb_fire_place__close(struct bb_fire_place *p);

/*
 * The one place of this process, opened for the first who asks and closed after the last: programs
 * that are told its cgroup are fired there by every drive. `user` is set by who opens it first.
 */
int bb_fire_place__share(int cpu, int other_cpu, const struct bb_fire_user *user,
			 struct bb_fire_place **ret_place, struct bb_err *err);
void bb_fire_place__unshare(struct bb_fire_place *p);    /* takes NULL */
const struct bb_fire_place *bb_fire_place__shared(void); /* NULL: nobody has it open */

/*
 * In a child of ours: into the namespace and the cgroup, with a file system of its own in memory as
 * working folder. 0 or -errno.
 */
int bb_fire_place__enter(const struct bb_fire_place *p);

#endif
