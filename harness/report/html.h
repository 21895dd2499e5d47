/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_HTML_H
#define BB_REPORT_HTML_H

#include <stdio.h>

#include "report/report.h"

/*
 * A run as one HTML page that needs nothing besides: no network, no script, no font. Verdicts first, then what each
 * program costs and how the samples are distributed, the programs themselves, what does not count, and the
 * machine. Colours are those of Okabe & Ito 2008 (the colour-blind tell them apart), in light, dark and on paper.
 *
 * `r` is summarised. 0 or -ENOMEM; whether the bytes got out is for the caller to ask `out`.
 */
int bb_html__write(const struct bb_report *r, FILE *out);

#endif
