/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_HISTORY_DB_H
#define BB_STORE_HISTORY_DB_H

#include "store/run_index.h"

/*
 * An index as a file: an ordinary SQLite database, for users to query. It is replaced by a new one
 * as a whole, as stored runs are: a reader never sees half an update, two that write at once lose
 * nothing but one's work, and a full disk leaves the old one. 10 000 runs of 24 cases are 22 MB.
 *
 * The folder may be another user's, or a checkout of somebody's branch. SQLite therefore reads the
 * database from memory and opens no file: it would follow a journal beside it, and a forged journal
 * can name any file of the caller's, which SQLite then deletes (pager_delsuper() in its pager.c).
 * A database is believed when its version and its schema are ours to the letter, and its values are
 * such as runs have. A forged one can only give points of runs whose files have the size and the
 * time of change that it says.
 */
#define BB_HISTORY_DB "history.db"

/* Raise it whenever the same run gives other points than before (test_run_index.c watches), or
 * a table changes. */
#define BB_HISTORY_DB_VERSION 4u

/* The index in dir/history.db; empty when there is none that can be believed. */
void bb_history_db__load(const char *dir, struct bb_run_index *ret_index);

/* The same of the bytes of such a file. 0; -EINVAL or -ENOMEM: *ret_index is empty. */
int bb_history_db__parse(void *data, size_t len, struct bb_run_index *ret_index);

/* Put it there, whole or not at all. 0 or -errno: then the old file is still there. */
int bb_history_db__save(const char *dir, const struct bb_run_index *x);

#endif
