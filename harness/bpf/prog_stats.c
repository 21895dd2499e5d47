/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/prog_stats.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/parse.h"

int bb_stats_reader__open(int prog_fd, struct bb_stats_reader *ret_reader, struct bb_err *err)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", prog_fd);
	fd = bb_root__open(path, O_RDONLY);
	if (fd < 0)
		return bb_fail(err, fd, "%s: %s%s", path, strerror(-fd),
			       fd == -ENOENT ? "; is /proc mounted?" : "");
	*ret_reader = (struct bb_stats_reader){.prog_fd = prog_fd, .fdinfo_fd = fd};
	return 0;
}

void bb_stats_reader__close(struct bb_stats_reader *r)
{
	if (r && r->fdinfo_fd > 0)
		close(r->fdinfo_fd);
	if (r)
		*r = (struct bb_stats_reader){.prog_fd = -1, .fdinfo_fd = -1};
}

int bb_stats_reader__info(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats)
{
	struct bpf_prog_info info;
	union bpf_attr attr;

	/* Both zeroed every time: nr_map_ids and friends are inputs (kernel/bpf/syscall.c,
	 * bpf_prog_get_info_by_fd). */
	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (__u32)r->prog_fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (__u64)(uintptr_t)&info;
	if (syscall(__NR_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) < 0)
		return -errno;
	*ret_stats = (struct bb_prog_stats){info.run_time_ns, info.run_cnt, info.recursion_misses};
	return 0;
}

/* The number that follows "key:\t", alone on its line. 0 or -EPROTO. */
static int number_at(const char *value, uint64_t *ret_value)
{
	value += strspn(value, " \t");
	return bb_parse_digits(&value, ret_value) || (*value && *value != '\n') ? -EPROTO : 0;
}

/* One pass over the text, and a close look only at lines that begin as ours do. */
int bb_stats_parse_fdinfo(const char *text, struct bb_prog_stats *ret_stats)
{
	struct bb_prog_stats s = {0};
	bool has_time = false, has_cnt = false;
	int rc = 0;

	for (const char *line = text; !rc && line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (*line != 'r')
			continue;
		if (!strncmp(line, "run_time_ns:", 12)) {
			rc = number_at(line + 12, &s.run_time_ns);
			has_time = true;
		} else if (!strncmp(line, "run_cnt:", 8)) {
			rc = number_at(line + 8, &s.run_cnt);
			has_cnt = true;
		} else if (!strncmp(line, "recursion_misses:", 17)) {
			rc = number_at(line + 17, &s.recursion_misses);
		}
	}
	if (rc || !has_time || !has_cnt)
		return -EPROTO;
	*ret_stats = s;
	return 0;
}

int bb_stats_reader__fdinfo(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats)
{
	char text[1024];
	ssize_t n = pread(r->fdinfo_fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return bb_stats_parse_fdinfo(text, ret_stats);
}

int bb_stats_reader__agreed(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats,
			    struct bb_err *err)
{
	struct bb_prog_stats before, fdinfo, after;
	int rc = bb_stats_reader__info(r, &before);

	if (!rc)
		rc = bb_stats_reader__fdinfo(r, &fdinfo);
	if (!rc)
		rc = bb_stats_reader__info(r, &after);
	if (rc)
		return bb_fail(err, rc, "cannot read the run statistics of a program: %s",
			       strerror(-rc));
	/* read one after the other, of counters that only rise */
	if (before.run_cnt > fdinfo.run_cnt || fdinfo.run_cnt > after.run_cnt ||
	    before.run_time_ns > fdinfo.run_time_ns || fdinfo.run_time_ns > after.run_time_ns)
		return bb_fail(err, -ESTALE,
			       "fdinfo says %llu runs in %llu ns, info-by-fd says %llu in %llu",
			       (unsigned long long)fdinfo.run_cnt,
			       (unsigned long long)fdinfo.run_time_ns,
			       (unsigned long long)after.run_cnt,
			       (unsigned long long)after.run_time_ns);
	*ret_stats = fdinfo;
	return 0;
}

struct bb_prog_stats bb_prog_stats__since(const struct bb_prog_stats *now,
					  const struct bb_prog_stats *before)
{
	return (struct bb_prog_stats){now->run_time_ns - before->run_time_ns,
				      now->run_cnt - before->run_cnt,
				      now->recursion_misses - before->recursion_misses};
}
