/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_BASELINE_H
#define BB_STORE_BASELINE_H

#include "base/err.h"
#include "report/report.h"

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
