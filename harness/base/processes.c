/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/processes.h"

#include "base/child.h"
#include "base/io.h"
#include "base/parse.h"

#define PAUSE_US 5000

struct process {
	pid_t pid, parent;
	double reaped_s; /* CPU time of the children that it reaped, s */
	uint64_t rss_bytes;
};

/* Reads field n of /proc/PID/stat, where 1 is the first field after the name. */
static bool read_field(const char *behind_name, int n, uint64_t *ret_value)
{
	const char *at = behind_name;

	while (at && n--) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	return at && !bb_parse_digits(&at, ret_value);
}

/* Reads the file `stat` (proc(5)) of a process or thread into text[1024]. *ret_at receives the part
 * from the ')' after the name on. Returns 0 or -errno. If the process has ended, the error is
 * no shortage (bb_is_shortage()). */
static int read_stat(const char *path, char *text, const char **ret_at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, 1023);
	int rc = n < 0 ? -errno : 0;

	bb_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	/* the name may have parentheses, too, so the last ')' ends it */
	*ret_at = strrchr(text, ')');
	return !rc && !*ret_at ? -ESRCH : rc;
}

/* Returns 0 or -errno, as read_stat() does. */
static int read_process(uint64_t pid, struct process *ret_process)
{
	enum { PARENT = 2, REAPED_USER = 14, REAPED_SYSTEM = 15, RSS = 22 };
	uint64_t parent, user, system, pages;
	char path[48], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	int rc = read_stat(path, text, &at);
	if (rc)
		return rc;
	if (!read_field(at, PARENT, &parent) || !read_field(at, REAPED_USER, &user) ||
	    !read_field(at, REAPED_SYSTEM, &system) || !read_field(at, RSS, &pages))
		return -ESRCH;
	*ret_process = (struct process){
		.pid = (pid_t)pid,
		.parent = (pid_t)parent,
		.reaped_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK),
		.rss_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE),
	};
	return 0;
}

/* Returns true if `pid` is `root` or one of its descendants. v[n] are in the order of /proc, which
 * is that of the process ids. */
static bool is_below(const struct process *v, size_t n, pid_t pid, pid_t root)
{
	for (size_t depth = 0; depth < n && pid && pid != root; depth++) {
		size_t at = BB_N_LEADING(v, n, it->pid < pid);

		pid = at < n && v[at].pid == pid ? v[at].parent : 0;
	}
	return pid && pid == root;
}

/* After an error, v[n] are the processes read so far. */
static int read_all(struct process **ret_v, size_t *ret_n)
{
	DIR *dir = opendir("/proc");
	struct process one;
	const struct dirent *e;
	int rc = 0;

	*ret_v = NULL;
	*ret_n = 0;
	if (!dir)
		return -errno;
	while (!bb_is_shortage(rc) && (e = readdir(dir))) {
		uint64_t pid;

		if (bb_parse_u64(e->d_name, &pid))
			continue;
		rc = read_process(pid, &one);
		if (!rc)
			BB_PUSH(*ret_v, *ret_n, one);
	}
	closedir(dir);
	return bb_is_shortage(rc) ? rc : 0;
}

int bb_processes__read(pid_t root, pid_t but, struct bb_processes *ret_processes)
{
	struct bb_processes p = {0};
	struct process *v;
	size_t n;
	int rc = read_all(&v, &n);

	for (size_t i = 0; i < n; i++) {
		if (v[i].pid == getpid() || !is_below(v, n, v[i].pid, root) ||
		    is_below(v, n, v[i].pid, but))
			continue;
		BB_PUSH(p.pids, p.n, v[i].pid);
		p.cpu_s += fmax(bb_process_cpu_s(v[i].pid), 0) + v[i].reaped_s;
		p.rss_bytes += v[i].rss_bytes;
	}
	free(v);
	if (rc)
		bb_processes__done(&p);
	else
		*ret_processes = p;
	return rc;
}

