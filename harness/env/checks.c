/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/checks_internal.h"

#include <linux/bpf.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/cgroup2.h"
#include "base/clock.h"
#include "base/parse.h"
#include "env/fingerprint.h"
#include "env/sysfile.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define CPU_DIR "/sys/devices/system/cpu"
#define STEAL_SAMPLE_NS (200 * 1000 * 1000) /* 20 ticks of the usual 100 Hz */
#define STEAL_WARN 0.05
#define MEMLOCK_ENOUGH_BYTES (64 << 20) /* rings, perf buffers and stack maps of all variants */

void bb_check_set(struct bb_check_result *ret_result, enum bb_check_status status,
		  const char *remedy, const char *fmt, ...)
{
	va_list ap;

	ret_result->status = status;
	va_start(ap, fmt);
	vsnprintf(ret_result->text, sizeof(ret_result->text), fmt, ap);
	va_end(ap);
	snprintf(ret_result->remedy, sizeof(ret_result->remedy), "%s", remedy ? remedy : "");
}

bool bb_has_cap(unsigned int cap)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	/* Root of another user namespace has capabilities over that namespace, not over BPF and
	 * perf. */
	return !syscall(SYS_capget, &header, data) && (data[cap / 32].effective >> cap % 32 & 1) &&
	       bb_user__is_initial_namespace();
}

bool bb_may_bpf(void)
{
	return bb_has_cap(CAP_SYS_ADMIN) || (bb_has_cap(CAP_BPF) && bb_has_cap(CAP_PERFMON));
}

const char *bb_privilege_remedy(void)
{
	if (geteuid())
		return "run with sudo";
	return "this root lacks capabilities: run outside of the container, or start it with "
	       "--privileged";
}

/* --- the machine; checks_bpf.c asks the kernel about bpf() and perf_event_open() --- */

/* Only the kernel's part is wanted, which cannot fail but for a missing /proc; then everything is
 * unknown. */
static void read_fingerprint(struct bb_fingerprint *ret_fp)
{
	if (bb_fingerprint__read("", ".", ret_fp, NULL))
		bb_fingerprint_init(ret_fp);
}

static bool is(const char *value, const char *text)
{
	return !strcmp(value, text);
}

static void set_unknown(struct bb_check_result *ret_result, const char *what)
{
	bb_check_set(ret_result, BB_CHECK_SKIP, NULL, "not known: %s cannot be read", what);
}

/*
 * CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON, but nothing replaces it for BPF_ENABLE_STATS. The
 * others are for network namespaces (XDP, tc) and for raising the memlock limit on kernels that
 * still charge BPF memory to it.
 */
static void check_capabilities(struct bb_check_result *ret_result)
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
	bool admin = bb_has_cap(CAP_SYS_ADMIN), fail = false, warn = false;
	char missing[128] = "";

	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		size_t used = strlen(missing);
		bool implied = admin && caps[i].needed;

		if (implied || bb_has_cap(caps[i].cap))
			continue;
		snprintf(missing + used, sizeof(missing) - used, "%s%s", used ? ", " : "",
			 caps[i].name);
		fail = fail || caps[i].needed;
		warn = warn || caps[i].cap == CAP_NET_ADMIN;
	}
	if (fail)
		bb_check_set(ret_result, BB_CHECK_FAIL, bb_privilege_remedy(), "missing: %s",
			     missing);
	else if (warn)
		bb_check_set(ret_result, BB_CHECK_WARN, bb_privilege_remedy(),
			     "missing: %s: network programs cannot be attached", missing);
	else if (missing[0])
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "all but %s (see the memlock line)",
			     missing);
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "all");
}

static void check_kernel(struct bb_check_result *ret_result)
{
	struct bb_fingerprint fp;

	read_fingerprint(&fp);
	if (is(fp.kernel_release, BB_FINGERPRINT_UNKNOWN))
		set_unknown(ret_result, "/proc/sys/kernel/osrelease");
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s %.100s, %s", fp.kernel_release,
			     fp.kernel_version, fp.arch);
}

