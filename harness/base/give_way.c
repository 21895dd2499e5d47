/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/give_way.h"

#include <sys/un.h>

#include "base/caller.h"
#include "base/deadline.h"
#include "base/text.h"

#define SLICE_NS 100000000u
#define MOST_NS 200000000u

/* time (CLOCK_MONOTONIC) of the last sleep or first call of bb_give_way(); 0 before that */
static volatile uint64_t since_ns;

void bb_give_way_touch(void)
{
	/* This only touches the code of nanosleep(), which returns at once for an invalid time. A
	 * sleep of 1 ns would take 50 us because of the timer's slack. */
	nanosleep(&(struct timespec){.tv_nsec = -1}, NULL);
	since_ns = since_ns;
}

void bb_give_way(void)
{
	uint64_t now_ns = bb_now_ns(), rest_ns = (now_ns - since_ns) / 10;

	if (since_ns && now_ns - since_ns < SLICE_NS)
		return;
	if (rest_ns > MOST_NS)
		rest_ns = MOST_NS;
	if (since_ns)
		nanosleep(&(struct timespec){.tv_nsec = (long)rest_ns}, NULL);
	since_ns = bb_now_ns();
}

int bb_run_ahead_of_others(void)
{
	struct sched_param param = {.sched_priority = 1};
	int rc = 0;

	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param)) {
		rc = -errno;
		setpriority(PRIO_PROCESS, 0, -20);
	}
	/* Without locked memory, the kernel may reclaim pages of code that seldom runs (DAMON
	 * does). Running that code then causes a page fault, which some drives count as an event.
	 * If locking is not permitted, we measure without it. */
	mlockall(MCL_CURRENT);
	return rc;
}

/* number of tries to take the lock, 1 ms apart, while its holder is between bind() and listen() */
#define MOST_TRIES 1000
/* Longest time of one poll(). A stop signal that comes just before poll() is noticed after it. */
#define LOOK_MS 500

static int new_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

/* Reads the first line of /proc/PID/FILE, with blanks for NULs; "" if that fails. */
static void read_words(pid_t pid, const char *file, char *ret_words, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	int len = bb_root__read(path, ret_words, size);
	for (int i = 0; i + 1 < len; i++)
		if (!ret_words[i])
			ret_words[i] = ' ';
	ret_words[strcspn(ret_words, "\n")] = '\0';
}

/* Finds the process that listens on the socket `address`. Returns -EBUSY and describes it in
 * `*holder`; -EAGAIN if nobody listens; -EADDRINUSE if the listener is not root's; or -errno. */
static int find_holder(const struct sockaddr_un *address, socklen_t len,
		       struct bb_cpu_holder *holder)
{
	struct ucred who = {0};
	socklen_t who_len = sizeof(who);
	int fd = new_socket(), rc = 0;
	char *command = holder->command;

	if (fd < 0)
		return fd;
	if (connect(fd, (const struct sockaddr *)address, len))
		rc = errno == ECONNREFUSED
			     ? -EAGAIN
			     : -EADDRINUSE; /* another type of socket, or its queue is full */
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_len) || who.uid)
		rc = -EADDRINUSE;
	if (rc) {
		close(fd);
		return rc;
	}
	holder->pid = who.pid;
	holder->fd = fd;
	if (!who.pid)
		return -EBUSY;
	/* A process that is ending has a name but no command line. A process that has ended may
	 * have left the lock to a child process. */
	read_words(who.pid, "cmdline", command, sizeof(holder->command));
	if (!command[0]) {
		read_words(who.pid, "comm", command, sizeof(holder->command) - 16);
		strcat(command, command[0]         ? ", ending"
				: kill(who.pid, 0) ? "ended; a child of it still has the lock"
						   : "its name is hidden");
	}
	bb_make_clean(command);
	return -EBUSY;
}

int bb_cpu_lock__take(int cpu, struct bb_cpu_holder *ret_holder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char *name = address.sun_path + 1; /* an abstract name follows a NUL */
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				    (size_t)snprintf(name, sizeof(address.sun_path) - 1,
						     "bpfbench-cpu%d", cpu));
	unsigned int tries = 0;
	int fd = new_socket(), rc;

	*ret_holder = (struct bb_cpu_holder){.fd = -1};
	if (fd < 0)
		return fd;
	do {
		rc = bind(fd, (const struct sockaddr *)&address, len) || listen(fd, SOMAXCONN)
			     ? -errno
			     : 0;
		if (rc == -EADDRINUSE)
			rc = find_holder(&address, len, ret_holder);
		/* The holder is between bind() and listen(), or has just ended. */
		if (rc == -EAGAIN)
			usleep(1000);
	} while (rc == -EAGAIN && ++tries < MOST_TRIES && !bb_stop_signal);
	if (rc) /* on success the socket stays open, because it is the lock */
		close(fd);
	return rc == -EAGAIN ? -EADDRINUSE : rc;
}

int bb_cpu_holder__wait(const struct bb_cpu_holder *holder)
{
	struct pollfd p = {.fd = holder->fd};

	while (!bb_stop_signal) {
		int n = poll(&p, 1, LOOK_MS); /* gives POLLHUP when the holder ends */

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return -EINTR;
}
