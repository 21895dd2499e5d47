/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/prog_type.h"

#include <bpf/libbpf.h>
#include <stdio.h>

struct bb_prog_type_name bb_prog_type_name(uint32_t type)
{
	const char *known = libbpf_bpf_prog_type_str((enum bpf_prog_type)type);
	struct bb_prog_type_name name;

	if (!known && type == BB_PROG_TYPE_NETFILTER)
		known = "netfilter";
	if (known)
		snprintf(name.text, sizeof(name.text), "%s", known);
	else
		snprintf(name.text, sizeof(name.text), "type-%u", type);
	return name;
}
