/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs whose sections name a file, a function or a static probe that does not exist. */
#include "bb_bpf.h"

__u64 runs;

SEC("uprobe//no_such_folder/tool:work")
int on_file(void *ctx)
{
	runs++;
	return 0;
}

SEC("uprobe/libc.so.6:mallocc")
int on_symbol(void *ctx)
{
	runs++;
	return 0;
}

SEC("usdt/libbb_nowhere.so:bench:query")
int on_probe(void *ctx)
{
	runs++;
	return 0;
}
