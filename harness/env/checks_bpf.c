/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel allows of bpf() and perf_event_open(). */
#include "env/checks_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/caller.h"
#include "base/parse.h"
#include "env/sysfile.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* deepest stack that a scenario may ask for, and the kernel's default limit */
#define STEP_MAX_DEPTH 127
#define STATS_SYSCTL "/proc/sys/kernel/bpf_stats_enabled"
/* include/linux/errno.h: leaks to user space, strerror() does not know it */
#define ENOTSUPP_KERNEL 524

static const struct bpf_insn empty_insns[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
	{.code = BPF_JMP | BPF_EXIT},
};

static const char *errno_text(int err)
{
	return err == -ENOTSUPP_KERNEL ? "not supported by this kernel (ENOTSUPP)" : strerror(-err);
}

static int load_program(int prog_type, int attach_type, int btf_id, const struct bpf_insn *insns,
			size_t n_insns)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)attach_type,
		    .attach_btf_id = (__u32)btf_id);
	int fd = bpf_prog_load((enum bpf_prog_type)prog_type, "bb_check", "GPL", insns, n_insns,
			       &opts);

	return fd < 0 ? -errno : fd;
}

/* The smallest program, `return 0`, of any type that needs no more. */
static int load_empty(int prog_type)
{
	return load_program(prog_type, 0, 0, empty_insns, ARRAY_SIZE(empty_insns));
}

int bb_load_memcg_helper(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_coarse_ns},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return load_program(BPF_PROG_TYPE_SOCKET_FILTER, 0, 0, insns, ARRAY_SIZE(insns));
}

void bb_check_bpf_syscall(struct bb_check_result *ret_result)
{
	int fd = load_empty(BPF_PROG_TYPE_SOCKET_FILTER);

	if (fd >= 0) {
		close(fd);
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "a two-instruction program loads");
	} else if (fd == -ENOSYS) {
		bb_check_set(ret_result, BB_CHECK_FAIL,
			     "use a kernel built with CONFIG_BPF_SYSCALL=y",
			     "this kernel has no bpf() system call");
	} else {
		bb_check_set(ret_result, BB_CHECK_FAIL,
			     bb_may_bpf() ? "see `dmesg | tail`; a container's seccomp profile may "
					    "forbid bpf()"
					  : bb_privilege_remedy(),
			     "a two-instruction program does not load: %s", errno_text(fd));
	}
}

/* The length is the proof and the sysctl only a hint: the kernel falls back to the interpreter
 * silently. */
void bb_check_jit(struct bb_check_result *ret_result)
{
	static const char remedy[] = "sudo sysctl net.core.bpf_jit_enable=1";
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	uint64_t enable = 0;
	int err = bb_sysfile__read_u64("", "/proc/sys/net/core/bpf_jit_enable", &enable);
	/* the length reads 0 without privilege */
	int fd = bb_may_bpf() ? load_empty(BPF_PROG_TYPE_SOCKET_FILTER) : -EPERM;
	bool is_known = fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len);

	if (fd >= 0)
		close(fd);
	if (is_known && !info.jited_prog_len)
		bb_check_set(ret_result, BB_CHECK_WARN, remedy,
			     "programs are interpreted: figures will be far off");
	else if (!err && enable == 2)
		bb_check_set(ret_result, BB_CHECK_WARN, remedy,
			     "on, and every program is dumped to the kernel log");
	else if (is_known || (!err && enable))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "on");
	else if (!err)
		bb_check_set(ret_result, BB_CHECK_WARN, remedy, "off: figures will be far off");
	else
		bb_check_set(ret_result, BB_CHECK_SKIP, NULL,
			     "not known: net.core.bpf_jit_enable: %s", strerror(-err));
}

