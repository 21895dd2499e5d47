/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/watched.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <seccomp.h>

#include "base/child.h"
#include "base/io.h"
#include "base/deadline.h"

#define LOW_WORD 0xffffffffu /* the kernel reads only these bits of an argument that is an int */
#define GUARD_QUITS 'q'

/* --- in the child that becomes the command --- */

#define ARG_IS(nth, value)                                                                         \
	{                                                                                          \
		nth, SCMP_CMP_MASKED_EQ, LOW_WORD, value                                           \
	}

/* The watched calls, each with up to two conditions on its arguments. */
static const struct {
	int call;
	unsigned int n_args;
	struct scmp_arg_cmp args[2];
} watched_calls[] = {
	{SCMP_SYS(bpf), 1, {ARG_IS(0, BPF_PROG_LOAD)}},
	{SCMP_SYS(bpf), 1, {ARG_IS(0, BPF_MAP_CREATE)}},
	{SCMP_SYS(bpf), 1, {ARG_IS(0, BPF_LINK_CREATE)}},
	{SCMP_SYS(bpf), 1, {ARG_IS(0, BPF_RAW_TRACEPOINT_OPEN)}},
	{SCMP_SYS(bpf), 1, {ARG_IS(0, BPF_PROG_ATTACH)}},
	{SCMP_SYS(bpf), 1, {ARG_IS(0, BPF_PROG_TEST_RUN)}},
	{SCMP_SYS(setsockopt), 2, {ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_ATTACH_BPF)}},
	{SCMP_SYS(setsockopt), 2, {ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_ATTACH_REUSEPORT_EBPF)}},
	{SCMP_SYS(ioctl), 1, {ARG_IS(1, PERF_EVENT_IOC_SET_BPF)}},
	{SCMP_SYS(perf_event_open), 0, {}},
	/* a command that asks for a seccomp listener of its own gets none, which we report */
	{SCMP_SYS(seccomp),
	 2,
	 {ARG_IS(0, SECCOMP_SET_MODE_FILTER),
	  {1, SCMP_CMP_MASKED_EQ, SECCOMP_FILTER_FLAG_NEW_LISTENER,
	   SECCOMP_FILTER_FLAG_NEW_LISTENER}}},
};

/* Returns the listener of the seccomp filter, or -errno. Calls of other architectures pass
 * unwatched. CTL_NNP 0 leaves no_new_privs off, so that set-user-id programs work. CTL_SSB 1 keeps
 * seccomp from switching on mitigations, which would slow the command. */
static int install_filter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int rc = 0;

	if (!filter)
		bb_out_of_memory();
	/* a 64-bit command may have 32-bit child processes */
	if (seccomp_arch_native() == SCMP_ARCH_X86_64)
		rc = seccomp_arch_add(filter, SCMP_ARCH_X86);
	if (rc == -EEXIST)
		rc = 0;
	for (size_t i = 0; !rc && i < BB_LEN(watched_calls); i++)
		rc = seccomp_rule_add_array(filter, SCMP_ACT_NOTIFY, watched_calls[i].call,
					    watched_calls[i].n_args, watched_calls[i].args);
	if (!rc)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
	if (!rc)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	if (!rc)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	if (!rc)
		rc = seccomp_load(filter);
	/* libseccomp returns -ECANCELED if the kernel refuses; the kernel's error is in errno */
	if (rc == -ECANCELED && errno)
		rc = -errno;
	return rc ? rc : seccomp_notify_fd(filter);
}

struct command {
	const char *const *argv;
	const char *dir;
};

static int become_command(void *arg, int socket)
{
	const struct command *c = arg;
	int fd = c->dir && chdir(c->dir) ? -errno : install_filter();
	int guarded, none, rc;

	bb_descriptor__send(socket, fd < 0 ? fd : 0, fd);
	if (fd < 0)
		return fd;
	close(fd);
	/* a watched call fails if nobody answers it, so wait until the guard runs */
	rc = bb_descriptor__receive(socket, &guarded, &none);
	if (rc)
		return rc;
	execvp(c->argv[0], (char *const *)(uintptr_t)c->argv);
	return -errno;
}

