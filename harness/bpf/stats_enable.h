/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_STATS_ENABLE_H
#define BB_BPF_STATS_ENABLE_H

#include "base/err.h"

/*
 * bpf_stats, switched on until __off. By fd (BPF_ENABLE_STATS, Linux 5.8), which the
 * kernel undoes when the process ends, however it ends. Only where that call is missing, by sysctl,
 * restored by __off.
 */
struct bb_stats_enable {
	int fd;            /* -1: by sysctl */
	char previous[16]; /* the sysctl's old value; empty: it was left alone */
};

int bb_stats_enable__on(struct bb_stats_enable *ret_enable, struct bb_err *err);
void bb_stats_enable__off(struct bb_stats_enable *e);

#endif
