/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_COST_H
#define BB_EXPORT_COST_H

#include <stdio.h>

#include "base/err.h"
#include "report/report.h"

/*
 * What the blocks of a counted program cost, ns an execution, by the times that the same run
 * measured on the same inputs (stats/cost_fit.h), with how well that predicts; or in one line why
 * there is no telling. 0; -EINVAL for a stored run that contradicts itself; -ENOMEM.
 */
int bb_put_cost(const struct bb_report *r, const struct bb_counted *c, FILE *out,
		struct bb_err *err);

#endif
