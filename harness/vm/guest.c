/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vm/guest.h"

#include <archive.h>
#include <net/if.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif
#include <sys/mount.h>
#include <sys/reboot.h>
#include <termios.h>

#include "base/caller.h"
#include "base/child.h"
#include "base/io.h"
#include "bpf/marks.h"
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
	{"securityfs", "/sys/kernel/security"},
	{"cgroup2", "/sys/fs/cgroup"},
};

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Waits at most 10 s until the kernel uses the TSC, which counts instructions, as its clock. Linux
 * 5.10 begins to use it some time after it has booted. */
static void wait_for_clock(void)
{
	char name[16];

	for (int i = 0; i < 1000; i++) {
		bb_root__read(CLOCK_SOURCE, name, sizeof(name));
		if (!strcmp(name, "tsc\n"))
			return;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
}

static void load_modules(void)
{
	char **names = NULL, path[PATH_MAX];
	size_t n = 0;
	int fd;

	bb_list_and_close(bb_open(BB_GUEST_MODULES, O_RDONLY | O_DIRECTORY), "", &names, &n);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), BB_GUEST_MODULES "/%s", names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		/* errors are ignored, because a missing module shows when it is needed */
		syscall(SYS_finit_module, fd, "", 0);
		bb_close(&fd);
	}
	bb_names_free(names, n);
}

/* Fills free memory with zeros. `advice` (madvise(2)) chooses small or huge pages. */
static void clear(size_t size_bytes, int advice)
{
	void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		return;
	madvise(p, size_bytes, advice);
	mlock(p, size_bytes); /* makes the kernel allocate all pages */
	munmap(p, size_bytes);
}

#define LEFT_FREE (UINT32_C(8) << 20) /* bytes that clear_all() leaves to the kernel */

/* Does nothing if the kernel has no such parameter. */
static void set_parameter(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	bb_write_all(fd, value, strlen(value));
	bb_close(&fd);
}

/* Runs in a child process, so that the kernel kills only this child if memory runs out. */
static int clear_all(void *, int)
{
	set_parameter("/proc/self/oom_score_adj", "1000");
	clear(LEFT_FREE, MADV_NOHUGEPAGE);
	clear((size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) - LEFT_FREE,
	      MADV_HUGEPAGE);
	return 0;
}

/* The larger this is, the shorter is the CPU's own list of free small pages. 0 means the default
 * length. */
#define LIST_FRACTION "/proc/sys/vm/percpu_pagelist_high_fraction"

/* Clears the free memory, because booting has left garbage there and QEMU does not save pages of
 * zeros. Two kinds of free pages would stay uncleared, so both are reduced first. The kernel
 * reserves up to 48 MB for huge pages. The CPU's own list of small pages holds as much, and more
 * since Linux 6.7. The first clear() empties the shortened list when it frees small pages. */
static void clear_free_memory(void)
{
	const struct bb_child_rules rules = {.no_core = true};
	struct bb_child child;

	set_parameter("/proc/sys/vm/min_free_kbytes", "2048");
	set_parameter(LIST_FRACTION, "1000000");
	if (!bb_child__start(&rules, clear_all, NULL, &child))
		bb_wait_for(child.pid);
	set_parameter(LIST_FRACTION, "0");
}

#ifdef __x86_64__
/* Two I/O ports, by which the guest reads files from QEMU byte by byte (QEMU's
 * docs/specs/fw_cfg). */
#define PORT_SELECT 0x510
#define PORT_DATA 0x511
#define KEY_OF_LIST 0x19
#define NO_PORTS "bpfbench needs CONFIG_X86_IOPL_IOPERM of the guest's kernel\n"

/* An entry in the list of the files that QEMU hands to the guest. Its numbers are big-endian. */
struct listed_file {
	uint32_t size;
	uint16_t key, reserved;
	char name[56];
};

static void read_port(void *data, uint32_t len)
{
	/* inb() and not insb(), because gcc does not know that insb() writes to `data` */
	unsigned char *bytes = data;

	for (uint32_t i = 0; i < len; i++)
		bytes[i] = inb(PORT_DATA);
}

