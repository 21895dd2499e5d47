/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/prog_stats.h"

#include <bpf/bpf.h>

#include "base/caller.h"
#include "base/io.h"
#include "base/parse.h"
#include "bpf/prog_type.h"

int bb_stats_reader__open(int prog_fd, struct bb_stats_reader *ret_reader, struct bb_err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", prog_fd);
	int fd = bb_root__open(path, O_RDONLY);
	if (fd < 0)
		return bb_fail(err, fd, "%s: %m%s", path,
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
	struct bpf_prog_info info = {0};

	if (bb_info__read(r->prog_fd, &info))
		return -errno;
	*ret_stats = (struct bb_prog_stats){info.run_time_ns, info.run_cnt, info.recursion_misses};
	return 0;
}

static const char *line_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len))
			return line + len;
	}
	return NULL;
}

int bb_stats_parse_fdinfo(const char *text, struct bb_prog_stats *ret_stats)
{
	static const char *const keys[] = {"run_time_ns:\t", "run_cnt:\t", "recursion_misses:\t"};
	uint64_t values[3] = {0};

	for (int i = 0; i < 3; i++) {
		const char *at = line_of(text, keys[i]);

		if (at ? bb_parse_digits(&at, &values[i]) || (*at && *at != '\n') : i < 2)
			return -EPROTO;
	}
	*ret_stats = (struct bb_prog_stats){values[0], values[1], values[2]};
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
		return bb_fail(err, rc, "cannot read the run statistics of a program: %m");
	/* they were read in the order before, fdinfo, after, and the counters only rise */
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

#define SYSCTL "/proc/sys/kernel/bpf_stats_enabled"

/* Writes `value` to the sysctl. If `old` is not NULL, first reads the old value. */
static int swap_sysctl(char *old, size_t size, const char *value)
{
	int fd = bb_root__open(SYSCTL, O_RDWR), rc;

	if (fd < 0)
		return fd;
	ssize_t n = old ? pread(fd, old, size - 1, 0) : 0;
	if (old && n >= 0)
		old[n] = '\0';
	rc = n < 0 || pwrite(fd, value, strlen(value), 0) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

int bb_stats_enable__on(struct bb_stats_enable *ret_enable, struct bb_err *err)
{
	struct bb_stats_enable e = {.fd = bpf_enable_stats(BPF_STATS_RUN_TIME)};
	int rc = e.fd < 0 ? -errno : 0;

	if (rc == -EPERM)
		return bb_fail(err, rc,
			       "enabling bpf_stats needs CAP_SYS_ADMIN; run as root, with sudo");
	if (rc) { /* kernels before 5.8 return EINVAL and have only the sysctl */
		rc = swap_sysctl(e.previous, sizeof(e.previous), "1");
		if (rc)
			return bb_fail(err, rc,
				       "cannot enable bpf_stats: no BPF_ENABLE_STATS, and %s: %m; "
				       "bpfbench needs Linux 5.1 or later and root",
				       SYSCTL);
	}
	*ret_enable = e;
	return 0;
}

void bb_stats_enable__off(struct bb_stats_enable *e)
{
	if (!e)
		return;
	if (e->fd < 0 && e->previous[0])
		swap_sysctl(NULL, 0, e->previous);
	bb_close(&e->fd);
	*e = (struct bb_stats_enable){.fd = -1};
}

/* Returns the number after `key`, which begins a line. NAN if there is none, or if `after` does not
 * follow. */
static double number_of(const char *text, const char *key, const char *after)
{
	const char *at = line_of(text, key);
	uint64_t value;

	return at && !bb_parse_digits(&at, &value) && !strncmp(at, after, strlen(after))
		       ? (double)value
		       : NAN;
}

/* Returns total_states (3) of "processed 12 insns (limit ...) ... total_states 3 peak_states
 * ...". */
static double states_of(const char *log)
{
	static const char key[] = " total_states ";
	const char *line = line_of(log, "processed "), *at = line ? strstr(line, key) : NULL;
	uint64_t value;

	if (!at || at > line + strcspn(line, "\n"))
		return NAN;
	at += strlen(key);
	return !bb_parse_digits(&at, &value) && strchr(" \n", *at) ? (double)value : NAN;
}

size_t bb_prog_static_stacks(const char *log, uint32_t ret_bytes[BB_MAX_FUNCTIONS])
{
	const char *at = line_of(log, "stack depth ");
	uint64_t bytes;
	size_t n = 0;

	while (at && n < BB_MAX_FUNCTIONS && !bb_parse_digits(&at, &bytes) && bytes <= UINT32_MAX) {
		ret_bytes[n++] = (uint32_t)bytes;
		if (*at != '+')
			return *at == '\n' || !*at ? n : 0;
		at++;
	}
	return 0;
}

void bb_prog_static_parse_log(const char *log, struct bb_prog_static *m)
{
	double us = number_of(log, "verification time ", " usec"), states = states_of(log);
	uint32_t stacks[BB_MAX_FUNCTIONS];
	size_t n = bb_prog_static_stacks(log, stacks);

	for (size_t i = 0; i < n; i++)
		m->stack_bytes = (i ? m->stack_bytes : 0) + stacks[i];
	if (!isnan(us))
		m->verify_ns = 1000 * us;
	if (!isnan(states))
		m->total_states = states;
	if (isnan(m->verified_insns))
		m->verified_insns = number_of(log, "processed ", " insns");
}

double bb_map_bytes(int map_fd)
{
	char path[64], text[1024] = "";

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map_fd);
	bb_root__read(path, text, sizeof(text));
	return number_of(text, "memlock:\t", "\n");
}

double bb_map_bytes_by_id(uint32_t id)
{
	int map_fd = bpf_map_get_fd_by_id(id);
	double bytes = map_fd < 0 ? (double)NAN : bb_map_bytes(map_fd);

	bb_close(&map_fd);
	return bytes;
}

int bb_prog_map_ids(int prog_fd, uint32_t ret_ids[BB_MAX_PROG_MAPS])
{
	struct bpf_prog_info info = {.map_ids = (uintptr_t)ret_ids, .nr_map_ids = BB_MAX_PROG_MAPS};
	int rc = bb_info__read(prog_fd, &info);

	if (rc)
		return rc;
	return info.nr_map_ids < BB_MAX_PROG_MAPS ? (int)info.nr_map_ids : BB_MAX_PROG_MAPS;
}

/* 0 means that the kernel did not report the figure, because no program has 0 instructions. */
static double unless_zero(__u32 n)
{
	return n ? (double)n : NAN;
}

void bb_write_tag(const struct bpf_prog_info *info, char ret_tag[BB_TAG])
{
	for (size_t i = 0; i < sizeof(info->tag); i++)
		snprintf(ret_tag + 2 * i, 3, "%02x", info->tag[i]);
}

int bb_prog_static__read(int prog_fd, struct bb_prog_facts *ret_facts, struct bb_err *err)
{
	__u32 map_ids[BB_MAX_PROG_MAPS];
	struct bpf_prog_info info = {.map_ids = (__u64)(uintptr_t)map_ids,
				     .nr_map_ids = BB_MAX_PROG_MAPS};
	struct bb_prog_facts facts = {.tag = ""};
	int rc = bb_info__read(prog_fd, &info);

	if (rc)
		return bb_fail(err, rc, "cannot ask the kernel about a loaded program: %m");
	snprintf(facts.type, sizeof(facts.type), "%s", bb_prog_type_name(info.type).text);
	bb_write_tag(&info, facts.tag);
	bb_static_clear(&facts.metrics);
	facts.metrics.verified_insns = unless_zero(info.verified_insns);
	facts.metrics.xlated_bytes = unless_zero(info.xlated_prog_len);
	facts.metrics.jited_bytes = unless_zero(info.jited_prog_len);
	/* NAN if there are more maps than ids, because the sum would be too small */
	facts.metrics.map_bytes = info.nr_map_ids <= BB_MAX_PROG_MAPS ? 0 : NAN;
	for (__u32 i = 0; i < info.nr_map_ids && !isnan(facts.metrics.map_bytes); i++)
		facts.metrics.map_bytes += bb_map_bytes_by_id(map_ids[i]);
	*ret_facts = facts;
	return 0;
}
