/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_STORE_H
#define BB_STORE_STORE_H

#include "base/err.h"
#include "base/std.h"
#include "report/report.h"

/*
 * Stored runs: one file `ID.json` a run in a folder (results/). A file appears whole or not at all
 * and is never written again. Its form is that of run_json.h. A folder or a run behind another
 * user's symbolic link is neither read nor written (base/io.h).
 */

/*
 * Write `r` to dir/r->id.json: into a hidden temporary file beside it, synced, then renamed.
 * Folders that are missing are made; all is the caller's (base/caller.h). The path goes to
 * *ret_path (may be NULL), to be freed. -EEXIST when that id is stored already; -errno otherwise.
 * On any failure nothing is left behind.
 */
int bb_store__write(const char *dir, const struct bb_report *r, char **ret_path,
		    struct bb_err *err);

/* The same for any text as the file `name` of the folder: it is not a run but is stored beside
 * them. */
int bb_store__write_text(const char *dir, const char *name, const char *text, size_t len,
			 char **ret_path, struct bb_err *err);

/*
 * Replace a file of the folder, which must be there; one that is not synced may be lost when the
 * machine fails. 0 or -errno, without a message; then the file that was there still is.
 */
int bb_store__replace(const char *dir, const char *name, const void *data, size_t len, bool synced);

/*
 * Read a run, summarised. `which` is a path (has a '/'), "latest" (by the time that ids begin
 * with, and the nanoseconds that they end with), an id in `dir` with or without ".json", a file in
 * the current folder, or the beginning of one id in `dir` alone. -ENOENT when there is none,
 * -ENOTUNIQ when the beginning fits several, -EINVAL when the file is not a run, other -errno.
 */
int bb_store__read(const char *which, const char *dir, struct bb_report **ret_report,
		   struct bb_err *err);

/*
 * The ids in `dir`, in the order of time (of name: ids begin with it); a folder that is not there
 * holds none. Free with bb_names_free(). Only names are looked at; schema.json is not taken
 * for a run.
 */
int bb_store__list(const char *dir, char ***ret_ids, size_t *ret_n, struct bb_err *err);

/*
 * Names for stored runs: results/baselines/NAME is a line with the id of a run of that results
 * folder. Unlike a run, a name may be given anew; it always holds the old id or the new one whole.
 */

/*
 * Let `name` stand for the run `id`, which must be stored in `dir` (-ENOENT). -EINVAL for a bad
 * name, other -errno; a name that could not be written keeps its old meaning.
 */
int bb_baseline__save(const char *dir, const char *name, const char *id, struct bb_err *err);

/*
 * Read, summarised, the run that `which` stands for: a baseline's name, a path, an id, the
 * beginning of one, or "latest". -ENOENT when the baseline's run is not stored any more, -EINVAL
 * when the baseline's file holds no id. When there is neither, the error names the baselines there
 * are.
 */
int bb_baseline__read(const char *which, const char *dir, struct bb_report **ret_report,
		      struct bb_err *err);

#endif
