/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "base/bpf_info.h"
#include "base/io.h"
#include "base/parse.h"
#include "bpf/loaded.h"
#include "bpf/prog_stats.h"
#include "cli/options.h"
#include "cli/output.h"
#include "plan/maps_file.h"
#include "plan/yaml.h"

#define SHOWN 10u /* keys of a map that `diff` lists without --all */

struct maps_args {
	struct bb_strings words; /* "dump" and a program; or "diff" and two programs or files */
	const char *output;
	bool json, all;
};

static const struct bb_option options[] = {
	{"output", 'o', "FILE", bb_read_text, .at = offsetof(struct maps_args, output),
	 "write to this file instead of stdout (-), whole or not at all"},
	{"json", 0, NULL, bb_read_flag, .at = offsetof(struct maps_args, json),
	 "dump: write all entries as JSON, for --maps FILE and for diff"},
	{"all", 0, NULL, bb_read_flag, .at = offsetof(struct maps_args, all),
	 "diff: list all keys that differ, not only the first 10 of a map"},
	{0},
};

static void check_args(void *args)
{
	const struct maps_args *a = args;

	if (a->words.n == 3 && !strcmp(a->words.v[0], "diff"))
		bb_refuse("--json is for dump", a->json);
	else if (a->words.n != 2 || strcmp(a->words.v[0], "dump"))
		bb_usage_error("%s", "which program's maps? bpfbench maps dump ID|PIN|NAME; or "
				     "bpfbench maps diff A B");
	else
		bb_refuse("--all is for diff", a->all);
}

static const struct bb_usage usage = {
	.arguments = "dump ID|PIN|NAME\ndiff A B",
	.doc = "Write the contents of the maps of a loaded program as `maps:` of a scenario: its "
	       "programs are then measured in the state that a running agent has. Or compare the "
	       "maps of two programs.",
	.more = "The program is given by its id, the path of its pin, or its name. Hashes (LRU "
		"too), arrays and LPM tries are written, of a map the first 1024 entries "
		"(--json: all), and what is left out as a comment. A and B of diff are each a "
		"program or a file of dump --json. Of a per-CPU value it is that of the first CPU. "
		"The kernel keeps only 15 characters of a map's name: write longer ones in full. "
		"The contents may be secret.",
	.example = "  sudo bpfbench maps dump 42 -o maps.yml\n"
		   "  sudo bpfbench maps dump 42 --json -o maps.json\n"
		   "  sudo bpfbench maps diff maps.json 42\n",
	.sets = {{NULL, options, 0}},
	.argument = {.read = bb_read_strings, .at = offsetof(struct maps_args, words)},
	.check = check_args,
};

static int find_program(const char *text, int *ret_fd, struct bb_err *err)
{
	uint32_t id = 0, found = 0;
	uint64_t number;
	struct bb_loaded loaded;
	int fd, rc;

	if (!bb_parse_u64(text, &number) && number <= UINT32_MAX)
		return bb_loaded__open((uint32_t)number, ret_fd, err);
	if (strchr(text, '/'))
		return bb_loaded__open_pinned(text, ret_fd, err);
	while (!(rc = bb_loaded__next(id, &id, err))) {
		if (bb_loaded__open(id, &fd, NULL))
			continue;
		rc = bb_loaded__read(fd, &loaded, NULL);
		close(fd);
		if (rc || strcmp(loaded.name, text))
			continue;
		if (found)
			return bb_fail(err, -EINVAL,
				       "the programs %u and %u are both named '%s': give the id",
				       found, id, text);
		found = id;
	}
	if (rc != -ENOENT)
		return rc;
	return found ? bb_loaded__open(found, ret_fd, err)
		     : bb_fail(err, -ENOENT, "no loaded program is named '%s'", text);
}

