/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/checks.h"

#include <glob.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <sys/vfs.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/bpf_info.h"
#include "base/caller.h"
#include "base/cpus.h"
#include "base/kernel_fs.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/text.h"
#include "env/fingerprint.h"
#include "env/sysfile.h"

/* The largest stack depth, in frames, that a scenario may ask for. It is also the kernel's default
 * of perf_event_max_stack. */
#define STEP_MAX_DEPTH 127
#define STATS_SYSCTL "/proc/sys/kernel/bpf_stats_enabled"
/* an error of the kernel (include/linux/errno.h) that strerror() does not know */
#define ENOTSUPP_KERNEL 524

#define CPU_DIR "/sys/devices/system/cpu"
/* time over which steal is measured: 20 timer ticks at 100 Hz */
#define STEAL_SAMPLE_NS (200 * 1000 * 1000)
#define STEAL_WARN 0.05
#define MEMLOCK_ENOUGH_BYTES                                                                       \
	(64 << 20) /* enough for the rings, perf buffers and stack maps of all variants */

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

/* Closes `fd` and returns 0. If `fd` is an -errno, returns it unchanged. */
static int closed(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int probe_load(int prog_type, int attach_type, int btf_id)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return load_program(prog_type, attach_type, btf_id, insns, BB_LEN(insns));
}

/* Returns 1 if the kernel counts the runs of a program although we have not enabled bpf_stats, 0 if
 * it does not count them, or -errno. */
static int probe_stats_are_on(void)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = 4);
	struct bpf_prog_info info = {0};
	int fd = probe_load(BPF_PROG_TYPE_SOCKET_FILTER, 0, 0), rc;

	if (fd < 0)
		return fd;
	rc = bpf_prog_test_run_opts(fd, &opts) || bb_info__read(fd, &info) ? -errno
									   : info.run_cnt > 0;
	close(fd);
	return rc;
}

bool bb_find_stats_holder(char *ret_who, size_t size)
{
	char target[64], path[64], comm[64];
	uint64_t pid = 0;
	bool found = false;
	glob_t fds;

	bb_root__begin(); /* only root may read /proc/PID/fd of processes of other users */
	if (glob("/proc/[0-9]*/fd/*", GLOB_NOSORT, NULL, &fds))
		fds.gl_pathc = 0;
	for (size_t i = 0; i < fds.gl_pathc && !found; i++) {
		const char *digits = fds.gl_pathv[i] + strlen("/proc/");
		ssize_t len = readlink(fds.gl_pathv[i], target, sizeof(target) - 1);

		target[len < 0 ? 0 : len] = '\0';
		found = strstr(target, "bpf-stats") && !bb_parse_digits(&digits, &pid) &&
			pid != (uint64_t)getpid();
	}
	bb_root__end();
	globfree(&fds);
	if (!found)
		return false;
	snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)pid);
	if (bb_sysfile__read("", path, comm, sizeof(comm)))
		snprintf(comm, sizeof(comm), "?");
	snprintf(ret_who, size, "%s (%llu)", comm, (unsigned long long)pid);
	return true;
}

static int probe_event(uint32_t type, uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return closed(fd < 0 ? -errno : fd);
}

static __attribute__((format(printf, 4, 5))) void answer(struct bb_check_result *r,
							 enum bb_check_status status,
							 const char *remedy, const char *fmt, ...)
{
	va_list ap;

	r->status = status;
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	snprintf(r->remedy, sizeof(r->remedy), "%s", remedy ? remedy : "");
}

static bool has_cap(unsigned int cap)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	/* For BPF and perf, the kernel accepts capabilities in the initial user namespace only. */
	return !syscall(SYS_capget, &header, data) && (data[cap / 32].effective >> cap % 32 & 1) &&
	       bb_user__is_initial_namespace();
}

static bool may_bpf(void)
{
	return has_cap(CAP_SYS_ADMIN) || (has_cap(CAP_BPF) && has_cap(CAP_PERFMON));
}

static const char *privilege_remedy(void)
{
	if (geteuid())
		return "run with sudo";
	return "this root lacks capabilities: run outside of the container, or start it with "
	       "--privileged";
}

static const char *errno_text(int err)
{
	return err == -ENOTSUPP_KERNEL ? "not supported by this kernel (ENOTSUPP)" : strerror(-err);
}

