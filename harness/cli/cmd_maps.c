/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/parse.h"
#include "bpf/loaded.h"
#include "cli/options.h"
#include "cli/output.h"
#include "plan/yaml.h"

#define MAX_MAPS 64u

struct maps_args {
	struct bb_strings words; /* "dump" and the program */
	const char *output;
};

static const struct bb_option options[] = {
	{"output", 'o', "FILE", bb_read_text, .at = offsetof(struct maps_args, output),
	 "write to this file instead of stdout (-), whole or not at all"},
	{0},
};

static void read_word(const struct bb_option *o, const char *text, void *words)
{
	(void)o;
	bb_strings__append(words, text);
}

static void check_args(void *args)
{
	const struct maps_args *a = args;

	if (a->words.n != 2 || strcmp(a->words.v[0], "dump"))
		bb_usage_error("%s", "which program's maps? bpfbench maps dump ID|PIN|NAME");
}

static const struct bb_usage usage = {
	.arguments = "dump ID|PIN|NAME",
	.doc = "Write the contents of the maps of a loaded program as `maps:` of a scenario: its "
	       "programs are then measured in the state that a running agent has.",
	.more = "The program is given by its id, the path of its pin, or its name. Hashes (LRU "
		"too), arrays and LPM tries are written, of a map the first 1024 entries, and "
		"what is left out as a comment. Of a per-CPU value it is that of the first CPU. "
		"The kernel keeps only 15 characters of a map's name: write longer ones in full. "
		"The contents may be secret.",
	.example = "  sudo bpfbench maps dump 42 -o maps.yml\n",
	.sets = {{NULL, options, 0}},
	.argument = {.read = read_word, .at = offsetof(struct maps_args, words)},
	.check = check_args,
};

static int find_by_name(const char *name, int *ret_fd, struct bb_err *err)
{
	uint32_t id = 0, found = 0;
	struct bb_loaded loaded;
	int fd, rc;

	while (!(rc = bb_loaded__next(id, &id, err))) {
		if (bb_loaded__open(id, &fd, NULL))
			continue;
		rc = bb_loaded__read(fd, &loaded, NULL);
		close(fd);
		if (rc || strcmp(loaded.name, name))
			continue;
		if (found)
			return bb_fail(err, -EINVAL,
				       "the programs %u and %u are both named '%s': give the id",
				       found, id, name);
		found = id;
	}
	if (rc != -ENOENT)
		return rc;
	return found ? bb_loaded__open(found, ret_fd, err)
		     : bb_fail(err, -ENOENT, "no loaded program is named '%s'", name);
}

static int find_program(const char *text, int *ret_fd, struct bb_err *err)
{
	uint64_t id;

	if (!bb_parse_u64(text, &id) && id <= UINT32_MAX)
		return bb_loaded__open((uint32_t)id, ret_fd, err);
	return strchr(text, '/') ? bb_loaded__open_pinned(text, ret_fd, err)
				 : find_by_name(text, ret_fd, err);
}

static void write_hex(const char *before, const uint8_t *data, size_t n, FILE *out)
{
	fputs(before, out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%02x", i ? " " : "", data[i]);
}

/* In arrays, entries of zeros are left out: a scenario sets the rest of an array to zero. */
static int write_entries(int fd, const struct bpf_map_info *info, bool is_array, size_t slot_size,
			 FILE *out)
{
	uint8_t *keys = calloc(2, info->key_size), *value = calloc(2, slot_size);
	uint8_t *next = keys ? keys + info->key_size : NULL;
	uint32_t n = 0, seen;

	for (seen = 0; keys && value && seen < info->max_entries; seen++) {
		if (bpf_map_get_next_key(fd, seen ? keys : NULL, next))
			break;
		memcpy(keys, next, info->key_size);
		if (bpf_map_lookup_elem(fd, keys, value) ||
		    (is_array && !memcmp(value, value + slot_size, info->value_size)))
			continue;
		if (n == BB_YAML_MAX_ENTRIES) {
			fprintf(out, "      # there are more than these %u entries\n", n);
			break;
		}
		fputs(n++ ? "" : "    entries:\n", out);
		write_hex("      - {key: \"", keys, info->key_size, out);
		write_hex("\", value: \"", value, info->value_size, out);
		fputs("\"}\n", out);
	}
	free(keys);
	free(value);
	return keys && value ? 0 : -ENOMEM;
}

/* Writes one map; as a comment if a scenario cannot give its contents. */
static int write_map(int fd, FILE *out)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);
	int n_cpus = libbpf_num_possible_cpus();
	bool is_per_cpu, is_array;
	const char *type;

	if (n_cpus < 1)
		return -ENOTSUP;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	type = libbpf_bpf_map_type_str((enum bpf_map_type)info.type);
	is_per_cpu = info.type == BPF_MAP_TYPE_PERCPU_HASH ||
		     info.type == BPF_MAP_TYPE_LRU_PERCPU_HASH ||
		     info.type == BPF_MAP_TYPE_PERCPU_ARRAY;
	is_array = info.type == BPF_MAP_TYPE_ARRAY || info.type == BPF_MAP_TYPE_PERCPU_ARRAY;
	if (strchr(info.name, '.') || info.map_flags & BPF_F_RDONLY_PROG ||
	    (!is_array && !is_per_cpu && info.type != BPF_MAP_TYPE_HASH &&
	     info.type != BPF_MAP_TYPE_LRU_HASH && info.type != BPF_MAP_TYPE_LPM_TRIE)) {
		fprintf(out, "  # left out: %s (%s)\n", info.name, type ? type : "unknown type");
		return 0;
	}
	fprintf(out, "  - name: %s    # %s%s\n", info.name, type,
		strlen(info.name) == BPF_OBJ_NAME_LEN - 1 ? "; the name may be longer" : "");
	return write_entries(fd, &info, is_array,
			     is_per_cpu ? (info.value_size + 7) / 8 * 8 * (size_t)n_cpus
					: info.value_size,
			     out);
}

static int write_maps(void *prog_fd, FILE *out, struct bb_err *err)
{
	uint32_t ids[MAX_MAPS];
	struct bpf_prog_info info = {.map_ids = (uint64_t)(uintptr_t)ids, .nr_map_ids = MAX_MAPS};
	__u32 len = sizeof(info);
	int rc = 0;

	if (bpf_obj_get_info_by_fd(*(const int *)prog_fd, &info, &len)) {
		rc = -errno;
		return bb_fail(err, rc, "the program's maps cannot be read: %s", strerror(-rc));
	}
	fputs(info.nr_map_ids ? "maps:\n" : "maps: []\n", out);
	for (uint32_t i = 0; !rc && i < info.nr_map_ids && i < MAX_MAPS; i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);

		rc = fd < 0 ? -errno : write_map(fd, out);
		if (rc)
			bb_fail(err, rc, "map %u cannot be read: %s", ids[i], strerror(-rc));
		if (fd >= 0)
			close(fd);
	}
	return rc;
}

int bb_cmd_maps(int argc, char **argv, struct bb_err *err)
{
	static struct maps_args a;
	int fd, rc;

	bb_usage__parse(&usage, argc, argv, &a);
	rc = find_program(a.words.v[1], &fd, err);
	if (rc)
		return rc;
	rc = bb_output_of(write_maps, &fd, a.output, err);
	close(fd);
	return rc;
}
