/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_HISTORY_DB_H
#define BB_STORE_HISTORY_DB_H

#include "store/run_index.h"

/*
 * An index as a file: an SQLite database of the tables in history.sql, for users to query. SQLite
 * itself opens no file. The database is read as a whole, looked at in memory, and replaced by a new
 * one as a whole: there are no locks and no journal, a reader never sees half an update, and a
 * symbolic link is treated as that of a stored run. 10 000 runs of 24 cases are 22 MB.
 *
 * The folder may be another user's. A database is believed when its version and its check sum are
 * ours (PRAGMA user_version; PRAGMA application_id is zlib's CRC-32 of the file with 0 in its
 * place), its schema is ours to the letter, and its values are such as runs have. Whatever is
 * damaged, forged or edited by hand is as good as no database.
 */
#define BB_HISTORY_DB "history.db"

/* Raise it whenever the same run gives other points than before (test_run_index.c watches), or
 * history.sql changes. */
#define BB_HISTORY_DB_VERSION 3u

/* The index in dir/history.db; empty when there is none that can be believed. */
void bb_history_db__load(const char *dir, struct bb_run_index *ret_index);

/* The same of the bytes of such a file. 0; -EINVAL or -ENOMEM: *ret_index is empty. */
int bb_history_db__parse(void *data, size_t len, struct bb_run_index *ret_index);

/* Put it there, whole or not at all. 0 or -errno: then the old file is still there. */
int bb_history_db__save(const char *dir, const struct bb_run_index *x);

/* Make the bytes of an SQLite database of 100 bytes or more (its header) one of this version with
 * the right check sum. */
void bb_history_db__seal(void *data, size_t len);

#endif
