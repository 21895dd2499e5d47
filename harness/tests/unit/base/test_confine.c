/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a confined child process can still do, and what it cannot. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"

struct action {
	int (*act)(int fd);
	int fd;
};

static int act_in_child(void *arg, int link_fd)
{
	const struct action *a = arg;

	(void)link_fd;
	return a->act(a->fd);
}

/* Runs `act` in a confined child that keeps `keep` open. Returns its exit status. */
static int confined(int (*act)(int fd), int keep)
{
	int kept[] = {keep, -1, keep}, status;
	const struct bb_child_rules rules = {.confinement = BB_CONFINED, .keep = kept, .n_keep = 3};
	struct action action = {act, keep};
	struct bb_child c;

	assert_int_equal(bb_child__start(&rules, act_in_child, &action, &c), 0);
	status = bb_wait_for(c.pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int reads_and_writes(int fd)
{
	char byte;
	void *p = malloc(1 << 20);

	if (!p || pread(fd, &byte, 1, 0) != 1 || write(fd, &byte, 1) != 1)
		return 1;
	free(p);
	return 0;
}

static void what_it_can_do(void **state)
{
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	fputs("text", file);
	fflush(file);
	assert_int_equal(confined(reads_and_writes, fileno(file)), 0);
	fclose(file);
}

static bool is_refused(long rc)
{
	return rc < 0 && errno == EPERM;
}

/* Without confinement, the kernel would allow each of these calls to anybody who may run this
 * test. */
static int everything_else(int fd)
{
	if (!is_refused(open("/proc/self/status", O_RDONLY)))
		return 1;
	if (!is_refused(socket(AF_UNIX, SOCK_STREAM, 0)))
		return 2;
	if (!is_refused(fork()))
		return 3;
	if (!is_refused(kill(getpid(), 0)))
		return 4;
	if (!is_refused(execl("/bin/true", "true", NULL)))
		return 5;
	if (!is_refused(fcntl(fd, F_SETOWN, getpid())) || !is_refused(fcntl(fd, F_SETSIG, 9)))
		return 6;
	return is_refused(prctl(PR_SET_PDEATHSIG, 0)) ? 0 : 7;
}

static int other_descriptors(int fd)
{
	for (int i = 0; i < 1024; i++)
		if (i != fd && (fcntl(i, F_GETFD) >= 0 || errno != EBADF))
			return 1;
	return fcntl(fd, F_GETFD) < 0 ? 2 : 0;
}

static void what_it_cannot_do(void **state)
{
	int fd = open("/dev/null", O_RDWR), high = fcntl(fd, F_DUPFD, 600);

	(void)state;
	assert_true(fd >= 0 && high >= 600);
	if (prctl(PR_GET_SECCOMP) < 0) {
		print_message("# skip: this kernel has no seccomp\n");
		skip();
	}
	assert_int_equal(confined(everything_else, fd), 0);
	assert_int_equal(confined(other_descriptors, high), 0);
	close(fd);
	close(high);
}

static int sleep_on(void *arg, int link_fd)
{
	(void)arg;
	return bb_child__sleep(link_fd);
}

/* Copies the value of the line `key` of /proc/PID/status into value[size]. */
static void status_of(pid_t pid, const char *key, char *value, size_t size)
{
	char path[64], line[256];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	in = fopen(path, "r");
	assert_non_null(in);
	*value = '\0';
	while (fgets(line, sizeof(line), in))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			snprintf(value, size, "%.*s", (int)strcspn(line + strlen(key) + 2, "\n"),
				 line + strlen(key) + 2);
	fclose(in);
}

static void what_it_is(void **state)
{
	static const struct {
		const char *key, *value;
		bool of_root; /* only if the test runs as root */
	} lines[] = {
		{"Uid", "65534\t65534\t65534\t65534", true},
		{"Gid", "65534\t65534\t65534\t65534", true},
		{"CapPrm", "0000000000000000", false},
		{"CapEff", "0000000000000000", false},
		{"NoNewPrivs", "1", false},
	};
	static const struct bb_child_rules rules = {.link = BB_LINK_TO_CHILD,
						    .confinement = BB_CONFINED};
	struct bb_child c;

	(void)state;
	assert_int_equal(bb_child__start(&rules, sleep_on, NULL, &c), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char value[64];

		status_of(c.pid, lines[i].key, value, sizeof(value));
		if (!lines[i].of_root || !geteuid())
			assert_string_equal(value, lines[i].value);
	}
	close(c.fd);
	assert_int_equal(bb_wait_for(c.pid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_can_do),
		cmocka_unit_test(what_it_cannot_do),
		cmocka_unit_test(what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