/* Lets the call continue. Returns -ENOENT if a signal has interrupted the call, which the command
 * may then repeat. */
static int answer(int fd, uint64_t id)
{
	struct seccomp_notif_resp go_on = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	return ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &go_on) ? -errno : 0;
}

static int be_guard(void *arg, int alive)
{
	const struct bb_listener *l = arg;

	if (bb_child__sleep(alive) == GUARD_QUITS)
		return 0;
	/* bpfbench has ended, so begin with the call that it was handling */
	answer(l->fd, *l->answering);
	/* bpfbench may have ended before it stored the id of one more call, and ids ascend by 1 */
	answer(l->fd, *l->answering + 1);
	for (;;) {
		struct pollfd p = {.fd = l->fd, .events = POLLIN};
		struct seccomp_notif call = {0};

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			_exit(1);
		if (p.revents & POLLHUP)
			_exit(0);
		if (p.revents & POLLIN && !ioctl(l->fd, SECCOMP_IOCTL_NOTIF_RECV, &call))
			answer(l->fd, call.id);
	}
}

/* The guard closes our output, so that a reader of the output does not wait for the guard's end. */
static int start_guard(struct bb_listener *l)
{
	const struct bb_child_rules rules = {
		.link = BB_LINK_TO_CHILD,
		.signals = BB_SIGNALS_IGNORED,
		.name = "bpfbench-guard",
		.own_session = true,
		.std = {BB_STD_NULL, BB_STD_NULL, BB_STD_NULL},
		.closes_others = true,
		.keep = &l->fd,
		.n_keep = 1,
		.outlives = true,
	};
	struct bb_child guard;

	l->answering = bb_map_pages(sizeof(*l->answering), MAP_SHARED);
	int rc = bb_child__start(&rules, be_guard, l, &guard);
	l->guard = guard.pid;
	l->guard_alive = guard.fd;
	return rc;
}

/* --- in bpfbench --- */

/* With `leave`, the guard stays and answers the command's calls. Otherwise it ends. */
static void listener_close(struct bb_listener *l, bool leave)
{
	char quit = GUARD_QUITS;

	if (l->guard > 0 && !leave && write(l->guard_alive, &quit, 1) == 1)
		waitpid(l->guard, NULL, 0);
	bb_close(&l->guard_alive);
	bb_close(&l->fd);
	if (l->answering)
		munmap(l->answering, sizeof(*l->answering));
	*l = (struct bb_listener){.fd = -1, .guard_alive = -1, .guard = -1};
}

static int listener_start(const char *const *argv, const char *dir, const char *const *env,
			  bool silent, struct bb_listener *ret_listener, struct bb_err *err)
{
	const struct bb_child_rules rules = {
		.link = BB_LINK_SOCKET,
		.signals = BB_SIGNALS_DEFAULT,
		.own_group = true,
		.is_program = true,
		.env = env,
		.std = {BB_STD_NULL, silent ? BB_STD_NULL : STDERR_FILENO,
			silent ? BB_STD_NULL : 0},
		.outlives = true,
	};
	struct bb_listener l = {.fd = -1, .guard_alive = -1, .guard = -1};
	struct command command = {argv, dir};
	struct bb_child c;
	int error = 0, rc = bb_child__start(&rules, become_command, &command, &c);

	if (rc)
		return bb_fail(err, rc, "%s: cannot be started: %m", argv[0]);
	rc = bb_descriptor__receive(c.fd, &error, &l.fd);
	if (!rc)
		rc = error;
	bool is_filter = l.fd < 0;
	if (!rc && l.fd < 0)
		rc = -EIO;
	if (!rc)
		rc = start_guard(&l);
	if (!rc)
		rc = bb_descriptor__send(c.fd, 0, -1);
	if (!rc)
		rc = bb_child__executed(&c);
	if (rc) {
		bb_child__stop(&c);
		if (is_filter)
			bb_fail(err, rc, "watching the system calls of '%s': %m%s", argv[0],
				rc == -EBUSY ? "; another supervisor watches them already (a "
					       "container's?)"
				: rc == -EPERM || rc == -EACCES ? "; run as root, with sudo"
								: "");
		else
			bb_fail(err, rc, "%s: cannot be executed: %m", argv[0]);
		listener_close(&l, false);
		return rc;
	}
	close(c.fd);
	l.command = c.pid;
	*ret_listener = l;
	return 0;
}

