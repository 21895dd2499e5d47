/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/stop.h"

#define NAP_FIRST_NS 1000000 /* doubled each time, up to: */
#define NAP_MOST_NS 50000000
#define GRACE_S 2.0 /* from SIGTERM to SIGKILL */
#define FIRST_FREE_FD 3

static void take_nap(long *ns)
{
	const struct timespec nap = {.tv_nsec = *ns};

	nanosleep(&nap, NULL);
	if (*ns < NAP_MOST_NS)
		*ns *= 2;
}

/* --- in the keeper --- */

/* Its mounts are its own from here on, so that its /proc is. Where either is not permitted, as in
 * containers, the tree sees the /proc that we see. */
static void mount_proc(void)
{
	if (!mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

/* Until the process ends, or those who wait for it want it to end. Others of the tree are waited
 * for as they end. */
static int wait_for(pid_t pid)
{
	long nap_ns = NAP_FIRST_NS;
	uint64_t told_ns = 0;
	int status = 0;

	for (;;) {
		pid_t got = waitpid(-1, &status, WNOHANG);

		if (got == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (got > 0)
			continue;
		if (got < 0 && errno != EINTR)
			return 128 + SIGKILL;
		if (bb_stop_signal && !told_ns) {
			told_ns = bb_now_ns();
			kill(-pid, SIGTERM);
			kill(pid, SIGTERM); /* if it has no session yet */
		}
		if (told_ns && bb_seconds_since(told_ns) >= GRACE_S)
			return 128 + SIGKILL;
		take_nap(&nap_ns);
	}
}

/* "PID PID ..." of those whose parent we are, and those who have fallen to us. */
static void kill_children(void)
{
	char text[4096], *at = text, *end;
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	uint64_t pid;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* a number without a blank behind it may have been cut off */
	for (; (end = strchr(at, ' ')); at = end + 1) {
		*end = '\0';
		if (!bb_parse_u64(at, &pid) && pid > 1)
			kill((pid_t)pid, SIGKILL);
	}
}

/* Without a namespace: what is left, and what that has left by then. */
static void end_children(pid_t session)
{
	long nap_ns = NAP_FIRST_NS;
	uint64_t began_ns = bb_now_ns();

	kill(-session, SIGKILL);
	while (bb_seconds_since(began_ns) < GRACE_S) {
		pid_t got;

		kill_children();
		while ((got = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (got < 0 && errno == ECHILD)
			return;
		take_nap(&nap_ns);
	}
}

static __attribute__((noreturn)) void keep(void (*run)(void *arg, pid_t keeper), void *arg,
					   const int *alive, bool is_whole)
{
	struct pollfd other_end = {.fd = alive[1]};
	pid_t pid, self = getpid();
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The writing end of a pipe that nobody reads: they were gone before that. */
	close(alive[0]);
	if (poll(&other_end, 1, 0) < 0 || other_end.revents)
		_exit(128 + SIGKILL);
	setsid(); /* away from the terminal's Ctrl-C: we are told */
	bb_stop__install();
	if (is_whole)
		mount_proc();
	else
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid == 0) {
		setsid();
		run(arg, self);
	}
	closefrom(FIRST_FREE_FD);
	if (pid < 0)
		_exit(128 + SIGKILL);
	status = wait_for(pid);
	if (!is_whole)
		end_children(pid);
	_exit(status);
}

/* --- outside --- */

/* fork() into new namespaces. */
static pid_t fork_apart(void)
{
	struct clone_args args = {.flags = CLONE_NEWPID | CLONE_NEWNS, .exit_signal = SIGCHLD};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

int bb_process_tree__start(void (*run)(void *arg, pid_t keeper), void *arg, const int *alive,
			   struct bb_process_tree *ret_tree)
{
	struct bb_process_tree tree = {.keeper = fork_apart(), .is_whole = true};

	if (tree.keeper < 0) {
		tree.is_whole = false;
		tree.keeper = fork();
	}
	if (tree.keeper == 0)
		keep(run, arg, alive, tree.is_whole);
	if (tree.keeper < 0)
		return -errno;
	*ret_tree = tree;
	return 0;
}

void bb_process_tree__end(const struct bb_process_tree *tree)
{
	kill(tree->keeper, SIGTERM);
}