/* Adds the threads of a process that run or wait for a CPU to `r`. */
static void add_running(pid_t pid, struct bb_running *r)
{
	enum { USER = 12 };
	char path[300], text[1024];
	const struct dirent *e;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		struct bb_running_thread t;
		const char *at;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, e->d_name);
		if (!bb_parse_u64(e->d_name, &t.id) && !read_stat(path, text, &at) &&
		    !strncmp(at, ") R", 3) && read_field(at, USER, &t.user_ticks))
			BB_PUSH(r->v, r->n, t);
	}
	if (dir)
		closedir(dir);
}

bool bb_running__in_kernel(struct bb_running *r, pid_t root)
{
	struct bb_running now = {0};
	struct bb_processes p;
	bool any = false;

	if (!bb_processes__read(root, 0, &p)) {
		for (size_t i = 0; i < p.n; i++)
			add_running(p.pids[i], &now);
		bb_processes__done(&p);
	}
	for (size_t i = 0; i < now.n; i++)
		any |= BB_ANY(r->v, r->n,
			      it->id == now.v[i].id && it->user_ticks == now.v[i].user_ticks);
	free(r->v);
	*r = now;
	return any;
}

void bb_processes__done(struct bb_processes *p)
{
	free(p->pids);
	*p = (struct bb_processes){0};
}

/* Returns false if /proc is not mounted, or numbers the processes of another PID namespace. */
static bool is_own_proc(void)
{
	char self[16] = "";
	uint64_t pid;

	return readlink("/proc/self", self, sizeof(self) - 1) > 0 && !bb_parse_u64(self, &pid) &&
	       (pid_t)pid == getpid();
}

/* Adds the processes that have to end to `p`. Those that it has stay there, even if they are no
 * longer below the root, because their parent has ended. For example, a shell may end before its
 * server. */
static int add_processes(const struct bb_ending *e, struct bb_processes *p)
{
	struct process *v;
	size_t n;

	if (!is_own_proc())
		return -ENOTSUP;
	int rc = read_all(&v, &n);
	for (size_t i = 0; i < n; i++) {
		pid_t pid = v[i].pid;

		if (pid != getpid() &&
		    (e->root ? is_below(v, n, pid, e->root) : v[i].parent == getpid()) &&
		    !BB_ANY(p->pids, p->n, *it == pid) && !BB_ANY(e->keep, e->n_keep, *it == pid))
			BB_PUSH(p->pids, p->n, pid);
	}
	free(v);
	return rc;
}

/* Reaps the process if it is our child and has ended. Otherwise sends the signal, or only checks
 * the process if `signal` is 0. Returns false if it is no longer there. */
static bool is_left(const struct bb_ending *e, pid_t pid, int signal)
{
	if (pid == e->leader)
		return !kill(pid, 0) && !kill(-pid, signal);
	return waitpid(pid, NULL, WNOHANG) != pid && !kill(pid, signal);
}

int bb_processes__end(const struct bb_ending *e, int *ret_signal)
{
	struct bb_processes p = {0};
	uint64_t sent_ns = 0;
	int step = 0, sent = 0, rc;

	/* the leader gets the signals even if /proc cannot be read */
	if (e->leader)
		BB_PUSH(p.pids, p.n, e->leader);
	while (rc = add_processes(e, &p), p.n && e->steps[step].signal) {
		int signal = e->steps[step].signal;
		bool is_first = signal != sent;

		BB_KEEP(p.pids, p.n, is_left(e, *it, is_first || signal == SIGKILL ? signal : 0));
		sent = signal;
		/* reading /proc may take long, so the time counts from here */
		if (is_first)
			sent_ns = bb_now_ns();
		if (e->turn)
			e->turn(e->arg);
		else
			usleep(PAUSE_US);
		if (bb_seconds_since(sent_ns) > e->steps[step].seconds)
			step++;
	}
	if (p.n)
		rc = -EBUSY;
	bb_processes__done(&p);
	if (ret_signal)
		*ret_signal = sent;
	return rc;
}