void bb_check_jit_harden(struct bb_check_result *ret_result)
{
	uint64_t harden;
	int err = bb_sysfile__read_u64("", "/proc/sys/net/core/bpf_jit_harden", &harden);

	if (err)
		bb_check_set(ret_result, BB_CHECK_SKIP, NULL,
			     "not known: net.core.bpf_jit_harden: %s%s", strerror(-err),
			     err == -EACCES || err == -EPERM ? " (only root may read it)" : "");
	else if (harden >= 2)
		bb_check_set(ret_result, BB_CHECK_WARN, "sudo sysctl net.core.bpf_jit_harden=0",
			     "constants of all programs are blinded: more code, slower");
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s",
			     harden ? "only programs of unprivileged users are hardened" : "off");
}

void bb_check_btf(struct bb_check_result *ret_result)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";

	if (!access(path, R_OK))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s", path);
	else
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "use a kernel built with CONFIG_DEBUG_INFO_BTF=y (Debian's and "
			     "Ubuntu's are)",
			     "%s: %s: CO-RE relocations, fentry and LSM do not work", path,
			     strerror(errno));
}

/* Closing the descriptor disables bpf_stats again unless somebody else holds one. */
void bb_check_stats_fd(struct bb_check_result *ret_result)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	int err = fd < 0 ? -errno : 0;

	if (fd >= 0) {
		close(fd);
		bb_check_set(ret_result, BB_CHECK_OK, NULL,
			     "can be enabled by descriptor (BPF_ENABLE_STATS)");
	} else if (err == -EPERM) {
		bb_check_set(ret_result, BB_CHECK_FAIL, bb_privilege_remedy(),
			     "enabling needs CAP_SYS_ADMIN");
	} else if (!access(STATS_SYSCTL, W_OK)) {
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "nothing to do: the sysctl is set while measuring and then restored, "
			     "except after SIGKILL",
			     "only by the sysctl kernel.bpf_stats_enabled (BPF_ENABLE_STATS: %s)",
			     errno_text(err));
	} else {
		bb_check_set(ret_result, BB_CHECK_FAIL,
			     "use a kernel from 5.1 on with CONFIG_BPF_SYSCALL=y, as root",
			     "neither BPF_ENABLE_STATS (%s) nor a writable "
			     "kernel.bpf_stats_enabled",
			     errno_text(err));
	}
}

/* Run a program of our own without enabling anything and see whether it was counted. 1, 0 or
 * -errno. */
static int stats_are_on(void)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = 4);
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	int fd = load_empty(BPF_PROG_TYPE_SOCKET_FILTER), rc;

	if (fd < 0)
		return fd;
	rc = bpf_prog_test_run_opts(fd, &opts) || bpf_obj_get_info_by_fd(fd, &info, &len)
		     ? -errno
		     : info.run_cnt > 0;
	close(fd);
	return rc;
}

/* Whether this process has a BPF_ENABLE_STATS descriptor open: their links read
 * "anon_inode:bpf-stats". */
static bool holds_stats(const char *pid)
{
	char dir[64], target[64];
	struct dirent *entry;
	bool found = false;
	int n = snprintf(dir, sizeof(dir), "/proc/%s/fd", pid);
	DIR *d;

	bb_root__begin(); /* the folder is for its process and root alone */
	d = n > 0 && (size_t)n < sizeof(dir) ? opendir(dir) : NULL;
	while (d && !found && (entry = readdir(d))) {
		ssize_t len = readlinkat(dirfd(d), entry->d_name, target, sizeof(target) - 1);

		if (len < 0)
			continue;
		target[len] = '\0';
		found = strstr(target, "bpf-stats") != NULL;
	}
	bb_root__end();
	if (d)
		closedir(d);
	return found;
}

/* "bpftop (1234)" of the first other process that holds such a descriptor; false when none is seen.
 */
