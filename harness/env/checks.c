/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/checks.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/caller.h"
#include "env/checks_internal.h"

/* In the order in which a person would ask; those that the main job cannot do without come first.
 */
const struct bb_check bb_checks[] = {
	{"capabilities", "may load programs, open perf events, enable bpf_stats",
	 .run = bb_check_capabilities},
	{"kernel", "release and build", .run = bb_check_kernel},
	{"bpf", "the bpf() system call loads a program", .run = bb_check_bpf_syscall},
	{"jit", "programs are compiled, not interpreted", .run = bb_check_jit},
	{"jit_harden", "the JIT compiler does not blind constants", .run = bb_check_jit_harden},
	{"btf", "kernel types for CO-RE, fentry and LSM", .run = bb_check_btf},
	{"lockdown", "kernel lockdown forbids nothing", .run = bb_check_lockdown},
	{"memlock", "memory for programs and maps", .run = bb_check_memlock},
	{"tracefs", "tracepoints are found by name, for `event: attach`", .run = bb_check_tracefs},
	{"bpffs", "pinned programs and maps, for `pinned:`", .run = bb_check_bpffs},
	{"cgroup2", "programs of cgroups are attached to a folder of bpfbench's own",
	 .run = bb_check_cgroup2},
	{"securityfs", "lockdown and the active security modules can be read",
	 .run = bb_check_securityfs},
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
	{"governor", "CPU frequency governor", .run = bb_check_governor},
	{"turbo", "frequency boost", .run = bb_check_turbo},
	{"smt", "sibling threads share a core", .run = bb_check_smt},
	{"cpus", "a CPU for the workload and one for the poller", .run = bb_check_cpus},
	{"isolated", "CPUs kept free of other work", .run = bb_check_isolated},
	{"steal", "time the hypervisor takes away, sampled for 0.2 s", .run = bb_check_steal},
	{"load", "load average against CPUs", .run = bb_check_load},
	{"clocksource", "clock of the kernel", .run = bb_check_clocksource},
	{"bpftool", "cross-check of the counters in `make test`", .run_as = bb_check_tool,
	 .text = "sudo apt install bpftool (Ubuntu: linux-tools-common linux-tools-generic)"},
	{"gnuplot", "plots", .run_as = bb_check_tool, .text = "sudo apt install gnuplot-nox"},
	{"hyperfine", "`make bench-self`", .run_as = bb_check_tool,
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
