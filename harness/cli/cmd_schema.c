/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/options.h"
#include "plan/scenario.h"

static const struct bb_usage usage = {
	.doc = "Print the JSON schema of scenario files, with which editors complete and check "
	       "them.",
	.more = "It is made from the tables that read scenarios. Rules about several keys "
		"together are not in it; --dry-run of `bpfbench run` checks all.",
	.example = "  bpfbench schema > scenario.schema.json\n",
};

int bb_cmd_schema(int argc, char **argv, struct bb_err *)
{
	bb_usage__parse(&usage, argc, argv, NULL);
	bb_scenario__write_schema(stdout);
	putchar('\n');
	return 0;
}
