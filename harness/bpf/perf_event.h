/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_PERF_EVENT_H
#define BB_BPF_PERF_EVENT_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Open a perf event on process `pid` (0: this thread; -1: all) on `cpu` (-1: any) and let each
 * overflow of it run `prog_fd`. The event is made disabled; closing the fd detaches the program. 0
 * or -errno with a message.
 */
int bb_perf_event__open(struct perf_event_attr *attr, pid_t pid, int cpu, int prog_fd, int *ret_fd,
			struct bb_err *err);

int bb_perf_event__enable(int fd);
int bb_perf_event__disable(int fd);

#endif
