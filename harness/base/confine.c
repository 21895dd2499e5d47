/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/parse.h"

#define TRIAL_FILE_BYTES (4LL << 30) /* none of it is there until it is written to */
#define NOBODY 65534                 /* also on kernels that know no names: their overflow user */

/* What libelf, libdw and malloc() do with files that are open, how the child answers, and what
 * libbpf (from 1.4 on) does to open an object in memory. */
static const int calls[] = {
	SCMP_SYS(brk),       SCMP_SYS(clock_gettime), SCMP_SYS(exit),        SCMP_SYS(exit_group),
	SCMP_SYS(fcntl),     SCMP_SYS(fstat),         SCMP_SYS(futex),       SCMP_SYS(getpid),
	SCMP_SYS(getrandom), SCMP_SYS(lseek),         SCMP_SYS(madvise),     SCMP_SYS(mmap),
	SCMP_SYS(mprotect),  SCMP_SYS(mremap),        SCMP_SYS(munmap),      SCMP_SYS(newfstatat),
	SCMP_SYS(pread64),   SCMP_SYS(read),          SCMP_SYS(recvmsg),     SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sendmsg),   SCMP_SYS(setitimer),     SCMP_SYS(sched_yield), SCMP_SYS(sysinfo),
	SCMP_SYS(write),     SCMP_SYS(memfd_create),  SCMP_SYS(uname),
#ifdef __SANITIZE_ADDRESS__ /* which ends the process where it may not look at the signal stack */
	SCMP_SYS(gettid),    SCMP_SYS(sigaltstack),
#endif
};

/* What libbpf does besides to load an object. */
static const int trial_calls[] = {
	SCMP_SYS(access),     SCMP_SYS(dup3),     SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(readlink),
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
		if (rc == -EDOM) /* this machine has no such call */
			rc = 0;
	}
	return rc;
}

/* `action` where an argument is so. */
static int add_rule(scmp_filter_ctx filter, uint32_t action, int which, struct scmp_arg_cmp arg)
{
	return seccomp_rule_add_array(filter, action, which, 1, &arg);
}

/* libbpf takes a descriptor 0 for a mistake: it duplicates it and closes it. It is to stay. */
static int allow_trial(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp for_reading = {2, SCMP_CMP_MASKED_EQ,
						 O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY};
	int rc = allow(filter, trial_calls, sizeof(trial_calls) / sizeof(trial_calls[0]));

	for (size_t i = 0; !rc && i < sizeof(trial_commands) / sizeof(trial_commands[0]); i++)
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

static int filter_calls(bool is_trial)
{
	static const int closing = SCMP_SYS(close);
	scmp_filter_ctx filter;
	int rc;

	if (prctl(PR_GET_SECCOMP) < 0 && errno == EINVAL)
		return is_trial ? -ENOSYS : 0; /* the kernel has none */
	filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!filter)
		return -ENOMEM;
	rc = allow(filter, calls, sizeof(calls) / sizeof(calls[0]));
	if (!rc)
		rc = is_trial ? allow_trial(filter) : allow(filter, &closing, 1);
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}

/* In a user namespace that has no such user root stays root, but without capabilities. */
static void become_nobody(void)
{
	if (!geteuid() && !setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	    setresuid(NOBODY, NOBODY, NOBODY))
		return;
}

static int drop_rights(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	become_nobody();
	return syscall(SYS_capset, &head, none) || prctl(PR_SET_DUMPABLE, 0) ? -errno : 0;
}

int bb_confine(enum bb_confinement how)
{
	int rc = drop_rights();

	/* After the change of user, which clears the first. */
	if (!rc && (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
		rc = -errno;
	return rc ? rc : filter_calls(how == BB_CONFINED_TRIAL);
}

int bb_confine_open_trial_file(void)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	int file = memfd_create("trial", MFD_CLOEXEC);

	setrlimit(RLIMIT_FSIZE, &unlimited); /* root may; a memfd is no file of a disk */
	/* libbpf maps the values of a map from its descriptor */
	return file < 0 || ftruncate(file, TRIAL_FILE_BYTES) || dup2(file, 0) < 0 ? -errno : 0;
}

/* Not simply a number: AddressSanitizer begins with terabytes. */
void bb_confine_memory(uint64_t more_bytes)
{
	struct rlimit limit;
	const char *c;
	uint64_t pages;
	char *text;
	size_t len;

	if (bb_read_proc("/proc/self/statm", 4096, &text, &len, NULL))
		return;
	c = text;
	if (!bb_parse_digits(&c, &pages)) {
		limit.rlim_cur = limit.rlim_max = pages * (uint64_t)sysconf(_SC_PAGESIZE) +
						  more_bytes;
		setrlimit(RLIMIT_AS, &limit);
	}
	free(text);
}