static void check_lockdown(struct bb_check_result *ret_result)
{
	struct bb_fingerprint fp;

	read_fingerprint(&fp);
	if (is(fp.lockdown, "none"))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "none");
	else if (is(fp.lockdown, BB_FINGERPRINT_UNKNOWN))
		bb_check_set(ret_result, BB_CHECK_SKIP,
			     "sudo mount -t securityfs securityfs /sys/kernel/security",
			     "not known: securityfs is not mounted");
	else
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "boot without lockdown= and with Secure Boot disabled",
			     "%s: fentry, LSM and reads of kernel memory may be forbidden",
			     fp.lockdown);
}

/* From 5.11 on BPF memory is charged to the cgroup and the limit does not matter. */
static void check_memlock(struct bb_check_result *ret_result)
{
	struct rlimit limit;
	int fd = bb_load_memcg_helper();

	if (fd >= 0) {
		close(fd);
		bb_check_set(ret_result, BB_CHECK_OK, NULL,
			     "charged to the cgroup, not to RLIMIT_MEMLOCK");
	} else if (getrlimit(RLIMIT_MEMLOCK, &limit)) {
		set_unknown(ret_result, "RLIMIT_MEMLOCK");
	} else if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= MEMLOCK_ENOUGH_BYTES ||
		   bb_has_cap(CAP_SYS_RESOURCE)) {
		bb_check_set(ret_result, BB_CHECK_OK, NULL,
			     "RLIMIT_MEMLOCK is large enough or can be raised");
	} else if (!bb_may_bpf()) {
		bb_check_set(ret_result, BB_CHECK_SKIP, NULL,
			     "not known without root whether RLIMIT_MEMLOCK (%llu bytes) matters",
			     (unsigned long long)limit.rlim_cur);
	} else {
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "ulimit -l unlimited, or run with CAP_SYS_RESOURCE",
			     "RLIMIT_MEMLOCK is %llu bytes and cannot be raised: maps may not fit",
			     (unsigned long long)limit.rlim_cur);
	}
}

static void check_governor(struct bb_check_result *ret_result)
{
	struct bb_fingerprint fp;

	read_fingerprint(&fp);
	if (is(fp.governor, "performance"))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "performance");
	else if (is(fp.governor, "none"))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "none: %s",
			     is(fp.hypervisor, "yes") ? "the hypervisor decides"
						      : "the frequency is not scaled here");
	else if (is(fp.governor, BB_FINGERPRINT_UNKNOWN))
		set_unknown(ret_result, CPU_DIR "/cpu*/cpufreq/scaling_governor");
	else
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "sudo cpupower frequency-set -g performance (linux-cpupower)",
			     "%.120s: the frequency follows the load", fp.governor);
}

/* intel_pstate's file says "no turbo", all other drivers' says "boost": opposite senses. */
static void check_turbo(struct bb_check_result *ret_result)
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

	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++) {
		if (bb_sysfile__read_u64("", knobs[i].path, &value))
			continue;
		if (value == knobs[i].on)
			bb_check_set(ret_result, BB_CHECK_WARN, knobs[i].remedy,
				     "on: the frequency depends on heat and on the load of the "
				     "other cores");
		else
			bb_check_set(ret_result, BB_CHECK_OK, NULL, "off");
		return;
	}
	bb_check_set(ret_result, BB_CHECK_SKIP, NULL,
		     "not known: this machine shows no switch for it");
}

static void check_smt(struct bb_check_result *ret_result)
{
	struct bb_fingerprint fp;

	read_fingerprint(&fp);
	if (is(fp.smt, BB_FINGERPRINT_UNKNOWN))
		set_unknown(ret_result, CPU_DIR "/smt/active");
	else if (is(fp.smt, "active"))
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "echo off | sudo tee " CPU_DIR "/smt/control (and `on` afterwards)",
			     "active: the sibling thread slows a core down at random");
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "inactive%s",
			     is(fp.hypervisor, "yes") ? ", as far as a VM can see" : "");
}