static void check_bpf_syscall(const struct bb_check *, struct bb_check_result *r)
{
	int err = closed(probe_load(BPF_PROG_TYPE_SOCKET_FILTER, 0, 0));

	if (!err)
		answer(r, BB_CHECK_OK, NULL, "a two-instruction program loads");
	else if (err == -ENOSYS)
		answer(r, BB_CHECK_FAIL, "use a kernel built with CONFIG_BPF_SYSCALL=y",
		       "this kernel has no bpf() system call");
	else
		answer(r, BB_CHECK_FAIL,
		       may_bpf() ? "see `dmesg | tail`; a container's seccomp profile may forbid "
				   "bpf()"
				 : privilege_remedy(),
		       "a two-instruction program does not load: %s", errno_text(err));
}

/* A program without machine code is interpreted. The sysctl alone cannot tell this, because the
 * kernel also interprets a program that its JIT cannot compile. */
static void check_jit(const struct bb_check *, struct bb_check_result *r)
{
	static const char remedy[] = "sudo sysctl net.core.bpf_jit_enable=1";
	struct bpf_prog_info info = {0};
	uint64_t enable = 0;
	int err = bb_sysfile__read_u64("", "/proc/sys/net/core/bpf_jit_enable", &enable);
	/* Without privilege the kernel reports 0 as the length of the machine code, as if the JIT
	 * were off. */
	int fd = may_bpf() ? probe_load(BPF_PROG_TYPE_SOCKET_FILTER, 0, 0) : -EPERM;
	bool is_known = fd >= 0 && !bb_info__read(fd, &info);

	if (fd >= 0)
		close(fd);
	if (is_known && !info.jited_prog_len)
		answer(r, BB_CHECK_WARN, remedy,
		       "programs are interpreted: figures will be far off");
	else if (!err && enable == 2)
		answer(r, BB_CHECK_WARN, remedy,
		       "on, and every program is dumped to the kernel log");
	else if (is_known || (!err && enable))
		answer(r, BB_CHECK_OK, NULL, "on");
	else if (!err)
		answer(r, BB_CHECK_WARN, remedy, "off: figures will be far off");
	else
		answer(r, BB_CHECK_SKIP, NULL, "not known: net.core.bpf_jit_enable: %s",
		       strerror(-err));
}

static void check_jit_harden(const struct bb_check *, struct bb_check_result *r)
{
	uint64_t harden;
	int err = bb_sysfile__read_u64("", "/proc/sys/net/core/bpf_jit_harden", &harden);

	if (err)
		answer(r, BB_CHECK_SKIP, NULL, "not known: net.core.bpf_jit_harden: %s%s",
		       strerror(-err),
		       err == -EACCES || err == -EPERM ? " (only root may read it)" : "");
	else if (harden >= 2)
		answer(r, BB_CHECK_WARN, "sudo sysctl net.core.bpf_jit_harden=0",
		       "constants of all programs are blinded: more code, slower");
	else
		answer(r, BB_CHECK_OK, NULL, "%s",
		       harden ? "only programs of unprivileged users are hardened" : "off");
}

static void check_btf(const struct bb_check *, struct bb_check_result *r)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";

	if (!access(path, R_OK))
		answer(r, BB_CHECK_OK, NULL, "%s", path);
	else
		answer(r, BB_CHECK_WARN,
		       "use a kernel built with CONFIG_DEBUG_INFO_BTF=y (Debian's and Ubuntu's "
		       "are)",
		       "%s: %s: CO-RE relocations, fentry and LSM do not work", path,
		       strerror(errno));
}

/* Closing the descriptor disables bpf_stats again. */
static void check_stats_fd(const struct bb_check *, struct bb_check_result *r)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	int err = closed(fd < 0 ? -errno : fd);

	if (!err)
		answer(r, BB_CHECK_OK, NULL, "can be enabled by descriptor (BPF_ENABLE_STATS)");
	else if (err == -EPERM)
		answer(r, BB_CHECK_FAIL, privilege_remedy(), "enabling needs CAP_SYS_ADMIN");
	else if (!access(STATS_SYSCTL, W_OK))
		answer(r, BB_CHECK_WARN,
		       "nothing to do: the sysctl is set while measuring and then restored, except "
		       "after SIGKILL",
		       "only by the sysctl kernel.bpf_stats_enabled (BPF_ENABLE_STATS: %s)",
		       errno_text(err));
	else
		answer(r, BB_CHECK_FAIL,
		       "use a kernel from 5.1 on with CONFIG_BPF_SYSCALL=y, as root",
		       "neither BPF_ENABLE_STATS (%s) nor a writable kernel.bpf_stats_enabled",
		       errno_text(err));
}

