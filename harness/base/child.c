/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/child.h"

#include <grp.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pwd.h>
#include <seccomp.h>
#include <sys/fsuid.h>

#include "base/caller.h"
#include "base/deadline.h"
#include "base/io.h"
#include "base/parse.h"

#define FAILED 127

union descriptor {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* the kernel allows a million (fs.nr_open) */
#define ENOUGH 131072u

/* The limit of open files with which bpfbench was started, and whether bpfbench has changed it. */
static struct rlimit given;
static bool is_changed;

void bb_open_files__allow_more(void)
{
	if (is_changed || getrlimit(RLIMIT_NOFILE, &given))
		return;
	struct rlimit more = given;
	if (more.rlim_max < ENOUGH) /* only root may raise the hard limit */
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

/* additional memory for AddressSanitizer, which delays the reuse of freed memory */
#define ASAN_BYTES (UINT64_C(2048) << 20)
/* In a trial (BB_CONFINED_TRIAL), a sparse file of this size is descriptor 0, which libbpf takes
 * for the descriptor of every map and every program. */
#define TRIAL_FILE_BYTES (4LL << 30)
/* user and group id of nobody, also on systems that give the id no name */
#define NOBODY 65534

/* System calls that every confined child may make. libelf, libdw and malloc() need them to read
 * open files, and the child needs them to answer its parent. libbpf 1.4 and later needs
 * memfd_create to open an object in memory. */
static const int calls[] = {
	SCMP_SYS(brk),          SCMP_SYS(clock_gettime), SCMP_SYS(exit),
	SCMP_SYS(exit_group),   SCMP_SYS(fstat),         SCMP_SYS(futex),
	SCMP_SYS(getpid),       SCMP_SYS(getrandom),     SCMP_SYS(lseek),
	SCMP_SYS(madvise),      SCMP_SYS(mmap),          SCMP_SYS(mprotect),
	SCMP_SYS(mremap),       SCMP_SYS(munmap),        SCMP_SYS(newfstatat),
	SCMP_SYS(pread64),      SCMP_SYS(read),          SCMP_SYS(recvmsg),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sendmsg),       SCMP_SYS(setitimer),
	SCMP_SYS(sched_yield),  SCMP_SYS(sysinfo),       SCMP_SYS(write),
	SCMP_SYS(memfd_create), SCMP_SYS(uname),
#ifdef __SANITIZE_ADDRESS__
	SCMP_SYS(gettid),       SCMP_SYS(sigaltstack),
#endif
};

static const int trial_calls[] = {
	SCMP_SYS(access),     SCMP_SYS(dup3),     SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(readlink),
};
static const int server_calls[] = {
	SCMP_SYS(accept4), SCMP_SYS(close),    SCMP_SYS(poll),     SCMP_SYS(ppoll),
	SCMP_SYS(sendto),  SCMP_SYS(recvfrom), SCMP_SYS(shutdown),
};
static const unsigned int trial_commands[] = {
	BPF_MAP_CREATE, BPF_MAP_UPDATE_ELEM, BPF_PROG_LOAD,        BPF_BTF_LOAD,
	BPF_MAP_FREEZE, BPF_PROG_BIND_MAP,   BPF_BTF_GET_FD_BY_ID,
};

static int allow(scmp_filter_ctx filter, const int *which, size_t n)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, which[i], 0);
		if (rc == -EDOM) /* this architecture does not have the system call */
			rc = 0;
	}
	return rc;
}

static int add_rule(scmp_filter_ctx filter, uint32_t action, int which, struct scmp_arg_cmp arg)
{
	return seccomp_rule_add_array(filter, action, which, 1, &arg);
}

/* In a trial bpf() returns 0 instead of a new descriptor. libbpf avoids descriptor 0: it duplicates
 * 0 and then closes it. Descriptor 0 must stay open, so close(0) does nothing here. */
