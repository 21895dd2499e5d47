/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/supervise.h"

#include "base/child.h"
#include "base/deadline.h"
#include "capture/watched.h"

#define TURN_MS 50
/* time without calls after which a capture ends, if programs are attached, s */
#define QUIET_S 1.0
/* time without calls after which a capture ends, if programs are loaded but not attached, s */
#define QUIET_UNATTACHED_S 5.0
#define NOTHING_S 60.0    /* limit for a command that has loaded nothing, s */
#define ENDING_TURNS 1000 /* limit: turns of 1 ms until the command's exit status is there */

struct supervision {
	const struct bb_capture_opts *opts;
	struct bb_watched command; /* `beside` in it is the command of --until */
	struct bb_take take;
	/* beginning of the capture, and time of the last watched call; CLOCK_MONOTONIC */
	uint64_t began_ns, last_ns;
};

static bool is_over(const struct supervision *s)
{
	const struct bb_capture *c = s->take.capture;
	double quiet_s = bb_seconds_since(s->last_ns), run_s = bb_seconds_since(s->began_ns);

	switch (s->opts->until) {
	case BB_CAPTURE_UNTIL_TIME: return run_s >= s->opts->seconds;
	case BB_CAPTURE_UNTIL_COMMAND: return !s->command.beside;
	default:
		if (!c->n_progs)
			return run_s >= NOTHING_S;
		return quiet_s >= (c->n_attachments ? QUIET_S : QUIET_UNATTACHED_S);
	}
}

static int execute_until(void *arg, int)
{
	const struct supervision *s = arg;

	execl("/bin/sh", "sh", "-c", s->opts->until_command, (char *)NULL);
	return -errno;
}

static int start_until(struct supervision *s, struct bb_err *err)
{
	const struct bb_child_rules rules = {
		.signals = BB_SIGNALS_DEFAULT,
		.own_group = true,
		.is_program = true,
		.env = s->opts->env,
		.std = {0, STDERR_FILENO},
		.outlives = true,
	};
	struct bb_child c;
	int rc = bb_child__start(&rules, execute_until, s, &c);

	if (!rc) {
		s->command.beside = c.pid;
		rc = bb_child__executed(&c);
	}
	return rc ? bb_fail(err, rc, "/bin/sh: %m") : 0;
}

/* Handles calls until the capture is over. -EINTR, with a message, if a signal aborts it. */
static int watch(struct supervision *s, struct bb_err *err)
{
	int rc = s->opts->until == BB_CAPTURE_UNTIL_COMMAND ? start_until(s, err) : 0;
	bool any;

	if (rc)
		return rc;
	while (!rc) {
		rc = bb_watched__serve(&s->command, TURN_MS, &s->take, &any);
		if (any)
			s->last_ns = bb_now_ns();
		else
			bb_take__settle(&s->take, BB_SETTLE_TURN, 0);
		bb_watched__look(&s->command);
		if (bb_stop_signal == SIGINT && s->opts->interrupt_ends) {
			bb_stop_signal = 0; /* a second SIGINT ends bpfbench at once */
			return 0;
		}
		if (bb_stop_signal)
			return bb_fail(err, -EINTR, "interrupted; nothing was captured");
		if (is_over(s))
			return 0;
		if (s->opts->budget_s > 0 && bb_seconds_since(s->began_ns) >= s->opts->budget_s)
			return bb_fail(err, -ETIME,
				       "the budget was used up while '%s' was captured (%.3g s, "
				       "%zu programs so far); --budget gives more, --for ends the "
				       "capture sooner",
				       s->take.capture->command, s->opts->budget_s,
				       s->take.capture->n_progs);
	}
	/* no process of the command is left that could make a call: wait for its exit status */
	for (int i = 0; rc == -EPIPE && !s->command.ended && i < ENDING_TURNS; i++) {
		usleep(1000);
		bb_watched__look(&s->command);
	}
	if (rc == -EPIPE)
		return 0;
	return bb_fail(err, rc, "watching '%s': %m", s->opts->argv[0]);
}

/* --- the whole capture --- */

static int supervise(struct supervision *s, struct bb_capture **ret_capture,
		     struct bb_capture_facts *ret_facts, struct bb_err *err)
{
	char how_ended[96] = "";
	int rc = watch(s, err);

	if (s->take.supervises)
		s->opts->say("the command wants to watch system calls by seccomp itself, as a "
			     "container runtime does; the kernel allows one watcher, which is "
			     "bpfbench, and told it EBUSY: capture a command inside of it");
	if (s->command.ended)
		snprintf(how_ended, sizeof(how_ended), ", which %s,",
			 bb_how_ended(s->command.status).text);
	if (!rc && !s->take.capture->n_progs)
		rc = bb_take__say_nothing(&s->take, how_ended, err);
	ret_facts->ended = s->command.ended;
	ret_facts->status = s->command.status;
	ret_facts->seconds = bb_seconds_since(s->began_ns);
	if (!rc)
		rc = bb_take__ask_kernel(&s->take, s->command.listener.command, s->opts->max_bytes,
					 err);
	if ((!s->opts->leaves || rc) && !bb_watched__end(&s->command))
		s->opts->say("something of the command does not end, and is left alone");
	bb_watched__close(&s->command, s->opts->leaves && !rc);
	ret_facts->n_calls = s->take.n_calls;
	ret_facts->us_a_call = s->take.n_calls
				       ? (double)s->take.spent_ns * 1e-3 / (double)s->take.n_calls
				       : 0;
	if (!rc)
		return bb_take__end(&s->take, how_ended, ret_capture, err);
	bb_take__free(&s->take);
	return rc;
}

int bb_capture_command(const struct bb_capture_opts *opts, struct bb_capture **ret_capture,
		       struct bb_capture_facts *ret_facts, struct bb_err *err)
{
	struct supervision s = {.opts = opts, .take = bb_take__begin(opts->argv)};
	int rc = bb_watched__start(opts->argv, opts->dir, opts->env, !opts->leaves, &s.command,
				   err);

	if (rc) {
		bb_take__free(&s.take);
		return rc;
	}
	s.began_ns = s.last_ns = bb_now_ns();
	return supervise(&s, ret_capture, ret_facts, err);
}
