/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/fork_as.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process.h"
#include "fire/later.h"

#define FIRST_PID_NAMESPACE 0xEFFFFFFCU /* its inode, include/linux/proc_ns.h */

int bb_reserve_pid(pid_t *ret_pid, struct bb_err *err)
{
	struct stat st;
	pid_t pid;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino != FIRST_PID_NAMESPACE)
		return bb_fail(err, -ENOTSUP,
			       "{pid: self}: bpfbench runs in a PID namespace, and does not know "
			       "which pid programs see there");
	pid = fork();
	if (!pid)
		_exit(0);
	if (pid < 0)
		return bb_fail(err, -errno, "fork: %s", strerror(errno));
	bb_wait_for(pid);
	*ret_pid = pid;
	return 0;
}

/* fork() of the C library cannot be told. It would wait for threads of ours that allocate memory;
 * here, none is running. */
pid_t bb_fork_as(pid_t pid)
{
	struct clone_args args = {.exit_signal = SIGCHLD,
				  .set_tid = (uint64_t)(uintptr_t)&pid,
				  .set_tid_size = 1};

	if (!pid)
		return fork();
	bb_close_later__wait();
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}
