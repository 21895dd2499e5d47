/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/only_reads.h"

#include <bpf/bpf.h>

#include "base/io.h"
#include "bpf/map_contents.h"
#include "exact/rewrite.h"

/* `fd` is an empty map like `map` that programs may only read. It takes the place of `map`. */
struct trial {
	struct bpf_map_info map;
	int fd;
};

static bool is_array(uint32_t type)
{
	return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static bool open_trial(const struct bb_contents_map *map, struct trial *ret_trial)
{
	struct bpf_map_info *info = &ret_trial->map;
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	if (map->is_variables || bb_info__read(map->fd, info) ||
	    (!is_array(info->type) && info->type != BPF_MAP_TYPE_HASH &&
	     info->type != BPF_MAP_TYPE_PERCPU_HASH && info->type != BPF_MAP_TYPE_LPM_TRIE))
		return false;
	opts.map_flags = info->map_flags | BPF_F_RDONLY_PROG;
	/* an array keeps its number of entries, because the verifier checks accesses against it */
	ret_trial->fd = bpf_map_create((enum bpf_map_type)info->type, "bb_only_reads",
				       info->key_size, info->value_size,
				       is_array(info->type) ? info->max_entries : 1, &opts);
	return ret_trial->fd >= 0;
}

/* Replaces the map in the code by the empty one. *ret_uses tells whether the code names the map.
 * Returns false if the code may change the map unnoticed, by a helper or as an inner map. */
static bool replace(const struct trial *trial, struct bb_code *code, bool *ret_uses)
{
	*ret_uses = false;
	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at])) {
		struct bpf_insn *i = &code->insns[at];
		struct bpf_map_info info = {0};

		/* On older kernels, all but the last of these helpers let a program write to a
		 * read-only map (CVE-2024-49861). The last one makes any system call. */
		if (bb_insn_is_helper_call(i) &&
		    (i->imm == BPF_FUNC_strtol || i->imm == BPF_FUNC_strtoul ||
		     i->imm == BPF_FUNC_check_mtu || i->imm == BPF_FUNC_sys_bpf))
			return false;
		if (!bb_insn_is_wide(i) ||
		    (i->src_reg != BPF_PSEUDO_MAP_FD && i->src_reg != BPF_PSEUDO_MAP_VALUE))
			continue;
		if (bb_info__read(i->imm, &info) || info.type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
		    info.type == BPF_MAP_TYPE_HASH_OF_MAPS)
			return false;
		if (info.id != trial->map.id)
			continue;
		i->imm = trial->fd;
		*ret_uses = true;
	}
	return true;
}

static bool program_only_reads(const struct bb_target *t, const struct trial *trial, int prog_fd)
{
	struct bb_code code = {.btf_fd = -1};
	bool uses, only_reads;
	int fd;

	if (bb_target__code(t, prog_fd, &code, NULL))
		return false;
	only_reads = !bb_code__check(&code, NULL) && !bb_code__calls_kfuncs(&code) &&
		     replace(trial, &code, &uses);
	if (only_reads && uses) {
		only_reads = !bb_load__program(&code, NULL, &fd, NULL);
		if (only_reads)
			close(fd);
	}
	bb_code__done(&code);
	return only_reads;
}

bool bb_target__only_reads(const struct bb_target *t, const struct bb_contents_map *map)
{
	struct trial trial = {.fd = -1};
	bool only_reads = open_trial(map, &trial), any = false;
	int fd;

	for (size_t i = 0; only_reads && bb_target__loaded(t, i, &fd); i++) {
		if (fd < 0)
			continue;
		only_reads = program_only_reads(t, &trial, fd);
		any |= fd == t->prog_fd;
	}
	bb_close(&trial.fd);
	return only_reads && any;
}
