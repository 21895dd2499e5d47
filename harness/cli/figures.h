/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_FIGURES_H
#define BB_CLI_FIGURES_H

#include "base/err.h"
#include "html/figures.h"
#include "judge/timeline.h"
#include "report/report.h"

/*
 * The pictures of a run and of its history, drawn by gnuplot (plots/plot.sh): as the calling user,
 * for a minute at the most. Where it draws nothing, ret_figures->why has the reason and the package
 * to install. 0; -EINTR after a signal to us, -ENOMEM.
 */
int bb_figures__draw(const struct bb_report *r, const struct bb_timeline *history,
		     struct bb_figures *ret_figures, struct bb_err *err);

#endif