/* CPUs that this process may use, which cpusets and taskset narrow; all where the mask is larger
 * than cpu_set_t. */
static int usable_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return (int)sysconf(_SC_NPROCESSORS_ONLN);
	return CPU_COUNT(&set);
}

static void check_cpus(struct bb_check_result *ret_result)
{
	int n = usable_cpus();
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (n >= 2)
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%d usable of %ld online", n, online);
	else
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "allow a second CPU (VM size, cpuset, taskset), or use --drive step "
			     "only",
			     "%d usable of %ld online: the in-situ poller needs one of its own", n,
			     online);
}

static void check_isolated(struct bb_check_result *ret_result)
{
	char list[200];
	int err = bb_sysfile__read("", CPU_DIR "/isolated", list, sizeof(list));

	if (err)
		set_unknown(ret_result, CPU_DIR "/isolated");
	else if (list[0])
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s (measure there: --cpu)", list);
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "none");
}

/* Steal shows only on a CPU that wants to run, so one is kept busy. */
static void check_steal(struct bb_check_result *ret_result)
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
		set_unknown(ret_result, "the time in /proc/stat");
	else if (share > STEAL_WARN)
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "use a dedicated machine or VM; medians of step are right all the "
			     "same, means and tails of in-situ are not",
			     "%.0f %%: the hypervisor takes that much of a busy CPU away",
			     share * 100);
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%.0f %% of a busy CPU", share * 100);
}

/* With more than n - 1 others running there is no CPU left that is ours alone. */
static void check_load(struct bb_check_result *ret_result)
{
	char text[128];
	double load, limit;
	int cpus = usable_cpus();
	int err = bb_sysfile__read("", "/proc/loadavg", text, sizeof(text));

	text[err ? 0 : strcspn(text, " ")] = '\0';
	if (err || bb_parse_double(text, &load)) {
		set_unknown(ret_result, "/proc/loadavg");
		return;
	}
	limit = cpus > 1 ? cpus - 1 : 0.5;
	if (load > limit)
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "stop other programs (see `top`), or wait a minute",
			     "%.2f on %d CPUs: bpfbench has no CPU to itself", load, cpus);
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%.2f on %d CPUs", load, cpus);
}

/* The slow ones are devices behind a bus, about a microsecond a read, or count timer interrupts. */
static void check_clocksource(struct bb_check_result *ret_result)
{
	static const char *const slow[] = {"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"};
	struct bb_fingerprint fp;

	read_fingerprint(&fp);
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		if (!is(fp.clocksource, slow[i]))
			continue;
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "see `dmesg | grep -i clocksource` for why; boot with clocksource=tsc "
			     "tsc=reliable",
			     "%s: slow or coarse", fp.clocksource);
		return;
	}
	if (is(fp.clocksource, BB_FINGERPRINT_UNKNOWN))
		set_unknown(ret_result, "the current clocksource");
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s", fp.clocksource);
}

static void check_tool(const struct bb_check *check, struct bb_check_result *ret_result)
{
	const char *env = getenv("PATH");
	char dirs[4096], path[200];

	/* Also where Debian keeps root's programs, which a user's $PATH lacks. */
	snprintf(dirs, sizeof(dirs), "/usr/sbin:/sbin:/usr/bin:/bin:%s", env ? env : "");
	for (char *save = NULL, *dir = strtok_r(dirs, ":", &save); dir;
	     dir = strtok_r(NULL, ":", &save)) {
		int n = snprintf(path, sizeof(path), "%s/%s", dir, check->name);

		if (n > 0 && (size_t)n < sizeof(path) && !access(path, X_OK)) {
			bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s", path);
			return;
		}
	}
	bb_check_set(ret_result, BB_CHECK_WARN, check->text, "%s is not installed", check->name);
}

