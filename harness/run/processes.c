/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/processes.h"

#include "base/child.h"
#include "base/io.h"
#include "base/parse.h"

#define PATIENCE_S 5.0 /* time from SIGTERM to SIGKILL, s */
#define KILLED_S 2.0
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

/* Reads the file `stat` (proc(5)) of a process or thread into text[1024]. Returns the part from the
 * ')' after the name on, or NULL if the process has ended. */
static const char *read_stat(const char *path, char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, 1023);

	bb_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	/* the name may have parentheses, too, so the last ')' ends it */
	return strrchr(text, ')');
}

/* Returns false if the process has ended. */
static bool read_process(uint64_t pid, struct process *ret_process)
{
	enum { PARENT = 2, REAPED_USER = 14, REAPED_SYSTEM = 15, RSS = 22 };
	uint64_t parent, user, system, pages;
	char path[48], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	at = read_stat(path, text);
	if (!at || !read_field(at, PARENT, &parent) || !read_field(at, REAPED_USER, &user) ||
	    !read_field(at, REAPED_SYSTEM, &system) || !read_field(at, RSS, &pages))
		return false;
	*ret_process = (struct process){
		.pid = (pid_t)pid,
		.parent = (pid_t)parent,
		.reaped_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK),
		.rss_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE),
	};
	return true;
}

/* Returns true if `pid` is `root` or one of its descendants. */
static bool is_below(const struct process *v, size_t n, pid_t pid, pid_t root)
{
	for (size_t depth = 0; depth < n && pid && pid != root; depth++) {
		const struct process *p = BB_FIND(v, n, it->pid == pid);

		pid = p ? p->parent : 0;
	}
	return pid && pid == root;
}

int bb_processes__read(pid_t root, pid_t but, struct bb_processes *ret_processes)
{
	DIR *dir = opendir("/proc");
	struct bb_processes p = {0};
	struct process *v = NULL, one;
	const struct dirent *e;
	size_t n = 0;
	int rc = dir ? 0 : -errno;

	while (!rc && (e = readdir(dir))) {
		uint64_t pid;

		if (!bb_parse_u64(e->d_name, &pid) && read_process(pid, &one))
			BB_PUSH(v, n, one);
	}
	if (dir)
		closedir(dir);
	p.pids = bb_calloc(n + 1, sizeof(*p.pids));
	for (size_t i = 0; !rc && i < n; i++) {
		if (v[i].pid == getpid() || !is_below(v, n, v[i].pid, root) ||
		    is_below(v, n, v[i].pid, but))
			continue;
		p.pids[p.n++] = v[i].pid;
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
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		struct bb_running_thread t;
		const char *at;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, e->d_name);
		at = bb_parse_u64(e->d_name, &t.id) ? NULL : read_stat(path, text);
		if (at && !strncmp(at, ") R", 3) && read_field(at, USER, &t.user_ticks))
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

/* Reaps the processes that are our children and have ended. Sends the signal to the others, or only
 * checks them if it is 0. Returns how many are still there. */
static size_t signal_all(const struct bb_processes *p, int signal)
{
	size_t left = 0;

	for (size_t i = 0; i < p->n; i++)
		left += waitpid(p->pids[i], NULL, WNOHANG) != p->pids[i] &&
			!kill(p->pids[i], signal);
	return left;
}

int bb_processes__end(pid_t root, bool *ret_killed)
{
	uint64_t began_ns = bb_now_ns();
	struct bb_processes first, now;
	size_t left;
	int rc = bb_processes__read(root, 0, &first);

	*ret_killed = false;
	if (rc)
		return rc;
	left = signal_all(&first, SIGTERM);
	while (!rc && left) {
		double s = bb_seconds_since(began_ns);

		if (s > PATIENCE_S + KILLED_S) {
			rc = -EBUSY;
			break;
		}
		*ret_killed |= s > PATIENCE_S;
		usleep(PAUSE_US);
		/* Also signals the processes of `first`. They are no longer below the root once
		 * their parent has ended. For example, a shell may end before its server. */
		left = signal_all(&first, *ret_killed ? SIGKILL : 0);
		rc = bb_processes__read(root, 0, &now);
		if (!rc) {
			left += signal_all(&now, *ret_killed ? SIGKILL : 0);
			bb_processes__done(&now);
		}
	}
	bb_processes__done(&first);
	return rc;
}
