/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_PROG_STATS_H
#define BB_BPF_PROG_STATS_H

#include <stdint.h>

#include "base/err.h"

/* The kernel's run statistics of one program: cumulative, summed over CPUs, moving only while
 * bpf_stats is on. */
struct bb_prog_stats {
	uint64_t run_time_ns;
	uint64_t run_cnt;
	uint64_t recursion_misses; /* 0 on kernels before 5.12 */
};

/* How far they rose from one reading to a later one. */
struct bb_prog_stats bb_prog_stats__since(const struct bb_prog_stats *now,
					  const struct bb_prog_stats *before);

/*
 * Two ways to read them. fdinfo is the reference: a held-open /proc/self/fdinfo file, read with
 * pread. The info-by-fd call is twice as fast and does the inner loops; both must agree at the end
 * of every series.
 */
struct bb_stats_reader {
	int prog_fd; /* borrowed */
	int fdinfo_fd;
};

int bb_stats_reader__open(int prog_fd, struct bb_stats_reader *ret_reader, struct bb_err *err);
void bb_stats_reader__close(struct bb_stats_reader *r);

/* 0 or -errno. */
int bb_stats_reader__info(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats);
int bb_stats_reader__fdinfo(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats);

/*
 * By fdinfo, and both ways must agree: info-by-fd before it says no more and after it no less, so
 * that equal it is where nothing runs. -ESTALE with a message if they do not.
 */
int bb_stats_reader__agreed(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats,
			    struct bb_err *err);

/* The fdinfo text (NUL-terminated) to numbers; missing recursion_misses is 0, anything else missing
 * -EPROTO. */
int bb_stats_parse_fdinfo(const char *text, struct bb_prog_stats *ret_stats);

#endif
