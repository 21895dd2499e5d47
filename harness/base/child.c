/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/caller.h"

#define FAILED 127 /* a shell's exit code for "not found" */

union descriptor {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

#define ENOUGH 131072u /* the kernel allows a million (fs.nr_open) */

/* Of open files: what we were given. */
static struct rlimit given;
static bool is_changed;

void bb_open_files__allow_more(void)
{
	struct rlimit more;

	if (is_changed || getrlimit(RLIMIT_NOFILE, &given))
		return;
	more = given;
	if (more.rlim_max < ENOUGH) /* root may */
		more.rlim_max = ENOUGH;
	if (more.rlim_cur < ENOUGH)
		more.rlim_cur = ENOUGH;
	is_changed = !setrlimit(RLIMIT_NOFILE, &more);
	if (is_changed)
		return;
	more = given;
	more.rlim_cur = more.rlim_max;
	is_changed = !setrlimit(RLIMIT_NOFILE, &more);
}

/* --- in the child --- */

static const char *const always[] = {"PATH", "LANG", "TERM", NULL};

static const char *home_of(uid_t uid)
{
	const struct passwd *user;

	if (geteuid() != 0 || uid == 0)
		return getenv("HOME");
	user = getpwuid(uid);
	return user ? user->pw_dir : "/";
}

/* "NAME=VALUE" of a variable that is set, appended; the strings last until the exec. */
static int note_variable(const char *name, const char *value, char ***texts, size_t *n)
{
	char **text = value ? bb_append(texts, n, sizeof(*text)) : NULL;

	if (!value)
		return 0;
	return text && asprintf(text, "%s=%s", name, value) >= 0 ? 0 : -ENOMEM;
}

static int clean_environment(const char *const *also, uid_t uid)
{
	char **texts = NULL;
	size_t n = 0;
	int rc = note_variable("HOME", home_of(uid), &texts, &n);

	for (const char *const *name = always; !rc && *name; name++)
		rc = note_variable(*name, getenv(*name), &texts, &n);
	for (const char *const *name = also; !rc && name && *name; name++)
		rc = note_variable(*name, getenv(*name), &texts, &n);
	if (!rc)
		rc = clearenv() ? -ENOMEM : 0;
	for (size_t i = 0; !rc && i < n; i++)
		rc = putenv(texts[i]) ? -ENOMEM : 0;
	free(texts);
	return rc;
}

/* Who ignores SIGCHLD cannot wait for children. */
static void set_signals(const struct bb_child_rules *r)
{
	static const int requests[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
	sigset_t none;

	if (r->signals == BB_SIGNALS_KEPT)
		return;
	for (int s = 1; s < NSIG; s++)
		if (s != SIGCHLD)
			signal(s, r->signals == BB_SIGNALS_IGNORED ? SIG_IGN : SIG_DFL);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (r->signals == BB_SIGNALS_OF_FAULTS)
			signal(requests[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int set_std(const struct bb_child_rules *r, int link_fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null_fd < 0)
		return -errno;
	for (int i = 0; i <= STDERR_FILENO; i++) {
		int fd = r->std[i] == BB_STD_NULL   ? null_fd
			 : r->std[i] == BB_STD_LINK ? link_fd
						    : r->std[i];

		if (fd && dup2(fd, i) < 0)
			return -errno;
	}
	if (null_fd > STDERR_FILENO)
		close(null_fd);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* From `first` to `last`, both included. */
static void close_all(unsigned int first, unsigned int last)
{
	struct rlimit limit;

	if (first > last || !close_range(first, last, 0) || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	for (unsigned int fd = first; fd <= last && fd < limit.rlim_cur; fd++) /* before 5.9 */
		close((int)fd);
}

/* From `first` on, all but keep[n]. */
static void close_others(unsigned int first, int *keep, size_t n)
{
	unsigned int next = first;

	qsort(keep, n, sizeof(*keep), by_number);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < 0 || (unsigned int)keep[i] < next)
			continue;
		if (keep[i] > 0)
			close_all(next, (unsigned int)keep[i] - 1);
		next = (unsigned int)keep[i] + 1;
	}
	close_all(next, ~0U);
}

static int close_descriptors(const struct bb_child_rules *r, int link_fd, int report_fd)
{
	bool is_trial = r->confinement == BB_CONFINED_TRIAL;
	int *all, rc = is_trial ? bb_confine_open_trial_file() : 0;
	size_t n = r->n_keep;

	if (rc || (!r->closes_others && !r->confinement))
		return rc;
	all = calloc(n + 3, sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (n)
		memcpy(all, r->keep, n * sizeof(*all));
	all[n++] = link_fd;
	all[n++] = report_fd;
	if (is_trial)
		all[n++] = 0;
	close_others(r->confinement ? 0 : STDERR_FILENO + 1, all, n);
	free(all);
	return 0;
}

static int change_rights(const struct bb_child_rules *r)
{
	int rc = bb_become_user(r->uid, r->gid);

	/* After setuid, which clears the first. */
	if (!rc && ((!r->outlives && prctl(PR_SET_PDEATHSIG, SIGKILL)) ||
		    (r->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))))
		rc = -errno;
	return rc || !r->confinement ? rc : bb_confine(r->confinement);
}

static int settle(const struct bb_child_rules *r, void *arg, int link_fd, int report_fd)
{
	const struct rlimit no_core = {0, 0};
	int rc = 0;

	set_signals(r);
	if (r->name)
		prctl(PR_SET_NAME, r->name);
	if (r->own_session)
		setsid();
	if (r->own_group)
		setpgid(0, 0);
	if (r->no_core)
		setrlimit(RLIMIT_CORE, &no_core);
	if (r->before)
		rc = r->before(arg);
	if (!rc && r->is_program) {
		if (is_changed)
			setrlimit(RLIMIT_NOFILE, &given);
		rc = clean_environment(r->env, r->uid);
	}
	if (!rc)
		rc = set_std(r, link_fd);
	if (!rc)
		rc = close_descriptors(r, link_fd, report_fd);
	return rc ? rc : change_rights(r);
}

/* To the parent. Where it has gone, there is nobody to end us when it does: false. */
static bool report(int report_fd, int rc)
{
	return write(report_fd, &rc, sizeof(rc)) == sizeof(rc);
}

static __attribute__((noreturn)) void be_child(const struct bb_child_rules *r,
					       int (*run)(void *arg, int link_fd), void *arg,
					       int link_fd, int report_fd)
{
	int rc = settle(r, arg, link_fd, report_fd);

	if (!report(report_fd, rc) || rc)
		_exit(FAILED);
	if (!r->is_program)
		close(report_fd);
	rc = run(arg, link_fd);
	if (r->is_program) {
		report(report_fd, rc);
		rc = FAILED;
	}
	_exit(rc);
}

/* --- in the parent --- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Both ends of the link: ours, the child's. */
static int make_link(const struct bb_child_rules *r, int ret_ends[2])
{
	int ends[2] = {-1, -1}, rc = 0;

	if (r->link == BB_LINK_SOCKET)
		rc = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
	else if (r->link)
		rc = pipe2(ends, O_CLOEXEC);
	ret_ends[0] = ends[r->link == BB_LINK_TO_CHILD];
	ret_ends[1] = ends[r->link != BB_LINK_TO_CHILD];
	return rc ? -errno : 0;
}

/* fork() of the C library cannot do this, and waits for threads of ours that allocate memory. */
static pid_t fork_by(const struct bb_child_rules *r)
{
	struct clone_args args = {.exit_signal = SIGCHLD,
				  .flags = r->own_namespaces ? CLONE_NEWPID | CLONE_NEWNS : 0,
				  .set_tid = (uint64_t)(uintptr_t)(r->pid ? &r->pid : NULL),
				  .set_tid_size = r->pid != 0};

	if (!r->own_namespaces && !r->pid)
		return fork();
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* The next number that the child reports; `otherwise`, when it says nothing and has closed its end.
 */
static int hear(int report_fd, int otherwise)
{
	ssize_t n;
	int rc;

	do
		n = read(report_fd, &rc, sizeof(rc));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(rc) ? rc : otherwise;
}

int bb_child__start(const struct bb_child_rules *r, int (*run)(void *arg, int link_fd), void *arg,
		    struct bb_child *ret_child)
{
	struct bb_child c = {.pid = -1, .fd = -1, .report_fd = -1};
	int link[2], reports[2] = {-1, -1}, rc = make_link(r, link);

	if (!rc && pipe2(reports, O_CLOEXEC))
		rc = -errno;
	if (!rc)
		c.pid = fork_by(r);
	if (c.pid == 0) {
		close_fd(&link[0]);
		close(reports[0]);
		be_child(r, run, arg, link[1], reports[1]);
	}
	if (!rc && c.pid < 0)
		rc = -errno;
	close_fd(&link[1]);
	close_fd(&reports[1]);
	if (!rc)
		rc = hear(reports[0], -ESRCH);
	if (rc && c.pid > 0) {
		bb_wait_for(c.pid);
		c.pid = 0;
	}
	if (rc)
		close_fd(&link[0]);
	if (rc || !r->is_program)
		close_fd(&reports[0]);
	c.fd = link[0];
	c.report_fd = reports[0];
	*ret_child = c;
	return rc;
}

int bb_child__executed(struct bb_child *c)
{
	int rc = hear(c->report_fd, 0);

	close_fd(&c->report_fd);
	return rc;
}

void bb_child__stop(struct bb_child *c)
{
	if (c->pid <= 0)
		return;
	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL);
	bb_wait_for(c->pid);
	c->pid = 0;
	close_fd(&c->fd);
	close_fd(&c->report_fd);
}

char bb_child__sleep(int link_fd)
{
	char byte = 0;
	ssize_t n;

	do
		n = read(link_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	return byte;
}

int bb_wait_for(pid_t child)
{
	int status;
	pid_t got;

	do
		got = waitpid(child, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == child ? status : -1;
}

struct bb_how_ended bb_how_ended(int status)
{
	struct bb_how_ended how;

	if (WIFSIGNALED(status))
		snprintf(how.text, sizeof(how.text), "was killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(how.text, sizeof(how.text), "ended with exit code %d",
			 WEXITSTATUS(status));
	return how;
}

int bb_descriptor__send(int socket_fd, int number, int fd)
{
	struct iovec data = {.iov_base = &number, .iov_len = sizeof(number)};
	union descriptor control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		*CMSG_FIRSTHDR(&message) = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
							    .cmsg_level = SOL_SOCKET,
							    .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof(fd));
	}
	do
		n = sendmsg(socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int bb_descriptor__receive(int socket_fd, int *ret_number, int *ret_fd)
{
	struct iovec data = {.iov_base = ret_number, .iov_len = sizeof(*ret_number)};
	union descriptor control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	const struct cmsghdr *head;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
	return n < 0 ? -errno : n == sizeof(*ret_number) ? 0 : -EPIPE;
}

struct opening {
	const char *path;
	int flags;
};

static int open_here(const struct opening *o)
{
	int fd = open(o->path, o->flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int hand_over(void *arg, int socket_fd)
{
	int fd = open_here(arg);

	return bb_descriptor__send(socket_fd, fd < 0 ? fd : 0, fd) != 0;
}

int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags)
{
	const struct bb_child_rules rules = {.link = BB_LINK_SOCKET, .uid = uid, .gid = gid};
	struct opening opening = {path, flags};
	struct bb_child c;
	int rc, said, fd;

	if (geteuid() != 0 || (uid_t)setfsuid((uid_t)-1) == uid)
		return open_here(&opening);
	rc = bb_child__start(&rules, hand_over, &opening, &c);
	if (rc)
		return rc;
	rc = bb_descriptor__receive(c.fd, &said, &fd);
	bb_wait_for(c.pid);
	close(c.fd);
	return rc ? rc : said ? said : fd < 0 ? -EPIPE : fd;
}
