/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/* Stored runs: one file `ID.json` per run in a folder (results/). A file appears complete or not at
 * all. Only the process that wrote a file replaces it, for example while it measures. A folder or
 * run behind another user's symbolic link is neither read nor written (base/io.h). */

/* Writes `r` to the file dir/ID.json, where ID is r->id. Makes missing folders. Folders and file
 * belong to the caller (base/caller.h). `*ret_path` (may be NULL) receives the path. Free it.
 * Returns -EEXIST if the file exists and r->is_rewritten is not set, or -errno. After an error no
 * new file is left. */
int bb_store__write(const char *dir, const struct bb_report *r, char **ret_path,
		    struct bb_err *err);

/* Writes text[len] to the file `name` in `dir`, as bb_store__write() writes a run. Returns -EEXIST
 * if the file exists and `replaces` is false. */
int bb_store__write_text(const char *dir, const char *name, const char *text, size_t len,
			 bool replaces, char **ret_path, struct bb_err *err);

/* Replaces the file `name` in the folder `dir`, which must exist. Unless `synced`, a crash of the
 * machine may lose the new file. Returns 0, or -errno without a message. After an error the old
 * file is still there. */
int bb_store__replace(const char *dir, const char *name, const void *data, size_t len, bool synced);

/* Reads a run and computes its summaries. `which` is a path with '/', "latest", an id in `dir` with
 * or without ".json", a file in the current folder, or the unique beginning of an id in `dir`.
 * Returns -ENOENT if there is no such run, -ENOTUNIQ if several ids begin with `which`, -EINVAL if
 * the file is not a run, or -errno. */
int bb_store__read(const char *which, const char *dir, struct bb_report **ret_report,
		   struct bb_err *err);

/* Lists the ids in `dir` in order of names, which is the order of time. A missing folder has no
 * ids. Free the ids with bb_names_free(). A listed file may be no run, because only its name is
 * read. */
int bb_store__list(const char *dir, char ***ret_ids, size_t *ret_n, struct bb_err *err);

/* A baseline is a name for a stored run. The file results/baselines/NAME has one line, the id of
 * the run. */

/* Gives the name `name` to the run `id`. Returns 0, -ENOENT if the run is not stored in `dir`,
 * -EINVAL for an invalid name, or -errno. After an error the name still belongs to its old run. */
int bb_baseline__save(const char *dir, const char *name, const char *id, struct bb_err *err);

/* Reads the run of the baseline `which`. If there is no such baseline, reads the run `which` as
 * bb_store__read() does. Returns -ENOENT if the run is gone, or -EINVAL if the baseline's file has
 * no id. */
int bb_baseline__read(const char *which, const char *dir, struct bb_report **ret_report,
		      struct bb_err *err);
