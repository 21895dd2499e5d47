/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_HISTORY_DB_H
#define BB_STORE_HISTORY_DB_H

#include "store/run_index.h"

/*
 * An index as a file: an ordinary SQLite database that users may query. A new one replaces it as a
 * whole, as with stored runs. So a reader never sees half an update, two writers at once lose only
 * one's work, and a full disk leaves the old file. 10 000 runs of 24 cases take 22 MB.
 *
 * The folder may be another user's, or a checkout of an untrusted branch. So SQLite reads the
 * database from memory and opens no file. It would follow a journal beside the file, and a forged
 * journal can name any file of the caller's, which SQLite then deletes (pager_delsuper() in its
 * pager.c). We accept a database only if version and schema equal ours and its values are possible
 * for runs. A forged one can only give wrong points for runs whose files have the stated size and
 * time of change.
 */
#define BB_HISTORY_DB "history.db"

/* Raise it when the same run gives other points than before (test_run_index.c notices), or when
 * a table changes. */
#define BB_HISTORY_DB_VERSION 4u

/* Reads the index from dir/history.db; it is empty if there is no valid file. */
void bb_history_db__load(const char *dir, struct bb_run_index *ret_index);

/* Reads it from the bytes of such a file. Returns 0; -EINVAL or -ENOMEM with an empty
 * `*ret_index`. */
int bb_history_db__parse(void *data, size_t len, struct bb_run_index *ret_index);

/* Writes the index, whole or not at all. Returns 0 or -errno; after an error the old file is
 * still there. */
int bb_history_db__save(const char *dir, const struct bb_run_index *x);

#endif