/* Returns the length of the job, whose bytes PORT_DATA then gives, or 0 if there is no job yet. */
static uint32_t find_job(void)
{
	struct listed_file f;
	uint32_t n;

	outw(KEY_OF_LIST, PORT_SELECT);
	read_port(&n, sizeof(n));
	for (n = be32toh(n); n; n--) {
		read_port(&f, sizeof(f));
		if (strcmp(f.name, BB_GUEST_JOB) || be32toh(f.size) <= 1)
			continue;
		outw(be16toh(f.key), PORT_SELECT);
		return be32toh(f.size);
	}
	return 0;
}

/* Returns false if the archive is damaged. */
static bool unpack(const void *data, size_t len)
{
	struct archive *in = archive_read_new();
	struct archive_entry *entry;

	archive_read_support_format_cpio(in);
	int rc = archive_read_open_memory(in, data, len);
	while (rc >= ARCHIVE_WARN && (rc = archive_read_next_header(in, &entry)) >= ARCHIVE_WARN &&
	       rc != ARCHIVE_EOF)
		rc = archive_read_extract(in, entry, 0);
	archive_read_free(in);
	return rc == ARCHIVE_EOF;
}

static bool receive_job(void)
{
	uint32_t len;

	if (ioperm(PORT_SELECT, 2, 1)) {
		bb_write_all(STDERR_FILENO, NO_PORTS, strlen(NO_PORTS));
		return false;
	}
	while (!(len = find_job()))
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	void *data = malloc(len);
	if (data)
		read_port(data, len);
	bool done = data && unpack(data, len);
	free(data);
	return done;
}
#else
static bool receive_job(void)
{
	return false; /* not reached, because vm/machine.c starts guests on x86_64 only */
}
#endif

static int execute(void *arg, int)
{
	char **argv = arg; /* path of the program, then its command line */

	execv(argv[0], argv + 1);
	return -errno;
}

/* Returns the exit code of the job's program, or -1 if it could not be started or was killed. */
static int run_command(void)
{
	const struct bb_child_rules rules = {.is_program = true, .std = {BB_STD_NULL, 0, 0}};
	char *args = NULL, *argv[MAX_ARGS + 1] = {NULL};
	struct bb_child child;
	size_t len = 0, n = 0;

	if (bb_read_file(BB_GUEST_ARGS, SIZE_MAX, &args, &len, NULL) || chdir(args))
		return -1;
	for (char *at = args + strlen(args) + 1; at < args + len && n < MAX_ARGS;
	     at += strlen(at) + 1)
		argv[n++] = at;
	if (bb_child__start(&rules, execute, argv, &child))
		return -1;
	bb_child__executed(&child);
	int status = bb_wait_for(child.pid);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(argv[i], "--" BB_MARKS_OPTION))
			bb_marks__write_symbols();
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void bb_guest_run(void)
{
	struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	struct termios t;
	char end[64];
	int fd, len, status;

	for (size_t i = 0; i < BB_LEN(mounts); i++)
		mount("none", mounts[i].path, mounts[i].type, 0, NULL);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/", 1);
	/* a wide terminal, so that bpfbench breaks no line of its messages */
	ioctl(STDERR_FILENO, TIOCSWINSZ, &(struct winsize){.ws_col = 10000});
	load_modules();
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ioctl(fd, SIOCSIFFLAGS, &loopback);
	bb_close(&fd);
	wait_for_clock();
	clear_free_memory();
	fd = open(BB_GUEST_LINE, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && !tcgetattr(fd, &t)) {
		cfmakeraw(&t); /* so that the kernel changes no byte */
		tcsetattr(fd, TCSANOW, &t);
	}
	bb_write_all(fd, BB_GUEST_READY, strlen(BB_GUEST_READY));
	tcdrain(fd);
	status = receive_job() ? run_command() : -1;
	len = snprintf(end, sizeof(end), BB_GUEST_ENDED "%d\n", status);
	bb_write_all(fd, end, (size_t)len);
	tcdrain(fd);
	reboot(RB_AUTOBOOT); /* ends QEMU, which has the option -no-reboot */
	_exit(1);
}