static void write_hex(const char *before, const uint8_t *data, size_t n, const char *between,
		      FILE *out)
{
	fputs(before, out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%02x", i ? between : "", data[i]);
}

/* Leaves out entries of an array that are zero, because a scenario sets all entries that it does
 * not name to zero. */
static void write_entries(int fd, const struct bpf_map_info *info, bool is_array, size_t slot_size,
			  bool json, FILE *out)
{
	uint8_t *key = bb_calloc(1, info->key_size), *value = bb_calloc(2, slot_size);
	uint32_t n = 0;

	for (uint32_t seen = 0; seen < info->max_entries; seen++) {
		if (bpf_map_get_next_key(fd, seen ? key : NULL, key))
			break;
		if (bpf_map_lookup_elem(fd, key, value) ||
		    (is_array && !memcmp(value, value + slot_size, info->value_size)))
			continue;
		if (json) {
			write_hex(n++ ? ",\n\"" : "\n\"", key, info->key_size, "", out);
			write_hex("\": \"", value, info->value_size, "", out);
			fputc('"', out);
			continue;
		}
		if (n == BB_YAML_MAX_ENTRIES) {
			fprintf(out, "      # there are more than these %u entries\n", n);
			break;
		}
		fputs(n++ ? "" : "    entries:\n", out);
		write_hex("      - {key: \"", key, info->key_size, " ", out);
		write_hex("\", value: \"", value, info->value_size, " ", out);
		fputs("\"}\n", out);
	}
	free(key);
	free(value);
}

struct dump {
	int prog_fd;
	bool json;
	uint32_t n; /* number of maps written so far, only used for JSON */
};

/* Some maps cannot be filled by a scenario. JSON leaves them out, and YAML has a comment for each
 * of them. */
static int write_map(struct dump *d, int fd, FILE *out)
{
	struct bpf_map_info info = {0};
	int n_cpus = libbpf_num_possible_cpus();
	bool is_per_cpu, is_array;
	const char *type;

	if (n_cpus < 1)
		return -ENOTSUP;
	if (bb_info__read(fd, &info))
		return -errno;
	type = libbpf_bpf_map_type_str((enum bpf_map_type)info.type);
	is_per_cpu = bb_map_type__is_per_cpu(info.type);
	is_array = info.type == BPF_MAP_TYPE_ARRAY || info.type == BPF_MAP_TYPE_PERCPU_ARRAY;
	if (strchr(info.name, '.') || info.map_flags & BPF_F_RDONLY_PROG ||
	    (!is_array && !is_per_cpu && info.type != BPF_MAP_TYPE_HASH &&
	     info.type != BPF_MAP_TYPE_LRU_HASH && info.type != BPF_MAP_TYPE_LPM_TRIE)) {
		if (!d->json)
			fprintf(out, "  # left out: %s (%s)\n", info.name,
				type ? type : "unknown type");
		return 0;
	}
	if (d->json)
		fprintf(out, "%s{\"name\": \"%s\", \"type\": \"%s\", \"entries\": {",
			d->n++ ? ",\n" : "", info.name, type);
	else
		fprintf(out, "  - name: %s    # %s%s\n", info.name, type,
			strlen(info.name) == BPF_OBJ_NAME_LEN - 1 ? "; the name may be longer"
								  : "");
	write_entries(fd, &info, is_array,
		      is_per_cpu ? (info.value_size + 7) / 8 * 8 * (size_t)n_cpus : info.value_size,
		      d->json, out);
	fputs(d->json ? "}}" : "", out);
	return 0;
}

static int write_maps(void *dump, FILE *out, struct bb_err *err)
{
	struct dump *d = dump;
	uint32_t ids[BB_MAX_PROG_MAPS];
	int rc = 0, n = bb_prog_map_ids(d->prog_fd, ids);

	if (n < 0)
		return bb_fail(err, n, "the program's maps cannot be read: %m");
	fputs(d->json ? "{\"maps\": [\n" : n ? "maps:\n" : "maps: []\n", out);
	for (int i = 0; !rc && i < n; i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);

		rc = fd < 0 ? -errno : write_map(d, fd, out);
		if (rc)
			bb_fail(err, rc, "map %u cannot be read: %m", ids[i]);
		bb_close(&fd);
	}
	fputs(d->json ? "\n]}\n" : "", out);
	return rc;
}

static int read_side(const char *text, struct bb_maps_file **ret_file, struct bb_err *err)
{
	struct dump d = {.json = true};
	struct statfs fs;
	struct stat st;
	char *dumped = NULL;
	size_t len = 0;

	/* a pin is a regular file, too, but in the BPF file system */
	if (!stat(text, &st) && S_ISREG(st.st_mode) && !statfs(text, &fs) &&
	    fs.f_type != BPF_FS_MAGIC)
		return bb_maps_file__read(text, ret_file, err);
	int rc = find_program(text, &d.prog_fd, err);
	if (rc)
		return rc;
	FILE *out = bb_open_memstream(&dumped, &len);
	rc = write_maps(&d, out, err);
	bb_close_memstream(out);
	rc = rc ? rc : bb_maps_file__parse(dumped, len, text, ret_file, err);
	close(d.prog_fd);
	free(dumped);
	return rc;
}

