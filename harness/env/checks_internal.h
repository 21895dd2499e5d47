/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_CHECKS_INTERNAL_H
#define BB_ENV_CHECKS_INTERNAL_H

#include <linux/capability.h>
#include <stdbool.h>

#include "env/checks.h"

/* Between the files of checks only. */

/* Fill a result; `remedy` may be NULL after ok and skip. Texts that are too long are cut. */
void bb_check_set(struct bb_check_result *ret_result, enum bb_check_status status,
		  const char *remedy, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Whether this thread has the capability (CAP_x) effective; false when that cannot be read. */
bool bb_has_cap(unsigned int cap);

/* Whether the kernel's bpf_capable() and perfmon_capable() hold: CAP_SYS_ADMIN, or CAP_BPF and
 * CAP_PERFMON. */
bool bb_may_bpf(void);

/* "run with sudo", or another remedy where root is not enough. */
const char *bb_privilege_remedy(void);

/* checks_host.c */
void bb_check_capabilities(struct bb_check_result *ret_result);
void bb_check_kernel(struct bb_check_result *ret_result);
void bb_check_lockdown(struct bb_check_result *ret_result);
void bb_check_memlock(struct bb_check_result *ret_result);
void bb_check_governor(struct bb_check_result *ret_result);
void bb_check_turbo(struct bb_check_result *ret_result);
void bb_check_smt(struct bb_check_result *ret_result);
void bb_check_cpus(struct bb_check_result *ret_result);
void bb_check_isolated(struct bb_check_result *ret_result);
void bb_check_steal(struct bb_check_result *ret_result);
void bb_check_load(struct bb_check_result *ret_result);
void bb_check_clocksource(struct bb_check_result *ret_result);

/* A program that is named like the check; text: how to install it. */
void bb_check_tool(const struct bb_check *check, struct bb_check_result *ret_result);
void bb_check_tracefs(struct bb_check_result *ret_result);
void bb_check_bpffs(struct bb_check_result *ret_result);
void bb_check_cgroup2(struct bb_check_result *ret_result);
void bb_check_securityfs(struct bb_check_result *ret_result);

/* checks_bpf.c */
/* kind: PERF_COUNT_SW_x */
void bb_check_software_event(const struct bb_check *check, struct bb_check_result *ret_result);
void bb_check_pmu(struct bb_check_result *ret_result);
void bb_check_perf_paranoid(struct bb_check_result *ret_result);
void bb_check_perf_max_stack(struct bb_check_result *ret_result);
/* kind: BPF_PROG_TYPE_x, of which the smallest program, `return 0`, needs no more */
void bb_check_type(const struct bb_check *check, struct bb_check_result *ret_result);
void bb_check_bpf_syscall(struct bb_check_result *ret_result);
void bb_check_jit(struct bb_check_result *ret_result);
void bb_check_jit_harden(struct bb_check_result *ret_result);
void bb_check_btf(struct bb_check_result *ret_result);
void bb_check_stats_fd(struct bb_check_result *ret_result);
void bb_check_stats_held(struct bb_check_result *ret_result);
void bb_check_type_fentry(struct bb_check_result *ret_result);
void bb_check_type_lsm(struct bb_check_result *ret_result);

/* A program that calls a helper as old as the charging of BPF memory to cgroups (5.11), as libbpf
 * itself probes for that. A descriptor to close, or -errno. */
int bb_load_memcg_helper(void);

#endif
