/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One reading of the counters: pread of a held-open fdinfo against open, read and close; both parsed the same way. */
#include "bench.h"

#define BLOCKS 500u

static double held_open(void *arg)
{
	const struct bb_stats_reader *r = arg;
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats stats;

	for (size_t i = 0; i < BENCH_BLOCK; i++)
		if (bb_stats_reader__fdinfo(r, &stats))
			exit(1);
	return (double)(bb_now_ns() - began_ns) / BENCH_BLOCK;
}

static double open_read_close(void *arg)
{
	const struct bb_stats_reader *r = arg;
	uint64_t began_ns = bb_now_ns();
	struct bb_stats_reader fresh;
	struct bb_prog_stats stats;

	for (size_t i = 0; i < BENCH_BLOCK; i++) {
		if (bb_stats_reader__open(r->prog_fd, &fresh, NULL) || bb_stats_reader__fdinfo(&fresh, &stats))
			exit(1);
		bb_stats_reader__close(&fresh);
	}
	return (double)(bb_now_ns() - began_ns) / BENCH_BLOCK;
}

static double info_by_fd(void *arg)
{
	const struct bb_stats_reader *r = arg;
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats stats;

	for (size_t i = 0; i < BENCH_BLOCK; i++)
		if (bb_stats_reader__info(r, &stats))
			exit(1);
	return (double)(bb_now_ns() - began_ns) / BENCH_BLOCK;
}

int main(void)
{
	struct bench_step *s = bench_alloc(1, sizeof(*s));
	struct bb_stats_reader reader;
	struct bench_medians m;
	struct bench_duel d;
	char measured[128];

	bench_step__open(s, "ringbuf");
	reader = *bb_target__reader(s->subject.target);
	d = bench_duel(open_read_close, held_open, &reader, BLOCKS);
	m = bench_decide(&d);
	snprintf(measured, sizeof(measured), "%.2f (%.0f / %.0f ns)", m.ratio, m.a, m.b);
	bench_judge("fdinfo: open, read, close / pread of one held open", ">= 3", measured, m.ratio >= 3);
	d = bench_duel(held_open, info_by_fd, &reader, BLOCKS);
	m = bench_decide(&d);
	snprintf(measured, sizeof(measured), "%.2f (%.0f / %.0f ns)", m.ratio, m.a, m.b);
	bench_row("fdinfo: pread of one held open / info by fd", "", measured, "-");
	bench_step__close(s);
	free(s);
	return 0;
}
