/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time to read a program's counters once. The row with a bound compares pread of a fdinfo file
 * that stays open with open, read and close. Two rows without a bound: the same with parsing, as
 * bpf/prog_stats.c does it; and pread with parsing against BPF_OBJ_GET_INFO_BY_FD.
 */
#include <fcntl.h>

#include "bench.h"

#define BLOCKS 500u

struct fdinfo {
	struct bb_stats_reader reader;
	char path[64];
	char text[1024];
};

static double pread_text(void *arg)
{
	struct fdinfo *f = arg;
	uint64_t began_ns = bb_now_ns();

	for (size_t i = 0; i < BENCH_BLOCK; i++)
		if (pread(f->reader.fdinfo_fd, f->text, sizeof(f->text), 0) <= 0)
			exit(1);
	return (double)(bb_now_ns() - began_ns) / BENCH_BLOCK;
}

static double open_read_close_text(void *arg)
{
	struct fdinfo *f = arg;
	uint64_t began_ns = bb_now_ns();

	for (size_t i = 0; i < BENCH_BLOCK; i++) {
		int fd = open(f->path, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || read(fd, f->text, sizeof(f->text)) <= 0)
			exit(1);
		close(fd);
	}
	return (double)(bb_now_ns() - began_ns) / BENCH_BLOCK;
}

static double held_open(void *arg)
{
	const struct fdinfo *f = arg;
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats stats;

	for (size_t i = 0; i < BENCH_BLOCK; i++)
		if (bb_stats_reader__fdinfo(&f->reader, &stats))
			exit(1);
	return (double)(bb_now_ns() - began_ns) / BENCH_BLOCK;
}

static double open_read_close(void *arg)
{
	const struct fdinfo *f = arg;
	uint64_t began_ns = bb_now_ns();
	struct bb_stats_reader fresh;
	struct bb_prog_stats stats;

	for (size_t i = 0; i < BENCH_BLOCK; i++) {
		if (bb_stats_reader__open(f->reader.prog_fd, &fresh, NULL) ||
		    bb_stats_reader__fdinfo(&fresh, &stats))
			exit(1);
		bb_stats_reader__close(&fresh);
	}
	return (double)(bb_now_ns() - began_ns) / BENCH_BLOCK;
}

static double info_by_fd(void *arg)
{
	const struct fdinfo *f = arg;
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats stats;

	for (size_t i = 0; i < BENCH_BLOCK; i++)
		if (bb_stats_reader__info(&f->reader, &stats))
			exit(1);
	return (double)(bb_now_ns() - began_ns) / BENCH_BLOCK;
}

/* Prints a row with the ratio of `dear` to `cheap`. `least` 0: no bound. */
static void compare(const char *what, double (*dear)(void *), double (*cheap)(void *), double least,
		    struct fdinfo *f)
{
	struct bench_duel d = bench_duel(dear, cheap, f, BLOCKS);
	struct bench_medians m = bench_decide(&d);
	char bound[32], measured[128];

	snprintf(bound, sizeof(bound), ">= %g", least);
	snprintf(measured, sizeof(measured), "%.2f (%.0f / %.0f ns)", m.ratio, m.a, m.b);
	if (least > 0)
		bench_judge(what, bound, measured, m.ratio >= least);
	else
		bench_row(what, "", measured, "-");
}

int main(void)
{
	struct bench_step *s = bench_alloc(1, sizeof(*s));
	struct fdinfo f;

	bench_step__open(s, "ringbuf");
	f.reader = s->prog.target->reader;
	snprintf(f.path, sizeof(f.path), "/proc/self/fdinfo/%d", f.reader.prog_fd);
	compare("fdinfo: open, read, close / pread held open", open_read_close_text, pread_text, 3,
		&f);
	compare("fdinfo: the same with parsing", open_read_close, held_open, 0, &f);
	compare("fdinfo: pread held open, parsed / info by fd", held_open, info_by_fd, 0, &f);
	bench_step__close(s);
	free(s);
	return 0;
}