static void check_stats_held(const struct bb_check *, struct bb_check_result *r)
{
	static const char cost[] = "which adds to every run of every program, and voids slope";
	char who[96], remedy[160];
	uint64_t sysctl = 0;

	if (!bb_sysfile__read_u64("", STATS_SYSCTL, &sysctl) && sysctl) {
		answer(r, BB_CHECK_WARN, "sudo sysctl kernel.bpf_stats_enabled=0",
		       "kernel.bpf_stats_enabled is %llu, %s", (unsigned long long)sysctl, cost);
		return;
	}
	int on = probe_stats_are_on();
	if (on < 0) {
		answer(r, BB_CHECK_SKIP, NULL, "not known: a probe program does not run: %s%s",
		       errno_text(on), may_bpf() ? "" : " (needs root)");
	} else if (!on) {
		answer(r, BB_CHECK_OK, NULL, "off: a probe program was not counted");
	} else if (bb_find_stats_holder(who, sizeof(who))) {
		snprintf(remedy, sizeof(remedy), "stop %s while measuring", who);
		answer(r, BB_CHECK_WARN, remedy, "%s has bpf_stats on, %s", who, cost);
	} else {
		answer(r, BB_CHECK_WARN,
		       "find it: sudo ls -l /proc/*/fd 2>/dev/null | grep bpf-stats",
		       "a process that is not visible here has bpf_stats on, %s", cost);
	}
}

static void answer_loaded(struct bb_check_result *r, enum bb_check_status if_not, int fd)
{
	int err = closed(fd);

	if (!err)
		answer(r, BB_CHECK_OK, NULL, "loads");
	else if (err != -EPERM)
		answer(r, if_not, "use a kernel that has this program type", "does not load: %s",
		       errno_text(err));
	else if (!may_bpf())
		answer(r, if_not, privilege_remedy(), "does not load: %s", errno_text(err));
	else
		answer(r, if_not,
		       "lockdown= or a security module refuses it; `dmesg` may say which",
		       "does not load: %s, although bpfbench has the capabilities",
		       errno_text(err));
}

static void check_type(const struct bb_check *check, struct bb_check_result *r)
{
	/* the programs of perf_profiler, the scenario that must work, have this type */
	bool is_main = check->kind == BPF_PROG_TYPE_PERF_EVENT;

	answer_loaded(r, is_main ? BB_CHECK_FAIL : BB_CHECK_SKIP, probe_load(check->kind, 0, 0));
}

/* Checks a program type that needs the BTF id of a kernel function. While libbpf looks for the
 * function, it must not print errors. */
static void check_btf_type(struct bb_check_result *r, int prog_type,
			   enum bpf_attach_type attach_type, const char *function)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int id = libbpf_find_vmlinux_btf_id(function, attach_type);

	libbpf_set_print(print);
	if (id <= 0)
		answer(r, BB_CHECK_SKIP, "see the btf line", "%s is not in the kernel's BTF: %s",
		       function, id ? strerror(-id) : "no such function");
	else
		answer_loaded(r, BB_CHECK_SKIP, probe_load(prog_type, (int)attach_type, id));
}

static void check_type_fentry(const struct bb_check *, struct bb_check_result *r)
{
	check_btf_type(r, BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, "vfs_read");
}

/* An LSM program loads but never runs if "bpf" is not in the list of active security modules. */
static void check_type_lsm(const struct bb_check *, struct bb_check_result *r)
{
	char list[512];

	check_btf_type(r, BPF_PROG_TYPE_LSM, BPF_LSM_MAC, "file_open");
	if (r->status != BB_CHECK_OK ||
	    bb_sysfile__read("", "/sys/kernel/security/lsm", list, sizeof(list)) ||
	    bb_has_word(list, ',', "bpf"))
		return;
	answer(r, BB_CHECK_SKIP, "boot with bpf added to lsm= (see /sys/kernel/security/lsm)",
	       "loads, but \"bpf\" is not among the active security modules");
}

