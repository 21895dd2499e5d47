/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of a full map: the figure that bpfbench prints (bb_map_bytes(), the kernel's own) against
 * the growth of a memory cgroup, to which the kernel charges the pages and objects of the map.
 */
#include <bpf/bpf.h>
#include <mntent.h>
#include <sys/stat.h>

#include "base/caller.h"
#include "bench.h"

#define ALIKE 0.02 /* share by which the two figures may differ if both include the whole map */

/* must_agree: both figures include the whole map. In the other rows one of them lacks a part, see
 * docs/methods/full-tables.md. */
static const struct kind {
	const char *what;
	enum bpf_map_type type;
	uint32_t flags, key_bytes, room; /* room: max_entries; 0: the number of entries */
	bool must_agree;
} kinds[] = {
	{"hash", BPF_MAP_TYPE_HASH, 0, 4, 0, true},
	{"hash with room for 1000000", BPF_MAP_TYPE_HASH, 0, 4, 1000000, true},
	{"LRU hash", BPF_MAP_TYPE_LRU_HASH, 0, 4, 0, true},
	{"array", BPF_MAP_TYPE_ARRAY, 0, 4, 0, true},
	{"hash, no_prealloc", BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC, 4, 0, false},
	{"LPM trie", BPF_MAP_TYPE_LPM_TRIE, BPF_F_NO_PREALLOC, 8, 0, false},
	{"per-CPU hash", BPF_MAP_TYPE_PERCPU_HASH, 0, 4, 0, false},
	{"per-CPU hash, no_prealloc", BPF_MAP_TYPE_PERCPU_HASH, BPF_F_NO_PREALLOC, 4, 0, false},
	{"per-CPU array", BPF_MAP_TYPE_PERCPU_ARRAY, 0, 4, 0, false},
};
static const uint32_t sizes[] = {1000, 100000, 1000000};

/* A memory cgroup of our own, of cgroups v1 or v2. */
static char group[PATH_MAX];
static const char *usage_file, *usage_row; /* usage_row "": the file is only a number */

static bool holds(const char *folder, const char *file, const char *word)
{
	char path[PATH_MAX], text[1024] = "";

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return bb_root__read(path, text, sizeof(text)) > 0 && strstr(text, word);
}

static bool find_group(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *m;

	while (mounts && !usage_file && (m = getmntent(mounts))) {
		if (!strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "memory"))
			usage_file = "memory.kmem.usage_in_bytes", usage_row = "";
		else if (!strcmp(m->mnt_type, "cgroup2") &&
			 holds(m->mnt_dir, "cgroup.subtree_control", "memory"))
			usage_file = "memory.stat", usage_row = "\nkernel ";
		snprintf(group, sizeof(group), "%s/bpfbench-map-memory-%d", m->mnt_dir, getpid());
	}
	if (mounts)
		endmntent(mounts);
	return usage_file;
}

static double charged(void)
{
	char path[PATH_MAX + 40], text[8192] = "";
	const char *row;

	snprintf(path, sizeof(path), "%s/%s", group, usage_file);
	if (bb_root__read(path, text, sizeof(text)) <= 0 || !(row = strstr(text, usage_row))) {
		fprintf(stderr, "%s: no figure of the kernel's memory\n", path);
		_exit(1);
	}
	return strtod(row + strlen(usage_row), NULL);
}

static void enter_group(void)
{
	char path[PATH_MAX + 40];
	FILE *procs;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	procs = fopen(path, "w");
	if (!procs || fprintf(procs, "0") < 0 || fclose(procs)) {
		perror(path);
		_exit(1);
	}
}

static void fill(int fd, const struct kind *k, uint32_t n)
{
	uint64_t value[256] = {0}; /* per-CPU maps: a value for each of up to 256 CPUs */

	for (uint32_t i = 0; i < n; i++) {
		/* a prefix begins with its length; an odd factor keeps all numbers different */
		uint32_t key[2] = {k->key_bytes > 4 ? 32 : i, i * 2654435761u};
		int rc = -ENOMEM;

		/* without preallocation: the kernel refills its reserve of memory a little later */
		for (int tries = 0; rc == -ENOMEM && tries < 200; tries++) {
			usleep(tries ? 1000 : 0);
			rc = bpf_map_update_elem(fd, key, value, 0);
		}
		if (rc) {
			perror("bpf_map_update_elem");
			_exit(1);
		}
	}
}

/* The bytes of a full map. `ours`: bpfbench's figure; `group`: the growth of the cgroup. */
struct memory {
	double ours, group;
};

static struct memory measure(const struct kind *k, uint32_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = k->flags);
	struct memory m;
	double before;
	int fd;

	enter_group();
	before = charged();
	fd = bpf_map_create(k->type, "full", k->key_bytes, 8, k->room ? k->room : n, &opts);
	if (fd < 0) {
		perror(k->what);
		_exit(1);
	}
	fill(fd, k, n);
	m = (struct memory){.ours = bb_map_bytes(fd), .group = charged() - before};
	return m;
}

/* Each map has a process and a cgroup of its own, so that the difference does not include the
 * memory of another map, which the kernel frees later. */
static struct memory measure_apart(const struct kind *k, uint32_t n)
{
	struct memory m = {NAN, NAN};
	int ends[2], status;
	pid_t pid;

	if (mkdir(group, 0755) || pipe(ends) || (pid = fork()) < 0) {
		perror(group);
		exit(1);
	}
	if (!pid) {
		m = measure(k, n);
		_exit(write(ends[1], &m, sizeof(m)) != sizeof(m));
	}
	close(ends[1]);
	if (waitpid(pid, &status, 0) != pid || status || read(ends[0], &m, sizeof(m)) != sizeof(m))
		status = 1;
	close(ends[0]);
	rmdir(group);
	if (status)
		exit(1);
	return m;
}

static void compare(const struct kind *k, uint32_t n)
{
	struct memory m = measure_apart(k, n);
	double ratio = m.group / m.ours;
	char what[100], measured[100];

	snprintf(what, sizeof(what), "%s, %u entries: B printed, in cgroup", k->what, n);
	snprintf(measured, sizeof(measured), "%.0f  %.0f (%.2f x)", m.ours, m.group, ratio);
	/* a cgroup is charged whole pages, so the figure of a small map is too coarse */
	if (k->must_agree && n >= 100000)
		bench_judge(what, "within 2 %", measured, fabs(ratio - 1) <= ALIKE);
	else
		bench_row(what, "", measured, "-");
}

int main(void)
{
	if (!find_group()) {
		bench_row("bytes of a full map", "", "no memory cgroups here", "skip");
		return 0;
	}
	for (size_t i = 0; i < BB_LEN(kinds); i++)
		for (size_t s = 0; s < BB_LEN(sizes); s++)
			compare(&kinds[i], sizes[s]);
	return 0;
}
