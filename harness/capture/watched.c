/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/watched.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/stop.h"

#define TURN_MS 50
#define PATIENCE_S 3.0 /* after each signal that asks the command to end */

/* --- its processes --- */

static bool was_there(const struct bb_watched *c, pid_t pid)
{
	for (size_t i = 0; i < c->n_before; i++)
		if (c->before[i] == pid)
			return true;
	return pid == c->listener.guard;
}

/* Our children that came from the command: its orphans become ours. */
static size_t children(const struct bb_watched *c, pid_t *pids, size_t max)
{
	char path[64], *text = NULL;
	const char *at;
	uint64_t pid;
	size_t n = 0, len;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	if (bb_read_proc(path, 1 << 16, &text, &len))
		return 0;
	at = text;
	while (n < max && !bb_parse_digits(&at, &pid)) {
		if (!was_there(c, (pid_t)pid))
			pids[n++] = (pid_t)pid;
		at += strspn(at, " \n");
	}
	free(text);
	return n;
}

/* --- from start to end --- */

/* A descriptor for each of the command's maps. */
static void raise_limit_of_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

int bb_watched__start(const char *const *argv, const char *dir, const char *const *env, bool adopts,
		      struct bb_watched *ret_watched, struct bb_err *err)
{
	struct bb_watched c = {0};
	int rc;

	c.n_before = children(&c, c.before, sizeof(c.before) / sizeof(c.before[0]));
	prctl(PR_SET_CHILD_SUBREAPER, adopts);
	rc = bb_listener__start(argv, dir, env, &c.listener, err);
	if (rc) {
		prctl(PR_SET_CHILD_SUBREAPER, 0);
		return rc;
	}
	raise_limit_of_files();
	*ret_watched = c;
	return 0;
}

int bb_watched__serve(struct bb_watched *c, int timeout_ms, struct bb_take *take, bool *ret_calls)
{
	struct bb_take_mark mark;
	struct seccomp_notif call;
	int rc, error = 0;

	*ret_calls = false;
	while ((rc = bb_listener__next(&c->listener, timeout_ms, &call)) > 0) {
		if (take)
			error = bb_take__call(take, &call, &mark);
		if (bb_listener__let_go(&c->listener, &call) == -ENOENT && take && !error)
			bb_take__undo(take, &mark);
		if (error)
			return error;
		*ret_calls = true;
		timeout_ms = 0;
		if (bb_stop_signal)
			return 0;
	}
	return rc == -EINTR ? 0 : rc;
}

void bb_watched__look(struct bb_watched *c)
{
	if (!c->ended)
		c->ended = waitpid(c->listener.command, &c->status, WNOHANG) == c->listener.command;
	if (c->beside > 0 && waitpid(c->beside, NULL, WNOHANG) == c->beside)
		c->beside = 0;
}

/* Serve it while it cleans up, until nothing of it is left or the time is over. What falls to us
 * meanwhile, as the child of one that was killed, gets the signal, too, if that is SIGKILL. */
static bool wait_for_end(struct bb_watched *c, int signal, double seconds)
{
	uint64_t began_ns = bb_now_ns();
	pid_t pids[256];
	bool any;

	do {
		size_t n;

		if (bb_watched__serve(c, TURN_MS, NULL, &any) == -EPIPE)
			usleep(TURN_MS * 1000);
		bb_watched__look(c);
		n = children(c, pids, sizeof(pids) / sizeof(pids[0]));
		for (size_t i = 0; i < n; i++)
			if (pids[i] != c->listener.command && pids[i] != c->beside) {
				if (signal == SIGKILL)
					kill(pids[i], signal);
				waitpid(pids[i], NULL, WNOHANG);
			}
		if (c->ended && !children(c, pids, sizeof(pids) / sizeof(pids[0])))
			return true;
	} while (bb_seconds_since(began_ns) < seconds);
	return false;
}

bool bb_watched__end(struct bb_watched *c)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
	pid_t pids[256];

	if (c->beside > 0)
		kill(-c->beside, SIGKILL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		size_t n;

		if (!c->ended)
			kill(-c->listener.command, signals[i]);
		/* daemons that left its group */
		n = children(c, pids, sizeof(pids) / sizeof(pids[0]));
		for (size_t k = 0; k < n; k++)
			if (pids[k] != c->listener.command)
				kill(pids[k], signals[i]);
		if (wait_for_end(c, signals[i], PATIENCE_S))
			return true;
	}
	return false;
}

void bb_watched__close(struct bb_watched *c, bool leaves)
{
	bb_listener__close(&c->listener, leaves);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}