static void check_software_event(const struct bb_check *check, struct bb_check_result *r)
{
	/* period of the event: 10 ms of CPU time in ns, or 1 page fault */
	uint64_t period = check->kind == PERF_COUNT_SW_CPU_CLOCK ? 10 * 1000 * 1000 : 1;
	int err = probe_event(PERF_TYPE_SOFTWARE, (uint64_t)check->kind, period);
	const char *remedy = "use a kernel built with CONFIG_PERF_EVENTS=y; seccomp may forbid "
			     "perf_event_open() too";

	if (!err) {
		answer(r, BB_CHECK_OK, NULL, "opens");
		return;
	}
	if ((err == -EACCES || err == -EPERM) && !may_bpf())
		remedy = privilege_remedy();
	answer(r, BB_CHECK_FAIL, remedy, "does not open: %s", strerror(-err));
}

static void check_pmu(const struct bb_check *, struct bb_check_result *r)
{
	int err = probe_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);

	if (!err)
		answer(r, BB_CHECK_OK, NULL, "cycles can be counted");
	else if (err == -EACCES || err == -EPERM)
		answer(r, BB_CHECK_SKIP, privilege_remedy(), "not known: %s", strerror(-err));
	else
		answer(r, BB_CHECK_WARN, "cycles need bare metal, or a VM with a virtual PMU",
		       "no PMU: software events are used");
}

