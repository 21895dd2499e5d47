/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loader of BPF objects by libbpf. It attaches each program as its section name says (a
 * perf_event program to this process's clock), prints the number of programs, and waits for a
 * signal, at most ten minutes.
 *
 * load_all [-1] [-t TIMES] [-m MAP KEY VALUE]... [-p ID] OBJECT...: -1: end at once; -t: load each
 * object so often; -m: add an entry to the map, KEY in hexadecimal, VALUE in hexadecimal or a
 * program's name; -p: programs that replace or trace another program's function do so with the
 * program of that id, or, for 0, with the first program that load_all itself loads. Without -p,
 * programs that replace a function are not loaded.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/deadline.h"

static void attach(struct bpf_program *p)
{
	struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
					.size = sizeof(clock),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.freq = 1,
					.sample_freq = 99};
	int fd;

	if (bpf_program__type(p) != BPF_PROG_TYPE_PERF_EVENT) {
		bpf_program__attach(p); /* fails if the section does not say where */
		return;
	}
	fd = (int)syscall(SYS_perf_event_open, &clock, 0, -1, -1, 0);
	if (fd >= 0)
		bpf_program__attach_perf_event(p, fd);
}

struct entry {
	const char *map, *key, *value;
};

static struct entry entries[8];
static size_t n_entries;

static void from_hex(const char *hex, uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size && sscanf(hex, "%2hhx", &bytes[i]) == 1; i++, hex += 2)
		;
}

static int fill(struct bpf_object *obj, const struct entry *e)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, e->map);
	struct bpf_program *p = bpf_object__find_program_by_name(obj, e->value);
	uint8_t key[64] = {0}, value[64] = {0};
	int fd = p ? bpf_program__fd(p) : -1;

	if (!map || bpf_map__key_size(map) > sizeof(key) ||
	    bpf_map__value_size(map) > sizeof(value))
		return -1;
	from_hex(e->key, key, sizeof(key));
	if (p)
		memcpy(value, &fd, sizeof(fd));
	else
		from_hex(e->value, value, sizeof(value));
	return bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY);
}

static bool replaces_own;    /* replaces a function of the first program that we load */
static int replaced_fd = -1; /* the program whose function is replaced; -1: none */

/* Returns the number of programs, or -1. The object stays loaded. */
static int load(const char *path)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_program *p;
	struct bpf_map *map;
	int n = 0;

	if (!obj)
		return -1;
	bpf_object__for_each_map(map, obj) bpf_map__set_pin_path(map, NULL);
	bpf_object__for_each_program(p, obj)
	{
		/* not loaded: programs without a type; without -p, those that replace a function */
		if (bpf_program__type(p) == BPF_PROG_TYPE_UNSPEC ||
		    (bpf_program__type(p) == BPF_PROG_TYPE_EXT && replaced_fd < 0))
			bpf_program__set_autoload(p, false);
		else if (replaced_fd >= 0 && (bpf_program__type(p) == BPF_PROG_TYPE_EXT ||
					      bpf_program__type(p) == BPF_PROG_TYPE_TRACING))
			bpf_program__set_attach_target(p, replaced_fd, NULL);
	}
	if (bpf_object__load(obj))
		return -1;
	for (size_t i = 0; i < n_entries; i++)
		if (fill(obj, &entries[i]))
			return -1;
	bpf_object__for_each_program(p, obj)
	{
		if (bpf_program__fd(p) < 0)
			continue;
		attach(p);
		n++;
		if (replaces_own && replaced_fd < 0)
			replaced_fd = bpf_program__fd(p);
	}
	return n;
}

int main(int argc, char **argv)
{
	uint64_t times = 1, replaced = 0;
	int i = 1, n = 0;
	bool ends = false;

	if (i < argc && !strcmp(argv[i], "-1"))
		ends = true, i++;
	if (i + 1 < argc && !strcmp(argv[i], "-t")) {
		if (bb_parse_u64(argv[i + 1], &times))
			return 2;
		i += 2;
	}
	for (; i + 3 < argc && !strcmp(argv[i], "-m") && n_entries < 8; i += 4)
		entries[n_entries++] = (struct entry){argv[i + 1], argv[i + 2], argv[i + 3]};
	if (i + 1 < argc && !strcmp(argv[i], "-p")) {
		if (bb_parse_u64(argv[i + 1], &replaced))
			return 2;
		replaces_own = !replaced;
		replaced_fd = replaced ? bpf_prog_get_fd_by_id((__u32)replaced) : -1;
		i += 2;
	}
	bb_stop__install(true);
	libbpf_set_print(NULL);
	for (; i < argc; i++)
		for (uint64_t k = 0; k < times; k++) {
			int loaded = load(argv[i]);

			if (loaded < 0) {
				fprintf(stderr, "load_all: %s: %s\n", argv[i], strerror(errno));
				return 1;
			}
			n += loaded;
		}
	printf("%d programs\n", n);
	fflush(stdout);
	for (int k = 0; !ends && !bb_stop_signal && k < 30000; k++)
		usleep(20000);
	return 0;
}