/* Walks through the entries of both maps in the order of their keys. Writes how many entries
 * differ, and the first `most` of them. */
static void diff_map(struct bb_map_table *a, struct bb_map_table *b, size_t most, FILE *out)
{
	uint32_t *order[2] = {bb_map_table__order(a, a->n), bb_map_table__order(b, b->n)};
	size_t at[2] = {0}, only[2] = {0}, differ = 0, alike = 0, n, len;
	char *lines = NULL;
	FILE *shown = bb_open_memstream(&lines, &len);

	while (at[0] < a->n || at[1] < b->n) {
		const uint8_t *key[2] = {bb_map_table__key(a, order[0][at[0]]),
					 bb_map_table__key(b, order[1][at[1]])};
		const uint8_t *value[2] = {a->values + order[0][at[0]] * a->value_size,
					   b->values + order[1][at[1]] * b->value_size};
		int by = at[0] == a->n   ? 1
			 : at[1] == b->n ? -1
					 : memcmp(key[0], key[1], a->key_size);
		size_t side = by > 0;
		bool is_shown = only[0] + only[1] + differ < most;

		at[0] += by <= 0;
		at[1] += by >= 0;
		if (!by && !memcmp(value[0], value[1], a->value_size)) {
			alike++;
			continue;
		}
		only[side] += by != 0;
		differ += !by;
		if (!is_shown)
			continue;
		write_hex(!by    ? "  ~ "
			  : side ? "  + "
				 : "  - ",
			  key[side], (side ? b : a)->key_size, " ", shown);
		write_hex(": ", value[side], (side ? b : a)->value_size, " ", shown);
		if (!by)
			write_hex(" -> ", value[1], b->value_size, " ", shown);
		fputc('\n', shown);
	}
	bb_close_memstream(shown);
	n = only[0] + only[1] + differ;
	fprintf(out, "%s: %zu only in A, %zu only in B, %zu differ, %zu alike\n%s", a->name,
		only[0], only[1], differ, alike, lines);
	if (n > most)
		fprintf(out, "  and %zu more (--all)\n", n - most);
	free(lines);
	free(order[0]);
	free(order[1]);
}

/* A map that is missing on one side counts as empty there. */
static int write_diff(void *args, FILE *out, struct bb_err *err)
{
	const struct maps_args *a = args;
	struct bb_maps_file *files[2] = {NULL, NULL};
	int rc = read_side(a->words.v[1], &files[0], err);

	rc = rc ? rc : read_side(a->words.v[2], &files[1], err);
	for (size_t k = 0; !rc && k < 2; k++)
		for (size_t i = 0; !rc && i < files[k]->n; i++) {
			struct bb_map_table *t = &files[k]->v[i], none = {.name = t->name};
			struct bb_map_table *other = bb_maps_file__find(files[!k], t->name);
			bool has_other_size = other && other->n && t->n &&
					      (other->key_size != t->key_size ||
					       other->value_size != t->value_size);

			if (other && k)
				continue;
			other = other ? other : &none;
			if (has_other_size)
				fprintf(out,
					"%s: other sizes: keys %zu and %zu bytes, values %zu "
					"and %zu\n",
					t->name, t->key_size, other->key_size, t->value_size,
					other->value_size);
			else
				diff_map(k ? other : t, k ? t : other, a->all ? SIZE_MAX : SHOWN,
					 out);
		}
	bb_maps_file__let_go(files[0]);
	bb_maps_file__let_go(files[1]);
	return rc;
}

int bb_cmd_maps(int argc, char **argv, struct bb_err *err)
{
	static struct maps_args a;
	struct dump d = {0};

	bb_usage__parse(&usage, argc, argv, &a);
	if (a.words.n == 3)
		return bb_output_of(write_diff, &a, a.output, err);
	d.json = a.json;
	int rc = find_program(a.words.v[1], &d.prog_fd, err);
	if (rc)
		return rc;
	rc = bb_output_of(write_maps, &d, a.output, err);
	close(d.prog_fd);
	return rc;
}