/* File systems of the kernel that a machine mounts below /sys, or does not: chroots and containers.
 */
static bool is_mounted(const char *path, long magic)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == magic;
}

/* A kernel that lacks a file system has no line "nodev<TAB>NAME" in /proc/filesystems; neither root
 * nor a mount changes that. */
static bool is_lacking(const char *name)
{
	char list[8192], line[64];

	snprintf(line, sizeof(line), "\t%s\n", name);
	if (bb_sysfile__read("", "/proc/filesystems", list, sizeof(list) - 1))
		return false; /* it cannot be known */
	strcat(list, "\n");
	return !strstr(list, line);
}

/* `where` it is mounted, for the answer; `without` it. */
static void set_mounted(struct bb_check_result *ret_result, const char *name, bool is_there,
			const char *where, const char *remedy, const char *without)
{
	if (is_there)
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "mounted%s", where);
	else if (is_lacking(name))
		bb_check_set(ret_result, BB_CHECK_SKIP, NULL, "this kernel has no %s: %s", name,
			     without);
	else
		bb_check_set(ret_result, BB_CHECK_SKIP, remedy, "not mounted: %s", without);
}

static void check_bpffs(struct bb_check_result *ret_result)
{
	set_mounted(ret_result, "bpf", is_mounted("/sys/fs/bpf", BPF_FS_MAGIC), "",
		    "sudo mount -t bpf bpf /sys/fs/bpf",
		    "nothing can be pinned, so `pinned:` finds nothing");
}

static void check_securityfs(struct bb_check_result *ret_result)
{
	set_mounted(ret_result, "securityfs", is_mounted("/sys/kernel/security", SECURITYFS_MAGIC),
		    "", "sudo mount -t securityfs securityfs /sys/kernel/security",
		    "the lines lockdown and prog_lsm are incomplete");
}

static void check_tracefs(struct bb_check_result *ret_result)
{
	static const char without[] = "programs on tracepoints cannot be attached";
	bool is_there = is_mounted("/sys/kernel/tracing", TRACEFS_MAGIC) ||
			is_mounted("/sys/kernel/debug/tracing", TRACEFS_MAGIC);

	if (is_there || is_lacking("tracefs"))
		set_mounted(ret_result, "tracefs", is_there, "", NULL, without);
	else if (bb_has_cap(CAP_SYS_ADMIN))
		bb_check_set(ret_result, BB_CHECK_OK, NULL,
			     "not mounted: bpfbench mounts it for itself where it attaches");
	else
		bb_check_set(ret_result, BB_CHECK_SKIP, bb_privilege_remedy(),
			     "not mounted, and only root can mount it: %s", without);
}

static void check_cgroup2(struct bb_check_result *ret_result)
{
	char where[100 + sizeof(" at ")] = " at ", *path = where + strlen(where);

	set_mounted(ret_result, "cgroup2", bb_cgroup2__find(path, 100), where, BB_CGROUP2_REMEDY,
		    "programs of cgroups cannot be attached");
}

/* In the order in which a person would ask; those that the main job cannot do without come first.
 */
