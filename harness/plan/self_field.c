/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/self_field.h"

#include <errno.h>
#include <string.h>

int bb_field__self(const struct bb_reader *r, const struct bb_yaml *node, const char *what,
		   enum bb_self *ret_self)
{
	static const char *const names[] =
		{[BB_SELF_PID] = "pid", [BB_SELF_COMM] = "comm", [BB_SELF_CGROUP] = "cgroup"};
	const struct bb_yaml *value = node->n == 1 ? &node->items[1] : NULL;

	for (size_t i = 1; value && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(node->items[0].text, names[i]) && value->kind == BB_YAML_TEXT &&
		    !strcmp(value->text, "self")) {
			*ret_self = (enum bb_self)i;
			return 0;
		}
	return bb_yaml__fail(r->path, node, r->err,
			     "%s: a mapping here is {pid: self}, {comm: self} or {cgroup: self}, "
			     "of the process that fires",
			     what);
}
