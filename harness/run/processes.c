/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/processes.h"

#include "base/child.h"
#include "base/io.h"
#include "base/parse.h"

#define KILLED_S 2.0  /* time that killed processes have to end, s */
#define PAUSE_US 5000 /* pause between two checks whether processes have ended */

struct process {
	pid_t pid, parent;
	double reaped_s; /* CPU time of the children that it reaped, s */
	uint64_t rss_bytes;
};

/* Reads field n of /proc/PID/stat, counted from 1 after the name of the process. Returns false if
 * it is not a number. */
static bool read_field(const char *behind_name, int n, uint64_t *ret_value)
{
	const char *at = behind_name;

	while (at && n--) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	return at && !bb_parse_digits(&at, ret_value);
}

/* Reads /proc/PID/stat (proc(5)). Returns false if the process has ended. */
static bool read_process(uint64_t pid, struct process *ret_process)
{
	enum { PARENT = 2, REAPED_USER = 14, REAPED_SYSTEM = 15, RSS = 22 };
	uint64_t parent, user, system, pages;
	char path[48], text[1024];
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	bb_close(&fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* the ')' that ends the name; the name itself may contain ')' and blanks */
	at = strrchr(text, ')');
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

static int read_all(struct process **ret_v, size_t *ret_n)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	struct process p;
	int rc = dir ? 0 : -errno;

	while (!rc && (e = readdir(dir))) {
		uint64_t pid;

		if (!bb_parse_u64(e->d_name, &pid) && read_process(pid, &p))
			*(struct process *)bb_append(ret_v, ret_n, sizeof(**ret_v)) = p;
	}
	if (dir)
		closedir(dir);
	return rc;
}

/* True if the process `pid` is `root` or descends from it. */
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
	struct bb_processes p = {0};
	struct process *v = NULL;
	size_t n = 0;
	int rc = read_all(&v, &n);

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

void bb_processes__done(struct bb_processes *p)
{
	free(p->pids);
	*p = (struct bb_processes){0};
}

/* Reaps the processes in `p` that are our children and have ended. Sends the signal to the others;
 * 0 sends no signal. Returns how many of them are still there. */
static size_t signal_all(const struct bb_processes *p, int signal)
{
	size_t left = 0;

	for (size_t i = 0; i < p->n; i++)
		left += waitpid(p->pids[i], NULL, WNOHANG) != p->pids[i] &&
			!kill(p->pids[i], signal);
	return left;
}

int bb_processes__end(pid_t root, pid_t but, double patience_s, bool *ret_killed)
{
	uint64_t began_ns = bb_now_ns();
	struct bb_processes first, now;
	size_t left;
	int rc = bb_processes__read(root, but, &first);

	*ret_killed = false;
	if (rc)
		return rc;
	left = signal_all(&first, SIGTERM);
	while (!rc && left) {
		double s = bb_seconds_since(began_ns);

		if (s > patience_s + KILLED_S) {
			rc = -EBUSY;
			break;
		}
		*ret_killed |= s > patience_s;
		usleep(PAUSE_US);
		/* Processes of `first` are signalled, too: once their parent has ended, they are no
		 * longer below the root. For example, a shell ends before its server. */
		left = signal_all(&first, *ret_killed ? SIGKILL : 0);
		rc = bb_processes__read(root, but, &now);
		if (!rc) {
			left += signal_all(&now, *ret_killed ? SIGKILL : 0);
			bb_processes__done(&now);
		}
	}
	bb_processes__done(&first);
	return rc;
}
