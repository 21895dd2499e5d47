/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vm/guest.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

#include "base/child.h"
#include "base/io.h"
#include "base/parse.h"
#include "vm/initramfs.h"

#define MAX_ARGS 512

static const struct {
	const char *type, *path;
} mounts[] = {
	{"proc", "/proc"},
	{"sysfs", "/sys"},
	{"devtmpfs", "/dev"},
	{"bpf", "/sys/fs/bpf"},
	{"tracefs", "/sys/kernel/tracing"},
	{"debugfs", "/sys/kernel/debug"},
	{"cgroup2", "/sys/fs/cgroup"},
};

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Waits until the kernel has chosen the clock that counts instructions, at most 10 s: Linux 5.10
 * chooses it only some time after it has booted. */
static void wait_for_clock(void)
{
	char *name = NULL;
	size_t len;

	for (int i = 0; i < 1000; i++) {
		bool is_tsc = !bb_read_proc(CLOCK_SOURCE, 64, &name, &len) && !strcmp(name, "tsc"
											    "\n");

		free(name);
		name = NULL;
		if (is_tsc)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
}

static void load_modules(void)
{
	char **names = NULL, path[PATH_MAX];
	int fd = open(BB_GUEST_MODULES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t n = 0;

	bb_list_and_close(fd < 0 ? -errno : fd, "", &names, &n);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), BB_GUEST_MODULES "/%s", names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		syscall(SYS_finit_module, fd, "", 0); /* what fails is missed by its user */
		bb_close(&fd);
	}
	bb_names_free(names, n);
}

static void set_loopback_up(void)
{
	struct ifreq r = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ioctl(fd, SIOCSIFFLAGS, &r);
	bb_close(&fd);
}

/* Opens the line to the host, on which each byte goes through unchanged. */
static int open_line(void)
{
	int fd = open(BB_GUEST_LINE, O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;

	if (fd >= 0 && !tcgetattr(fd, &t)) {
		cfmakeraw(&t);
		tcsetattr(fd, TCSANOW, &t);
	}
	return fd;
}

static int execute(void *arg, int link_fd)
{
	char **argv = arg; /* the program comes first */

	(void)link_fd;
	execv(argv[0], argv + 1);
	return -errno;
}

/* Runs bpfbench with the arguments that the host has left. Returns its exit code, or -1. */
static int run_command(void)
{
	const struct bb_child_rules rules = {.is_program = true, .std = {BB_STD_NULL, 0, 0}};
	char *args = NULL, *argv[MAX_ARGS + 1] = {NULL};
	struct bb_child child;
	size_t len = 0, n = 0;
	int status;

	if (bb_read_file(BB_GUEST_ARGS, SIZE_MAX, &args, &len, NULL) || chdir(args))
		return -1;
	for (char *at = args + strlen(args) + 1; at < args + len && n < MAX_ARGS;
	     at += strlen(at) + 1)
		argv[n++] = at;
	if (bb_child__start(&rules, execute, argv, &child))
		return -1;
	bb_child__executed(&child);
	status = bb_wait_for(child.pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void bb_guest_run(void)
{
	char end[64];
	int fd, len, status;

	for (size_t i = 0; i < BB_LEN(mounts); i++)
		mount("none", mounts[i].path, mounts[i].type, 0, NULL);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/", 1);
	load_modules();
	set_loopback_up();
	wait_for_clock();
	fd = open_line();
	status = run_command();
	len = snprintf(end, sizeof(end), BB_GUEST_ENDED "%d\n", status);
	bb_write_all(fd, end, (size_t)len);
	tcdrain(fd);
	reboot(RB_AUTOBOOT); /* QEMU ends then: -no-reboot */
	_exit(1);
}