static void check_perf_paranoid(const struct bb_check *, struct bb_check_result *r)
{
	char text[32];
	int err = bb_sysfile__read("", "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));

	if (err)
		answer(r, BB_CHECK_FAIL,
		       "use a kernel built with CONFIG_PERF_EVENTS=y, mount /proc",
		       "/proc/sys/kernel/perf_event_paranoid: %s", strerror(-err));
	else if (has_cap(CAP_PERFMON) || has_cap(CAP_SYS_ADMIN))
		answer(r, BB_CHECK_OK, NULL, "%s, which does not apply with our capabilities",
		       text);
	else if (text[0] == '-' || !strcmp(text, "0") || !strcmp(text, "1"))
		answer(r, BB_CHECK_OK, NULL, "%s", text);
	else
		answer(r, BB_CHECK_WARN, privilege_remedy(),
		       "%s: events in the kernel are forbidden without CAP_PERFMON", text);
}

static void check_perf_max_stack(const struct bb_check *, struct bb_check_result *r)
{
	uint64_t frames;
	int err = bb_sysfile__read_u64("", "/proc/sys/kernel/perf_event_max_stack", &frames);

	if (err)
		answer(r, BB_CHECK_SKIP, NULL, "not known: kernel.perf_event_max_stack: %s",
		       strerror(-err));
	else if (frames < STEP_MAX_DEPTH)
		answer(r, BB_CHECK_WARN, "sudo sysctl kernel.perf_event_max_stack=127",
		       "%llu frames: deeper stacks are cut, so costs do not rise beyond that depth",
		       (unsigned long long)frames);
	else
		answer(r, BB_CHECK_OK, NULL, "%llu frames", (unsigned long long)frames);
}

static void answer_unknown(struct bb_check_result *r, const char *what)
{
	answer(r, BB_CHECK_SKIP, NULL, "not known: %s cannot be read", what);
}

/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON. BPF_ENABLE_STATS needs CAP_SYS_ADMIN. XDP and tc
 * programs need CAP_NET_ADMIN. Kernels before 5.11 limit BPF memory by RLIMIT_MEMLOCK, and raising
 * this limit needs CAP_SYS_RESOURCE. */
static void check_capabilities(const struct bb_check *, struct bb_check_result *r)
{
	static const struct {
		unsigned int cap;
		const char *name;
		bool needed;
	} caps[] = {
		{CAP_SYS_ADMIN, "CAP_SYS_ADMIN", true},
		{CAP_BPF, "CAP_BPF", true},
		{CAP_PERFMON, "CAP_PERFMON", true},
		{CAP_NET_ADMIN, "CAP_NET_ADMIN", false},
		{CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE", false},
	};
	bool admin = has_cap(CAP_SYS_ADMIN), fail = false, warn = false;
	char missing[128] = "";

	for (size_t i = 0; i < BB_LEN(caps); i++) {
		bool implied = admin && caps[i].needed;

		if (implied || has_cap(caps[i].cap))
			continue;
		bb_list_words(missing, sizeof(missing), ", ", "%s", caps[i].name);
		fail = fail || caps[i].needed;
		warn = warn || caps[i].cap == CAP_NET_ADMIN;
	}
	if (fail)
		answer(r, BB_CHECK_FAIL, privilege_remedy(), "missing: %s", missing);
	else if (warn)
		answer(r, BB_CHECK_WARN, privilege_remedy(),
		       "missing: %s: network programs cannot be attached", missing);
	else if (missing[0])
		answer(r, BB_CHECK_OK, NULL, "all but %s (see the memlock line)", missing);
	else
		answer(r, BB_CHECK_OK, NULL, "all");
}

static void check_kernel(const struct bb_check *, struct bb_check_result *r)
{
	struct bb_fingerprint fp;

	if (bb_fingerprint__read("", ".", &fp, NULL))
		bb_fingerprint_init(&fp);
	if (!strcmp(fp.kernel_release, BB_FINGERPRINT_UNKNOWN))
		answer_unknown(r, "/proc/sys/kernel/osrelease");
	else
		answer(r, BB_CHECK_OK, NULL, "%s %.100s, %s", fp.kernel_release, fp.kernel_version,
		       fp.arch);
}

/* What a check answers to the value of a fingerprint field. The first row with a matching `check`
 * and `values` applies. */
static const struct {
	const char *check;  /* name of the check, which is also the key of the field */
	const char *values; /* values of the field, with blanks between; NULL matches any value */
	enum bb_check_status status;
	const char *remedy;
	/* printed after the value of the field, or alone if the status is BB_CHECK_SKIP */
	const char *text;
	const char *in_vm; /* replaces `text` in a virtual machine, unless it is NULL */
} answers[] = {
	{"lockdown", "none", BB_CHECK_OK, NULL, "", NULL},
	{"lockdown", BB_FINGERPRINT_UNKNOWN, BB_CHECK_SKIP,
	 "`sudo mount -t securityfs securityfs /sys/kernel/security`",
	 "not known: securityfs is not mounted", NULL},
	{"lockdown", NULL, BB_CHECK_WARN, "boot without lockdown= and with Secure Boot disabled",
	 ": fentry, LSM and reads of kernel memory may be forbidden", NULL},
	{"governor", "performance", BB_CHECK_OK, NULL, "", NULL},
	{"governor", "none", BB_CHECK_OK, NULL, ": the frequency is not scaled here",
	 ": the hypervisor decides"},
	{"governor", BB_FINGERPRINT_UNKNOWN, BB_CHECK_SKIP, NULL,
	 "not known: " CPU_DIR "/cpu*/cpufreq/scaling_governor cannot be read", NULL},
	{"governor", NULL, BB_CHECK_WARN,
	 "sudo cpupower frequency-set -g performance (linux-cpupower)",
	 ": the frequency follows the load", NULL},
	{"smt", "active", BB_CHECK_WARN,
	 "echo off | sudo tee " CPU_DIR "/smt/control (and `on` afterwards)",
	 ": the sibling thread slows a core down at random", NULL},
	{"smt", BB_FINGERPRINT_UNKNOWN, BB_CHECK_SKIP, NULL,
	 "not known: " CPU_DIR "/smt/active cannot be read", NULL},
	{"smt", NULL, BB_CHECK_OK, NULL, "", ", as far as a VM can see"},
	/* Reading hpet, acpi_pm or pit takes about 1 us. jiffies only count timer interrupts. */
	{"clocksource", "hpet acpi_pm pit jiffies refined-jiffies", BB_CHECK_WARN,
	 "see `dmesg | grep -i clocksource` for why; boot with clocksource=tsc tsc=reliable",
	 ": slow or coarse", NULL},
	{"clocksource", BB_FINGERPRINT_UNKNOWN, BB_CHECK_SKIP, NULL,
	 "not known: the current clocksource cannot be read", NULL},
	{"clocksource", NULL, BB_CHECK_OK, NULL, "", NULL},
};

static void check_fingerprint(const struct bb_check *check, struct bb_check_result *r)
{
	struct bb_fingerprint fp;
	const char *value = NULL;
	size_t i = 0;

	if (bb_fingerprint__read("", ".", &fp, NULL))
		bb_fingerprint_init(&fp);
	for (size_t k = 0; k < bb_n_fingerprint_fields; k++)
		if (!strcmp(bb_fingerprint_fields[k].key, check->name))
			value = bb_fingerprint_get(&fp, k);
	while (strcmp(answers[i].check, check->name) ||
	       (answers[i].values && !bb_has_word(answers[i].values, ' ', value)))
		i++;
	answer(r, answers[i].status, answers[i].remedy, "%.120s%s",
	       answers[i].status == BB_CHECK_SKIP ? "" : value,
	       answers[i].in_vm && !strcmp(fp.hypervisor, "yes") ? answers[i].in_vm
								 : answers[i].text);
}

/* Since Linux 5.11 the kernel charges BPF memory to the cgroup and ignores RLIMIT_MEMLOCK. Only
 * these kernels load a program that calls a helper of 5.11. libbpf tests it in this way, too. */
static void check_memlock(const struct bb_check *, struct bb_check_result *r)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_coarse_ns},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int err = closed(load_program(BPF_PROG_TYPE_SOCKET_FILTER, 0, 0, insns, BB_LEN(insns)));
	struct rlimit limit;

	if (!err)
		answer(r, BB_CHECK_OK, NULL, "charged to the cgroup, not to RLIMIT_MEMLOCK");
	else if (getrlimit(RLIMIT_MEMLOCK, &limit))
		answer_unknown(r, "RLIMIT_MEMLOCK");
	else if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= MEMLOCK_ENOUGH_BYTES ||
		 has_cap(CAP_SYS_RESOURCE))
		answer(r, BB_CHECK_OK, NULL, "RLIMIT_MEMLOCK is large enough or can be raised");
	else if (!may_bpf())
		answer(r, BB_CHECK_SKIP, NULL,
		       "not known without root whether RLIMIT_MEMLOCK (%llu bytes) matters",
		       (unsigned long long)limit.rlim_cur);
	else
		answer(r, BB_CHECK_WARN, "ulimit -l unlimited, or run with CAP_SYS_RESOURCE",
		       "RLIMIT_MEMLOCK is %llu bytes and cannot be raised: maps may not fit",
		       (unsigned long long)limit.rlim_cur);
}

