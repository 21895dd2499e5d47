/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/checks.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/user.h"
#include "env/checks_internal.h"

/* In the order in which a person would ask; those that the main job cannot do without come first.
 */
const struct bb_check bb_checks[] = {
	{"capabilities", "may load programs, open perf events, enable bpf_stats",
	 bb_check_capabilities},
	{"kernel", "release and build", bb_check_kernel},
	{"bpf", "the bpf() system call loads a program", bb_check_bpf_syscall},
	{"jit", "programs are compiled, not interpreted", bb_check_jit},
	{"jit_harden", "the JIT compiler does not blind constants", bb_check_jit_harden},
	{"btf", "kernel types for CO-RE, fentry and LSM", bb_check_btf},
	{"lockdown", "kernel lockdown forbids nothing", bb_check_lockdown},
	{"memlock", "memory for programs and maps", bb_check_memlock},
	{"tracefs", "tracepoints are found by name, for `event: attach`", bb_check_tracefs},
	{"bpffs", "pinned programs and maps, for `pinned:`", bb_check_bpffs},
	{"cgroup2", "programs of cgroups are attached to a folder of bpfbench's own",
	 bb_check_cgroup2},
	{"securityfs", "lockdown and the active security modules can be read", bb_check_securityfs},
	{"bpf_stats", "run time counters can be enabled by descriptor", bb_check_stats_fd},
	{"bpf_stats_held", "no other process has run time counters enabled", bb_check_stats_held},
	{"perf_page_fault", "software event of the step drive", bb_check_page_fault_event},
	{"perf_cpu_clock", "software event of the in-situ drive", bb_check_cpu_clock_event},
	{"perf_pmu", "hardware event: cycles", bb_check_pmu},
	{"perf_paranoid", "kernel.perf_event_paranoid", bb_check_perf_paranoid},
	{"perf_max_stack", "kernel.perf_event_max_stack", bb_check_perf_max_stack},
	{"prog_perf_event", "programs on perf events load", bb_check_type_perf_event},
	{"prog_xdp", "XDP programs load", bb_check_type_xdp},
	{"prog_sched_cls", "tc programs load", bb_check_type_sched_cls},
	{"prog_socket_filter", "socket filters load", bb_check_type_socket_filter},
	{"prog_tracepoint", "tracepoint programs load", bb_check_type_tracepoint},
	{"prog_raw_tp", "raw tracepoint programs load", bb_check_type_raw_tp},
	{"prog_kprobe", "kprobe programs load", bb_check_type_kprobe},
	{"prog_fentry", "fentry programs load", bb_check_type_fentry},
	{"prog_lsm", "LSM programs load", bb_check_type_lsm},
	{"governor", "CPU frequency governor", bb_check_governor},
	{"turbo", "frequency boost", bb_check_turbo},
	{"smt", "sibling threads share a core", bb_check_smt},
	{"cpus", "a CPU for the workload and one for the poller", bb_check_cpus},
	{"isolated", "CPUs kept free of other work", bb_check_isolated},
	{"steal", "time the hypervisor takes away, sampled for 0.2 s", bb_check_steal},
	{"load", "load average against CPUs", bb_check_load},
	{"clocksource", "clock of the kernel", bb_check_clocksource},
	{"bpftool", "cross-check of the counters in `make test`", bb_check_bpftool},
	{"gnuplot", "plots", bb_check_gnuplot},
	{"hyperfine", "`make bench-self`", bb_check_hyperfine},
};
const size_t bb_n_checks = sizeof(bb_checks) / sizeof(bb_checks[0]);

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

/* The CapEff line of /proc/self/status, as a bit mask. */
static uint64_t effective_caps(void)
{
	static const char key[] = "CapEff:";
	char line[256], hex[32];
	uint64_t mask = 0;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		const char *digits = line + sizeof(key) - 1;

		if (strncmp(line, key, sizeof(key) - 1))
			continue;
		digits += strspn(digits, " \t");
		snprintf(hex, sizeof(hex), "0x%.*s", (int)strcspn(digits, "\n"), digits);
		if (bb_parse_u64(hex, &mask))
			mask = 0;
		break;
	}
	fclose(f);
	return mask;
}

bool bb_has_cap(unsigned int cap)
{
	/* Root of another user namespace has capabilities over that namespace, not over BPF and
	 * perf. */
	return (effective_caps() >> cap & 1) && bb_user__is_initial_namespace();
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
