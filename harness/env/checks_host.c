/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/checks_internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cgroup2.h"
#include "base/clock.h"
#include "base/parse.h"
#include "env/fingerprint.h"
#include "env/proc_counts.h"
#include "env/sysfile.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define CPU_DIR "/sys/devices/system/cpu"
#define STEAL_SAMPLE_NS (200 * 1000 * 1000) /* 20 ticks of the usual 100 Hz */
#define STEAL_WARN 0.05
#define MEMLOCK_ENOUGH_BYTES (64 << 20) /* rings, perf buffers and stack maps of all variants */

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
void bb_check_capabilities(struct bb_check_result *ret_result)
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

void bb_check_kernel(struct bb_check_result *ret_result)
{
	struct bb_fingerprint fp;

	read_fingerprint(&fp);
	if (is(fp.kernel_release, BB_FINGERPRINT_UNKNOWN))
		set_unknown(ret_result, "/proc/sys/kernel/osrelease");
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s %.100s, %s", fp.kernel_release,
			     fp.kernel_version, fp.arch);
}

void bb_check_lockdown(struct bb_check_result *ret_result)
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
void bb_check_memlock(struct bb_check_result *ret_result)
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

void bb_check_governor(struct bb_check_result *ret_result)
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
void bb_check_turbo(struct bb_check_result *ret_result)
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

void bb_check_smt(struct bb_check_result *ret_result)
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

void bb_check_cpus(struct bb_check_result *ret_result)
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

void bb_check_isolated(struct bb_check_result *ret_result)
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

/* Steal shows only on a CPU that wants to run, so keep one busy. NAN when it could not be read. */
static double sample_steal(int cpu)
{
	struct bb_cpu_times before, after;
	uint64_t end;

	if (bb_cpu_times__read("", cpu, &before, NULL))
		return NAN;
	end = bb_now_ns() + STEAL_SAMPLE_NS;
	while (bb_now_ns() < end)
		;
	return bb_cpu_times__read("", cpu, &after, NULL) ? (double)NAN
							 : bb_steal_share(&before, &after);
}

void bb_check_steal(struct bb_check_result *ret_result)
{
	cpu_set_t old, one;
	int cpu = sched_getcpu();
	bool pinned = false;
	double share;

	if (cpu >= 0 && cpu < CPU_SETSIZE && !sched_getaffinity(0, sizeof(old), &old)) {
		CPU_ZERO(&one);
		CPU_SET((size_t)cpu, &one);
		pinned = !sched_setaffinity(0, sizeof(one), &one);
	}
	share = sample_steal(pinned ? cpu : -1);
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
void bb_check_load(struct bb_check_result *ret_result)
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
void bb_check_clocksource(struct bb_check_result *ret_result)
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

void bb_check_tool(const struct bb_check *check, struct bb_check_result *ret_result)
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

/* Neither root nor a mount changes a kernel that lacks it: one without a line "nodev<TAB>NAME" in
 * /proc/filesystems. True when that was the answer. */
static bool set_lacking(struct bb_check_result *ret_result, const char *name, const char *without)
{
	char list[8192], line[64];

	snprintf(line, sizeof(line), "\t%s\n", name);
	if (bb_sysfile__read("", "/proc/filesystems", list, sizeof(list) - 1))
		return false; /* it cannot be known */
	strcat(list, "\n");
	if (strstr(list, line))
		return false;
	bb_check_set(ret_result, BB_CHECK_SKIP, NULL, "this kernel has no %s: %s", name, without);
	return true;
}

static void check_mount(struct bb_check_result *ret_result, const char *name, const char *path,
			long magic, const char *remedy, const char *without)
{
	if (is_mounted(path, magic))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "mounted");
	else if (!set_lacking(ret_result, name, without))
		bb_check_set(ret_result, BB_CHECK_SKIP, remedy, "not mounted: %s", without);
}

void bb_check_bpffs(struct bb_check_result *ret_result)
{
	check_mount(ret_result, "bpf", "/sys/fs/bpf", BPF_FS_MAGIC,
		    "sudo mount -t bpf bpf /sys/fs/bpf",
		    "nothing can be pinned, so `pinned:` finds nothing");
}

void bb_check_securityfs(struct bb_check_result *ret_result)
{
	check_mount(ret_result, "securityfs", "/sys/kernel/security", SECURITYFS_MAGIC,
		    "sudo mount -t securityfs securityfs /sys/kernel/security",
		    "the lines lockdown and prog_lsm are incomplete");
}

void bb_check_tracefs(struct bb_check_result *ret_result)
{
	static const char without[] = "programs on tracepoints cannot be attached";

	if (is_mounted("/sys/kernel/tracing", TRACEFS_MAGIC) ||
	    is_mounted("/sys/kernel/debug/tracing", TRACEFS_MAGIC))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "mounted");
	else if (set_lacking(ret_result, "tracefs", without))
		return;
	else if (bb_has_cap(CAP_SYS_ADMIN))
		bb_check_set(ret_result, BB_CHECK_OK, NULL,
			     "not mounted: bpfbench mounts it for itself where it attaches");
	else
		bb_check_set(ret_result, BB_CHECK_SKIP, bb_privilege_remedy(),
			     "not mounted, and only root can mount it: %s", without);
}

void bb_check_cgroup2(struct bb_check_result *ret_result)
{
	static const char without[] = "programs of cgroups cannot be attached";
	char path[100];

	if (bb_cgroup2__find(path, sizeof(path)))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "mounted at %s", path);
	else if (!set_lacking(ret_result, "cgroup2", without))
		bb_check_set(ret_result, BB_CHECK_SKIP, BB_CGROUP2_REMEDY, "not mounted: %s",
			     without);
}
