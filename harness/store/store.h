/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * Stored runs: one file `ID.json` per run in a folder (results/). A file appears complete or not at
 * all. Only the process that wrote a file changes it: it may store its run again and again while it
 * measures. store/run_json.h describes the form of the files. A folder or run behind another user's
 * symbolic link is neither read nor written (base/io.h).
 */

/*
 * Writes `r` to the file dir/ID.json, where ID is r->id. The run is first written to a hidden
 * temporary file, which is synced and renamed. Makes missing folders; folders and file belong to
 * the caller (base/caller.h). `*ret_path` (may be NULL) receives the path; free it. Returns -EEXIST
 * if the id exists and r->is_rewritten is not set, or -errno. After an error no new file is left.
 */
int bb_store__write(const char *dir, const struct bb_report *r, char **ret_path,
		    struct bb_err *err);

/* Writes text[len] to the file `name` in `dir`, otherwise as bb_store__write() does. Returns
 * -EEXIST if the file exists, unless `replaces` is set. */
int bb_store__write_text(const char *dir, const char *name, const char *text, size_t len,
			 bool replaces, char **ret_path, struct bb_err *err);

/*
 * Replaces the file `name` in the folder `dir`, which must exist. Without `synced`, the new file
 * may be lost when the machine fails. Returns 0, or -errno without a message. After an error the
 * old file is still there.
 */
int bb_store__replace(const char *dir, const char *name, const void *data, size_t len, bool synced);

/*
 * Reads a run and computes its summaries. `which` is one of these: a path (with '/'); "latest" (by
 * the time and nanoseconds in ids); an id in `dir`, with or without ".json"; a file in the current
 * folder; or the unique beginning of an id in `dir`. Returns -ENOENT if there is no such run,
 * -ENOTUNIQ if several ids begin with `which`, -EINVAL if the file is not a run, or -errno.
 */
int bb_store__read(const char *which, const char *dir, struct bb_report **ret_report,
		   struct bb_err *err);

/* Lists the ids in `dir` in order of time, which is the order of names. A missing folder has no
 * ids. Free with bb_names_free(). Reads the names of the files and not their contents; skips
 * schema.json. */
int bb_store__list(const char *dir, char ***ret_ids, size_t *ret_n, struct bb_err *err);

/* Baselines: names for stored runs. The file results/baselines/NAME has one line, the id of a run
 * in results/. When a name is given to another run, the file has the whole old or the whole new id
 * at any time. */

/* Gives the name `name` to the run `id`, which must be stored in `dir` (else -ENOENT). Returns 0,
 * -EINVAL for an invalid name, or -errno. After an error the name still belongs to its old run. */
int bb_baseline__save(const char *dir, const char *name, const char *id, struct bb_err *err);

/* Reads a run and computes its summaries. `which` is the name of a baseline, a path, an id or its
 * beginning, or "latest". Returns -ENOENT if the baseline's run is gone, or -EINVAL if the
 * baseline's file has no id. If neither a baseline nor a run fits, the message lists the
 * baselines. */
int bb_baseline__read(const char *which, const char *dir, struct bb_report **ret_report,
		      struct bb_err *err);
