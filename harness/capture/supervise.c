/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/stop.h"
#include "capture/listener.h"
#include "capture/take.h"

#define TURN_MS 50
#define QUIET_S 1.0            /* after the last call of a command that has attached */
#define QUIET_UNATTACHED_S 5.0 /* after that of one that has loaded only */
#define NOTHING_S 60.0         /* a command that has loaded nothing by then */
#define ENDING_TURNS 1000      /* of 1 ms: for a command that is ending */
#define PATIENCE_S 3.0         /* after each signal that asks the command to end */

struct supervision {
	const struct bb_capture_opts *opts;
	struct bb_listener listener;
	struct bb_take take;
	uint64_t began_ns, last_ns; /* of the last call */
	pid_t until;                /* the other command; 0: none, or it has ended */
	pid_t before[64];           /* children that we had before, n_before of them */
	size_t n_before;
	bool ended; /* the command; status is how */
	int status;
};

/* --- the calls --- */

/* One turn: the calls that wait now. `takes`: note them down, too. 0; -EPIPE as of the listener;
 * -ENOMEM. */
static int serve(struct supervision *s, bool takes)
{
	struct bb_take_mark mark;
	struct seccomp_notif call;
	int timeout_ms = TURN_MS, rc, error = 0;

	while ((rc = bb_listener__next(&s->listener, timeout_ms, &call)) > 0) {
		if (takes)
			error = bb_take__call(&s->take, &call, &mark);
		if (bb_listener__let_go(&s->listener, &call) == -ENOENT && takes && !error)
			bb_take__undo(&s->take, &mark);
		if (error)
			return error;
		s->last_ns = bb_now_ns();
		timeout_ms = 0;
		if (bb_stop_signal)
			return 0;
	}
	return rc == -EINTR ? 0 : rc;
}

static void look_at_command(struct supervision *s)
{
	int status;

	if (!s->ended && waitpid(s->listener.command, &status, WNOHANG) == s->listener.command) {
		s->ended = true;
		s->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	if (s->until > 0 && waitpid(s->until, NULL, WNOHANG) == s->until)
		s->until = 0;
}

static bool is_over(const struct supervision *s)
{
	const struct bb_capture *c = s->take.capture;
	double quiet_s = bb_seconds_since(s->last_ns), run_s = bb_seconds_since(s->began_ns);

	switch (s->opts->until) {
	case BB_CAPTURE_UNTIL_TIME: return run_s >= s->opts->seconds;
	case BB_CAPTURE_UNTIL_COMMAND: return !s->until;
	default:
		if (!c->n_progs)
			return run_s >= NOTHING_S;
		return quiet_s >= (c->n_attachments ? QUIET_S : QUIET_UNATTACHED_S);
	}
}

static int start_until(struct supervision *s, struct bb_err *err)
{
	s->until = fork();
	if (s->until < 0)
		return bb_fail(err, -errno, "fork: %s", strerror(errno));
	if (!s->until) {
		setpgid(0, 0);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		if (!bb_environment__clean(s->opts->env, geteuid()))
			execl("/bin/sh", "sh", "-c", s->opts->until_command, (char *)NULL);
		_exit(127);
	}
	return 0;
}

/* Until the capture is over; -EINTR for a signal that is not to end it in peace. */
static int watch(struct supervision *s, struct bb_err *err)
{
	int rc = s->opts->until == BB_CAPTURE_UNTIL_COMMAND ? start_until(s, err) : 0;

	if (rc)
		return rc;
	while (!rc) {
		rc = serve(s, true);
		look_at_command(s);
		if (bb_stop_signal == SIGINT && s->opts->interrupt_ends) {
			bb_stop_signal = 0; /* the second one kills us */
			return 0;
		}
		if (bb_stop_signal)
			return bb_fail(err, -EINTR, "interrupted; nothing was captured");
		if (is_over(s))
			return 0;
	}
	/* all of the command has ended, or is about to: how, is known soon */
	for (int i = 0; rc == -EPIPE && !s->ended && i < ENDING_TURNS; i++) {
		usleep(1000);
		look_at_command(s);
	}
	if (rc == -EPIPE)
		return 0;
	return bb_fail(err, rc, "watching '%s': %s", s->opts->argv[0], strerror(-rc));
}

/* --- the end of the command --- */

static bool was_there(const struct supervision *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_before; i++)
		if (s->before[i] == pid)
			return true;
	return pid == s->listener.guard;
}

