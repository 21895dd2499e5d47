/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_CHECKS_INTERNAL_H
#define BB_ENV_CHECKS_INTERNAL_H

#include <linux/capability.h>
#include <stdbool.h>

#include "env/checks.h"

/* Between checks.c and checks_bpf.c only. */

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