/* The value 1 means turbo off in the file of intel_pstate, but turbo on in the other file. */
static void check_turbo(const struct bb_check *, struct bb_check_result *r)
{
	static const struct {
		const char *path, *remedy;
		uint64_t on;
	} knobs[] = {
		{CPU_DIR "/intel_pstate/no_turbo",
		 "echo 1 | sudo tee " CPU_DIR "/intel_pstate/no_turbo", 0},
		{CPU_DIR "/cpufreq/boost", "echo 0 | sudo tee " CPU_DIR "/cpufreq/boost", 1},
	};
	uint64_t value;

	for (size_t i = 0; i < BB_LEN(knobs); i++) {
		if (bb_sysfile__read_u64("", knobs[i].path, &value))
			continue;
		if (value == knobs[i].on)
			answer(r, BB_CHECK_WARN, knobs[i].remedy,
			       "on: the frequency depends on heat and on the load of the other "
			       "cores");
		else
			answer(r, BB_CHECK_OK, NULL, "off");
		return;
	}
	answer(r, BB_CHECK_SKIP, NULL, "not known: this machine shows no switch for it");
}

static void check_cpus(const struct bb_check *, struct bb_check_result *r)
{
	int n = bb_usable_cpus(NULL);
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (n >= 2)
		answer(r, BB_CHECK_OK, NULL, "%d usable of %ld online", n, online);
	else
		answer(r, BB_CHECK_WARN,
		       "allow a second CPU (VM size, cpuset, taskset), or use --drive step only",
		       "%d usable of %ld online: the in-situ poller needs one of its own", n,
		       online);
}

static void check_isolated(const struct bb_check *, struct bb_check_result *r)
{
	char list[200];
	int err = bb_sysfile__read("", CPU_DIR "/isolated", list, sizeof(list));

	if (err)
		answer_unknown(r, CPU_DIR "/isolated");
	else if (list[0])
		answer(r, BB_CHECK_OK, NULL, "%s (measure there: --cpu)", list);
	else
		answer(r, BB_CHECK_OK, NULL, "none");
}