static bool find_stats_holder(char *ret_who, size_t size)
{
	DIR *d = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	uint64_t pid;

	if (!d)
		return false;
	while (!found && (entry = readdir(d))) {
		char path[64], comm[64];
		int n;

		if (bb_parse_u64(entry->d_name, &pid) || pid == (uint64_t)getpid() ||
		    !holds_stats(entry->d_name))
			continue;
		n = snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)pid);
		if (n < 0 || bb_sysfile__read("", path, comm, sizeof(comm)))
			snprintf(comm, sizeof(comm), "?");
		snprintf(ret_who, size, "%s (%llu)", comm, (unsigned long long)pid);
		found = true;
	}
	closedir(d);
	return found;
}

void bb_check_stats_held(struct bb_check_result *ret_result)
{
	static const char cost[] = "bpf_stats adds to every run of every program, and voids slope";
	char who[96], remedy[160];
	uint64_t sysctl = 0;
	int on;

	if (!bb_sysfile__read_u64("", STATS_SYSCTL, &sysctl) && sysctl) {
		bb_check_set(ret_result, BB_CHECK_WARN, "sudo sysctl kernel.bpf_stats_enabled=0",
			     "kernel.bpf_stats_enabled is %llu: %s", (unsigned long long)sysctl,
			     cost);
		return;
	}
	on = stats_are_on();
	if (on < 0) {
		bb_check_set(ret_result, BB_CHECK_SKIP, NULL,
			     "not known: a probe program does not run: %s%s", errno_text(on),
			     bb_may_bpf() ? "" : " (needs root)");
	} else if (!on) {
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "off: a probe program was not counted");
	} else if (find_stats_holder(who, sizeof(who))) {
		snprintf(remedy, sizeof(remedy), "stop %s while measuring", who);
		bb_check_set(ret_result, BB_CHECK_WARN, remedy, "enabled by %s: %s", who, cost);
	} else {
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "find it: sudo ls -l /proc/*/fd 2>/dev/null | grep bpf-stats",
			     "enabled by a process that is not visible here: %s", cost);
	}
}

static void set_loaded(struct bb_check_result *ret_result, enum bb_check_status if_not, int fd)
{
	if (fd >= 0) {
		close(fd);
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "loads");
		return;
	}
	/* EPERM has two causes, which the capabilities tell apart. */
	if (fd != -EPERM)
		bb_check_set(ret_result, if_not, "use a kernel that has this program type",
			     "does not load: %s", errno_text(fd));
	else if (!bb_may_bpf())
		bb_check_set(ret_result, if_not, bb_privilege_remedy(), "does not load: %s",
			     errno_text(fd));
	else
		bb_check_set(ret_result, if_not,
			     "see the lockdown line; security modules may forbid it too",
			     "does not load: %s, although we have the capabilities",
			     errno_text(fd));
}

void bb_check_type(const struct bb_check *check, struct bb_check_result *ret_result)
{
	/* the one type without which the main job has nothing to measure */
	bool is_main = check->kind == BPF_PROG_TYPE_PERF_EVENT;

	set_loaded(ret_result, is_main ? BB_CHECK_FAIL : BB_CHECK_SKIP, load_empty(check->kind));
}

/* Types that name a kernel function at load. libbpf would complain on stderr about a name that is
 * not there. */
static void check_btf_type(struct bb_check_result *ret_result, int prog_type,
			   enum bpf_attach_type attach_type, const char *function)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int id = libbpf_find_vmlinux_btf_id(function, attach_type);

	libbpf_set_print(print);
	if (id <= 0)
		bb_check_set(ret_result, BB_CHECK_SKIP, "see the btf line",
			     "%s is not in the kernel's BTF: %s", function,
			     id ? strerror(-id) : "no such function");
	else
		set_loaded(ret_result, BB_CHECK_SKIP,
			   load_program(prog_type, (int)attach_type, id, empty_insns,
					ARRAY_SIZE(empty_insns)));
}

void bb_check_type_fentry(struct bb_check_result *ret_result)
{
	check_btf_type(ret_result, BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, "vfs_read");
}

