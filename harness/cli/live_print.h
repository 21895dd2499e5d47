/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_LIVE_PRINT_H
#define BB_CLI_LIVE_PRINT_H

#include "base/std.h"
#include "run/live.h"

/*
 * The rows of `bpfbench live` in its formats. Each is 0 or -ENOMEM; `out` keeps its own errors.
 * Without `all`, the table names the programs that did not run in one line; the other formats have
 * all of them.
 */
struct bb_live_format {
	const char *name;
	const char *doc;
	int (*print)(const struct bb_live_row *rows, size_t n, bool all, FILE *out);
};

#define BB_N_LIVE_FORMATS 3
extern const struct bb_live_format bb_live_formats[BB_N_LIVE_FORMATS];

const struct bb_live_format *bb_live_format_find(const char *name); /* NULL: there is none */

#endif
