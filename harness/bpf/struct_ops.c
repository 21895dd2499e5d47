/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/struct_ops.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bpf/libbpf_log.h"

#define MAP_LINK (1U << 13) /* BPF_F_LINK */
#define MOST_BYTES 8192u    /* of a map's value */
#define TCP_OPS "tcp_congestion_ops"
#define VALUE_OF "bpf_struct_ops_"

void bb_struct_ops__prepare(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
		bpf_map__set_map_flags(map, bpf_map__map_flags(map) | MAP_LINK);
}

/* libbpf writes the contents when it registers them; before 1.2 it knows no links, and does no
 * more. */
void bb_struct_ops__fill(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
	{
		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS || bpf_map__fd(map) < 0)
			continue;
		bb_libbpf_log__begin();
		bpf_link__destroy(bpf_map__attach_struct_ops(map));
	}
}

/* The value holds ids of programs in the places of functions. */
static int read_value(int map_fd, uint64_t *ret_words, struct bpf_map_info *ret_info)
{
	__u32 len = sizeof(*ret_info), zero = 0;

	memset(ret_info, 0, sizeof(*ret_info));
	if (bpf_obj_get_info_by_fd(map_fd, ret_info, &len))
		return -errno;
	if (ret_info->value_size > MOST_BYTES)
		return -E2BIG;
	return bpf_map_lookup_elem(map_fd, &zero, ret_words) ? -errno : 0;
}

int bb_struct_ops__map_of(const struct bpf_object *obj, int prog_fd)
{
	struct bpf_prog_info prog = {0};
	__u32 len = sizeof(prog);
	struct bpf_map *map;

	if (bpf_obj_get_info_by_fd(prog_fd, &prog, &len))
		return -1;
	bpf_object__for_each_map(map, obj)
	{
		uint64_t words[MOST_BYTES / sizeof(uint64_t)];
		struct bpf_map_info info;

		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS ||
		    read_value(bpf_map__fd(map), words, &info))
			continue;
		for (size_t i = 0; i < info.value_size / sizeof(words[0]); i++)
			if (words[i] == prog.id)
				return bpf_map__fd(map);
	}
	return -1;
}

/* Where a member of the struct begins, in bytes, and its type; -1: there is none. */
static long member(const struct btf *btf, const struct btf_type *t, const char *name,
		   __u32 *ret_type)
{
	for (__u32 i = 0; t && btf_is_struct(t) && i < btf_vlen(t); i++) {
		if (strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), name))
			continue;
		*ret_type = btf_members(t)[i].type;
		return btf_member_bit_offset(t, i) / 8;
	}
	return -1;
}

int bb_struct_ops__tcp_name(int map_fd, char *ret_name, size_t size, struct bb_err *err)
{
	uint64_t words[MOST_BYTES / sizeof(uint64_t)];
	const struct btf_type *t = NULL;
	const char *of = VALUE_OF "?";
	struct bpf_map_info info;
	struct btf *btf = NULL;
	long at = -1, name;
	__u32 type = 0;
	int rc = map_fd < 0 ? -ENOENT : read_value(map_fd, words, &info);

	if (rc)
		return bb_fail(err, -ENOTSUP, "no struct_ops map that this kernel has has it: %s",
			       strerror(-rc));
	btf = btf__load_vmlinux_btf();
	t = btf ? btf__type_by_id(btf, info.btf_vmlinux_value_type_id) : NULL;
	if (t)
		of = btf__name_by_offset(btf, t->name_off);
	if (!strcmp(of, VALUE_OF TCP_OPS)) {
		at = member(btf, t, "data", &type);
		name = at < 0 ? -1 : member(btf, btf__type_by_id(btf, type), "name", &type);
		at = name < 0 ? -1 : at + name;
	}
	if (at < 0 || (size_t)at >= info.value_size)
		rc = bb_fail(err, -ENOTSUP,
			     "it is of struct %s, which has no trigger; " TCP_OPS " has",
			     of + (strncmp(of, VALUE_OF, strlen(VALUE_OF)) ? 0 : strlen(VALUE_OF)));
	else
		snprintf(ret_name, size, "%.*s", (int)(info.value_size - (size_t)at),
			 (const char *)words + at);
	btf__free(btf);
	return rc;
}