/* Loading is not all: without "bpf" in the list of active modules an LSM program never runs. */
void bb_check_type_lsm(struct bb_check_result *ret_result)
{
	char list[512];

	check_btf_type(ret_result, BPF_PROG_TYPE_LSM, BPF_LSM_MAC, "file_open");
	if (ret_result->status != BB_CHECK_OK ||
	    bb_sysfile__read("", "/sys/kernel/security/lsm", list, sizeof(list)))
		return;
	for (char *save = NULL, *name = strtok_r(list, ",", &save); name;
	     name = strtok_r(NULL, ",", &save)) {
		if (!strcmp(name, "bpf"))
			return;
	}
	bb_check_set(ret_result, BB_CHECK_SKIP,
		     "boot with bpf added to lsm= (see /sys/kernel/security/lsm)",
		     "loads, but \"bpf\" is not among the active security modules");
}

/* Open an event on this thread, disabled, and close it again. 0 or -errno. */
static int try_event(uint32_t type, uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

void bb_check_software_event(const struct bb_check *check, struct bb_check_result *ret_result)
{
	/* Each page fault, or 100 Hz. */
	uint64_t period = check->kind == PERF_COUNT_SW_CPU_CLOCK ? 10 * 1000 * 1000 : 1;
	int err = try_event(PERF_TYPE_SOFTWARE, (uint64_t)check->kind, period);
	const char *remedy = "use a kernel built with CONFIG_PERF_EVENTS=y; seccomp may forbid "
			     "perf_event_open() too";

	if (!err) {
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "opens");
		return;
	}
	if ((err == -EACCES || err == -EPERM) && !bb_may_bpf())
		remedy = bb_privilege_remedy();
	bb_check_set(ret_result, BB_CHECK_FAIL, remedy, "does not open: %s", strerror(-err));
}

void bb_check_pmu(struct bb_check_result *ret_result)
{
	int err = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);

	if (!err)
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "cycles can be counted");
	else if (err == -EACCES || err == -EPERM)
		bb_check_set(ret_result, BB_CHECK_SKIP, bb_privilege_remedy(), "not known: %s",
			     strerror(-err));
	else
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "nothing to do here; cycles need bare metal, or a VM with a virtual "
			     "PMU",
			     "no PMU: software events are used (%s)", strerror(-err));
}

void bb_check_perf_paranoid(struct bb_check_result *ret_result)
{
	char text[32];
	int err = bb_sysfile__read("", "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));

	if (err)
		bb_check_set(ret_result, BB_CHECK_FAIL,
			     "use a kernel built with CONFIG_PERF_EVENTS=y, mount /proc",
			     "/proc/sys/kernel/perf_event_paranoid: %s", strerror(-err));
	else if (bb_has_cap(CAP_PERFMON) || bb_has_cap(CAP_SYS_ADMIN))
		bb_check_set(ret_result, BB_CHECK_OK, NULL,
			     "%s, which does not apply with our "
			     "capabilities",
			     text);
	else if (text[0] == '-' || !strcmp(text, "0") || !strcmp(text, "1"))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s", text);
	else
		bb_check_set(ret_result, BB_CHECK_WARN, bb_privilege_remedy(),
			     "%s: events in the kernel are forbidden without CAP_PERFMON", text);
}

void bb_check_perf_max_stack(struct bb_check_result *ret_result)
{
	uint64_t frames;
	int err = bb_sysfile__read_u64("", "/proc/sys/kernel/perf_event_max_stack", &frames);

	if (err)
		bb_check_set(ret_result, BB_CHECK_SKIP, NULL,
			     "not known: kernel.perf_event_max_stack: %s", strerror(-err));
	else if (frames < STEP_MAX_DEPTH)
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "sudo sysctl kernel.perf_event_max_stack=127",
			     "%llu frames: deeper stacks are cut, so costs do not rise beyond that "
			     "depth",
			     (unsigned long long)frames);
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%llu frames",
			     (unsigned long long)frames);
}