static int allow_trial(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp for_reading = {2, SCMP_CMP_MASKED_EQ,
						 O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY};
	int rc = allow(filter, trial_calls, BB_LEN(trial_calls));

	for (size_t i = 0; !rc && i < BB_LEN(trial_commands); i++)
		rc = add_rule(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(bpf),
			      (struct scmp_arg_cmp){0, SCMP_CMP_EQ, trial_commands[i], 0});
	if (!rc)
		rc = add_rule(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), for_reading);
	if (!rc)
		rc = add_rule(filter, SCMP_ACT_ALLOW, SCMP_SYS(close),
			      (struct scmp_arg_cmp){0, SCMP_CMP_NE, 0, 0});
	if (!rc)
		rc = add_rule(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(close),
			      (struct scmp_arg_cmp){0, SCMP_CMP_EQ, 0, 0});
	return rc;
}

/* Confines this child for good. The kernel kills it when its parent ends. After an error the child
 * must end, because it is not confined. */
static int confine(enum bb_confinement how)
{
	static const int closing = SCMP_SYS(close);
	/* not F_SETOWN, by which a child could send signals to another one */
	static const struct scmp_arg_cmp fcntls[] = {{1, SCMP_CMP_LE, F_SETFL, 0},
						     {1, SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0}};
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	/* Root becomes nobody. In a user namespace without the user nobody this fails, and the
	 * child stays root without capabilities. */
	int rc = geteuid() || setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		 setresuid(NOBODY, NOBODY, NOBODY);
	/* This must come after the change of user, which clears PR_SET_PDEATHSIG. */
	if (syscall(SYS_capset, &head, none) || prctl(PR_SET_DUMPABLE, 0) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (prctl(PR_GET_SECCOMP) < 0 && errno == EINVAL)
		/* The kernel has no seccomp, which only a trial needs. */
		return how == BB_CONFINED_TRIAL ? -ENOSYS : 0;
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!filter)
		bb_out_of_memory();
	rc = allow(filter, calls, BB_LEN(calls));
	for (size_t i = 0; !rc && i < BB_LEN(fcntls); i++)
		rc = add_rule(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), fcntls[i]);
	if (!rc)
		rc = how == BB_CONFINED_TRIAL    ? allow_trial(filter)
		     : how == BB_CONFINED_SERVER ? allow(filter, server_calls, BB_LEN(server_calls))
						 : allow(filter, &closing, 1);
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}

/* The limit is relative to the present size, because AddressSanitizer maps terabytes. */
static void confine_memory(uint64_t more_bytes)
{
	struct rlimit limit;
	uint64_t pages;
	char *text;
	size_t len;

	if (bb_read_proc("/proc/self/statm", 4096, &text, &len))
		return;
	const char *c = text;
	if (!bb_parse_digits(&c, &pages)) {
#ifdef __SANITIZE_ADDRESS__
		more_bytes += ASAN_BYTES;
#endif
		limit.rlim_cur = limit.rlim_max = pages * (uint64_t)sysconf(_SC_PAGESIZE) +
						  more_bytes;
		setrlimit(RLIMIT_AS, &limit);
	}
	free(text);
}

/* --- functions that run in the child --- */

/* Appends "NAME=VALUE" to `*texts` if `value` is not NULL. Nobody frees the strings, because exec()
 * replaces the memory of the process. */
static void note_variable(const char *name, const char *value, char ***texts, size_t *n)
{
	if (value)
		*(char **)bb_append(texts, n, sizeof(char *)) = bb_asprintf("%s=%s", name, value);
}

static void clean_environment(const char *const *also, uid_t uid)
{
	static const char *const always[] = {"PATH", "LANG", "TERM", NULL};
	const struct passwd *user = geteuid() == 0 && uid ? getpwuid(uid) : NULL;
	const char *home = geteuid() || !uid ? getenv("HOME") : user ? user->pw_dir : "/";
	char **texts = NULL;
	size_t n = 0;

	note_variable("HOME", home, &texts, &n);
	for (const char *const *name = always; *name; name++)
		note_variable(*name, getenv(*name), &texts, &n);
	for (const char *const *name = also; name && *name; name++)
		note_variable(*name, getenv(*name), &texts, &n);
	clearenv();
	for (size_t i = 0; i < n; i++)
		if (putenv(texts[i]))
			bb_out_of_memory();
	free(texts);
}

