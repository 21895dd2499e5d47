/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/prog_stats.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parse.h"

int bb_stats_reader__open(int prog_fd, struct bb_stats_reader *ret_reader, struct bb_err *err)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", prog_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int rc = -errno;

		return bb_fail(err, rc, "%s: %s; is /proc mounted?", path, strerror(-rc));
	}
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

	/* Both zeroed every time: nr_map_ids and friends are inputs (kernel/bpf/syscall.c, bpf_prog_get_info_by_fd). */
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

/* The number after "key:\t" at the start of a line of `text`. 0 or -ENOENT, -EPROTO. */
static int field(const char *text, const char *key, uint64_t *ret_value)
{
	size_t len = strlen(key);

	for (const char *line = text; line && *line;) {
		const char *end = strchrnul(line, '\n');
		char number[32];

		if (!strncmp(line, key, len) && line[len] == ':') {
			const char *value = line + len + 1;

			value += strspn(value, " \t");
			if ((size_t)(end - value) >= sizeof(number))
				return -EPROTO;
			memcpy(number, value, (size_t)(end - value));
			number[end - value] = '\0';
			return bb_parse_u64(number, ret_value) ? -EPROTO : 0;
		}
		line = *end ? end + 1 : NULL;
	}
	return -ENOENT;
}

int bb_stats_parse_fdinfo(const char *text, struct bb_prog_stats *ret_stats)
{
	struct bb_prog_stats s = {0};

	if (field(text, "run_time_ns", &s.run_time_ns) || field(text, "run_cnt", &s.run_cnt))
		return -EPROTO;
	if (field(text, "recursion_misses", &s.recursion_misses) == -EPROTO)
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

int bb_stats_reader__agreed(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats, struct bb_err *err)
{
	struct bb_prog_stats a = {0}, b = {0};

	for (int tries = 0; tries < 10; tries++) {
		int rc = bb_stats_reader__info(r, &a);

		if (!rc)
			rc = bb_stats_reader__fdinfo(r, &b);
		if (rc)
			return bb_fail(err, rc, "reading the run statistics of a program: %s", strerror(-rc));
		if (a.run_cnt == b.run_cnt && a.run_time_ns == b.run_time_ns) {
			*ret_stats = b;
			return 0;
		}
	}
	return bb_fail(err, -ESTALE, "fdinfo says %llu runs in %llu ns, info-by-fd says %llu in %llu",
		       (unsigned long long)b.run_cnt, (unsigned long long)b.run_time_ns,
		       (unsigned long long)a.run_cnt, (unsigned long long)a.run_time_ns);
}
