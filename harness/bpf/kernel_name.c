/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/kernel_name.h"

#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

static const struct {
	const char *prefix;
	__u16 kind;
} kinds[] = {
	[BB_NAME_OF_FUNCTION] = {"", BTF_KIND_FUNC},
	[BB_NAME_OF_LSM] = {"bpf_lsm_", BTF_KIND_FUNC},
	[BB_NAME_OF_EVENT] = {"btf_trace_", BTF_KIND_TYPEDEF},
	[BB_NAME_OF_ITER] = {"bpf_iter_", BTF_KIND_FUNC},
};

bool bb_kernel_name__nearest(enum bb_name_of of, const char *name, char *ret_near, size_t size)
{
	struct btf *btf = btf__load_vmlinux_btf();
	__u32 n_types = btf ? btf__type_cnt(btf) : 0;
	const char **names = calloc(n_types ? n_types : 1, sizeof(*names));
	const char *near = NULL;
	size_t n = 0, len = strlen(kinds[of].prefix);

	for (__u32 id = 1; names && id < n_types; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *known = t && btf_kind(t) == kinds[of].kind
					    ? btf__name_by_offset(btf, t->name_off)
					    : NULL;

		if (known && !strncmp(known, kinds[of].prefix, len))
			names[n++] = known + len;
	}
	if (n)
		near = bb_nearest(name, names, n);
	if (near)
		snprintf(ret_near, size, "%s", near);
	free(names);
	btf__free(btf);
	return near;
}

bool bb_kernel_name__of_section(const char *section, char *ret_near, size_t size)
{
	static const struct {
		const char *word;
		enum bb_name_of of;
	} words[] = {
		{"fentry", BB_NAME_OF_FUNCTION},   {"fexit", BB_NAME_OF_FUNCTION},
		{"fmod_ret", BB_NAME_OF_FUNCTION}, {"lsm", BB_NAME_OF_LSM},
		{"tp_btf", BB_NAME_OF_EVENT},      {"iter", BB_NAME_OF_ITER},
	};
	size_t len;

	section += *section == '?';
	len = strcspn(section, "./");
	*ret_near = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *slash = strchr(section, '/');

		if (!slash || len != strlen(words[i].word) || memcmp(section, words[i].word, len))
			continue;
		bb_kernel_name__nearest(words[i].of, slash + 1, ret_near, size);
		return true;
	}
	return false;
}