/* Leaves SIGCHLD alone, because a process that ignores SIGCHLD cannot wait for its children. */
static void set_signals(const struct bb_child_rules *r)
{
	static const int requests[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
	sigset_t none;

	if (r->signals == BB_SIGNALS_KEPT)
		return;
	for (int s = 1; s < NSIG; s++)
		if (s != SIGCHLD)
			signal(s, r->signals == BB_SIGNALS_IGNORED ? SIG_IGN : SIG_DFL);
	for (size_t i = 0; i < BB_LEN(requests); i++)
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

	return BB_ORDER(x, y);
}

static void close_all(unsigned int first, unsigned int last)
{
	struct rlimit limit;

	if (first > last || !close_range(first, last, 0) || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	/* Linux before 5.9 has no close_range(). */
	for (unsigned int fd = first; fd <= last && fd < limit.rlim_cur; fd++)
		close((int)fd);
}

/* Closes all descriptors but those of the rules. In a trial, descriptor 0 becomes a sparse file. */
static int close_others(const struct bb_child_rules *r, int link_fd, int report_fd)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	bool is_trial = r->confinement == BB_CONFINED_TRIAL;
	unsigned int next = r->confinement ? 0 : STDERR_FILENO + 1;
	int *keep, file = is_trial ? memfd_create("trial", MFD_CLOEXEC) : -1;
	size_t n = r->n_keep;

	if (!r->closes_others && !r->confinement)
		return 0;
	if (is_trial) {
		/* RLIMIT_FSIZE applies to a memfd. Only root may raise it, so ftruncate() may
		 * fail. */
		setrlimit(RLIMIT_FSIZE, &unlimited);
		/* libbpf maps the values of every map from the file, so it must be large. */
		if (file < 0 || ftruncate(file, TRIAL_FILE_BYTES) || dup2(file, 0) < 0)
			return -errno;
	}
	keep = bb_calloc(n + 3, sizeof(*keep));
	if (n)
		memcpy(keep, r->keep, n * sizeof(*keep));
	keep[n++] = link_fd;
	keep[n++] = report_fd;
	keep[n++] = is_trial ? 0 : -1;
	qsort(keep, n, sizeof(*keep), by_number);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < 0 || (unsigned int)keep[i] < next)
			continue;
		if (keep[i] > 0)
			close_all(next, (unsigned int)keep[i] - 1);
		next = (unsigned int)keep[i] + 1;
	}
	close_all(next, ~0U);
	free(keep);
	return 0;
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
	if (!rc && r->more_bytes)
		confine_memory(r->more_bytes);
	if (!rc && r->is_program) {
		if (is_changed)
			setrlimit(RLIMIT_NOFILE, &given);
		clean_environment(r->env, r->uid);
	}
	if (!rc)
		rc = set_std(r, link_fd);
	if (!rc)
		rc = close_others(r, link_fd, report_fd);
	if (!rc)
		rc = bb_become_user(r->uid, r->gid);
	/* This must come after the change of user, which clears PR_SET_PDEATHSIG. */
	if (!rc && ((!r->outlives && prctl(PR_SET_PDEATHSIG, SIGKILL)) ||
		    (r->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))))
		rc = -errno;
	return rc || !r->confinement ? rc : confine(r->confinement);
}

/* Sends a number to the parent. Returns false if the parent has ended. The child must then end
 * itself: the kernel does not kill it if the parent ended before prctl(PR_SET_PDEATHSIG). */
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

/* --- functions that run in the parent --- */

/* Returns the child's next number, or `otherwise` if the child has closed the pipe. */
static int hear(int report_fd, int otherwise)
{
	int rc;

	return TEMP_FAILURE_RETRY(read(report_fd, &rc, sizeof(rc))) == sizeof(rc) ? rc : otherwise;
}

int bb_child__start(const struct bb_child_rules *r, int (*run)(void *arg, int link_fd), void *arg,
		    struct bb_child *ret_child)
{
	struct bb_child c = {.pid = -1, .fd = -1, .report_fd = -1};
	/* fork() waits for threads in malloc(), so the child can call malloc(). clone3() does not
	 * wait, but it is called if flags or a process id are needed. */
	struct clone_args args = {.exit_signal = SIGCHLD,
				  .flags = r->own_namespaces ? CLONE_NEWPID | CLONE_NEWNS : 0,
				  .set_tid = (uint64_t)(uintptr_t)(r->pid ? &r->pid : NULL),
				  .set_tid_size = r->pid != 0};
	int link[2] = {-1, -1}, reports[2] = {-1, -1}, rc = 0, *ours, *its;

