/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_PROCESS_TREE_H
#define BB_BASE_PROCESS_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A process with all that it starts, daemons that leave its session among them. A keeper of ours is
 * its parent, and the process that the others fall to; when the first one ends, the keeper ends the
 * rest and then itself. So when the keeper has been waited for, nothing of the tree is alive.
 *
 * The keeper is the first process of a PID namespace, which the kernel empties when it ends,
 * however it ends. Where there is none to be had (no CAP_SYS_ADMIN, a container's seccomp filter,
 * user.max_pid_namespaces), it is a subreaper that kills its children until there are no more:
 * one that forks faster than it is killed can outlive that, and all can if the keeper is killed.
 *
 * In the namespace, /proc shows its processes alone, where it may be mounted.
 */
struct bb_process_tree {
	/* wait for it: its exit code is that of the process, 128 + signal if that was killed */
	pid_t keeper;
	bool is_whole; /* it has a PID namespace */
};

/*
 * `run` is called in the process, in a session of its own, and does not return; `keeper` is its
 * parent, if that is still there. alive[2] is a pipe
 * whose reading end, the first, is ours alone: where nobody has it any more, we are gone. 0 or
 * -errno.
 */
int bb_process_tree__start(void (*run)(void *arg, pid_t keeper), void *arg, const int *alive,
			   struct bb_process_tree *ret_tree);

/* Ask all to end: first by SIGTERM, after two seconds by SIGKILL. It does not wait. */
void bb_process_tree__end(const struct bb_process_tree *tree);

#endif
