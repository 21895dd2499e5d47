/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_INDEX_FILE_H
#define BB_STORE_INDEX_FILE_H

#include "store/run_index.h"

/*
 * An index as a file: its arrays as they are in memory behind a head that says which bpfbench wrote
 * them, how many there are and what their check sum is. 10 000 runs of 24 cases are 19 MB, and read
 * in a few ms.
 */
#define BB_INDEX_FILE ".index"

/* Raise it whenever the same run gives other points than before (test_run_index.c watches), or the
 * arrays change. */
#define BB_INDEX_VERSION 1u

/* What dir/.index holds, all indices and texts within bounds; empty when there is none that is
 * whole and of this version. */
int bb_index_file__load(const char *dir, struct bb_run_index *ret_index);

/* Put it there, whole or not at all, for the owner of the folder. 0 or -errno: then what was there
 * is still there. */
int bb_index_file__save(const char *dir, const struct bb_run_index *x);

#endif