	if (r->link == BB_LINK_SOCKET)
		rc = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link);
	else if (r->link)
		rc = pipe2(link, O_CLOEXEC);
	ours = &link[r->link == BB_LINK_TO_CHILD];
	its = &link[r->link != BB_LINK_TO_CHILD];
	if (rc || pipe2(reports, O_CLOEXEC))
		rc = -errno;
	if (!rc) {
		c.pid = !r->own_namespaces && !r->pid
				? fork()
				: (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		rc = c.pid < 0 ? -errno : 0;
	}
	if (c.pid == 0) {
		bb_close(ours);
		close(reports[0]);
		be_child(r, run, arg, *its, reports[1]);
	}
	bb_close(its);
	bb_close(&reports[1]);
	if (!rc)
		rc = hear(reports[0], -ESRCH);
	if (rc && c.pid > 0) {
		bb_wait_for(c.pid);
		c.pid = 0;
	}
	if (rc)
		bb_close(ours);
	if (rc || !r->is_program)
		bb_close(&reports[0]);
	c.fd = *ours;
	c.report_fd = reports[0];
	*ret_child = c;
	return rc;
}

int bb_child__executed(struct bb_child *c)
{
	int rc = hear(c->report_fd, 0);

	bb_close(&c->report_fd);
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
	bb_close(&c->fd);
	bb_close(&c->report_fd);
}

char bb_child__sleep(int link_fd)
{
	char byte = 0;

	return TEMP_FAILURE_RETRY(read(link_fd, &byte, 1)) > 0 ? byte : 0;
}

int bb_child__wait(pid_t child, double seconds)
{
	uint64_t began_ns = bb_now_ns();
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
	int rc = p.fd < 0 ? -errno : -ETIME;

	while (rc == -ETIME && !bb_stop_signal) {
		double left_s = seconds - bb_seconds_since(began_ns);
		int n = poll(&p, 1, left_s <= 0 ? 0 : left_s > 1 ? 1000 : (int)(left_s * 1e3) + 1);

		if (n > 0)
			rc = 0;
		else if (left_s <= 0)
			break;
	}
	bb_close(&p.fd);
	return rc == -ETIME && bb_stop_signal ? -EINTR : rc;
}

int bb_wait_for(pid_t child)
{
	int status;

	return TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) == child ? status : -1;
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

double bb_rusage_cpu_s(const struct rusage *usage)
{
	return seconds_of(&usage->ru_utime) + seconds_of(&usage->ru_stime);
}

double bb_process_cpu_s(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return NAN;
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
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

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		*CMSG_FIRSTHDR(&message) = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
							    .cmsg_level = SOL_SOCKET,
							    .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof(fd));
	}
	return TEMP_FAILURE_RETRY(sendmsg(socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0
		       ? -errno
		       : 0;
}

int bb_descriptor__receive(int socket_fd, int *ret_number, int *ret_fd)
{
	struct iovec data = {.iov_base = ret_number, .iov_len = sizeof(*ret_number)};
	union descriptor control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};

	*ret_fd = -1;
	ssize_t n = TEMP_FAILURE_RETRY(recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC));
	const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
	return n < 0 ? -errno : n == sizeof(*ret_number) ? 0 : -EPIPE;
}

struct opening {
	const char *path;
	int flags;
};

static int hand_over(void *arg, int socket_fd)
{
	const struct opening *o = arg;
	int fd = bb_open(o->path, o->flags);

	return bb_descriptor__send(socket_fd, fd < 0 ? fd : 0, fd) != 0;
}

int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags)
{
	const struct bb_child_rules rules = {.link = BB_LINK_SOCKET, .uid = uid, .gid = gid};
	struct opening opening = {path, flags};
	struct bb_child c;
	int rc, said, fd;

	if (geteuid() != 0 || (uid_t)setfsuid((uid_t)-1) == uid)
		return bb_open(path, flags);
	rc = bb_child__start(&rules, hand_over, &opening, &c);
	if (rc)
		return rc;
	rc = bb_descriptor__receive(c.fd, &said, &fd);
	bb_wait_for(c.pid);
	close(c.fd);
	return rc ? rc : said ? said : fd < 0 ? -EPIPE : fd;
}