/* Returns 1 for a call, 0 if none came, -EPIPE if no process is left that could make one, or
 * -errno. */
static int listener_next(struct bb_listener *l, int timeout_ms, struct seccomp_notif *ret_call)
{
	struct pollfd p = {.fd = l->fd, .events = POLLIN};
	int n = poll(&p, 1, timeout_ms);

	if (n <= 0)
		return n < 0 ? -errno : 0;
	if (!(p.revents & POLLIN))
		return -EPIPE;
	memset(ret_call, 0, sizeof(*ret_call));
	if (ioctl(l->fd, SECCOMP_IOCTL_NOTIF_RECV, ret_call))
		return errno == ENOENT ? 0 : -errno; /* a signal interrupted the call */
	*l->answering = ret_call->id;
	return 1;
}

#define TURN_MS 50
int bb_watched__start(const char *const *argv, const char *dir, const char *const *env, bool silent,
		      bool adopts, struct bb_watched *ret_watched, struct bb_err *err)
{
	struct bb_watched c = {0};
	int rc = bb_processes__read(getpid(), 0, &c.keep);

	if (rc)
		return bb_fail(err, rc, "the processes below /proc: %m");
	prctl(PR_SET_CHILD_SUBREAPER, adopts);
	rc = listener_start(argv, dir, env, silent, &c.listener, err);
	if (rc) {
		prctl(PR_SET_CHILD_SUBREAPER, 0);
		bb_processes__done(&c.keep);
		return rc;
	}
	BB_PUSH(c.keep.pids, c.keep.n, c.listener.guard);
	/* With `adopts`, we end the command ourselves. A second signal, such as timeout(1) sends,
	 * must not kill us before that. */
	bb_stop__install(!adopts);
	/* we need a descriptor for each of the command's maps */
	bb_open_files__allow_more();
	*ret_watched = c;
	return 0;
}

int bb_watched__serve(struct bb_watched *c, int timeout_ms, struct bb_take *take, bool *ret_calls)
{
	struct bb_take_mark mark;
	struct seccomp_notif call;
	int rc;

	*ret_calls = false;
	while ((rc = listener_next(&c->listener, timeout_ms, &call)) > 0) {
		if (take)
			bb_take__call(take, &call, &mark);
		if (c->load && c->load(c->load_arg, c->listener.fd, &call))
			;
		else if (answer(c->listener.fd, call.id) == -ENOENT && take)
			bb_take__undo(take, &mark);
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

/* Answers the command's calls while it ends. */
static void turn(void *arg)
{
	struct bb_watched *c = arg;
	bool any;

	if (bb_watched__serve(c, TURN_MS, NULL, &any) == -EPIPE)
		usleep(TURN_MS * 1000);
	bb_watched__look(c);
}

bool bb_watched__end(struct bb_watched *c)
{
	const struct bb_ending ending = {
		.keep = c->keep.pids,
		.n_keep = c->keep.n,
		.leader = c->ended ? 0 : c->listener.command,
		.steps = {{SIGINT, 3}, {SIGTERM, 3}, {SIGKILL, 3}},
		.turn = turn,
		.arg = c,
	};

	if (c->beside > 0)
		kill(-c->beside, SIGKILL);
	c->beside = 0; /* bb_processes__end() reaps it */
	int rc = bb_processes__end(&ending, NULL);
	/* without a /proc of our PID namespace, only the command itself is known */
	return !rc || rc == -ENOTSUP;
}

void bb_watched__close(struct bb_watched *c, bool leaves)
{
	listener_close(&c->listener, leaves);
	bb_processes__done(&c->keep);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	bb_stop__install(true);
}
