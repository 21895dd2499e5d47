/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/perf_record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 5000
/* perf runs as root: the caller's $PATH may name folders that others write to. */
#define ROOTS_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static void close_all(int (*pipes)[2])
{
	for (int i = 0; i < 4; i++)
		if (pipes[i / 2][i % 2] >= 0)
			close(pipes[i / 2][i % 2]);
}

/* The events are opened but off until perf is told so through a pipe; it answers when they are on.
 */
static int enable(int control_fd, int answer_fd)
{
	struct pollfd p = {.fd = answer_fd, .events = POLLIN};
	char answer[8];

	if (write(control_fd, "enable\n", 7) != 7)
		return -EPIPE;
	if (poll(&p, 1, ANSWER_MS) <= 0)
		return -ETIMEDOUT;
	return read(answer_fd, answer, sizeof(answer)) > 0 ? 0 : -EPIPE;
}

int bb_perf_record__start(pid_t pid, uint32_t freq_hz, const struct bb_child_place *place,
			  struct bb_workload *ret_w, struct bb_err *err)
{
	enum { CONTROL, ANSWER };
	int pipes[2][2] = {{-1, -1}, {-1, -1}}, rc;
	char freq[16], target[16], control[48];
	char *args[] = {"record", "-q",        "-e",    "cpu-clock", "-F",        freq, "-g",  "-D",
			"-1",     "--control", control, "-o",        "/dev/null", "-p", target};
	const struct bb_workload_spec spec = {.program = "perf",
					      .path = ROOTS_PATH,
					      .args = args,
					      .n_args = sizeof(args) / sizeof(args[0]),
					      /* as root: it samples another's process */
					      .place = {.cpu = place->cpu}};

	/* perf's ends are inherited, ours are not. */
	rc = pipe(pipes[CONTROL]) || pipe(pipes[ANSWER]) ? -errno : 0;
	if (!rc && (fcntl(pipes[CONTROL][1], F_SETFD, FD_CLOEXEC) ||
		    fcntl(pipes[ANSWER][0], F_SETFD, FD_CLOEXEC)))
		rc = -errno;
	if (rc) {
		close_all(pipes);
		return bb_fail(err, rc, "cannot make a pipe to perf: %s", strerror(-rc));
	}
	snprintf(freq, sizeof(freq), "%u", freq_hz);
	snprintf(target, sizeof(target), "%d", (int)pid);
	snprintf(control, sizeof(control), "fd:%d,%d", pipes[CONTROL][0], pipes[ANSWER][1]);
	rc = bb_workload__start(&spec, ret_w, err);
	if (!rc) {
		rc = enable(pipes[CONTROL][1], pipes[ANSWER][0]);
		if (rc) {
			bb_workload__stop(ret_w);
			bb_fail(err, rc,
				"perf record did not begin: %s; try: perf record -e cpu-clock -F "
				"%u -g sleep 1",
				strerror(-rc), freq_hz);
		}
	}
	close_all(pipes);
	return rc;
}
