/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/setup.h"

#include "base/caller.h"
#include "base/deadline.h"
#include "base/io.h"
#include "base/parse.h"
#include "bpf/netns.h"

#define MOST_S 60.0 /* longest time of all commands together, s */
#define LOOK_MS 100 /* time between two checks of the budget and the stop flag, ms */

/* The script's stdin is the link to our process. The script writes one line to it: the number and
 * the exit status of the command that failed, or "0 0". The shell is the first process of the
 * namespaces, so it must stay. It waits until we close the link. */
static const char script[] = "n=0\n"
			     "for command do\n"
			     "	n=$((n + 1))\n"
			     "	sh -c \"$command\" </dev/null || { echo \"$n $?\" >&0; exit 1; }\n"
			     "done\n"
			     "echo '0 0' >&0\n"
			     "read -r end\n";

/* Makes the namespaces, waits until our process has mapped root in them, and becomes sh. */
static int enter_and_execute(void *arg, int link_fd)
{
	int rc = unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) ? -errno : 0;
	char byte;

	if (send(link_fd, &rc, sizeof(rc), 0) != sizeof(rc) || rc)
		return rc;
	if (recv(link_fd, &byte, sizeof(byte), 0) != sizeof(byte))
		return -EPIPE;
	execv("/bin/sh", arg);
	return -errno;
}

static int write_proc(pid_t pid, const char *file, const char *text)
{
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = bb_root__open(path, O_WRONLY | O_CLOEXEC);
	rc = fd < 0 ? fd : write(fd, text, strlen(text)) < 0 ? -errno : 0;
	bb_close(&fd);
	return rc;
}

/* Maps root in the namespaces to the user or group `id` outside. */
static int write_map(pid_t pid, const char *file, unsigned int id)
{
	char text[32];

	snprintf(text, sizeof(text), "0 %u 1\n", id);
	return write_proc(pid, file, text);
}

static int give_rights(const struct bb_child *c, const struct bb_child_place *place,
		       struct bb_err *err)
{
	int unshared = -EPIPE, rc;

	if (recv(c->fd, &unshared, sizeof(unshared), 0) != sizeof(unshared) || unshared)
		return bb_fail(err, -ENOTSUP,
			       "setup needs user and network namespaces for uid %u: %s; look at "
			       "the sysctls kernel.unprivileged_userns_clone and "
			       "user.max_user_namespaces",
			       (unsigned int)place->uid, strerror(-unshared));
	rc = write_map(c->pid, "uid_map", place->uid);
	/* with setgroups(), a command could leave a group that is denied access to a file */
	if (!rc)
		rc = write_proc(c->pid, "setgroups", "deny");
	if (!rc)
		rc = write_map(c->pid, "gid_map", place->gid);
	return rc ? bb_fail(err, rc, "setup: who is root in the namespaces: %s", strerror(-rc)) : 0;
}

static int wait_for_commands(const struct bb_child *c, char *const *commands, size_t n, int log_fd,
			     struct bb_err *err)
{
	struct pollfd link = {c->fd, POLLIN, 0};
	uint64_t began_ns = bb_now_ns();
	uint64_t nth, status;
	char line[32] = "";
	const char *at = line;

	while (poll(&link, 1, LOOK_MS) <= 0) {
		int rc = bb_must_end_why();

		bb_command__limit_log(log_fd);
		if (rc == -EINTR)
			return bb_fail_stopped(err, "", "");
		if (rc || bb_seconds_since(began_ns) > MOST_S)
			return bb_fail(err, -ETIME,
				       "setup takes longer than %s; let a command that goes on "
				       "run in the background ('... &')%s",
				       rc ? "its share of the budget" : "a minute",
				       bb_command__tail(log_fd).text);
	}
	if (recv(c->fd, line, sizeof(line) - 1, 0) <= 0 || bb_parse_digits(&at, &nth) ||
	    *at++ != ' ' || bb_parse_digits(&at, &status) || nth > n)
		return bb_fail(err, -ECHILD, "setup: the shell was killed%s",
			       bb_command__tail(log_fd).text);
	return !nth ? 0
		    : bb_fail(err, -ECHILD, "setup: '%s' ended with exit code %" PRIu64 "%s",
			      commands[nth - 1], status, bb_command__tail(log_fd).text);
}

static int enter_netns(struct bb_setup *s, struct bb_err *err)
{
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)s->keeper.pid);
	fd = bb_root__open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return bb_fail(err, fd, "%s: %s", path, strerror(-fd));
	rc = bb_netns__enter(fd, &s->home_fd, err);
	close(fd);
	return rc;
}

int bb_setup__open(char *const *commands, size_t n, const struct bb_child_place *place,
		   struct bb_setup *ret_setup, struct bb_err *err)
{
	struct bb_setup s = {.keeper = {.fd = -1, .report_fd = -1}, .home_fd = -1};
	int log_fd = n ? bb_command__open_log(place) : -1, rc;
	const struct bb_child_rules rules = {
		.own_namespaces = true,
		.link = BB_LINK_SOCKET,
		.signals = BB_SIGNALS_DEFAULT,
		.own_session = true,
		.is_program = true,
		.env = place->env,
		.std = {BB_STD_LINK, log_fd, log_fd},
		.closes_others = true,
		.uid = place->uid,
		.gid = place->gid,
		.no_new_privs = true,
	};

	*ret_setup = (struct bb_setup){0};
	if (!n)
		return 0;
	const char **argv = bb_calloc(n + 5, sizeof(*argv));
	memcpy(argv, ((const char *[]){"sh", "-c", script, "setup"}), 4 * sizeof(*argv));
	memcpy(argv + 4, commands, n * sizeof(*argv));
	if (log_fd < 0)
		rc = bb_fail(err, log_fd, "setup: %s", strerror(-log_fd));
	else if (geteuid())
		rc = bb_fail(err, -EPERM, "setup makes namespaces for the caller: run with sudo");
	else if ((rc = bb_child__start(&rules, enter_and_execute, argv, &s.keeper)))
		bb_fail(err, rc, "setup: a shell in a PID namespace: %s", strerror(-rc));
	if (!rc)
		rc = give_rights(&s.keeper, place, err);
	if (!rc && send(s.keeper.fd, "", 1, MSG_NOSIGNAL) != 1)
		rc = bb_fail(err, -EPIPE, "setup: the shell was killed");
	if (!rc)
		rc = wait_for_commands(&s.keeper, commands, n, log_fd, err);
	if (!rc)
		rc = enter_netns(&s, err);
	free(argv);
	if (rc) {
		bb_close(&log_fd);
		bb_child__stop(&s.keeper);
		return rc;
	}
	s.log_fd = log_fd;
	*ret_setup = s;
	return 0;
}

void bb_setup__close(struct bb_setup *s)
{
	if (s->keeper.pid <= 0)
		return;
	bb_netns__leave(s->home_fd, 0, NULL);
	bb_child__stop(&s->keeper);
	close(s->log_fd);
	*s = (struct bb_setup){0};
}
