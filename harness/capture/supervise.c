/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/supervise.h"

#include <bpf/bpf.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "base/bpf_info.h"
#include "base/child.h"
#include "base/deadline.h"
#include "base/io.h"
#include "capture/replay.h"
#include "capture/watched.h"

#define TURN_MS 50
/* quiet time (without watched calls) that ends a capture, if programs are attached, s */
#define QUIET_S 1.0
/* quiet time that ends a capture, if no loaded program is attached, s */
#define QUIET_UNATTACHED_S 5.0
#define NOTHING_S 60.0    /* limit: length of a capture that has no program yet, s */
#define ENDING_TURNS 1000 /* limit: ms to wait for the command's exit status */

struct supervision {
	const struct bb_capture_opts *opts;
	struct bb_watched command; /* `command.beside` is the pid of the command of --until */
	struct bb_take take;
	/* when the capture began, and the last watched call came; CLOCK_MONOTONIC */
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

/* Returns -EINTR, with a message, if a signal aborts the capture. */
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
			bb_stop_signal = 0; /* only a second SIGINT aborts the capture */
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
	/* -EPIPE: no process of the command is left, but its exit status may come a moment later */
	for (int i = 0; rc == -EPIPE && !s->command.ended && i < ENDING_TURNS; i++) {
		usleep(1000);
		bb_watched__look(&s->command);
	}
	if (rc == -EPIPE)
		return 0;
	return bb_fail(err, rc, "watching '%s': %m", s->opts->argv[0]);
}

int bb_capture_command(const struct bb_capture_opts *opts, struct bb_capture **ret_capture,
		       struct bb_capture_facts *ret_facts, struct bb_err *err)
{
	struct supervision s = {.opts = opts, .take = bb_take__begin(opts->argv)};
	char how_ended[96] = "";
	int rc = bb_watched__start(opts->argv, opts->dir, opts->env, false, !opts->leaves,
				   &s.command, err);

	if (rc) {
		bb_take__free(&s.take);
		return rc;
	}
	s.began_ns = s.last_ns = bb_now_ns();
	rc = watch(&s, err);
	if (s.take.supervises)
		opts->say("the command wants to watch system calls by seccomp itself, as a "
			  "container runtime does; the kernel allows one watcher, which is "
			  "bpfbench, and told it EBUSY: capture a command inside of it");
	if (s.command.ended)
		snprintf(how_ended, sizeof(how_ended), ", which %s,",
			 bb_how_ended(s.command.status).text);
	if (!rc && !s.take.capture->n_progs)
		rc = bb_take__say_nothing(&s.take, how_ended, err);
	ret_facts->ended = s.command.ended;
	ret_facts->status = s.command.status;
	ret_facts->seconds = bb_seconds_since(s.began_ns);
	if (!rc)
		rc = bb_take__ask_kernel(&s.take, s.command.listener.command, opts->max_bytes, err);
	if ((!opts->leaves || rc) && !bb_watched__end(&s.command))
		opts->say("a process of the command does not end, and is left running");
	bb_watched__close(&s.command, opts->leaves && !rc);
	ret_facts->n_calls = s.take.n_calls;
	ret_facts->us_a_call = s.take.n_calls
				       ? (double)s.take.spent_ns * 1e-3 / (double)s.take.n_calls
				       : 0;
	if (!rc)
		return bb_take__end(&s.take, how_ended, ret_capture, err);
	bb_take__free(&s.take);
	return rc;
}

#define MAX_MAPS 64 /* limit: maps of one program: MAX_USED_MAPS of the kernel */

struct bb_follow {
	struct bb_watched command;
	struct bb_take take;
	pthread_mutex_t
		lock; /* protects `last_ns`, and what changes in `take` while the thread runs */
	pthread_t thread;
	uint64_t last_ns; /* time of the last call that loaded or attached a program */
	int enough_fd;    /* writing to this eventfd ends the thread */
};

static bool is_like(const struct bb_take *t, const struct bb_captured_prog *p,
		    const struct bpf_prog_info *info, const uint32_t *map_ids)
{
	const struct bb_capture *c = t->capture;
	int32_t map;

	if (p->type != info->type || strncmp(p->kernel_name, info->name, sizeof(p->kernel_name)))
		return false;
	for (uint32_t at = 0; (map = bb_captured_prog__next_map(p, &at)) >= 0;)
		if ((size_t)map >= c->n_maps ||
		    !BB_ANY(map_ids, info->nr_map_ids, *it == c->maps[map].held.id))
			return false;
	return true;
}

