/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/prog_static.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/parse.h"
#include "bpf/prog_type.h"

/* What follows the first line that begins with `key`; NULL: none does. */
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

/* The number right behind `key` at the beginning of a line, if `after` follows it. */
static double number_of(const char *text, const char *key, const char *after)
{
	const char *at = line_of(text, key);
	uint64_t value;

	return at && !bb_parse_digits(&at, &value) && !strncmp(at, after, strlen(after))
		       ? (double)value
		       : NAN;
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
	double us = number_of(log, "verification time ", " usec");
	uint32_t stacks[BB_MAX_FUNCTIONS];
	size_t n = bb_prog_static_stacks(log, stacks);

	for (size_t i = 0; i < n; i++)
		m->stack_bytes = (i ? m->stack_bytes : 0) + stacks[i];
	if (!isnan(us))
		m->verify_ns = 1000 * us;
	if (isnan(m->verified_insns))
		m->verified_insns = number_of(log, "processed ", " insns");
}

/* What the kernel accounts to a map; NAN when it does not say. */
static double memory_of_map(__u32 id)
{
	int map_fd = bpf_map_get_fd_by_id(id), fd;
	char path[64], text[1024];
	ssize_t n = -1;

	if (map_fd < 0)
		return NAN;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map_fd);
	fd = bb_root__open(path, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	close(map_fd);
	text[n > 0 ? n : 0] = '\0';
	return number_of(text, "memlock:\t", "\n");
}

/* No program has 0 of these: the kernel did not say. */
static double unless_zero(__u32 n)
{
	return n ? (double)n : NAN;
}

int bb_prog_static__read(int prog_fd, struct bb_prog_facts *ret_facts, struct bb_err *err)
{
	struct bpf_prog_info info = {0};
	struct bb_prog_facts facts = {.tag = ""};
	__u32 len = sizeof(info), map_ids[BB_MAX_PROG_MAPS];

	info.map_ids = (__u64)(uintptr_t)map_ids;
	info.nr_map_ids = BB_MAX_PROG_MAPS;
	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len)) {
		int rc = -errno;

		return bb_fail(err, rc, "cannot ask the kernel about a loaded program: %s",
			       strerror(-rc));
	}
	snprintf(facts.type, sizeof(facts.type), "%s", bb_prog_type_name(info.type).text);
	for (size_t i = 0; i < sizeof(info.tag); i++)
		snprintf(facts.tag + 2 * i, 3, "%02x", info.tag[i]);
	bb_static_clear(&facts.metrics);
	facts.metrics.verified_insns = unless_zero(info.verified_insns);
	facts.metrics.xlated_bytes = unless_zero(info.xlated_prog_len);
	facts.metrics.jited_bytes = unless_zero(info.jited_prog_len);
	/* all or nothing: a sum that lacks a map would pass for a smaller one */
	facts.metrics.map_bytes = info.nr_map_ids <= BB_MAX_PROG_MAPS ? 0 : NAN;
	for (__u32 i = 0; i < info.nr_map_ids && !isnan(facts.metrics.map_bytes); i++)
		facts.metrics.map_bytes += memory_of_map(map_ids[i]);
	*ret_facts = facts;
	return 0;
}