const struct bb_check bb_checks[] = {
	{"capabilities", "may load programs, open perf events, enable bpf_stats",
	 .run = check_capabilities},
	{"kernel", "release and build", .run = check_kernel},
	{"bpf", "the bpf() system call loads a program", .run = bb_check_bpf_syscall},
	{"jit", "programs are compiled, not interpreted", .run = bb_check_jit},
	{"jit_harden", "the JIT compiler does not blind constants", .run = bb_check_jit_harden},
	{"btf", "kernel types for CO-RE, fentry and LSM", .run = bb_check_btf},
	{"lockdown", "kernel lockdown forbids nothing", .run = check_lockdown},
	{"memlock", "memory for programs and maps", .run = check_memlock},
	{"tracefs", "tracepoints are found by name, for `event: attach`", .run = check_tracefs},
	{"bpffs", "pinned programs and maps, for `pinned:`", .run = check_bpffs},
	{"cgroup2", "programs of cgroups are attached to a folder of bpfbench's own",
	 .run = check_cgroup2},
	{"securityfs", "lockdown and the active security modules can be read",
	 .run = check_securityfs},
	{"bpf_stats", "run time counters can be enabled by descriptor", .run = bb_check_stats_fd},
	{"bpf_stats_held", "no other process has run time counters enabled",
	 .run = bb_check_stats_held},
	{"perf_page_fault", "software event of the step drive", .run_as = bb_check_software_event,
	 .kind = PERF_COUNT_SW_PAGE_FAULTS},
	{"perf_cpu_clock", "software event of the in-situ drive", .run_as = bb_check_software_event,
	 .kind = PERF_COUNT_SW_CPU_CLOCK},
	{"perf_pmu", "hardware event: cycles", .run = bb_check_pmu},
	{"perf_paranoid", "kernel.perf_event_paranoid", .run = bb_check_perf_paranoid},
	{"perf_max_stack", "kernel.perf_event_max_stack", .run = bb_check_perf_max_stack},
	{"prog_perf_event", "programs on perf events load", .run_as = bb_check_type,
	 .kind = BPF_PROG_TYPE_PERF_EVENT},
	{"prog_xdp", "XDP programs load", .run_as = bb_check_type, .kind = BPF_PROG_TYPE_XDP},
	{"prog_sched_cls", "tc programs load", .run_as = bb_check_type,
	 .kind = BPF_PROG_TYPE_SCHED_CLS},
	{"prog_socket_filter", "socket filters load", .run_as = bb_check_type,
	 .kind = BPF_PROG_TYPE_SOCKET_FILTER},
	{"prog_tracepoint", "tracepoint programs load", .run_as = bb_check_type,
	 .kind = BPF_PROG_TYPE_TRACEPOINT},
	{"prog_raw_tp", "raw tracepoint programs load", .run_as = bb_check_type,
	 .kind = BPF_PROG_TYPE_RAW_TRACEPOINT},
	{"prog_kprobe", "kprobe programs load", .run_as = bb_check_type,
	 .kind = BPF_PROG_TYPE_KPROBE},
	{"prog_fentry", "fentry programs load", .run = bb_check_type_fentry},
	{"prog_lsm", "LSM programs load", .run = bb_check_type_lsm},
	{"governor", "CPU frequency governor", .run = check_governor},
	{"turbo", "frequency boost", .run = check_turbo},
	{"smt", "sibling threads share a core", .run = check_smt},
	{"cpus", "a CPU for the workload and one for the poller", .run = check_cpus},
	{"isolated", "CPUs kept free of other work", .run = check_isolated},
	{"steal", "time the hypervisor takes away, sampled for 0.2 s", .run = check_steal},
	{"load", "load average against CPUs", .run = check_load},
	{"clocksource", "clock of the kernel", .run = check_clocksource},
	{"bpftool", "cross-check of the counters in `make test`", .run_as = check_tool,
	 .text = "sudo apt install bpftool (Ubuntu: linux-tools-common linux-tools-generic)"},
	{"gnuplot", "plots", .run_as = check_tool, .text = "sudo apt install gnuplot-nox"},
	{"hyperfine", "`make bench-self`", .run_as = check_tool,
	 .text = "sudo apt install hyperfine"},
};
const size_t bb_n_checks = sizeof(bb_checks) / sizeof(bb_checks[0]);

void bb_check__run(const struct bb_check *check, struct bb_check_result *ret_result)
{
	if (check->run)
		check->run(ret_result);
	else
		check->run_as(check, ret_result);
}

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