/* This thread wakes up only for a watched call. If it woke up more often, its system calls might
 * run the programs that are measured. */
static void *serve(void *arg)
{
	struct bb_follow *f = arg;
	const struct bb_capture *c = f->take.capture;
	struct pollfd p[] = {{.fd = f->command.listener.fd, .events = POLLIN},
			     {.fd = f->enough_fd, .events = POLLIN}};
	size_t n_before;
	int rc = 0;
	bool any;

	while (!rc) {
		if (poll(p, BB_LEN(p), -1) < 0 && errno != EINTR)
			break;
		if (p[1].revents)
			break;
		pthread_mutex_lock(&f->lock);
		n_before = c->n_progs + c->n_attachments;
		rc = bb_watched__serve(&f->command, 0, &f->take, &any);
		if (c->n_progs + c->n_attachments != n_before)
			f->last_ns = bb_now_ns();
		pthread_mutex_unlock(&f->lock);
	}
	return NULL;
}

int bb_follow__start(const char *const *argv, const char *const *env, bool silent,
		     struct bb_follow **ret_follow, struct bb_err *err)
{
	struct bb_follow *f = bb_calloc(1, sizeof(*f));
	sigset_t all, before;

	f->enough_fd = eventfd(0, EFD_CLOEXEC);
	f->take = bb_take__begin(argv);
	int rc = f->enough_fd < 0 ? bb_fail(err, -errno, "eventfd: %m") : 0;
	if (!rc)
		rc = bb_watched__start(argv, NULL, env, silent, true, &f->command, err);
	if (rc) {
		bb_close(&f->enough_fd);
		bb_take__free(&f->take);
		free(f);
		return rc;
	}
	pthread_mutex_init(&f->lock, NULL);
	f->last_ns = bb_now_ns();
	/* the new thread blocks all signals, because the measuring thread handles them */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = -pthread_create(&f->thread, NULL, serve, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		f->thread = 0; /* a failed pthread_create() leaves `thread` undefined */
		bb_fail(err, rc, "a thread to watch the command: %s", strerror(-rc));
		bb_follow__end(f);
		return rc;
	}
	*ret_follow = f;
	return 0;
}

bool bb_follow__loaded(struct bb_follow *f, uint32_t id)
{
	const struct bb_take *t = &f->take;
	uint32_t map_ids[MAX_MAPS];
	struct bpf_prog_info info = {.nr_map_ids = MAX_MAPS, .map_ids = (uintptr_t)map_ids};

	if (id < t->first_prog_id)
		return false;
	pthread_mutex_lock(&f->lock);
	/* a watched call of the command had a descriptor of this program */
	bool is_its = BB_ANY(t->seen, t->n_seen, it->id == id);
	int fd = is_its ? -1 : bpf_prog_get_fd_by_id(id);
	if (fd >= 0 && !bb_info__read(fd, &info) && info.nr_map_ids <= MAX_MAPS)
		is_its = BB_ANY(t->capture->progs, t->capture->n_progs,
				is_like(t, it, &info, map_ids));
	bb_close(&fd);
	pthread_mutex_unlock(&f->lock);
	return is_its;
}

size_t bb_follow__n_loads(struct bb_follow *f, double *ret_quiet_s)
{
	pthread_mutex_lock(&f->lock);
	size_t n = f->take.capture->n_progs;
	*ret_quiet_s = bb_seconds_since(f->last_ns);
	pthread_mutex_unlock(&f->lock);
	return n;
}

bool bb_follow__ended(struct bb_follow *f, int *ret_status)
{
	bb_watched__look(&f->command);
	*ret_status = f->command.status;
	return f->command.ended;
}

bool bb_follow__end(struct bb_follow *f)
{
	uint64_t enough = 1;

	if (!f)
		return true;
	if (f->thread && write(f->enough_fd, &enough, sizeof(enough)) == sizeof(enough))
		pthread_join(f->thread, NULL);
	bool all_ended = bb_watched__end(&f->command);
	bb_watched__close(&f->command, false);
	bb_take__free(&f->take);
	pthread_mutex_destroy(&f->lock);
	close(f->enough_fd);
	free(f);
	return all_ended;
}
