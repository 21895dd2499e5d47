/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs when a page gets into the page cache. */
#include "counts_runs.h"

PROGRAM(on_cached, "tracepoint/filemap/mm_filemap_add_to_page_cache", 0)