/* The children that we have by the command: what it left behind falls to us. */
static size_t children(const struct supervision *s, pid_t *pids, size_t max)
{
	char path[64], *text = NULL;
	const char *at;
	uint64_t pid;
	size_t n = 0, len;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	if (bb_read_proc(path, 1 << 16, &text, &len, NULL))
		return 0;
	at = text;
	while (n < max && !bb_parse_digits(&at, &pid)) {
		if (!was_there(s, (pid_t)pid))
			pids[n++] = (pid_t)pid;
		at += strspn(at, " \n");
	}
	free(text);
	return n;
}

/* Serve it while it cleans up, until nothing of it is left or the time is over. */
static bool wait_for_end(struct supervision *s, double seconds)
{
	uint64_t began_ns = bb_now_ns();
	pid_t pids[256];

	do {
		size_t n;

		if (serve(s, false) == -EPIPE)
			usleep(TURN_MS * 1000);
		look_at_command(s);
		n = children(s, pids, sizeof(pids) / sizeof(pids[0]));
		for (size_t i = 0; i < n; i++)
			if (pids[i] != s->listener.command && pids[i] != s->until)
				waitpid(pids[i], NULL, WNOHANG);
		if (s->ended && !children(s, pids, sizeof(pids) / sizeof(pids[0])))
			return true;
	} while (bb_seconds_since(began_ns) < seconds);
	return false;
}

static void end_command(struct supervision *s)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
	pid_t pids[256];

	if (s->until > 0)
		kill(-s->until, SIGKILL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		size_t n;

		if (!s->ended)
			kill(-s->listener.command, signals[i]);
		/* daemons that left its group */
		n = children(s, pids, sizeof(pids) / sizeof(pids[0]));
		for (size_t k = 0; k < n; k++)
			if (pids[k] != s->listener.command)
				kill(pids[k], signals[i]);
		if (wait_for_end(s, PATIENCE_S))
			return;
	}
	s->opts->say("something of the command does not end, and is left alone");
}

/* --- the whole --- */

static int say_nothing(const struct supervision *s, struct bb_err *err)
{
	char end[64] = "";

	if (s->ended)
		snprintf(end, sizeof(end), ", which ended with exit code %d,", s->status);
	return bb_fail(err, -ENOTSUP,
		       "'%s'%s loaded no BPF program; a program that a daemon or a 32-bit process "
		       "loads for it is not seen",
		       s->take.capture->command, end);
}

static int supervise(struct supervision *s, struct bb_capture **ret_capture,
		     struct bb_capture_facts *ret_facts, struct bb_err *err)
{
	int rc = watch(s, err);

	if (!rc && !s->take.capture->n_progs)
		rc = say_nothing(s, err);
	ret_facts->ended = s->ended;
	ret_facts->status = s->status;
	ret_facts->seconds = bb_seconds_since(s->began_ns);
	if (!rc)
		rc = bb_take__ask_kernel(&s->take, s->opts->max_bytes, err);
	if (!s->opts->leaves || rc)
		end_command(s);
	bb_listener__close(&s->listener, s->opts->leaves && !rc);
	ret_facts->n_calls = s->take.n_calls;
	ret_facts->us_a_call = s->take.n_calls
				       ? (double)s->take.spent_ns * 1e-3 / (double)s->take.n_calls
				       : 0;
	if (!rc)
		return bb_take__end(&s->take, ret_capture, err);
	bb_take__free(&s->take);
	return rc;
}

int bb_capture_command(const struct bb_capture_opts *opts, struct bb_capture **ret_capture,
		       struct bb_capture_facts *ret_facts, struct bb_err *err)
{
	struct supervision s = {.opts = opts};
	struct rlimit files, before;
	int rc = bb_take__begin(opts->argv, &s.take, err);

	if (rc)
		return rc;
	s.n_before = children(&s, s.before, sizeof(s.before) / sizeof(s.before[0]));
	prctl(PR_SET_CHILD_SUBREAPER, !opts->leaves);
	rc = bb_listener__start(opts->argv, opts->dir, opts->env, &s.listener, err);
	if (rc) {
		bb_take__free(&s.take);
	} else {
		/* a descriptor for each of the command's maps */
		if (!getrlimit(RLIMIT_NOFILE, &before)) {
			files = before;
			files.rlim_cur = files.rlim_max;
			setrlimit(RLIMIT_NOFILE, &files);
		}
		s.began_ns = s.last_ns = bb_now_ns();
		rc = supervise(&s, ret_capture, ret_facts, err);
	}
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	return rc;
}
