/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/in_vain.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/source.h"
#include "exact/origin.h"
#include "exact/source.h"
#include "report/records.h"

#define NEARLY_ALL 0.9

/* A program of a prog array or a map of a map of maps. Their slots are always there: those that are
 * filled count. */
static bool holds_ids(uint32_t type)
{
	return type == BPF_MAP_TYPE_PROG_ARRAY || type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
	       type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

/* Up to BB_IN_VAIN_MANY. */
static double count_entries(int fd, const struct bpf_map_info *info)
{
	char *key = calloc(2, info->key_size), *next = key ? key + info->key_size : NULL;
	uint32_t n = 0, most = info->max_entries, id;

	if (!key)
		return NAN;
	for (uint32_t i = 0; i <= most && n < BB_IN_VAIN_MANY; i++) {
		if (bpf_map_get_next_key(fd, i ? key : NULL, next))
			break;
		memcpy(key, next, info->key_size);
		n += !holds_ids(info->type) || !bpf_map_lookup_elem(fd, key, &id);
	}
	free(key);
	return n;
}

/* Whole, where libbpf knows it; the kernel keeps 15 characters. */
static const char *map_name(const struct bb_target *target, int fd, const struct bpf_map_info *info)
{
	const struct bpf_object *obj = bb_source_object__get(bb_target__source(target));
	const struct bpf_map *map;

	if (obj)
		bpf_object__for_each_map(map,
					 obj) if (bpf_map__fd(map) == fd) return bpf_map__name(map);
	return info->name;
}

/* The map that the call has in register `reg`. 0 or -ENOMEM. */
static int describe_map(const struct bb_target *target, const struct bb_exact *e, uint32_t at,
			uint8_t reg, struct bb_in_vain *v)
{
	struct bb_origin map = bb_origin_of(&e->code, &e->clone.cfg, at, reg);
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);
	const char *type;

	v->entries = NAN;
	if ((map.kind != BB_ORIGIN_MAP && map.kind != BB_ORIGIN_INNER_MAP) ||
	    bpf_obj_get_info_by_fd(map.value, &info, &len))
		return 0;
	v->is_captured = !bb_source_object__get(bb_target__source(target));
	v->is_inner = map.kind == BB_ORIGIN_INNER_MAP;
	type = libbpf_bpf_map_type_str((enum bpf_map_type)info.type);
	v->map = strdup(map_name(target, map.value, &info));
	v->type = type ? strdup(type) : NULL;
	if (!v->map || (type && !v->type))
		return -ENOMEM;
	if (v->is_inner)
		return 0;
	v->entries = count_entries(map.value, &info);
	return 0;
}

static int describe(const struct bb_target *target, const struct bb_exact *e, uint32_t at,
		    struct bb_in_vain *v)
{
	bool is_tail_call = e->code.insns[at].imm == BPF_FUNC_tail_call;
	const struct bpf_line_info *line = bb_code__line_at(&e->code, at);
	struct bb_origin index = {BB_ORIGIN_UNKNOWN, 0};

	if (is_tail_call)
		index = bb_origin_of(&e->code, &e->clone.cfg, at, BPF_REG_3);
	v->is_tail_call = is_tail_call;
	v->index = index.kind == BB_ORIGIN_NUMBER ? (double)(uint32_t)index.value : (double)NAN;
	v->places = 1;
	if (line) {
		v->line = BB_SOURCE_LINE(line->line_col);
		v->file = strdup(bb_code__text(&e->code, line->file_name_off));
		if (!v->file)
			return -ENOMEM;
	}
	return describe_map(target, e, at, is_tail_call ? BPF_REG_2 : BPF_REG_1, v);
}

/* One that is noted already and has the same words but for the line; NULL: none. */
static struct bb_in_vain *find_like(struct bb_case *c, const struct bb_in_vain *v)
{
	for (size_t i = 0; i < c->n_in_vain; i++) {
		struct bb_in_vain *o = &c->in_vain[i];

		if (o->is_tail_call == v->is_tail_call && o->is_inner == v->is_inner &&
		    (o->index == v->index || !o->is_tail_call) && o->map &&
		    bb_same_text(o->map, v->map))
			return o;
	}
	return NULL;
}

static int add(struct bb_case *c, struct bb_in_vain *v)
{
	struct bb_in_vain *like = find_like(c, v), *new;

	if (like) {
		like->calls += v->calls;
		like->in_vain += v->in_vain;
		like->places++;
		bb_record__done(&bb_in_vain_record, v);
		return 0;
	}
	new = bb_record__append(&bb_in_vain_record, &c->in_vain, &c->n_in_vain);
	if (new)
		*new = *v;
	else
		bb_record__done(&bb_in_vain_record, v);
	return new ? 0 : -ENOMEM;
}

int bb_note_in_vain(const struct bb_target *target, const struct bb_exact *e,
		    const uint64_t *totals, const uint64_t *in_vain, bool is_first,
		    struct bb_case *c)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < e->clone.n_vain; i++) {
		uint32_t at = e->clone.vain[i], block = e->clone.cfg.block_of[at];
		struct bb_in_vain v = {.calls = e->totals[block] - totals[block],
				       .in_vain = e->in_vain[i] - in_vain[i]};

		if (!v.calls || (double)v.in_vain < NEARLY_ALL * (double)v.calls)
			continue;
		rc = describe(target, e, at, &v);
		if (rc || (is_first && !v.is_tail_call && v.entries))
			bb_record__done(&bb_in_vain_record, &v);
		else
			rc = add(c, &v);
	}
	return rc;
}