/* Keeps a CPU busy while it measures, because an idle CPU shows no steal. */
static void check_steal(const struct bb_check *, struct bb_check_result *r)
{
	struct bb_cpu_times before, after;
	cpu_set_t old, one;
	int cpu = sched_getcpu();
	uint64_t end = bb_now_ns() + STEAL_SAMPLE_NS;
	bool pinned = false;
	double share = NAN;

	if (cpu >= 0 && cpu < CPU_SETSIZE && !sched_getaffinity(0, sizeof(old), &old)) {
		CPU_ZERO(&one);
		CPU_SET((size_t)cpu, &one);
		pinned = !sched_setaffinity(0, sizeof(one), &one);
	}
	cpu = pinned ? cpu : -1;
	if (!bb_cpu_times__read("", cpu, &before, NULL)) {
		while (bb_now_ns() < end)
			;
		if (!bb_cpu_times__read("", cpu, &after, NULL))
			share = bb_steal_share(&before, &after);
	}
	if (pinned)
		sched_setaffinity(0, sizeof(old), &old);
	if (isnan(share))
		answer_unknown(r, "the time in /proc/stat");
	else if (share > STEAL_WARN)
		answer(r, BB_CHECK_WARN,
		       "use a dedicated machine or VM; medians of step are right all the same, "
		       "means and tails of in-situ are not",
		       "%.0f %%: the hypervisor takes that much of a busy CPU away", share * 100);
	else
		answer(r, BB_CHECK_OK, NULL, "%.0f %% of a busy CPU", share * 100);
}

#define BUSY 4 /* load average per CPU above which a measurement is useless */

/* Warns if no CPU is left for bpfbench: on n CPUs, at a load average above n - 1. On a single CPU
 * the limit is 0.5. */
static void check_load(const struct bb_check *, struct bb_check_result *r)
{
	char text[128];
	double load, limit;
	int cpus = bb_usable_cpus(NULL);
	int err = bb_sysfile__read("", "/proc/loadavg", text, sizeof(text));

	text[err ? 0 : strcspn(text, " ")] = '\0';
	if (err || bb_parse_double(text, &load)) {
		answer_unknown(r, "/proc/loadavg");
		return;
	}
	limit = cpus > 1 ? cpus - 1 : 0.5;
	r->is_busy = load > BUSY * cpus;
	if (load > limit)
		answer(r, BB_CHECK_WARN, "stop other programs (see `top`), or wait a minute",
		       "%.2f on %d CPUs: bpfbench has no CPU to itself", load, cpus);
	else
		answer(r, BB_CHECK_OK, NULL, "%.2f on %d CPUs", load, cpus);
}

static void check_tool(const struct bb_check *check, struct bb_check_result *r)
{
	const char *env = getenv("PATH");
	char dirs[4096], path[200];

	/* Debian keeps root's programs in sbin, which is not in the $PATH of other users. */
	snprintf(dirs, sizeof(dirs), "/usr/sbin:/sbin:/usr/bin:/bin:%s", env ? env : "");
	if (bb_find_in_folders(dirs, check->name, X_OK, path, sizeof(path)))
		answer(r, BB_CHECK_OK, NULL, "%s", path);
	else
		answer(r, BB_CHECK_WARN, check->text, "%s is not installed", check->name);
}

static bool is_mounted(const char *path, long magic)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == magic;
}

/* Looks for the line "nodev<TAB>NAME" in /proc/filesystems. */
static bool is_lacking(const char *name)
{
	char list[8192], line[64];

	snprintf(line, sizeof(line), "\t%s\n", name);
	if (bb_sysfile__read("", "/proc/filesystems", list, sizeof(list) - 1))
		/* without the list, assume that the kernel has the file system */
		return false;
	strcat(list, "\n");
	return !strstr(list, line);
}

/* `where` follows the word "mounted" in the answer. `without` says what does not work if the file
 * system `name` is not mounted. */
static void answer_mounted(struct bb_check_result *r, const char *name, bool is_there,
			   const char *where, const char *remedy, const char *without)
{
	if (is_there)
		answer(r, BB_CHECK_OK, NULL, "mounted%s", where);
	else if (is_lacking(name))
		answer(r, BB_CHECK_SKIP, NULL, "this kernel has no %s: %s", name, without);
	else
		answer(r, BB_CHECK_SKIP, remedy, "not mounted: %s", without);
}

static void check_bpffs(const struct bb_check *, struct bb_check_result *r)
{
	answer_mounted(r, "bpf", is_mounted("/sys/fs/bpf", BPF_FS_MAGIC), "",
		       "`sudo mount -t bpf bpf /sys/fs/bpf`",
		       "nothing can be pinned, so `pinned:` finds nothing");
}

static void check_securityfs(const struct bb_check *, struct bb_check_result *r)
{
	answer_mounted(r, "securityfs", is_mounted("/sys/kernel/security", SECURITYFS_MAGIC), "",
		       "`sudo mount -t securityfs securityfs /sys/kernel/security`",
		       "the lines lockdown and prog_lsm are incomplete");
}

