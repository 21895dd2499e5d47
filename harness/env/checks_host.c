/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/checks_internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Steal shows only on a CPU that wants to run, so keep one busy. NAN when it could not be read. */
static double sample_steal(int cpu)
{
	struct bb_cpu_times before, after;
	int64_t end;

	if (bb_cpu_times__read(cpu, &before, NULL))
		return NAN;
	end = now_ns() + STEAL_SAMPLE_NS;
	while (now_ns() < end)
		;
	if (bb_cpu_times__read(cpu, &after, NULL))
		return NAN;
	return bb_steal_share(&before, &after);
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

/* Find a program in $PATH and where Debian keeps root's, which a user's $PATH lacks. */
static bool find_tool(const char *name, char *ret_path, size_t size)
{
	const char *env = getenv("PATH");
	char dirs[4096];
	int n = snprintf(dirs, sizeof(dirs), "/usr/sbin:/sbin:/usr/bin:/bin:%s", env ? env : "");

	if (n < 0)
		return false;
	for (char *save = NULL, *dir = strtok_r(dirs, ":", &save); dir;
	     dir = strtok_r(NULL, ":", &save)) {
		n = snprintf(ret_path, size, "%s/%s", dir, name);
		if (n > 0 && (size_t)n < size && !access(ret_path, X_OK))
			return true;
	}
	return false;
}

static void check_tool(struct bb_check_result *ret_result, const char *name, const char *remedy)
{
	char path[200];

	if (find_tool(name, path, sizeof(path)))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s", path);
	else
		bb_check_set(ret_result, BB_CHECK_WARN, remedy, "%s is not installed", name);
}

void bb_check_bpftool(struct bb_check_result *ret_result)
{
	check_tool(ret_result, "bpftool",
		   "sudo apt install bpftool (Ubuntu: linux-tools-common linux-tools-generic)");
}

void bb_check_gnuplot(struct bb_check_result *ret_result)
{
	check_tool(ret_result, "gnuplot", "sudo apt install gnuplot-nox");
}

void bb_check_hyperfine(struct bb_check_result *ret_result)
{
	check_tool(ret_result, "hyperfine", "sudo apt install hyperfine");
}