static void check_tracefs(const struct bb_check *, struct bb_check_result *r)
{
	static const char without[] = "programs on tracepoints cannot be attached";
	bool is_there = is_mounted("/sys/kernel/tracing", TRACEFS_MAGIC) ||
			is_mounted("/sys/kernel/debug/tracing", TRACEFS_MAGIC);

	if (is_there || is_lacking("tracefs"))
		answer_mounted(r, "tracefs", is_there, "", NULL, without);
	else if (has_cap(CAP_SYS_ADMIN))
		answer(r, BB_CHECK_OK, NULL,
		       "not mounted: bpfbench mounts it for itself where it attaches");
	else
		answer(r, BB_CHECK_SKIP, privilege_remedy(),
		       "not mounted, and only root can mount it: %s", without);
}

static void check_cgroup2(const struct bb_check *, struct bb_check_result *r)
{
	char where[100 + sizeof(" at ")] = " at ", *path = where + strlen(where);

	answer_mounted(r, "cgroup2", bb_cgroup2__find(path, 100), where, BB_CGROUP2_REMEDY,
		       "programs of cgroups cannot be attached");
}

/* The checks, in the order in which `bpfbench check` prints them. */
const struct bb_check bb_checks[] = {
	{"capabilities", .run = check_capabilities},
	{"kernel", .run = check_kernel},
	{"bpf", .run = check_bpf_syscall},
	{"jit", .run = check_jit},
	{"jit_harden", .run = check_jit_harden},
	{"btf", .run = check_btf},
	{"lockdown", .run = check_fingerprint},
	{"memlock", .run = check_memlock},
	{"tracefs", .run = check_tracefs},
	{"bpffs", .run = check_bpffs},
	{"cgroup2", .run = check_cgroup2},
	{"securityfs", .run = check_securityfs},
	{"bpf_stats", .run = check_stats_fd},
	{"bpf_stats_held", .run = check_stats_held},
	/* The drive step uses page faults, the drive in-situ uses the CPU clock. */
	{"perf_page_fault", .run = check_software_event, .kind = PERF_COUNT_SW_PAGE_FAULTS},
	{"perf_cpu_clock", .run = check_software_event, .kind = PERF_COUNT_SW_CPU_CLOCK},
	{"perf_pmu", .run = check_pmu},
	{"perf_paranoid", .run = check_perf_paranoid},
	{"perf_max_stack", .run = check_perf_max_stack},
	{"prog_perf_event", .run = check_type, .kind = BPF_PROG_TYPE_PERF_EVENT},
	{"prog_xdp", .run = check_type, .kind = BPF_PROG_TYPE_XDP},
	{"prog_sched_cls", .run = check_type, .kind = BPF_PROG_TYPE_SCHED_CLS},
	{"prog_socket_filter", .run = check_type, .kind = BPF_PROG_TYPE_SOCKET_FILTER},
	{"prog_tracepoint", .run = check_type, .kind = BPF_PROG_TYPE_TRACEPOINT},
	{"prog_raw_tp", .run = check_type, .kind = BPF_PROG_TYPE_RAW_TRACEPOINT},
	{"prog_kprobe", .run = check_type, .kind = BPF_PROG_TYPE_KPROBE},
	{"prog_fentry", .run = check_type_fentry},
	{"prog_lsm", .run = check_type_lsm},
	{"governor", .run = check_fingerprint},
	{"turbo", .run = check_turbo},
	{"smt", .run = check_fingerprint},
	{"cpus", .run = check_cpus},
	{"isolated", .run = check_isolated},
	{"steal", .run = check_steal},
	{"load", .run = check_load},
	{"clocksource", .run = check_fingerprint},
	/* `make test` compares the counters of bpfbench with those of bpftool */
	{"bpftool", .run = check_tool,
	 .text = "sudo apt install bpftool (Ubuntu: linux-tools-common linux-tools-generic)"},
	{"gnuplot", .run = check_tool, .text = "sudo apt install gnuplot-nox"},
};
const size_t bb_n_checks = BB_LEN(bb_checks);

const char *bb_check_status_name(enum bb_check_status status)
{
	static const char *const names[BB_CHECK_N_STATUSES] = {
		[BB_CHECK_OK] = "ok",
		[BB_CHECK_WARN] = "warn",
		[BB_CHECK_FAIL] = "fail",
		[BB_CHECK_SKIP] = "skip",
	};

	return names[status];
}
